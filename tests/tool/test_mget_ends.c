/*
 * The two ends of `redisbatch mget`: a terminal, a reader that goes away, a
 * signal while it waits for keys, and the memory between the two.
 */
#define _DEFAULT_SOURCE	  /* wait4() */
#define _XOPEN_SOURCE 700 /* posix_openpt() */

#include "mget_run.h"
#include "sanitized.h"
#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

enum { READ = 0, WRITE = 1, KEYS = 1000, VALUE = 1024, REPEATS = 200 };

/* Starts it with these descriptors as its own; those are left open here. */
static pid_t start(rbt_live *live, int in, int out, int err,
		   const char *const *args)
{
	union {
		const char *given[MGET_ARGS + 5];
		char *taken[MGET_ARGS + 5];
	} argv = { .given = { rbt_tool(), "mget", "-s",
			      rbt_server_socket(live->server) } };
	pid_t pid;

	for (size_t i = 0; args[i] != NULL; i++)
		argv.given[i + 4] = args[i];
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		dup2(in, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		execv(argv.given[0], argv.taken);
		_exit(127);
	}
	return pid;
}

/* Its exit status, or 128 and more; in *peak what it took at most, in KiB. */
static int finish(pid_t pid, long *peak)
{
	struct rusage usage;
	int status;

	while (wait4(pid, &status, 0, &usage) < 0)
		assert_int_equal(errno, EINTR);
	*peak = usage.ru_maxrss;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void make_pipe(int pair[2])
{
	assert_int_equal(pipe(pair), 0);
	fcntl(pair[READ], F_SETFD, FD_CLOEXEC);
	fcntl(pair[WRITE], F_SETFD, FD_CLOEXEC);
}

static size_t read_all(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < size - 1);
	text[len] = '\0';
	return len;
}

/* A file with the fixture's keys over and over. */
static int open_keys(rbt_live *live, char *path, size_t size)
{
	FILE *file = fopen(mget_path(live, "keys", path, size), "w");

	assert_non_null(file);
	for (size_t i = 0; i < REPEATS * KEYS; i++) {
		fputs(live->keys.keys[i % KEYS], file);
		fputc('\n', file);
	}
	assert_int_equal(fclose(file), 0);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static size_t count_bytes(int fd)
{
	static char some[65536];
	size_t sum = 0;
	ssize_t n;

	for (;;) {
		n = read(fd, some, sizeof(some));
		if (n <= 0)
			return sum;
		sum += (size_t)n;
	}
}

static void want_flat(rbt_live *live, const char *const *args)
{
	char path[512];
	int in = open_keys(live, path, sizeof(path));
	int err = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int out[2];
	size_t bytes;
	long peak;
	pid_t pid;

	make_pipe(out);
	pid = start(live, in, out[WRITE], err, args);
	close(in);
	close(err);
	close(out[WRITE]);
	bytes = count_bytes(out[READ]);
	close(out[READ]);
	assert_int_equal(finish(pid, &peak), 0);
	assert_int_equal(bytes, (size_t)REPEATS * KEYS * (VALUE + 1));
	unlink(path);
	if (!RBT_SANITIZED)
		assert_in_range(peak, 1, 64 * 1024);
}

static void test_200000_keys_of_1_kb_are_read_in_64_mb(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, KEYS, VALUE);
	want_flat(live, MGET_ARGV("-f", "raw"));
}

static void test_200000_fields_of_1_kb_are_read_in_64_mb(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char value[VALUE];

	memset(value, 'v', sizeof(value));
	assert_true(rbt_keys_init(&live->keys, "field", KEYS));
	for (size_t i = 0; i < KEYS; i++)
		rbt_do(live->admin, "HSET h %s %b", live->keys.keys[i], value,
		       sizeof(value));
	want_flat(live, MGET_ARGV("-f", "raw", "--hash", "h"));
}

static void test_a_reader_that_goes_away_ends_it_with_141_and_no_words(
	void **state)
{
	rbt_live *live = rbt_live_use(state);
	char path[512];
	char said[2048];
	char line[8];
	int out[2];
	int err[2];
	long peak;
	int in;
	pid_t pid;

	rbt_live_load(live, KEYS, VALUE);
	in = open_keys(live, path, sizeof(path));
	make_pipe(out);
	make_pipe(err);
	pid = start(live, in, out[WRITE], err[WRITE], MGET_ARGV("-f", "raw"));
	close(in);
	close(out[WRITE]);
	close(err[WRITE]);
	assert_int_equal(read(out[READ], line, sizeof(line)), sizeof(line));
	close(out[READ]);
	assert_int_equal(finish(pid, &peak), 141);
	read_all(err[READ], said, sizeof(said));
	close(err[READ]);
	assert_null(strstr(said, "ipe"));
	assert_null(strstr(said, "cannot"));
	assert_non_null(strstr(said, " found"));
	unlink(path);
}

/* Until it has read all that the pipe had, and so waits for more. */
static void await_empty(int fd)
{
	uint64_t until = rbt_now_us() + 30000000;
	int left = 1;

	while (left > 0) {
		assert_int_equal(ioctl(fd, FIONREAD, &left), 0);
		assert_true(rbt_now_us() < until);
	}
}

static void test_a_signal_ends_the_wait_for_keys(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < 2; i++) {
		char said[2048];
		char path[512];
		int in[2];
		int err[2];
		long peak;
		pid_t pid;

		mget_path(live, "export", path, sizeof(path));
		make_pipe(in);
		make_pipe(err);
		pid = start(live, in[READ], err[WRITE], err[WRITE],
			    MGET_ARGV("-o", path));
		close(err[WRITE]);
		assert_int_equal(write(in[WRITE], "key\n", 4), 4);
		await_empty(in[READ]);
		kill(pid, numbers[i]);
		assert_int_equal(finish(pid, &peak), 128 + numbers[i]);
		read_all(err[READ], said, sizeof(said));
		close(err[READ]);
		close(in[READ]);
		close(in[WRITE]);
		/* It was taken from the input, so it is accounted for. */
		assert_non_null(strstr(said, "key: "));
		assert_non_null(strstr(said, "1 failed"));
		assert_non_null(strstr(said, "was not written"));
		assert_int_not_equal(access(path, F_OK), 0);
	}
}

static size_t count_lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t n = 0;
	int c;

	assert_non_null(file);
	while ((c = fgetc(file)) != EOF)
		n += c == '\n';
	fclose(file);
	return n;
}

/* Each key was answered, or stands in the file for a second run: also those
 * that had not been read yet. */
static void test_what_a_signal_left_undone_is_kept(void **state)
{
	rbt_live *live = rbt_live_use(state);
	static char said[65536];
	char failed[512];
	char path[512];
	char some[4096];
	const char *found;
	int out[2];
	int err[2];
	long peak;
	pid_t pid;

	rbt_live_load(live, KEYS, VALUE);
	close(open_keys(live, path, sizeof(path)));
	mget_path(live, "failed", failed, sizeof(failed));
	make_pipe(out);
	make_pipe(err);
	pid = start(live, STDIN_FILENO, out[WRITE], err[WRITE],
		    MGET_ARGV("--keys", path, "--failed", failed));
	close(out[WRITE]);
	close(err[WRITE]);
	/* It is under way, and cannot end as long as nobody reads on. */
	assert_true(read(out[READ], some, sizeof(some)) > 0);
	kill(pid, SIGTERM);
	assert_int_equal(finish(pid, &peak), 143);
	read_all(err[READ], said, sizeof(said));
	close(err[READ]);
	close(out[READ]);
	found = strstr(said, " keys: ");
	assert_non_null(found);
	assert_int_equal(strtoul(found + strlen(" keys: "), NULL, 10) +
				 count_lines_of(failed),
			 REPEATS * KEYS);
	unlink(failed);
	unlink(path);
}

/* ------------------------------------------------------------- terminal -- */

static int open_terminal(int *slave, unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	fcntl(master, F_SETFD, FD_CLOEXEC);
	*slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(*slave >= 0);
	assert_int_equal(ioctl(*slave, TIOCSWINSZ, &size), 0);
	return master;
}

/* What it writes to a terminal of so many columns; what it reads is one too. */
static void run_on_terminal(rbt_live *live, unsigned short columns,
			    const char *const *args, int status, char *text,
			    size_t size)
{
	int slave;
	int master = open_terminal(&slave, columns);
	long peak;
	pid_t pid = start(live, slave, slave, slave, args);

	/* The master's end is seen once nobody has the other open. */
	close(slave);
	read_all(master, text, size);
	assert_int_equal(finish(pid, &peak), status);
	close(master);
}

static void test_a_terminal_gets_a_table_that_fits_it(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char text[4096];

	rbt_do(live->admin, "MSET short 1 %s %s bell %b empty %b",
	       "a key of more than forty columns, by far",
	       "a value of more than forty columns, by far", "\a\x1b[31m",
	       (size_t)6, "", (size_t)0);
	run_on_terminal(live, 40,
			MGET_ARGV("-q", "--progress=none", "short",
				  "a key of more than forty columns, by far",
				  "bell", "empty", "none"),
			0, text, sizeof(text));
	assert_string_equal(text, "short             1\r\n"
				  "a key of more...  a value of more tha...\r\n"
				  "bell              \\a\\x1b[31m\r\n"
				  "empty             (empty)\r\n"
				  "none              (missing)\r\n");
}

static void test_a_terminal_gets_the_form_that_is_asked_for(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char text[4096];

	rbt_do(live->admin, "SET a 1");
	run_on_terminal(live, 80,
			MGET_ARGV("-q", "--progress=none", "-f", "tsv", "a"), 0,
			text, sizeof(text));
	assert_string_equal(text, "a\t1\r\n");
}

static void test_nobody_is_asked_to_type_keys(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char text[4096];

	run_on_terminal(live, 80, MGET_ARGV("-q"), 2, text, sizeof(text));
	assert_non_null(strstr(text, "no keys"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RBT_LIVE(test_200000_keys_of_1_kb_are_read_in_64_mb),
		RBT_LIVE(test_200000_fields_of_1_kb_are_read_in_64_mb),
		RBT_LIVE(
			test_a_reader_that_goes_away_ends_it_with_141_and_no_words),
		RBT_LIVE(test_a_signal_ends_the_wait_for_keys),
		RBT_LIVE(test_what_a_signal_left_undone_is_kept),
		RBT_LIVE(test_a_terminal_gets_a_table_that_fits_it),
		RBT_LIVE(test_a_terminal_gets_the_form_that_is_asked_for),
		RBT_LIVE(test_nobody_is_asked_to_type_keys),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

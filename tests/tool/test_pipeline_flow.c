/*
 * redisbatch pipeline with much to do, and when the server or the reader of the
 * replies goes away: nothing is lost in silence, and nothing hangs.
 */
#include "port.h"
#include "sanitized.h"
#include "tick.h"
#include "tooling.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* SETs of the keys from .. from + n - 1, a line each, behind what is there. */
static size_t add_sets(char *data, size_t len, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		len += (size_t)sprintf(data + len, "SET key:%zu v%zu\n", i, i);
	return len;
}

static char *room_for(size_t nlines)
{
	char *data = malloc(64 * nlines + 1);

	assert_non_null(data);
	return data;
}

static void run_shell(rbt_spawned *s, const char *script)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };

	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, s);
}

static void test_every_one_of_100000_writes_is_applied(void **state)
{
	enum { MANY = 100000 };
	rbt_live *live = rbt_live_use(state);
	char *in = room_for(MANY);
	size_t len = add_sets(in, 0, 0, MANY);
	rbt_spawned s;

	rbt_tool_want(live, &s, in, len, ARGS("pipeline"), 0);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), MANY);
	assert_int_equal(rbt_count_lines(s.out), MANY);
	want_words(s.err, "100000 commands: 100000 answered, 0 failed");
	rbt_spawned_free(&s);
	free(in);
}

static void test_nobody_listening_ends_with_3_and_one_line(void **state)
{
	char port[16];
	const char *argv[] = { rbt_tool(), "pipeline", "-p", port, NULL };
	rbt_spawned s;

	(void)state;
	snprintf(port, sizeof(port), "%d", rbt_port_any());
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = "PING\n", .inlen = 5 },
		      &s);
	assert_int_equal(s.status, 3);
	assert_int_equal(s.outlen, 0);
	assert_int_equal(rbt_count_lines(s.err), 1);
	want_words(s.err, "refused");
	rbt_spawned_free(&s);
}

/* ---------------------------------------------------------- a lost server -- */

/* Kills the server once a client waits in it for ever. */
static void *kill_when_blocked(void *arg)
{
	rbt_live *live = arg;

	while (rbt_live_info(live, "clients", "blocked_clients") == 0)
		rbt_sleep_ms(1);
	rbt_live_kill(live);
	return NULL;
}

typedef struct fates {
	size_t answered;
	size_t unknown;
	size_t not_sent;
} fates;

/* Each line of the input stands in the tsv once. */
static fates count_fates(char *tsv, size_t nlines)
{
	char *seen = calloc(nlines + 1, 1);
	char *rest = tsv;
	fates f = { .answered = 0 };

	assert_non_null(seen);
	for (char *line = strtok_r(rest, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		size_t number = strtoul(line, &line, 10);

		assert_true(number >= 1 && number <= nlines);
		assert_int_equal(seen[number], 0);
		seen[number] = 1;
		f.answered += strncmp(line, "\tstatus\tOK", 10) == 0;
		f.unknown += strncmp(line, "\tunknown\t", 9) == 0;
		f.not_sent += strncmp(line, "\tnot sent\t", 10) == 0;
	}
	free(seen);
	return f;
}

static void test_a_killed_server_leaves_no_line_without_a_fate(void **state)
{
	enum { HALF = 20000, LINES = 2 * HALF + 1 };
	rbt_live *live = rbt_live_use(state);
	char *in = room_for(LINES);
	size_t len = add_sets(in, 0, 0, HALF);
	char failed[512];
	pthread_t killer;
	size_t kept;
	rbt_spawned s;
	char *text;
	fates f;

	len += (size_t)sprintf(in + len, "BLPOP nokey 0\n");
	len = add_sets(in, len, HALF, HALF);
	rbt_path(live, "failed", failed);
	assert_int_equal(pthread_create(&killer, NULL, kill_when_blocked, live),
			 0);
	rbt_tool_want(live, &s, in, len,
		      ARGS("pipeline", "--format-out=tsv", "--failed", failed),
		      3);
	pthread_join(killer, NULL);
	f = count_fates(s.out, LINES);
	assert_int_equal(f.answered + f.unknown + f.not_sent, LINES);
	assert_true(f.answered > 0 && f.answered <= HALF);
	/* BLPOP itself among them, and what is far behind it never left. */
	assert_true(f.unknown > 0);
	assert_true(f.not_sent > 0);
	want_words(s.err, "it may have been done all the same");
	text = rbt_read_file(failed, &kept);
	assert_int_equal(rbt_count_lines(text), f.unknown + f.not_sent);
	assert_non_null(strstr(text, "BLPOP nokey 0\n"));
	assert_non_null(strstr(text, "SET key:39999 v39999\n"));
	free(text);
	rbt_spawned_free(&s);
	free(in);
}

/* ------------------------------------------------------------- a signal -- */

typedef struct signalling {
	rbt_live *live;
	const char *pid_path;
} signalling;

static void *end_when_blocked(void *arg)
{
	signalling *s = arg;
	size_t len;
	char *pid;

	while (rbt_live_info(s->live, "clients", "blocked_clients") == 0)
		rbt_sleep_ms(1);
	pid = rbt_read_file(s->pid_path, &len);
	kill((pid_t)atoi(pid), SIGTERM);
	free(pid);
	return NULL;
}

static size_t count_words(const char *text, const char *words)
{
	size_t n = 0;

	for (text = strstr(text, words); text != NULL;
	     text = strstr(text + 1, words))
		n++;
	return n;
}

static void test_a_second_run_completes_what_a_signal_ended(void **state)
{
	enum { HALF = 20000, LINES = 2 * HALF + 1 };
	rbt_live *live = rbt_live_use(state);
	char *in = room_for(LINES);
	size_t len = add_sets(in, 0, 0, HALF);
	char paths[4][512];
	char script[4096];
	pthread_t thread;
	rbt_spawned s;
	size_t done;
	char *text;
	signalling end = { live, rbt_path(live, "pid", paths[0]) };

	len += (size_t)sprintf(in + len, "BLPOP nokey 0\n");
	len = add_sets(in, len, HALF, HALF);
	rbt_write_file(rbt_path(live, "in", paths[1]), in, len);
	rbt_path(live, "failed", paths[2]);
	/* A pipe is not waited for once a signal came, a file is. */
	rbt_path(live, "out", paths[3]);
	snprintf(script, sizeof(script),
		 "echo $$ >%s; exec %s pipeline -s %s --failed %s -o %s %s",
		 paths[0], rbt_tool(), rbt_server_socket(live->server),
		 paths[2], paths[3], paths[1]);
	assert_int_equal(pthread_create(&thread, NULL, end_when_blocked, &end),
			 0);
	run_shell(&s, script);
	pthread_join(thread, NULL);
	assert_int_equal(s.status, 128 + SIGTERM);
	text = rbt_read_file(paths[3], &len);
	done = count_words(text, ": OK\n");
	free(text);
	text = rbt_read_file(paths[2], &len);
	assert_int_equal(done + rbt_count_lines(text), LINES);
	free(text);
	rbt_spawned_free(&s);
	rbt_do(live->admin, "LPUSH nokey x");
	rbt_tool_want(live, &s, NULL, 0, ARGS("pipeline", "-Q", paths[2]), 0);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), LINES - 1);
	rbt_spawned_free(&s);
	free(in);
}

static void test_a_second_run_completes_the_job(void **state)
{
	enum { SOME = 1000 };
	rbt_live *live = rbt_live_use(state);
	char *in = room_for(2 * SOME);
	size_t len = add_sets(in, 0, 0, SOME);
	char failed[512];
	rbt_spawned s;

	/* The last ones are refused for what their keys hold. */
	rbt_do(live->admin, "LPUSH key:1000 x");
	rbt_do(live->admin, "LPUSH key:1001 x");
	for (size_t i = SOME; i < SOME + 2; i++)
		len += (size_t)sprintf(in + len, "APPEND key:%zu \"a b\"\n", i);
	rbt_path(live, "failed", failed);
	rbt_tool_want(live, &s, in, len,
		      ARGS("pipeline", "-Q", "--failed", failed), 1);
	rbt_spawned_free(&s);
	rbt_do(live->admin, "DEL key:1000 key:1001");
	rbt_tool_want(live, &s, NULL, 0, ARGS("pipeline", "-Q", failed), 0);
	assert_int_equal(s.outlen, 0);
	rbt_want_text(live, "key:1001", "a b");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), SOME + 2);
	rbt_spawned_free(&s);
	free(in);
}

static void test_nothing_more_is_sent_after_an_error_if_so_asked(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char *in = room_for(5000);
	size_t len = add_sets(in, 0, 0, 3000);
	rbt_spawned s;

	len += (size_t)sprintf(in + len, "BADCOMMAND\n");
	len = add_sets(in, len, 3000, 1000);
	rbt_tool_want(live, &s, in, len,
		      ARGS("pipeline", "--stop-on-error", "--window=1",
			   "--chunk-keys=100"),
		      1);
	assert_true(rbt_ask_number(live->admin, "DBSIZE") < 4000);
	assert_int_equal(rbt_count_lines(s.out), 4001);
	want_words(s.out, "4001: (not sent) a command before it failed");
	rbt_spawned_free(&s);
	free(in);
}

/* ---------------------------------------------------- a reader that goes -- */

static void test_what_was_sent_is_awaited_when_the_reader_goes(void **state)
{
	enum { MANY = 100000 };
	rbt_live *live = rbt_live_use(state);
	char *in = room_for(MANY);
	size_t len = add_sets(in, 0, 0, MANY);
	char path[512];
	char script[2048];
	unsigned long long told = 0;
	const char *summary;
	rbt_spawned s;

	rbt_write_file(rbt_path(live, "in", path), in, len);
	snprintf(
		script, sizeof(script),
		"{ %s pipeline -s %s %s; echo \"status $?\" >&2; } | head -n 1",
		rbt_tool(), rbt_server_socket(live->server), path);
	run_shell(&s, script);
	assert_string_equal(s.out, "1: OK\n");
	want_words(s.err, "status 141\n");
	want_no_words(s.err, "roken pipe");
	summary = strstr(s.err, " commands: ");
	assert_non_null(summary);
	sscanf(summary, " commands: %llu answered, 0 failed", &told);
	assert_true(told > 0 && told < MANY);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), told);
	rbt_spawned_free(&s);
	free(in);
}

static void test_a_full_disk_ends_with_4(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char script[2048];
	rbt_spawned s;

	snprintf(script, sizeof(script),
		 "echo PING | %s pipeline -s %s >/dev/full; "
		 "echo \"status $?\" >&2",
		 rbt_tool(), rbt_server_socket(live->server));
	run_shell(&s, script);
	want_words(s.err, "status 4\n");
	want_words(s.err, "No space left");
	rbt_spawned_free(&s);
}

/* --------------------------------------------------------------- memory -- */

/* The most that any child held so far, in bytes. */
static size_t peak_of_children(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return (size_t)usage.ru_maxrss * 1024;
}

static void pour(const rbt_live *live, const char *line, size_t bytes)
{
	char script[2048];
	rbt_spawned s;

	snprintf(script, sizeof(script),
		 "yes '%s' | head -c %zu | %s pipeline -s %s -Q", line, bytes,
		 rbt_tool(), rbt_server_socket(live->server));
	run_shell(&s, script);
	want_words(s.err, " 1 failed");
	rbt_spawned_free(&s);
}

/* The last line of each is cut in the middle of a quoted word. */
static void test_the_length_of_the_input_takes_no_memory(void **state)
{
	static const char line[] =
		"SET key \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"";
	enum { MIB = 1024 * 1024 };
	rbt_live *live = rbt_live_use(state);
	size_t cut = sizeof(line) - 5;
	size_t before;

	pour(live, line, 2 * MIB / sizeof(line) * sizeof(line) + cut);
	before = peak_of_children();
	pour(live, line, 64 * MIB / sizeof(line) * sizeof(line) + cut);
	/* How much is on its way depends on how fast each side is. */
	assert_in_range(peak_of_children() - before, 0,
			RBT_PLAIN_OR_SANITIZED(24, 400) * MIB);
	assert_in_range(peak_of_children(), 0,
			RBT_PLAIN_OR_SANITIZED(64, 800) * MIB);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_the_length_of_the_input_takes_no_memory),
		RBT_LIVE(test_every_one_of_100000_writes_is_applied),
		RBT_LIVE(test_nobody_listening_ends_with_3_and_one_line),
		RBT_LIVE(test_a_killed_server_leaves_no_line_without_a_fate),
		RBT_LIVE(test_a_second_run_completes_what_a_signal_ended),
		RBT_LIVE(test_a_second_run_completes_the_job),
		RBT_LIVE(test_nothing_more_is_sent_after_an_error_if_so_asked),
		RBT_LIVE(test_what_was_sent_is_awaited_when_the_reader_goes),
		RBT_LIVE(test_a_full_disk_ends_with_4),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

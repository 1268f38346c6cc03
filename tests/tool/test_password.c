/*
 * Passwords that others must not see: in the list of processes, and on the
 * terminal at which one is asked for.
 */
#define _XOPEN_SOURCE 700

#include "bystander.h"
#include "tick.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 20000 };

static int ended(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void become_tool(const char *const *args)
{
	char *argv[12] = { NULL };

	argv[0] = strdup(rbt_tool());
	for (size_t i = 0; args[i] != NULL; i++)
		argv[i + 1] = strdup(args[i]);
	unsetenv("REDIS_URL");
	unsetenv("REDISCLI_AUTH");
	execv(argv[0], argv);
	_exit(127);
}

/* ------------------------------------------------- the list of processes -- */

static int listen_here(int *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

/* What ps shows, with blanks between the arguments. */
static void read_command_line(pid_t pid, char *out, size_t size)
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)pid);
	f = fopen(path, "r");
	if (f == NULL)
		skip();
	n = fread(out, 1, size - 1, f);
	fclose(f);
	for (size_t i = 0; i < n; i++)
		out[i] = out[i] == '\0' ? ' ' : out[i];
	out[n] = '\0';
}

/* Connects to us, so it has read its arguments by then. */
static void look_at(const char *const *args, int fd, char *line, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		become_tool(args);
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	read_command_line(pid, line, size);
	kill(pid, SIGKILL);
	assert_int_equal(ended(pid), 128 + SIGKILL);
	close(accept(fd, NULL, NULL));
}

static void test_no_password_is_in_the_list_of_processes(void **state)
{
	char port[16];
	char uri[64];
	char line[512];
	int number;
	int fd = listen_here(&number);

	(void)state;
	snprintf(port, sizeof(port), "%d", number);
	snprintf(uri, sizeof(uri), "redis://ann:s3cr@et@127.0.0.1:%d", number);
	{
		const char *cases[][6] = {
			{ "exists", "-p", port, "-as3cr@et", "k" },
			{ "exists", "-p", port, "-a", "s3cr@et", "k" },
			{ "exists", "-p", port, "--pass=s3cr@et", "k" },
			{ "exists", "k", "--pass", "s3cr@et", "-p", port },
			{ "exists", "-u", uri, "k" },
		};

		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			const char *args[7] = { NULL };

			memcpy(args, cases[i], sizeof(cases[i]));
			look_at(args, fd, line, sizeof(line));
			if (strstr(line, "s3cr") || strstr(line, "et@") ||
			    !strstr(line, port) || !strstr(line, " k "))
				fail_msg("%zu: %s", i, line);
		}
	}
	close(fd);
}

/* ---------------------------------------------------------- the terminal -- */

typedef struct terminal {
	int master;
	int slave;
	pid_t pid;
	char seen[4096];
	size_t len;
} terminal;

/* In a session of its own, whose terminal is the slave. */
static void become_foreground(const char *name, const char *const *args)
{
	int fd;

	setsid();
	fd = open(name, O_RDWR);
	if (fd < 0)
		_exit(126);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	become_tool(args);
}

static void open_terminal(terminal *t, const char *const *args)
{
	const char *name;

	*t = (terminal){ .master = posix_openpt(O_RDWR | O_NOCTTY) };
	assert_true(t->master >= 0);
	assert_int_equal(grantpt(t->master), 0);
	assert_int_equal(unlockpt(t->master), 0);
	fcntl(t->master, F_SETFD, FD_CLOEXEC);
	name = ptsname(t->master);
	t->slave = open(name, O_RDWR | O_NOCTTY);
	assert_true(t->slave >= 0);
	fcntl(t->slave, F_SETFD, FD_CLOEXEC);
	t->pid = fork();
	assert_true(t->pid >= 0);
	if (t->pid == 0)
		become_foreground(name, args);
}

static void see_until(terminal *t, const char *words)
{
	while (strstr(t->seen, words) == NULL) {
		struct pollfd p = { .fd = t->master, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) != 1)
			fail_msg("no '%s' in '%s'", words, t->seen);
		n = read(t->master, t->seen + t->len,
			 sizeof(t->seen) - 1 - t->len);
		assert_true(n > 0);
		t->len += (size_t)n;
	}
}

static bool shows_input(const terminal *t)
{
	struct termios how;

	assert_int_equal(tcgetattr(t->slave, &how), 0);
	return (how.c_lflag & ECHO) != 0;
}

static void type(const terminal *t, const char *text)
{
	assert_int_equal(write(t->master, text, strlen(text)), strlen(text));
}

/* The slave is open here, so the end of the program ends no reading. */
static int close_terminal(terminal *t)
{
	int status = ended(t->pid);

	assert_true(shows_input(t));
	close(t->slave);
	close(t->master);
	return status;
}

static void test_a_password_is_asked_for_and_not_shown(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	const char *args[] = { "exists",  "--askpass", "-s",
			       b->socket, "zero",      NULL };
	terminal t;

	rbt_bystander_do(b, "ACL SETUSER default resetpass >%s", "s3cr@/et%");
	open_terminal(&t, args);
	see_until(&t, "Password: ");
	assert_false(shows_input(&t));
	type(&t, "s3cr@/et%\n");
	see_until(&t, "1\r\n");
	assert_null(strstr(t.seen, "s3cr"));
	assert_int_equal(close_terminal(&t), 0);
}

static void test_no_password_or_a_wrong_one_is_said(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	const char *args[] = { "exists",  "--askpass", "-s",
			       b->socket, "zero",      NULL };
	terminal t;

	rbt_bystander_do(b, "ACL SETUSER default resetpass >other");
	open_terminal(&t, args);
	see_until(&t, "Password: ");
	type(&t, "\n");
	see_until(&t, "there is no password\r\n");
	assert_int_equal(close_terminal(&t), 2);
	open_terminal(&t, args);
	see_until(&t, "Password: ");
	type(&t, "s3cret\n");
	see_until(&t, "WRONGPASS");
	assert_null(strstr(t.seen, "s3cret"));
	assert_int_equal(close_terminal(&t), 3);
}

static void test_a_signal_gives_the_terminal_back(void **state)
{
	const char *args[] = { "exists", "--askpass", "zero", NULL };
	terminal t;

	(void)state;
	open_terminal(&t, args);
	see_until(&t, "Password: ");
	type(&t, "half\x03");
	assert_int_equal(close_terminal(&t), 130);
	open_terminal(&t, args);
	see_until(&t, "Password: ");
	kill(t.pid, SIGTERM);
	assert_int_equal(close_terminal(&t), 143);
}

/* To be stopped or to quit would leave a terminal that shows nothing. */
static void test_a_terminal_cannot_stop_the_question(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	const char *args[] = { "exists",  "--askpass", "-s",
			       b->socket, "zero",      NULL };
	terminal t;

	rbt_bystander_do(b, "ACL SETUSER default resetpass >%s", "\x1c\x1ax");
	open_terminal(&t, args);
	see_until(&t, "Password: ");
	type(&t, "\x1c\x1ax\n");
	see_until(&t, "1\r\n");
	assert_int_equal(close_terminal(&t), 0);
}

static void test_a_password_too_long_for_a_terminal_is_refused(void **state)
{
	const char *args[] = { "exists", "--askpass", "zero", NULL };
	char line[4101];
	terminal t;

	(void)state;
	memset(line, 'a', sizeof(line));
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	open_terminal(&t, args);
	see_until(&t, "Password: ");
	type(&t, line);
	see_until(&t, "too long");
	assert_int_equal(close_terminal(&t), 2);
}

/* A daemon has no terminal; standard input is none either way. */
static void test_without_a_terminal_it_is_said(void **state)
{
	const char *args[] = { "exists", "--askpass", "zero", NULL };
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open("/dev/null", O_RDWR);

		setsid();
		dup2(fd, STDERR_FILENO);
		become_tool(args);
	}
	assert_int_equal(ended(pid), 4);
}

#define CASE(test) cmocka_unit_test_setup(test, rbt_bystander_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_no_password_is_in_the_list_of_processes),
		CASE(test_a_password_is_asked_for_and_not_shown),
		CASE(test_no_password_or_a_wrong_one_is_said),
		CASE(test_a_signal_gives_the_terminal_back),
		CASE(test_a_terminal_cannot_stop_the_question),
		CASE(test_a_password_too_long_for_a_terminal_is_refused),
		CASE(test_without_a_terminal_it_is_said),
	};

	return cmocka_run_group_tests(tests, rbt_bystander_open,
				      rbt_bystander_close);
}

/*
 * A signal ends the program while it waits: for input that does not come, and
 * for a reader of its output that does not read.
 */
#include "bystander.h"
#include "tick.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { READ = 0, WRITE = 1, PATIENCE_MS = 20000, TOO_LATE_US = 1000000 };

typedef struct running {
	pid_t pid;
	int in;	 /* what is written to it never ends */
	int out; /* nothing is read from it */
	int err;
} running;

static void become_tool(const char *const *args)
{
	char *argv[12] = { NULL };

	argv[0] = strdup(rbt_tool());
	for (size_t i = 0; args[i] != NULL; i++)
		argv[i + 1] = strdup(args[i]);
	execv(argv[0], argv);
	_exit(127);
}

static void start(running *r, const char *const *args)
{
	int pipes[3][2];

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(pipe(pipes[i]), 0);
		fcntl(pipes[i][READ], F_SETFD, FD_CLOEXEC);
		fcntl(pipes[i][WRITE], F_SETFD, FD_CLOEXEC);
	}
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid == 0) {
		dup2(pipes[0][READ], STDIN_FILENO);
		dup2(pipes[1][WRITE], STDOUT_FILENO);
		dup2(pipes[2][WRITE], STDERR_FILENO);
		become_tool(args);
	}
	close(pipes[0][READ]);
	close(pipes[1][WRITE]);
	close(pipes[2][WRITE]);
	r->in = pipes[0][WRITE];
	r->out = pipes[1][READ];
	r->err = pipes[2][READ];
}

/* Sends the signal; the program ends by it, in time, and tells how far it came
 * in a line or two. */
static void want_ended(running *r, int number)
{
	uint64_t sent = rbt_now_us();
	char said[4096] = "";
	size_t lines = 0;
	ssize_t n;
	int status;

	kill(r->pid, number);
	assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
	assert_true(rbt_now_us() - sent < TOO_LATE_US);
	n = read(r->err, said, sizeof(said) - 1);
	assert_true(n >= 0);
	for (const char *c = said; *c != '\0'; c++)
		lines += *c == '\n';
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 128 + number ||
	    strstr(said, "sent") == NULL || lines > 2)
		fail_msg("%x: %s", (unsigned)status, said);
	close(r->in);
	close(r->out);
	close(r->err);
}

/* It has read what there was, which is no whole record, and waits for more. */
static void await_reading(const running *r)
{
	uint64_t until = rbt_now_us() + 1000ull * PATIENCE_MS;
	int left = 1;

	assert_int_equal(write(r->in, "a", 1), 1);
	while (left > 0) {
		assert_int_equal(ioctl(r->in, FIONREAD, &left), 0);
		assert_true(rbt_now_us() < until);
	}
}

static void test_a_signal_ends_what_waits_for_input(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	const char *commands[][6] = {
		{ "mget", "-s", b->socket, "--keys", "-" },
		{ "mset", "-s", b->socket },
		{ "del", "-s", b->socket, "--keys=-" },
		{ "exists", "-s", b->socket },
	};
	size_t n = sizeof(commands) / sizeof(commands[0]);

	for (size_t i = 0; i < 2 * n; i++) {
		running r;

		start(&r, commands[i / 2]);
		await_reading(&r);
		want_ended(&r, i % 2 ? SIGINT : SIGTERM);
	}
}

static void test_a_signal_ends_what_waits_for_a_reader(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	const char *args[] = { "mget",	 "-s",	      b->socket, "--scan",
			       "long:*", "--count=1", NULL };
	static char value[100000];

	memset(value, 'v', sizeof(value) - 1);
	for (int i = 0; i < 40; i++)
		rbt_bystander_do(b, "SET long:%d %s", i, value);
	for (int i = 0; i < 2; i++) {
		running r;
		struct pollfd p;

		start(&r, args);
		p = (struct pollfd){ .fd = r.out, .events = POLLIN };
		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		want_ended(&r, i ? SIGINT : SIGTERM);
	}
}

#define CASE(test) cmocka_unit_test_setup(test, rbt_bystander_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_signal_ends_what_waits_for_input),
		CASE(test_a_signal_ends_what_waits_for_a_reader),
	};

	unsetenv("REDIS_URL");
	unsetenv("REDISCLI_AUTH");
	return cmocka_run_group_tests(tests, rbt_bystander_open,
				      rbt_bystander_close);
}

/*
 * For the tests of bench and tune: the program against the live server.
 */
#ifndef RBT_MEASURED_H
#define RBT_MEASURED_H

#include "live.h"
#include "spawn.h"
#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST_ARGS = 24, PATIENCE_US = 60 * 1000 * 1000 };

/* "redisbatch COMMAND -s SOCKET ARGS...". */
static inline void make_args(const char *argv[MOST_ARGS], const rbt_live *live,
			     const char *command, const char *const *args)
{
	size_t n = 0;

	argv[n++] = rbt_tool();
	argv[n++] = command;
	argv[n++] = "-s";
	argv[n++] = rbt_server_socket(live->server);
	while (*args != NULL && n + 1 < MOST_ARGS)
		argv[n++] = *args++;
	assert_null(*args);
	argv[n] = NULL;
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static inline void run_at(const rbt_live *live, const char *command,
			  const char *const *args, const char *const *env,
			  rbt_spawned *s)
{
	const char *argv[MOST_ARGS];

	make_args(argv, live, command, args);
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .env = env }, s);
}

/* Of a wrong command line: these words, and nothing was printed. */
static inline void want_wrong_usage(const rbt_live *live, const char *command,
				    const char *const *args, const char *words)
{
	rbt_spawned s;

	run_at(live, command, args, NULL, &s);
	if (s.status != 2 || strstr(s.err, words) == NULL)
		fail_msg("%s: %d: %s", args[0], s.status, s.err);
	assert_int_equal(s.outlen, 0);
	rbt_spawned_free(&s);
}

/* Its output as JSON. Whatever else went wrong is shown. */
static inline json_t *json_from(const rbt_spawned *s)
{
	json_error_t error;
	json_t *all = json_loadb(s->out, s->outlen, 0, &error);

	if (all == NULL)
		fail_msg("%s: %s %s", error.text, s->out, s->err);
	return all;
}

static inline json_t *json_at(const rbt_live *live, const char *command,
			      const char *const *args, int status)
{
	rbt_spawned s;
	json_t *all;

	run_at(live, command, args, NULL, &s);
	if (s.status != status)
		fail_msg("status %d: %s", s.status, s.err);
	all = json_from(&s);
	rbt_spawned_free(&s);
	return all;
}

static inline size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* Ended with this status, in one line with these words, and no output. */
static inline void want_refusal(const rbt_spawned *s, int status,
				const char *words)
{
	if (s->status != status || strstr(s->err, words) == NULL)
		fail_msg("status %d: %s", s->status, s->err);
	assert_int_equal(s->outlen, 0);
	assert_int_equal(count_lines(s->err), 1);
}

static inline void want_no_keys(const rbt_live *live)
{
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
}

/* Starts the program without waiting for it; its output goes nowhere. */
static inline pid_t start_at(const rbt_live *live, const char *command,
			     const char *const *args)
{
	union {
		const char *given[MOST_ARGS];
		char *taken[MOST_ARGS];
	} argv;
	pid_t pid;

	make_args(argv.given, live, command, args);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int nowhere = open("/dev/null", O_WRONLY);

		dup2(nowhere, STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
		execv(argv.given[0], argv.taken);
		_exit(127);
	}
	return pid;
}

/* The exit status, or 128 and the number of the signal that killed it. */
static inline int end_of(pid_t pid)
{
	uint64_t until = rbt_now_us() + PATIENCE_US;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (rbt_now_us() > until) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			fail_msg("it did not end");
		}
		rbt_sleep_ms(5);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits until the command was called so often, or ends the program and fails. */
static inline void await_calls(const rbt_live *live, pid_t pid,
			       const char *command, uint64_t n)
{
	uint64_t until = rbt_now_us() + PATIENCE_US;

	while (rbt_live_calls(live, command) < n) {
		if (rbt_now_us() > until) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			fail_msg("%s was not called", command);
		}
		rbt_sleep_ms(5);
	}
}

#endif

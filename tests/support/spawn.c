#include "spawn.h"

#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef RBT_TOOL_PATH
#define RBT_TOOL_PATH "build/redisbatch"
#endif

enum { READ = 0, WRITE = 1, PATIENCE_MS = 60000 };

typedef struct sink {
	int fd; /* -1: at its end */
	char *data;
	size_t len;
} sink;

const char *rbt_tool(void)
{
	const char *given = getenv("RBT_TOOL");

	return given != NULL ? given : RBT_TOOL_PATH;
}

static void set_environment(const char *const *env)
{
	for (; env != NULL && *env != NULL; env++) {
		const char *equals = strchr(*env, '=');
		char *name;

		if (equals == NULL) {
			unsetenv(*env);
			continue;
		}
		name = strndup(*env, (size_t)(equals - *env));
		setenv(name, equals + 1, 1);
		free(name);
	}
}

/* What execv() takes is not const, but it changes nothing. */
static void become(const rbt_spawn *s, int in, int out, int err)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	union {
		const char *const *given;
		char *const *taken;
	} argv = { .given = s->argv };

	sigemptyset(&usual.sa_mask);
	sigaction(SIGPIPE, &usual, NULL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	set_environment(s->env);
	execv(s->argv[0], argv.taken);
	_exit(127);
}

static void make_pipe(int pair[2])
{
	assert_int_equal(pipe(pair), 0);
	fcntl(pair[READ], F_SETFD, FD_CLOEXEC);
	fcntl(pair[WRITE], F_SETFD, FD_CLOEXEC);
}

static void take_some(sink *s)
{
	enum { SOME = 65536 };
	ssize_t n;

	s->data = realloc(s->data, s->len + SOME + 1);
	assert_non_null(s->data);
	n = read(s->fd, s->data + s->len, SOME);
	if (n > 0)
		s->len += (size_t)n;
	s->data[s->len] = '\0';
	if (n == 0 || (n < 0 && errno != EINTR)) {
		close(s->fd);
		s->fd = -1;
	}
}

/* A program that reads no more is no failure of the test. */
static void give_some(int *fd, const rbt_spawn *s, size_t *given)
{
	ssize_t n = -1;

	if (*given < s->inlen)
		n = write(*fd, s->in + *given, s->inlen - *given);
	if (n >= 0) {
		*given += (size_t)n;
	} else if (*given == s->inlen || (errno != EAGAIN && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
}

static bool exchange(const rbt_spawn *s, int in, sink *out, sink *err)
{
	uint64_t until =
		rbt_now_us() +
		1000 * (uint64_t)(s->timeout_ms ? s->timeout_ms : PATIENCE_MS);
	size_t given = 0;

	fcntl(in, F_SETFL, O_NONBLOCK);
	while (out->fd >= 0 || err->fd >= 0) {
		struct pollfd p[] = { { .fd = in, .events = POLLOUT },
				      { .fd = out->fd, .events = POLLIN },
				      { .fd = err->fd, .events = POLLIN } };

		if (rbt_now_us() > until)
			return false;
		poll(p, 3, 100);
		if (p[0].revents != 0)
			give_some(&in, s, &given);
		if (p[1].revents != 0)
			take_some(out);
		if (p[2].revents != 0)
			take_some(err);
	}
	if (in >= 0)
		close(in);
	return true;
}

void rbt_spawn_run(const rbt_spawn *s, rbt_spawned *result)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	sink out = { .fd = -1 };
	sink err = { .fd = -1 };
	int pipes[3][2];
	int status = 0;
	bool in_time;
	pid_t pid;

	for (int i = 0; i < 3; i++)
		make_pipe(pipes[i]);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		become(s, pipes[0][READ], pipes[1][WRITE], pipes[2][WRITE]);
	close(pipes[0][READ]);
	close(pipes[1][WRITE]);
	close(pipes[2][WRITE]);
	out.fd = pipes[1][READ];
	err.fd = pipes[2][READ];
	in_time = exchange(s, pipes[0][WRITE], &out, &err);
	if (!in_time)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGPIPE, before);
	assert_true(in_time);
	*result = (rbt_spawned){
		.status = WIFEXITED(status) ? WEXITSTATUS(status) :
					      128 + WTERMSIG(status),
		.out = out.data,
		.outlen = out.len,
		.err = err.data,
		.errlen = err.len,
	};
}

void rbt_spawned_free(rbt_spawned *s)
{
	free(s->out);
	free(s->err);
	*s = (rbt_spawned){ .out = NULL };
}

#include "bench_child.h"

#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	READ = 0,
	WRITE = 1,
	/* How soon a signal that came between the look at the flag and the
	 * wait is seen. */
	LOOK_MS = 100,
	END_MS = 1000
};

static bool make_pipes(int up[2], int down[2])
{
	if (pipe(up) != 0)
		return false;
	if (pipe(down) == 0)
		return true;
	close(up[READ]);
	close(up[WRITE]);
	return false;
}

/* exit() rather than _exit(): nothing waits in stdio, and those who count what
 * was run want to hear of its end. */
__attribute__((noreturn)) static void become(bench_child_fn *fn, void *arg,
					     const int up[2], const int down[2])
{
	/* A signal is for the clients of this process from here on. */
	signals_watch(NULL);
	close(up[READ]);
	close(down[WRITE]);
	fn(arg, down[READ], up[WRITE]);
	exit(0);
}

bool bench_child_start(bench_child *child, bench_child_fn *fn, void *arg)
{
	int up[2];
	int down[2];

	child->pid = 0;
	if (!make_pipes(up, down))
		return false;
	fflush(NULL);
	child->pid = fork();
	if (child->pid == 0)
		become(fn, arg, up, down);
	close(up[WRITE]);
	close(down[READ]);
	child->from = up[READ];
	child->to = down[WRITE];
	if (child->pid > 0)
		return true;
	child->pid = 0;
	close(child->from);
	close(child->to);
	return false;
}

/* Whether it closed its end of the pipe, as a process does when it ends. */
static bool await_end(int from)
{
	struct pollfd p = { .fd = from, .events = POLLIN };
	uint64_t until = bench_now_ns() + (uint64_t)END_MS * 1000000;
	char dropped[4096];

	while (signals_caught() == 0 && bench_now_ns() < until) {
		if (poll(&p, 1, LOOK_MS) > 0 &&
		    read(from, dropped, sizeof(dropped)) == 0)
			return true;
	}
	return false;
}

void bench_child_end(bench_child *child)
{
	if (child->pid == 0)
		return;
	close(child->to);
	if (!await_end(child->from))
		kill(child->pid, SIGKILL);
	close(child->from);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
}

bool bench_child_get(int from, void *bytes, size_t size)
{
	struct pollfd p = { .fd = from, .events = POLLIN };
	char *at = bytes;

	while (size > 0) {
		ssize_t n;

		if (signals_caught() != 0)
			return false;
		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		n = read(from, at, size);
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return true;
}

bool bench_child_put(int to, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t n = write(to, at, size);

		if (n < 0 && (errno != EINTR || signals_caught() != 0))
			return false;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return true;
}

uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

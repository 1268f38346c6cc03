/*
 * A piece of work in a process of its own, with a pipe in each direction: so
 * that what it takes of memory is its own, and what it waits for holds up
 * nobody else. bench_now_ns() is the same clock in all of them.
 */
#ifndef REDISBATCH_SRC_BENCH_CHILD_H
#define REDISBATCH_SRC_BENCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct bench_child {
	/* 0: there is none. */
	pid_t pid;
	/* In the parent: what the child says, and what it is told. */
	int from;
	int to;
} bench_child;

/* Runs in the child, which ends when it returns; from and to are its own ends
 * of the pipes. It must not use a client of the parent. */
typedef void bench_child_fn(void *arg, int from, int to);

/* False, with errno: no process could be made. */
bool bench_child_start(bench_child *child, bench_child_fn *fn, void *arg);

/* Closes the pipes, which is how a child is told to end, and waits for it: for
 * a second, or not at all after a signal; then it is killed. */
void bench_child_end(bench_child *child);

/* Whole messages. False: the other side is gone, or a signal came. */
bool bench_child_get(int from, void *bytes, size_t size);
bool bench_child_put(int to, const void *bytes, size_t size);

/* Of a clock that only goes forward. */
uint64_t bench_now_ns(void);

#endif

/*
 * A piece of work in a process of its own, with a pipe in each direction.
 */
#ifndef RBT_CHILD_H
#define RBT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct rbt_child {
	pid_t pid;
	int in;	 /* in the parent: what the child says */
	int out; /* in the parent: to the child */
} rbt_child;

/* Runs in the child, which ends when it returns. Both descriptors are the
 * child's ends. */
typedef void rbt_child_fn(void *arg, int in, int out);

/* False: no process could be made. */
bool rbt_child_start(rbt_child *child, rbt_child_fn *fn, void *arg);

/* Ends it, by SIGKILL if it has not ended by itself, and waits for it. */
void rbt_child_end(rbt_child *child);

/* Whole messages over a pipe. False: the other side is gone, or we were
 * interrupted. */
bool rbt_child_get(int in, void *bytes, size_t size);
bool rbt_child_put(int out, const void *bytes, size_t size);

#endif

/*
 * Runs a program as a user would: arguments, an environment, bytes on its
 * standard input; and keeps what it wrote and how it ended.
 */
#ifndef RBT_SPAWN_H
#define RBT_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rbt_spawned {
	/* The exit status, or 128 and the number of the signal. */
	int status;
	/* Each with a NUL behind it. */
	char *out;
	size_t outlen;
	char *err;
	size_t errlen;
} rbt_spawned;

typedef struct rbt_spawn {
	/* argv[0] is the path of the program; NULL ends the list. */
	const char *const *argv;
	/* NAME=VALUE, added to the environment, or NAME, taken from it; NULL
	 * ends the list. NULL: none. */
	const char *const *env;
	/* What it reads. NULL: nothing, standard input ends at once. */
	const char *in;
	size_t inlen;
	/* 0: a minute. What takes longer is killed, and the test fails. */
	unsigned timeout_ms;
} rbt_spawn;

/* Runs it to its end. All failures to do so fail the test. */
void rbt_spawn_run(const rbt_spawn *s, rbt_spawned *out);
void rbt_spawned_free(rbt_spawned *s);

/* The path of the redisbatch program that belongs to these tests: $RBT_TOOL, or
 * the one of the same build. */
const char *rbt_tool(void);

#endif

/*
 * What all parts of the benchmark have in common: what was asked for on the
 * command line, and jobs whose keys stand at the server.
 */
#ifndef RBT_SETUP_H
#define RBT_SETUP_H

#include "method.h"

#include <stdbool.h>
#include <stddef.h>

enum { RBT_MAX_ROUNDS = 101 };

typedef struct rbt_setup {
	/* 0: each part's own. */
	size_t nkeys, value_len, rounds, chunk;
	rb_options options;
	rbt_target unix_target, tcp_target;
	bool tcp; /* over TCP too */
} rbt_setup;

/* A job that owns its keys and values. */
typedef struct rbt_task {
	rbt_job job;
	rbt_keys keys;
	rbt_values values;
} rbt_task;

/* The number that was given, or else the usual one. */
size_t rbt_either(size_t given, size_t usual);

/* Says why something failed, unless we were interrupted. Always false. */
__attribute__((format(printf, 1, 2))) bool rbt_complain(const char *format,
							...);

/* Keys made and set; values are made too if it writes. False: that was said.
 * End it in both cases, which deletes the keys. */
bool rbt_task_begin(rbt_task *task, const rbt_setup *s, size_t nkeys,
		    size_t value_len, bool writes);
void rbt_task_end(rbt_task *task);

/* One run in a process of its own, its entries checked. server, if given, is
 * the largest output buffer of a client at the server meanwhile. False: it
 * failed, which was said. */
bool rbt_run_checked(const rbt_method *method, rbt_job *job, rbt_sample *sample,
		     size_t *server);

#endif

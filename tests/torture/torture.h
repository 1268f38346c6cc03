/*
 * One scenario, run again and again, each time with another thing going wrong:
 * a point. What must hold after each of them does not depend on which:
 *
 *	each entry has exactly one outcome, and no value is a wrong one;
 *	what the server holds agrees with the outcomes;
 *	the context is exactly in step, or broken and refused;
 *	a fault that must not be seen has changed nothing at all;
 *	all memory and all descriptors are given back.
 *
 * The general part of it is checked here, what a scenario expects of its
 * entries is checked by the scenario (scenarios.h).
 */
#ifndef TORTURE_TORTURE_H
#define TORTURE_TORTURE_H

#include "commands.h"
#include "fault.h"
#include "live.h"
#include "peer.h"

#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>

#include <stdbool.h>
#include <stddef.h>

#define TORTURE_CALLS 4

typedef struct scenario scenario;

/* How a scenario cuts and sends, unless that is what it is about. */
typedef struct torture_setting {
	size_t chunk_keys;
	size_t window;
} torture_setting;

/* What is done to a run; all 0: nothing. */
typedef struct torture_point {
	size_t fail_at; /* the n-th allocation fails ... */
	bool fail_on;	/* ... and all after it */
	const fault *fault;
	size_t fault_at;
	bool fault_on;
} torture_point;

/* What has come of it. */
typedef enum torture_kind {
	TORTURE_UNTOUCHED,
	TORTURE_UNSEEN, /* the call must not have noticed */
	TORTURE_MEMORY,
	TORTURE_BREAK, /* the connection has ended */
	TORTURE_BOTH
} torture_kind;

/* One call of the library, by a scenario. */
typedef struct torture_call {
	rb_status status;
	rb_result *res; /* to be freed; NULL for a stream */
} torture_call;

/* The two ends of a stream, and what on_chunk was told. */
typedef struct torture_flow {
	size_t given;
	size_t taken;
	size_t told;	/* entries of all chunks that on_chunk was told of */
	size_t stop_at; /* the sink or on_chunk stops there; 0: never */
	char key[40];
	char value[64];
	const char *argv[3];
	int statuses[2000]; /* of entry i, as taken */
	int outcomes[2000]; /* of entry i, as told; -1: not told */
} torture_flow;

typedef struct torture {
	rbt_live *live;
	const scenario *scenario;
	size_t scale;  /* 1; more makes the scenarios longer */
	size_t stride; /* of the points */
	torture_setting setting;
	size_t points;
	bool passed;

	/* One run. */
	torture_point point;
	torture_kind kind;
	char where[128];
	rbt_peer *peer;
	redisContext *ctx; /* NULL for a client that connects by itself */
	rb_client *rb;
	rb_options options; /* for the client and its calls */
	rbt_count count;
	fault_line line;
	torture_call calls[TORTURE_CALLS];
	size_t ncalls;
	rbt_keys keys;
	rbt_pairs pairs;
	rbt_commands commands;
	torture_flow flow;
	char uri[512];

	/* What the run was like, as a text; and the first one, to which those
	 * that must not differ are compared. */
	char *text;
	size_t len;
	size_t cap;
	char *untouched;
} torture;

/* Runs the scenario with the point. False: the point was not reached. */
bool torture_run(torture *t, const torture_point *p);

/* Frees what a run has left. */
void torture_clear(torture *t);

/* Forgets what the untouched run was like: the next one is of another kind. */
void torture_forget(torture *t);

#endif

/*
 * The scenarios: real uses of the library, as short as they can be.
 *
 * A new one is three functions and a line in one of the tables; both programs
 * find it there. prepare puts the data at the server, or starts a peer, and
 * may set t->options; nothing goes wrong yet. run makes its client by
 * torture_wrap() or torture_open(), which is part of what can fail, and
 * announces each call of the library with torture_called(). check looks at the
 * entries of each call, and at the server: by then the connection is closed
 * and the server has read all of it.
 */
#ifndef TORTURE_SCENARIOS_H
#define TORTURE_SCENARIOS_H

#include "torture.h"

enum {
	SCENARIO_OWN = 1u << 0,	   /* the client connects by itself */
	SCENARIO_BREAKS = 1u << 1, /* it ends with a broken context */
	/* How the chunks are cut, or where it stops, depends on how the bytes
	 * happen to arrive: runs may differ. */
	SCENARIO_LOOSE = 1u << 2,
	/* The server had closed the connection before. */
	SCENARIO_CLOSED = 1u << 3
};

struct scenario {
	const char *name;
	rb_status plain; /* what its calls answer when nothing goes wrong */
	unsigned marks;
	void (*prepare)(torture *t);
	void (*run)(torture *t);
	void (*check)(torture *t);
};

typedef struct scenario_table {
	const scenario *list;
	size_t n;
} scenario_table;

extern const scenario_table scenarios_reads;
extern const scenario_table scenarios_writes;
extern const scenario_table scenarios_pipelines;
extern const scenario_table scenarios_streams;
extern const scenario_table scenarios_clients;
extern const scenario_table scenarios_limits;

/* ------------------------------------------------------- for prepare -- */

enum { SCENARIO_VALUE = 40 };

/* n keys in t->keys and at the server; all those whose number is 3 modulo 7
 * are absent. n is multiplied by t->scale. */
void scenario_load(torture *t, size_t n, size_t value_len);
bool scenario_is_absent(size_t i);

/* A peer that answers as the handler does; the client's context is of it. */
void scenario_peer(torture *t, rbt_handler *handler, void *arg);

/* ----------------------------------------------------------- for run -- */

/* Makes t->rb. False: there is none, and the run is over. */
bool torture_wrap(torture *t);
bool torture_open(torture *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Where the next call puts its result. */
rb_result **torture_out(torture *t);
/* A call of the library has answered. False: not as planned, so that the run
 * is over. */
bool torture_called(torture *t, rb_status status);

/* --------------------------------------------------------- for check -- */

/* Nothing went wrong, as far as the call can tell. */
bool torture_whole(const torture *t);

/* An entry that was not answered may have this status. */
bool torture_may_be(const torture *t, rb_status status);

/* Entry i was answered, and its value or reply is to be looked at. False: it
 * failed, in a way that goes with what was done. */
bool torture_answered(const torture *t, const rb_result *res, size_t i);

/* Each of the entries was answered with its value or, if absent, nil. */
void torture_want_read(const torture *t, const rb_result *res,
		       size_t value_len);

/* An outcome, and whether the server has it. */
void torture_want_applied(rb_outcome outcome, bool applied, size_t i);

/* What the server holds: an array of strings and nils. To be freed. */
redisReply *torture_ask(const torture *t, const char *command, const char *key,
			const rbt_keys *keys);

/* Adds a line to what the run was like. */
void torture_note(torture *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

/*
 * A small server for a scripted peer to play: it knows a few keys, wants to be
 * told who comes, ends its connections where a test says, and counts what it
 * was asked.
 *
 *	static const size_t budgets[] = { 40, 25 };
 *	rbt_store store = { .nkeys = 10, .value_len = 4,
 *			    .budgets = budgets, .nbudgets = 2 };
 *
 *	rbt_store_open(&store, s, &o);
 *	want_status(s->rb, rbt_scene_read(s, 10, &o), RB_OK);
 *	rbt_scene_rest(s);
 *	assert_int_equal(store.again, 0);
 *
 * The keys are "key:00000000" and on, with the values of rbt_value_fill().
 * Reads: MGET, GET, STRLEN. Writes: MSET, SET, INCR, which only count. What it
 * has seen is to be looked at once the peer has stopped.
 */
#ifndef RBT_STORE_H
#define RBT_STORE_H

#include "scene.h"

#include <stdbool.h>
#include <stddef.h>

enum { RBT_STORE_KEYS = 20000 };

typedef struct rbt_store {
	/* Set by the test; zero: as a server that has no troubles. */
	size_t nkeys;
	size_t value_len;
	/* Connection i ends behind so many bytes of answers, those to AUTH
	 * and SELECT among them; behind the last one none ends. */
	const size_t *budgets;
	size_t nbudgets;
	rbt_then ending; /* how; RBT_THEN_CLOSE */
	/* AUTH pw and SELECT 3 have to come first; else reads find nothing. */
	bool closed;
	/* So many commands, behind the first refuse_from, are answered so. */
	const char *refusal;
	size_t refusals, refuse_from;
	/* From this AUTH on (from 1) the password is another; this AUTH is not
	 * answered; this command is not, nor is any behind it on the same
	 * connection. 0: never. */
	size_t changed_at;
	size_t mute_login;
	size_t mute_at;
	/* Called before each command is answered, in the peer's thread; with 0
	 * at the AUTH that is not. */
	void (*hook)(void *arg, size_t ncommands);
	void *hook_arg;

	/* Seen. */
	size_t logins, selects;
	size_t commands; /* of any other kind */
	unsigned asked[RBT_STORE_KEYS];
	unsigned applied[RBT_STORE_KEYS];
	/* Reads of keys whose values had been sent before. */
	size_t again;

	bool arrived[RBT_STORE_KEYS];
	bool known, chosen, muted; /* of this connection */
	size_t connection;
	size_t sent;
} rbt_store;

/* The handler, with an rbt_store. */
void rbt_store_answer(void *arg, size_t argc, const rbt_arg *argv,
		      rbt_reply *reply);

/* A peer that plays it, with a client that connects by itself; or one that
 * wraps a connection. */
void rbt_store_open(rbt_store *store, rbt_scene *s, const rb_options *defaults);
void rbt_store_wrap(rbt_store *store, rbt_scene *s);

/* "+OK\r\n" twice: what a connection to a closed store begins with. */
#define RBT_STORE_GREETING ((size_t)10)

/* Bytes of the answer to an MGET of the keys. */
size_t rbt_store_reply_size(const rbt_store *store, size_t n);

#endif

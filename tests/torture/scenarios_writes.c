/*
 * Writes: what the server holds in the end is compared with the outcomes.
 */
#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAIRS = 60, LARGE_PAIRS = 20, LARGE = 20000 };

static void prepare_pairs(torture *t)
{
	rbt_pairs_init(&t->pairs, "key:", PAIRS * t->scale, SCENARIO_VALUE);
}

static void run_mset(torture *t)
{
	const rbt_pairs *p = &t->pairs;

	if (!torture_wrap(t))
		return;
	torture_called(t, rb_mset_chunked(t->rb, p->keys.keys, p->keys.lens,
					  p->values, p->lens, p->n, NULL,
					  torture_out(t)));
}

/* The outcome of pair i; without a result nothing was sent. */
static rb_outcome outcome_of(const torture *t, size_t i)
{
	const rb_result *res = t->calls[0].res;

	if (!res)
		return RB_NOT_SENT;
	(void)torture_answered(t, res, i);
	return rb_result_outcome(res, i);
}

/* True: the server has the value of pair i. False: it has nothing. */
static bool is_written(const torture *t, const redisReply *held, size_t i)
{
	const redisReply *e = held->element[i];

	if (e->type == REDIS_REPLY_NIL)
		return false;
	assert_int_equal(e->len, t->pairs.lens[i]);
	assert_memory_equal(e->str, t->pairs.values[i], e->len);
	return true;
}

static void check_held(torture *t, redisReply *held)
{
	for (size_t i = 0; i < t->pairs.n; i++)
		torture_want_applied(outcome_of(t, i), is_written(t, held, i),
				     i);
	freeReplyObject(held);
}

static void check_pairs(torture *t)
{
	check_held(t, torture_ask(t, "MGET", NULL, &t->pairs.keys));
}

/* From 16 KiB on a value leaves from where it lies. */
static void prepare_large(torture *t)
{
	rbt_pairs_init(&t->pairs, "key:", LARGE_PAIRS * t->scale, LARGE);
	t->options.chunk_keys = 3;
}

/* -------------------------------------------------------- SET and MULTI -- */

static void prepare_expire(torture *t)
{
	prepare_pairs(t);
	t->options.expire_ms = 1000000;
}

static void check_expire(torture *t)
{
	const rbt_keys *keys = &t->pairs.keys;

	check_pairs(t);
	for (size_t i = 0; i < t->pairs.n; i += 11)
		if (rbt_ask_number(t->live->admin, "EXISTS %s",
				   keys->keys[i]) != 0)
			assert_in_range(rbt_ask_number(t->live->admin,
						       "PTTL %s",
						       keys->keys[i]),
					1, 1000000);
}

static void prepare_transaction(torture *t)
{
	prepare_pairs(t);
	t->options.flags = RB_TRANSACTION;
}

static void prepare_expire_transaction(torture *t)
{
	prepare_expire(t);
	t->options.flags = RB_TRANSACTION;
}

/* A chunk is there as a whole or not at all. */
static void check_transaction(torture *t)
{
	const rb_result *res = t->calls[0].res;
	redisReply *held = torture_ask(t, "MGET", NULL, &t->pairs.keys);

	for (size_t k = 0; k < rb_result_chunks(res); k++) {
		const rb_chunk *c = rb_result_chunk(res, k);

		for (size_t i = 1; i < c->count; i++)
			assert_int_equal(is_written(t, held, c->first),
					 is_written(t, held, c->first + i));
	}
	check_held(t, held);
}

/* ------------------------------------------------------------ conditions -- */

/* Some of the keys are there, with values of their own. */
static void prepare_absent(torture *t)
{
	prepare_pairs(t);
	for (size_t i = 0; i < t->pairs.n; i++)
		if (!scenario_is_absent(i))
			rbt_do(t->live->admin, "SET %s old",
			       t->pairs.keys.keys[i]);
	t->options.flags = RB_IF_ABSENT;
}

static void check_absent(torture *t)
{
	redisReply *held = torture_ask(t, "MGET", NULL, &t->pairs.keys);

	for (size_t i = 0; i < t->pairs.n; i++) {
		rb_outcome outcome = outcome_of(t, i);

		if (scenario_is_absent(i)) {
			assert_int_not_equal(outcome, RB_REJECTED);
			torture_want_applied(outcome, is_written(t, held, i),
					     i);
		} else {
			assert_int_not_equal(outcome, RB_ANSWERED);
			assert_string_equal(held->element[i]->str, "old");
		}
	}
	freeReplyObject(held);
}

/* ------------------------------------------------------------------ hash -- */

static void run_hset(torture *t)
{
	const rbt_pairs *p = &t->pairs;

	if (!torture_wrap(t))
		return;
	torture_called(t, rb_hset_chunked(t->rb, "hash", 4, p->keys.keys,
					  p->keys.lens, p->values, p->lens,
					  p->n, NULL, torture_out(t)));
}

/* The total is that of the chunks that were answered. */
static void check_hset(torture *t)
{
	const rb_result *res = t->calls[0].res;

	check_held(t, torture_ask(t, "HMGET", "hash", &t->pairs.keys));
	if (res)
		assert_int_equal(rb_result_total(res),
				 rbt_count_outcome(res, RB_ANSWERED));
}

/* ----------------------------------------------------------- other verbs -- */

static void prepare_keys(torture *t)
{
	scenario_load(t, PAIRS, SCENARIO_VALUE);
}

typedef rb_status verb(rb_client *client, const char **keys,
		       const size_t *keylens, size_t nkeys,
		       const rb_options *opts, rb_result **out);

static bool do_verb(torture *t, verb *fn)
{
	return torture_called(t, fn(t->rb, t->keys.keys, t->keys.lens,
				    t->keys.n, NULL, torture_out(t)));
}

static void run_verbs(torture *t)
{
	if (torture_wrap(t) && do_verb(t, rb_exists_chunked) &&
	    do_verb(t, rb_touch_chunked))
		(void)do_verb(t, rb_unlink_chunked);
}

/* How many of the keys that were answered for were there. */
static void check_total(const torture *t, const rb_result *res)
{
	int64_t there = 0;

	for (size_t i = 0; i < rb_result_count(res); i++)
		there += torture_answered(t, res, i) && !scenario_is_absent(i);
	assert_int_equal(rb_result_total(res), there);
}

static void check_verbs(torture *t)
{
	redisReply *held = torture_ask(t, "MGET", NULL, &t->keys);
	const rb_result *unlinked = t->calls[2].res;

	for (size_t i = 0; i < t->ncalls; i++)
		check_total(t, t->calls[i].res);
	for (size_t i = 0; i < t->keys.n; i++) {
		bool there = held->element[i]->type == REDIS_REPLY_STRING;

		/* Out of range, where there is no result, is "not sent". */
		if (!scenario_is_absent(i))
			torture_want_applied(rb_result_outcome(unlinked, i),
					     !there, i);
	}
	freeReplyObject(held);
}

/* ------------------------------------------------------------------------ */

static const scenario writes[] = {
	{ "mset_of_several_chunks", RB_OK, 0, prepare_pairs, run_mset,
	  check_pairs },
	{ "mset_of_large_values", RB_OK, 0, prepare_large, run_mset,
	  check_pairs },
	{ "mset_with_an_expiry", RB_OK, 0, prepare_expire, run_mset,
	  check_expire },
	{ "mset_in_transactions", RB_OK, 0, prepare_transaction, run_mset,
	  check_transaction },
	{ "mset_with_an_expiry_in_transactions", RB_OK, 0,
	  prepare_expire_transaction, run_mset, check_transaction },
	{ "mset_of_absent_keys", RB_OK, 0, prepare_absent, run_mset,
	  check_absent },
	{ "hset_of_several_chunks", RB_OK, 0, prepare_pairs, run_hset,
	  check_hset },
	{ "exists_touch_and_unlink", RB_OK, 0, prepare_keys, run_verbs,
	  check_verbs },
};

const scenario_table scenarios_writes = { writes,
					  sizeof(writes) / sizeof(writes[0]) };

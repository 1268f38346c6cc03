/*
 * Calls that end before their time: a deadline, a callback, a bound.
 */
#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 36, CHUNK = 6, ANSWERED = 2, LONG = 2000 };

static void run_mget(torture *t)
{
	if (!torture_wrap(t))
		return;
	torture_called(t, rb_mget_chunked(t->rb, t->keys.keys, t->keys.lens,
					  t->keys.n, NULL, torture_out(t)));
}

/* Entries up to n are answered if nothing goes wrong; the others are not even
 * tried, but for those that fail as the scenario says. */
static void want_first(const torture *t, size_t n, size_t len, rb_status status,
		       rb_outcome outcome)
{
	const rb_result *res = t->calls[0].res;

	for (size_t i = 0; i < rb_result_count(res); i++) {
		rb_status got = rb_result_status(res, i);

		if (got == RB_OK && scenario_is_absent(i))
			want_nil(res, i);
		else if (got == RB_OK)
			want_filled(res, i, len, i);
		else if (got == status)
			want_failed(res, i, status, outcome);
		else if (got == RB_ERR_SKIPPED)
			want_failed(res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
		else
			(void)torture_answered(t, res, i);
		if (torture_whole(t) && n > 0)
			assert_int_equal(got == RB_OK, i < n);
	}
}

/* ---------------------------------------------------------- the deadline -- */

/* A server that falls silent after some answers. */
typedef struct silence {
	size_t answers;
} silence;

static silence silent_peer;

static void answer_keys(size_t argc, const rbt_arg *argv, rbt_reply *reply)
{
	char value[SCENARIO_VALUE];

	rbt_reply_array(reply, argc - 1);
	for (size_t k = 1; k < argc; k++) {
		size_t i = strtoul(argv[k].data + argv[k].len - 8, NULL, 10);

		rbt_value_fill(value, sizeof(value), i);
		if (memcmp(argv[k].data, "key:", 4) != 0)
			rbt_reply_bulk(reply, "still there", 11);
		else if (scenario_is_absent(i))
			rbt_reply_nil(reply);
		else
			rbt_reply_bulk(reply, value, sizeof(value));
	}
}

static void serve_silently(void *arg, size_t argc, const rbt_arg *argv,
			   rbt_reply *reply)
{
	silence *s = arg;

	if (argc == 1)
		rbt_reply_text(reply, "+PONG\r\n");
	else if (argc == 2 || s->answers++ < ANSWERED)
		answer_keys(argc, argv, reply);
}

/* The bytes of the answers that come. */
static size_t answers_size(const torture *t)
{
	rbt_arg argv[CHUNK + 1];
	rbt_reply reply;
	size_t size;

	rbt_reply_init(&reply);
	for (size_t n = 0; n < ANSWERED; n++) {
		for (size_t i = 0; i < CHUNK; i++) {
			argv[i + 1].data = t->keys.keys[n * CHUNK + i];
			argv[i + 1].len = t->keys.lens[n * CHUNK + i];
		}
		answer_keys(CHUNK + 1, argv, &reply);
	}
	size = reply.len;
	rbt_reply_fini(&reply);
	return size;
}

static void prepare_deadline(torture *t)
{
	assert_true(rbt_keys_init(&t->keys, "key:", KEYS * t->scale));
	t->options.chunk_keys = CHUNK;
	t->options.window = 3;
	silent_peer.answers = 0;
	scenario_peer(t, serve_silently, &silent_peer);
	t->line.late_after = answers_size(t);
}

static void check_deadline(torture *t)
{
	want_first(t, (size_t)ANSWERED * CHUNK, SCENARIO_VALUE, RB_ERR_TIMEOUT,
		   RB_UNKNOWN);
}

/* ------------------------------------------------------------- callbacks -- */

static int stop_at_third(void *arg, const rb_chunk *chunk)
{
	torture *t = arg;

	t->flow.told += chunk->count;
	return t->flow.told >= (size_t)3 * CHUNK ? -1 : 0;
}

static void prepare_cancel(torture *t)
{
	scenario_load(t, KEYS, SCENARIO_VALUE);
	t->options.chunk_keys = CHUNK;
	t->options.window = 1;
	t->options.on_chunk = stop_at_third;
	t->options.on_chunk_arg = t;
}

static void check_cancel(torture *t)
{
	want_first(t, (size_t)3 * CHUNK, SCENARIO_VALUE, RB_ERR_SKIPPED,
		   RB_NOT_SENT);
	assert_in_range(t->flow.told, 0, 3 * CHUNK);
}

/* ---------------------------------------------------------------- bounds -- */

static void prepare_result_bytes(torture *t)
{
	scenario_load(t, KEYS, LONG);
	t->options.max_result_bytes = (size_t)8 * LONG;
}

static void check_result_bytes(torture *t)
{
	want_first(t, 0, LONG, RB_ERR_LIMIT, RB_ANSWERED);
}

static bool is_long(size_t i)
{
	return i % 10 == 5;
}

static void prepare_value_bytes(torture *t)
{
	char value[LONG];

	scenario_load(t, KEYS, SCENARIO_VALUE);
	memset(value, 'x', sizeof(value));
	for (size_t i = 0; i < t->keys.n; i++)
		if (is_long(i))
			rbt_do(t->live->admin, "SET %s %b", t->keys.keys[i],
			       value, sizeof(value));
	t->options.max_value_bytes = LONG - 1;
}

static void check_value_bytes(torture *t)
{
	const rb_result *res = t->calls[0].res;

	for (size_t i = 0; i < rb_result_count(res); i++) {
		if (rb_result_status(res, i) == RB_ERR_LIMIT) {
			assert_true(is_long(i));
			want_failed(res, i, RB_ERR_LIMIT, RB_ANSWERED);
		} else if (torture_answered(t, res, i)) {
			assert_false(is_long(i));
			if (scenario_is_absent(i))
				want_nil(res, i);
			else
				want_filled(res, i, SCENARIO_VALUE, i);
		}
	}
}

/* A value to be written that is too long is found before anything is sent. */
static void prepare_pairs(torture *t)
{
	rbt_pairs_init(&t->pairs, "key:", KEYS * t->scale, SCENARIO_VALUE);
	t->options.max_value_bytes = SCENARIO_VALUE;
	t->pairs.lens[t->pairs.n - 1] = 0;
	t->pairs.values[t->pairs.n - 1] = "";
	t->pairs.values[20] = t->pairs.bytes;
	t->pairs.lens[20] = SCENARIO_VALUE + 1;
}

static void run_mset(torture *t)
{
	const rbt_pairs *p = &t->pairs;

	if (torture_wrap(t))
		torture_called(t,
			       rb_mset_chunked(t->rb, p->keys.keys,
					       p->keys.lens, p->values, p->lens,
					       p->n, NULL, torture_out(t)));
}

static void check_nothing(torture *t)
{
	redisReply *held = torture_ask(t, "MGET", NULL, &t->pairs.keys);

	assert_null(t->calls[0].res);
	for (size_t i = 0; i < held->elements; i++)
		assert_int_equal(held->element[i]->type, REDIS_REPLY_NIL);
	freeReplyObject(held);
}

/* ------------------------------------------------------------------------ */

static const scenario limits[] = {
	{ "mget_past_its_deadline", RB_ERR_TIMEOUT, SCENARIO_BREAKS,
	  prepare_deadline, run_mget, check_deadline },
	{ "mget_that_on_chunk_cancels", RB_ERR_CANCELLED, 0, prepare_cancel,
	  run_mget, check_cancel },
	{ "mget_past_max_result_bytes", RB_ERR_LIMIT, SCENARIO_LOOSE,
	  prepare_result_bytes, run_mget, check_result_bytes },
	{ "mget_with_values_above_max_value_bytes", RB_ERR_PARTIAL, 0,
	  prepare_value_bytes, run_mget, check_value_bytes },
	{ "mset_of_a_value_above_max_value_bytes", RB_ERR_LIMIT, 0,
	  prepare_pairs, run_mset, check_nothing },
};

const scenario_table scenarios_limits = { limits,
					  sizeof(limits) / sizeof(limits[0]) };

/*
 * Streams: each entry that the source gave comes to the sink once, in order.
 */
#include "replies.h"
#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ENTRIES = 60 };

static size_t entries(const torture *t)
{
	return ENTRIES * t->scale;
}

/* --------------------------------------------------------------- sources -- */

/* Overwrites what it gave before, since that was copied. */
static int next_key(void *arg, rb_slice *key)
{
	torture *t = arg;

	if (t->flow.given == entries(t))
		return 0;
	snprintf(t->flow.key, sizeof(t->flow.key), "key:%08zu",
		 t->flow.given++);
	key->data = t->flow.key;
	key->len = strlen(t->flow.key);
	return 1;
}

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	torture *t = arg;
	int said = next_key(arg, key);

	if (said <= 0)
		return said;
	rbt_value_fill(t->flow.value, SCENARIO_VALUE, t->flow.given - 1);
	value->data = t->flow.value;
	value->len = SCENARIO_VALUE;
	return 1;
}

/* Counts, lists, fails. */
static int next_command(void *arg, rb_command *command)
{
	static const char *const names[] = { "INCR", "SMEMBERS", "LPUSH" };
	torture *t = arg;
	size_t i = t->flow.given;
	rb_slice key;
	int said = next_key(arg, &key);

	t->flow.argv[0] = names[i % 3];
	t->flow.argv[1] = i % 3 == 0 ? t->flow.key :
			  i % 3 == 1 ? "set" :
				       "text";
	t->flow.argv[2] = "x";
	command->argc = i % 3 == 2 ? 3 : 2;
	command->argv = t->flow.argv;
	command->argvlen = NULL;
	return said;
}

/* ----------------------------------------------------------------- sinks -- */

static int go_on(const torture_flow *f)
{
	return f->stop_at != 0 && f->taken >= f->stop_at ? -1 : 0;
}

static void want_value(size_t i, const rb_slice *value)
{
	if (scenario_is_absent(i))
		assert_null(value->data);
	else
		assert_true(rbt_value_is(value->data, value->len,
					 SCENARIO_VALUE, i));
}

static int take_values(void *arg, size_t first, const rb_slice *keys,
		       const rb_slice *values, const rb_status *statuses,
		       size_t n)
{
	torture *t = arg;

	assert_int_equal(first, t->flow.taken);
	for (size_t i = 0; i < n; i++) {
		char key[40];

		snprintf(key, sizeof(key), "key:%08zu", first + i);
		assert_int_equal(keys[i].len, strlen(key));
		assert_memory_equal(keys[i].data, key, keys[i].len);
		if (statuses[i] == RB_OK)
			want_value(first + i, &values[i]);
		else
			assert_null(values[i].data);
		t->flow.statuses[first + i] = (int)statuses[i];
	}
	t->flow.taken += n;
	return go_on(&t->flow);
}

static int take_replies(void *arg, size_t first,
			const struct redisReply *const *replies,
			const rb_status *statuses, size_t n)
{
	static const char *const texts[] = { ":1", "[\"member\"]", "-WRONG" };
	torture *t = arg;

	assert_int_equal(first, t->flow.taken);
	for (size_t i = 0; i < n; i++) {
		char *printed;

		t->flow.statuses[first + i] = (int)statuses[i];
		if (!replies[i]) {
			assert_int_not_equal(statuses[i], RB_OK);
			continue;
		}
		printed = rbt_reply_print(replies[i]);
		want_words(printed, texts[(first + i) % 3]);
		free(printed);
		assert_int_equal(statuses[i],
				 (first + i) % 3 == 2 ? RB_ERR_SERVER : RB_OK);
	}
	t->flow.taken += n;
	return go_on(&t->flow);
}

/* Each chunk that was sent, once. */
static int note_chunk(void *arg, const rb_chunk *chunk)
{
	torture *t = arg;

	for (size_t i = 0; i < chunk->count; i++) {
		assert_int_equal(t->flow.outcomes[chunk->first + i], -1);
		t->flow.outcomes[chunk->first + i] = (int)chunk->outcome;
	}
	t->flow.told += chunk->count;
	return 0;
}

/* ---------------------------------------------------------------- checks -- */

/*
 * Nothing that was given may be missing, but for one entry: the last one given,
 * when there is no memory at all any more to keep it in.
 */
static void check_taken(const torture *t)
{
	const torture_flow *f = &t->flow;
	size_t lost = t->point.fail_on && f->given > 0;

	assert_in_range(f->taken, f->given - lost, f->given);
	if (torture_whole(t))
		assert_int_equal(f->taken, entries(t));
}

/* What entry i may be said to have suffered. */
static void check_status(const torture *t, size_t i)
{
	int status = t->flow.statuses[i];

	if (status == RB_OK || (i % 3 == 2 && status == RB_ERR_SERVER))
		return;
	assert_true(torture_may_be(t, (rb_status)status));
}

static void check_stream(torture *t)
{
	check_taken(t);
	for (size_t i = 0; i < t->flow.taken; i++)
		check_status(t, i);
}

/* ------------------------------------------------------------ mget_stream -- */

static void prepare_keys(torture *t)
{
	scenario_load(t, ENTRIES, SCENARIO_VALUE);
}

static void run_mget(torture *t)
{
	if (torture_wrap(t))
		torture_called(t, rb_mget_stream(t->rb, next_key, t,
						 take_values, t, NULL, NULL));
}

/* The sink has enough. */
static void prepare_sink(torture *t)
{
	prepare_keys(t);
	t->options.window = 1;
	t->options.chunk_keys = 6;
	t->flow.stop_at = 20;
}

static void check_sink(torture *t)
{
	for (size_t i = 0; i < t->flow.taken; i++)
		check_status(t, i);
	assert_in_range(t->flow.taken, 0, 24);
	if (torture_whole(t))
		assert_in_range(t->flow.taken, 20, 24);
}

/* ------------------------------------------------------------ mset_stream -- */

static void prepare_pairs(torture *t)
{
	rbt_pairs_init(&t->pairs, "key:", entries(t), SCENARIO_VALUE);
	t->options.on_chunk = note_chunk;
	t->options.on_chunk_arg = t;
}

static void run_mset(torture *t)
{
	if (torture_wrap(t))
		torture_called(t,
			       rb_mset_stream(t->rb, next_pair, t, NULL, NULL));
}

/* on_chunk was told of all that was sent, so the rest was not. */
static void check_mset(torture *t)
{
	redisReply *held = torture_ask(t, "MGET", NULL, &t->pairs.keys);

	for (size_t i = 0; i < t->pairs.n; i++) {
		const redisReply *e = held->element[i];
		int told = t->flow.outcomes[i];

		if (e->type == REDIS_REPLY_STRING)
			assert_true(rbt_value_is(e->str, e->len, SCENARIO_VALUE,
						 i));
		torture_want_applied(told < 0 ? RB_NOT_SENT : (rb_outcome)told,
				     e->type == REDIS_REPLY_STRING, i);
	}
	freeReplyObject(held);
	if (torture_whole(t))
		assert_int_equal(t->flow.told, t->pairs.n);
}

/* -------------------------------------------------------- pipeline_stream -- */

static void prepare_commands(torture *t)
{
	rbt_do(t->live->admin, "SET text words");
	rbt_do(t->live->admin, "SADD set member");
	t->options.on_chunk = note_chunk;
	t->options.on_chunk_arg = t;
}

static void prepare_transactions(torture *t)
{
	prepare_commands(t);
	t->options.flags = RB_TRANSACTION;
}

static void run_commands(torture *t)
{
	if (torture_wrap(t))
		torture_called(t,
			       rb_pipeline_stream(t->rb, next_command, t,
						  take_replies, t, NULL, NULL));
}

/* A counter that was answered was counted, and none was twice. */
static void check_commands(torture *t)
{
	check_stream(t);
	for (size_t i = 0; i < entries(t); i += 3) {
		char key[32], text[32];

		snprintf(key, sizeof(key), "key:%08zu", i);
		rbt_ask(t->live->admin, text, sizeof(text), "GET %s", key);
		assert_true(text[0] == '\0' || strcmp(text, "1") == 0);
		if (i < t->flow.taken && t->flow.statuses[i] == RB_OK)
			assert_string_equal(text, "1");
		if (t->flow.outcomes[i] < 0)
			assert_string_equal(text, "");
	}
}

/* ------------------------------------------------------------------------ */

static const scenario streams[] = {
	{ "mget_stream", RB_OK, 0, prepare_keys, run_mget, check_stream },
	{ "mget_stream_whose_sink_stops", RB_ERR_CANCELLED, 0, prepare_sink,
	  run_mget, check_sink },
	{ "mset_stream", RB_OK, 0, prepare_pairs, run_mset, check_mset },
	{ "pipeline_stream", RB_ERR_PARTIAL, 0, prepare_commands, run_commands,
	  check_commands },
	{ "pipeline_stream_in_transactions", RB_ERR_PARTIAL, 0,
	  prepare_transactions, run_commands, check_commands },
};

const scenario_table scenarios_streams = {
	streams, sizeof(streams) / sizeof(streams[0])
};

/*
 * Batches that come from a source and go to a sink.
 */
#include "commands.h"
#include "live.h"
#include "replies.h"
#include "resident.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

/* Sanitizers keep what is freed, so what is resident tells nothing. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* The two ends of a stream over distinct keys, which come again and again. */
typedef struct flow {
	rbt_live *live;
	const rbt_keys *keys;
	size_t n; /* what the source gives before it ends */
	size_t given;
	size_t stop_at;	    /* the source stops there; SIZE_MAX: never */
	size_t bad_at;	    /* and gives a bad entry there */
	char scratch[1100]; /* overwritten for each entry */
	size_t value_len;
	size_t taken;	/* entries that have reached the sink */
	size_t calls;	/* of the sink */
	size_t halt_at; /* the sink stops once it has taken so many */
	size_t kill_at; /* and kills the server there */
	size_t ok, failed;
	size_t statuses[16]; /* by -status */
	size_t peak_output;  /* the server's, for all clients */
	size_t sample_every; /* calls; 0: never */
} flow;

static flow flow_of(rbt_live *live, size_t n)
{
	flow f;

	memset(&f, 0, sizeof(f));
	f.live = live;
	f.keys = &live->keys;
	f.n = n;
	f.stop_at = f.bad_at = f.halt_at = f.kill_at = SIZE_MAX;
	return f;
}

/* What the source answers for its next entry, before it gives it. */
static int gate(flow *f)
{
	if (f->given == f->stop_at)
		return -1;
	return f->given < f->n ? 1 : 0;
}

static int next_key(void *arg, rb_slice *key)
{
	flow *f = arg;
	size_t k = f->given % f->keys->n;
	int said = gate(f);

	if (said <= 0)
		return said;
	if (f->given++ == f->bad_at) {
		key->data = NULL;
		key->len = 7;
		return 1;
	}
	/* From memory that holds another key at the next call. */
	memcpy(f->scratch, f->keys->keys[k], f->keys->lens[k]);
	key->data = f->scratch;
	key->len = f->keys->lens[k];
	return 1;
}

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	flow *f = arg;
	size_t k = f->given % f->keys->n;
	int said = next_key(arg, key);

	if (said <= 0 || key->data == NULL)
		return said;
	rbt_value_fill(f->scratch + 64, f->value_len, k);
	value->data = f->scratch + 64;
	value->len = f->value_len;
	return said;
}

/* "GET key", and each tenth "LPUSH key x", which is an error. */
static int next_command(void *arg, rb_command *command)
{
	static size_t lens[3];
	static const char *argv[3];
	flow *f = arg;
	size_t number = f->given;
	rb_slice key = { NULL, 0 };
	int said = next_key(arg, &key);

	if (said <= 0)
		return said;
	argv[0] = number % 10 == 9 ? "LPUSH" : "GET";
	argv[1] = key.data;
	argv[2] = "x";
	lens[0] = strlen(argv[0]);
	lens[1] = key.len;
	lens[2] = 1;
	command->argc = number % 10 == 9 ? 3 : 2;
	command->argv = argv;
	command->argvlen = lens;
	return 1;
}

/* All clients' output buffers, by another connection. */
static void sample_output(flow *f)
{
	redisReply *reply = redisCommand(f->live->admin, "CLIENT LIST");
	size_t sum = 0;

	assert_non_null(reply);
	for (const char *p = strstr(reply->str, " omem="); p;
	     p = strstr(p + 1, " omem="))
		sum += strtoull(p + 6, NULL, 10);
	freeReplyObject(reply);
	if (sum > f->peak_output)
		f->peak_output = sum;
}

/* What all sinks do with a chunk of n entries. */
static int account(flow *f, size_t first, const rb_status *statuses, size_t n)
{
	assert_int_equal(first, f->taken);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_in_range(-statuses[i], 0, 15);
		f->statuses[-statuses[i]]++;
		f->ok += statuses[i] == RB_OK;
		f->failed += statuses[i] != RB_OK;
	}
	f->taken += n;
	f->calls++;
	if (f->sample_every > 0 && f->calls % f->sample_every == 0)
		sample_output(f);
	if (f->taken >= f->kill_at) {
		f->kill_at = SIZE_MAX;
		rbt_live_kill(f->live);
	}
	return f->taken >= f->halt_at ? -1 : 0;
}

static int take_values(void *arg, size_t first, const rb_slice *keys,
		       const rb_slice *values, const rb_status *statuses,
		       size_t n)
{
	flow *f = arg;

	for (size_t i = 0; i < n; i++) {
		size_t k = (first + i) % f->keys->n;

		assert_int_equal(keys[i].len, f->keys->lens[k]);
		assert_memory_equal(keys[i].data, f->keys->keys[k],
				    keys[i].len);
		if (statuses[i] == RB_OK)
			assert_true(rbt_value_is(values[i].data, values[i].len,
						 f->value_len, k));
		else
			assert_null(values[i].data);
	}
	return account(f, first, statuses, n);
}

static int take_replies(void *arg, size_t first,
			const struct redisReply *const *replies,
			const rb_status *statuses, size_t n)
{
	flow *f = arg;

	for (size_t i = 0; i < n; i++) {
		size_t k = (first + i) % f->keys->n;

		if ((first + i) % 10 == 9 && statuses[i] == RB_ERR_SERVER) {
			assert_int_equal(replies[i]->type, REDIS_REPLY_ERROR);
			assert_memory_equal(replies[i]->str, "WRONGTYPE", 9);
		} else if (statuses[i] == RB_OK) {
			assert_int_equal(replies[i]->type, REDIS_REPLY_STRING);
			assert_true(rbt_value_is(replies[i]->str,
						 (size_t)replies[i]->len,
						 f->value_len, k));
		} else {
			assert_null(replies[i]);
		}
	}
	return account(f, first, statuses, n);
}

static rb_status read_stream(flow *f, const rb_options *o, rb_stats *stats)
{
	return rb_mget_stream(f->live->rb, next_key, f, take_values, f, o,
			      stats);
}

static rb_status command_stream(flow *f, const rb_options *o, rb_stats *stats)
{
	return rb_pipeline_stream(f->live->rb, next_command, f, take_replies, f,
				  o, stats);
}

/* What on_chunk hears of a stream of writes. */
typedef struct heard {
	size_t next;
	size_t calls;
	size_t stop_at; /* entries */
	size_t outcomes[8];
} heard;

static int hear(void *arg, const rb_chunk *chunk)
{
	heard *h = arg;

	assert_int_equal(chunk->first, h->next);
	assert_null(chunk->entries);
	h->next += chunk->count;
	h->calls++;
	h->outcomes[chunk->outcome] += chunk->count;
	return h->stop_at > 0 && h->next >= h->stop_at ? -1 : 0;
}

static rb_status write_stream(flow *f, rb_options *o, heard *h, rb_stats *stats)
{
	memset(h->outcomes, 0, sizeof(h->outcomes));
	h->next = h->calls = 0;
	o->on_chunk = hear;
	o->on_chunk_arg = h;
	return rb_mset_stream(f->live->rb, next_pair, f, o, stats);
}

/* Replaces the client by one that counts what it takes. */
static void count_all(rbt_live *live)
{
	rb_options o = rbt_options(0, 0);

	rbt_count_init(&live->count);
	o.allocator = &live->count.allocator;
	rbt_live_wrap(live, live->ctx, &o);
}

static void want_all_given_back(rbt_live *live)
{
	rb_client_free(live->rb);
	live->rb = NULL;
	assert_int_equal(live->count.live_blocks, 0);
	assert_int_equal(live->count.live_bytes, 0);
}

/* ---------------------------------------------------------------- order -- */

static const struct {
	size_t keys, window, bytes;
} cuts[] = {
	{ 0, 0, 0 }, { 7, 3, 0 }, { 1, 1, 0 }, { 1, 64, 0 }, { 1000, 2, 300 },
};

static void test_a_stream_of_keys_comes_in_order(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 777, 100);
	count_all(live);
	for (size_t i = 0; i < COUNT(cuts); i++) {
		rb_options o = rbt_options(cuts[i].keys, cuts[i].window);
		rb_stats stats = { .struct_size = sizeof(stats) };
		flow f = flow_of(live, 5000);

		f.value_len = 100;
		o.chunk_request_bytes = cuts[i].bytes;
		rbt_do(live->admin, "CONFIG RESETSTAT");
		want_status(live->rb, read_stream(&f, &o, &stats), RB_OK);
		assert_int_equal(f.ok, 5000);
		assert_int_equal(f.given, 5000);
		assert_int_equal(stats.keys, 5000);
		assert_int_equal(stats.commands, f.calls);
		assert_int_equal(rbt_live_calls(live, "mget"), f.calls);
		if (cuts[i].bytes == 0)
			assert_int_equal(f.calls, cuts[i].keys > 0 ?
							  (5000 + cuts[i].keys -
							   1) / cuts[i].keys :
							  10);
		rbt_want_pong(live->ctx);
	}
	want_all_given_back(live);
}

static void test_a_stream_of_pairs_is_written(void **state)
{
	rbt_live *live = rbt_live_use(state);

	count_all(live);
	assert_true(rbt_keys_init(&live->keys, "key:", 5000));
	for (size_t i = 0; i < COUNT(cuts); i++) {
		rb_options o = rbt_options(cuts[i].keys, cuts[i].window);
		rb_stats stats = { .struct_size = sizeof(stats) };
		flow f = flow_of(live, 5000);
		heard h = { .stop_at = 0 };

		f.value_len = 1000;
		o.chunk_request_bytes = cuts[i].bytes;
		rbt_do(live->admin, "FLUSHALL");
		rbt_do(live->admin, "CONFIG RESETSTAT");
		want_status(live->rb, write_stream(&f, &o, &h, &stats), RB_OK);
		assert_int_equal(h.outcomes[RB_ANSWERED], 5000);
		assert_int_equal(h.next, 5000);
		assert_int_equal(stats.commands, h.calls);
		assert_int_equal(rbt_live_calls(live, "mset"), h.calls);
		assert_int_equal(stats.keys, 5000);
		want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
		want_loaded(live->res, 5000, 1000);
	}
	rbt_live_drop(live);
	want_all_given_back(live);
}

static void test_a_stream_of_commands_is_answered_in_order(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 777, 100);
	count_all(live);
	for (size_t i = 0; i < COUNT(cuts); i++) {
		rb_options o = rbt_options(cuts[i].keys, cuts[i].window);
		rb_stats stats = { .struct_size = sizeof(stats) };
		flow f = flow_of(live, 5000);

		f.value_len = 100;
		o.chunk_request_bytes = cuts[i].bytes;
		want_status(live->rb, command_stream(&f, &o, &stats),
			    RB_ERR_PARTIAL);
		assert_int_equal(f.ok, 4500);
		assert_int_equal(f.statuses[-RB_ERR_SERVER], 500);
		assert_int_equal(stats.commands, 5000);
		want_words(rb_client_error(live->rb), "500 of 5000");
		rbt_want_pong(live->ctx);
	}
	want_all_given_back(live);
}

static void test_each_chunk_of_a_stream_may_be_a_transaction(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);
	rb_stats stats = { .struct_size = sizeof(stats) };
	heard h = { .stop_at = 0 };
	flow f;

	rbt_live_load(live, 50, 100);
	o.flags = RB_TRANSACTION;
	f = flow_of(live, 95);
	f.value_len = 100;
	want_status(live->rb, command_stream(&f, &o, &stats), RB_ERR_PARTIAL);
	assert_int_equal(f.ok, 86);
	assert_int_equal(stats.commands, 95 + 2 * 10);
	assert_int_equal(rbt_live_calls(live, "exec"), 10);
	f = flow_of(live, 95);
	f.value_len = 10;
	want_status(live->rb, write_stream(&f, &o, &h, &stats), RB_OK);
	assert_int_equal(h.outcomes[RB_ANSWERED], 95);
	assert_int_equal(stats.commands, 3 * 10);
	assert_int_equal(rbt_live_calls(live, "exec"), 20);
}

static int number_pair(void *arg, rb_slice *key, rb_slice *value)
{
	size_t *left = arg;
	static char text[24];

	if (*left == 0)
		return 0;
	snprintf(text, sizeof(text), "%zu", --*left);
	key->data = "k";
	key->len = 1;
	value->data = text;
	value->len = strlen(text);
	return 1;
}

static void test_the_last_pair_of_a_key_in_a_stream_wins(void **state)
{
	static const size_t chunk_keys[] = { 1, 2, 7, 1000 };
	rbt_live *live = rbt_live_use(state);
	char last[24];

	for (int round = 0; round < 40; round++) {
		rb_options o = rbt_options(chunk_keys[round % 4], 16);
		size_t left = 300;

		want_status(
			live->rb,
			rb_mset_stream(live->rb, number_pair, &left, &o, NULL),
			RB_OK);
		rbt_ask(live->admin, last, sizeof(last), "GET k");
		assert_string_equal(last, "0");
	}
}

static void test_an_empty_stream_sends_nothing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	rb_stats stats = { .struct_size = sizeof(stats) };
	heard h = { .stop_at = 0 };
	flow f;

	assert_true(rbt_keys_init(&live->keys, "key:", 1));
	f = flow_of(live, 0);
	want_status(live->rb, read_stream(&f, &o, &stats), RB_OK);
	assert_int_equal(stats.commands, 0);
	want_status(live->rb, command_stream(&f, &o, &stats), RB_OK);
	want_status(live->rb, write_stream(&f, &o, &h, &stats), RB_OK);
	assert_int_equal(stats.request_bytes, 0);
	assert_int_equal(f.calls + h.calls, 0);
	assert_int_equal(rbt_live_calls(live, "mget"), 0);
	rbt_want_pong(live->ctx);
}

/* Conditions: the outcome of the chunks, since there is no entry to ask. */
static void test_the_outcomes_of_a_conditional_stream_are_told(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);
	heard h = { .stop_at = 0 };
	flow f;

	rbt_live_load(live, 25, 4);
	rbt_do(live->admin, "DEL %s %s", live->keys.keys[12],
	       live->keys.keys[13]);
	o.flags = RB_IF_ABSENT;
	f = flow_of(live, 25);
	f.value_len = 9;
	want_status(live->rb, write_stream(&f, &o, &h, NULL), RB_OK);
	assert_int_equal(h.calls, 3);
	assert_int_equal(h.outcomes[RB_REJECTED], 15);
	assert_int_equal(h.outcomes[RB_PARTLY], 10);
	rbt_want_pong(live->ctx);
}

/* ------------------------------------------------------------- stopping -- */

static void test_a_source_that_stops_leaves_all_it_gave_answered(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);
	heard h = { .stop_at = 0 };

	rbt_live_load(live, 500, 100);
	for (size_t at = 0; at <= 205; at += 41) {
		flow f = flow_of(live, 10000);
		size_t answered;

		f.value_len = 100;
		f.stop_at = at;
		want_status(live->rb, read_stream(&f, &o, NULL),
			    RB_ERR_CANCELLED);
		want_words(rb_client_error(live->rb), "source");
		assert_int_equal(f.taken, at);
		assert_int_equal(f.ok + f.statuses[-RB_ERR_SKIPPED], at);
		answered = f.ok;
		assert_in_range(answered, at < 10 ? 0 : at - at % 10, at);
		rbt_want_pong(live->ctx);
		f = flow_of(live, 10000);
		f.value_len = 100;
		f.stop_at = at;
		want_status(live->rb, command_stream(&f, &o, NULL),
			    RB_ERR_CANCELLED);
		assert_int_equal(f.taken, at);
		rbt_want_pong(live->ctx);
	}
	{
		flow f = flow_of(live, 10000);

		rbt_do(live->admin, "FLUSHALL");
		f.value_len = 100;
		f.stop_at = 205;
		want_status(live->rb, write_stream(&f, &o, &h, NULL),
			    RB_ERR_CANCELLED);
		assert_in_range(h.outcomes[RB_ANSWERED], 200, 205);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"),
				 h.outcomes[RB_ANSWERED]);
		rbt_want_pong(live->ctx);
	}
}

static void test_a_sink_that_stops_is_not_called_again(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);

	rbt_live_load(live, 500, 100);
	for (size_t at = 1; at <= 301; at += 60) {
		flow f = flow_of(live, 10000);

		f.value_len = 100;
		f.halt_at = at;
		want_status(live->rb, read_stream(&f, &o, NULL),
			    RB_ERR_CANCELLED);
		want_words(rb_client_error(live->rb), "sink");
		assert_int_equal(f.taken, (at + 9) / 10 * 10);
		assert_true(f.given < 10000);
		/* What was in flight was awaited. */
		rbt_want_pong(live->ctx);
		f = flow_of(live, 10000);
		f.value_len = 100;
		f.halt_at = at;
		want_status(live->rb, command_stream(&f, &o, NULL),
			    RB_ERR_CANCELLED);
		assert_int_equal(f.taken, (at + 9) / 10 * 10);
		rbt_want_pong(live->ctx);
	}
}

static void test_on_chunk_may_stop_a_stream_of_writes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 3);
	heard h = { .stop_at = 50 };
	flow f;

	assert_true(rbt_keys_init(&live->keys, "key:", 10000));
	f = flow_of(live, 10000);
	f.value_len = 10;
	want_status(live->rb, write_stream(&f, &o, &h, NULL), RB_ERR_CANCELLED);
	want_words(rb_client_error(live->rb), "on_chunk");
	assert_int_equal(h.next, 50);
	/* Those in flight were applied, and no more. */
	assert_in_range(rbt_ask_number(live->admin, "DBSIZE"), 50, 70);
	rbt_want_pong(live->ctx);
}

static void test_a_bad_entry_ends_a_stream_with_its_number(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);
	heard h = { .stop_at = 0 };
	flow f;

	rbt_live_load(live, 500, 100);
	for (int verb = 0; verb < 3; verb++) {
		rb_status status;

		f = flow_of(live, 10000);
		f.value_len = 100;
		f.bad_at = 123;
		status = verb == 0 ? read_stream(&f, &o, NULL) :
			 verb == 1 ? command_stream(&f, &o, NULL) :
				     write_stream(&f, &o, &h, NULL);
		want_status(live->rb, status, RB_ERR_INVALID);
		want_words(rb_client_error(live->rb), "entry 123 ");
		/* All before it are accounted for. */
		if (verb < 2)
			assert_int_equal(f.taken, 123);
		assert_int_equal(f.given, 124);
		rbt_want_pong(live->ctx);
	}
}

static void test_a_value_above_the_limit_ends_a_stream(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);
	heard h = { .stop_at = 0 };
	flow f;

	assert_true(rbt_keys_init(&live->keys, "key:", 10));
	f = flow_of(live, 10);
	f.value_len = 11;
	o.max_value_bytes = 10;
	want_status(live->rb, write_stream(&f, &o, &h, NULL), RB_ERR_LIMIT);
	want_words(rb_client_error(live->rb), "entry 0 ");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	rbt_want_pong(live->ctx);
}

static int multi_command(void *arg, rb_command *command)
{
	static const char *argv[] = { "Multi" };

	(void)arg;
	command->argc = 1;
	command->argv = argv;
	command->argvlen = NULL;
	return 1;
}

static void test_multi_and_missing_callbacks_are_refused(void **state)
{
	rbt_live *live = rbt_live_use(state);
	flow f = flow_of(live, 1);

	want_status(live->rb,
		    rb_pipeline_stream(live->rb, multi_command, NULL,
				       take_replies, &f, NULL, NULL),
		    RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "MULTI");
	want_status(live->rb,
		    rb_pipeline_stream(live->rb, NULL, NULL, take_replies, &f,
				       NULL, NULL),
		    RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "next");
	want_status(live->rb,
		    rb_pipeline_stream(live->rb, multi_command, NULL, NULL,
				       NULL, NULL, NULL),
		    RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "take");
	want_status(
		live->rb,
		rb_mget_stream(live->rb, next_key, &f, NULL, NULL, NULL, NULL),
		RB_ERR_INVALID);
	want_status(live->rb, rb_mset_stream(live->rb, NULL, NULL, NULL, NULL),
		    RB_ERR_INVALID);
	assert_int_equal(rb_mset_stream(NULL, next_pair, &f, NULL, NULL),
			 RB_ERR_INVALID);
	assert_int_equal(f.given, 0);
	rbt_want_pong(live->ctx);
}

/* ------------------------------------------------------------------ loss -- */

static void test_a_server_killed_in_the_middle_loses_no_entry(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 8);
	flow f;

	rbt_live_load(live, 500, 1000);
	count_all(live);
	f = flow_of(live, 100000);
	f.value_len = 1000;
	f.kill_at = 5000;
	want_status(live->rb, read_stream(&f, &o, NULL), RB_ERR_IO);
	/* Answers may have arrived to all that was sent before it died. */
	assert_in_range(f.ok, 5000, 5000 + 8 * 100);
	assert_int_equal(f.ok + f.failed, f.taken);
	assert_int_equal(f.taken, f.given);
	assert_int_equal(f.statuses[-RB_ERR_IO] + f.statuses[-RB_ERR_SKIPPED],
			 f.failed);
	rbt_want_broken(live->ctx, live->rb);
	want_all_given_back(live);
}

static void test_a_killed_server_leaves_each_command_one_status(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 8);
	flow f;

	rbt_live_load(live, 500, 1000);
	count_all(live);
	f = flow_of(live, 100000);
	f.value_len = 1000;
	f.kill_at = 5000;
	want_status(live->rb, command_stream(&f, &o, NULL), RB_ERR_IO);
	assert_int_equal(f.taken, f.given);
	assert_in_range(f.ok, 4500, 4500 + 8 * 90);
	assert_int_equal(f.ok + f.failed, f.taken);
	/* Each tenth that was answered was an error, and those too. */
	assert_int_equal(f.statuses[-RB_ERR_SERVER],
			 (f.ok + f.statuses[-RB_ERR_SERVER]) / 10);
	assert_int_equal(f.statuses[-RB_ERR_IO] + f.statuses[-RB_ERR_SKIPPED] +
				 f.statuses[-RB_ERR_SERVER],
			 f.failed);
	rbt_want_broken(live->ctx, live->rb);
	want_all_given_back(live);
}

typedef struct killer {
	heard heard;
	rbt_live *live;
} killer;

static int hear_and_kill(void *arg, const rb_chunk *chunk)
{
	killer *k = arg;

	if (k->heard.calls == 20)
		rbt_live_kill(k->live);
	return hear(&k->heard, chunk);
}

static void test_a_killed_server_leaves_writes_unknown_or_not_sent(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 8);
	killer k = { .live = live };
	flow f;

	assert_true(rbt_keys_init(&live->keys, "key:", 10000));
	f = flow_of(live, 1000000);
	f.value_len = 500;
	o.on_chunk = hear_and_kill;
	o.on_chunk_arg = &k;
	want_status(live->rb, rb_mset_stream(live->rb, next_pair, &f, &o, NULL),
		    RB_ERR_IO);
	/* 20 chunks and the one that it was killed at; on_chunk is told of no
	 * chunk that was not sent, so there may be none besides them. */
	assert_in_range(k.heard.outcomes[RB_ANSWERED], 2100, 2100 + 8 * 100);
	assert_int_equal(k.heard.outcomes[RB_ANSWERED] +
				 k.heard.outcomes[RB_UNKNOWN] +
				 k.heard.outcomes[RB_NOT_SENT],
			 k.heard.next);
	assert_true(k.heard.next <= f.given);
	rbt_want_broken(live->ctx, live->rb);
}

static void test_a_connection_closed_before_the_stream_asks_for_nothing(
	void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);
	flow f;

	rbt_live_load(live, 100, 10);
	rbt_do(live->admin, "CLIENT KILL TYPE normal SKIPME yes");
	f = flow_of(live, 100);
	f.value_len = 10;
	want_status(live->rb, read_stream(&f, &o, NULL), RB_ERR_IO);
	assert_int_equal(f.given, f.taken);
	assert_int_equal(f.ok, 0);
	rbt_want_broken(live->ctx, live->rb);
}

/* ---------------------------------------------------------------- memory -- */

/* A few chunks in flight, with their keys and answers, take 2 MB; on a machine
 * that stands still now and then they are some more. All would be 200 MB. */
#define MOST_READ (16 * MIB)

/* What a call adds to the peak; 0 where that cannot be told. */
typedef struct growth {
	size_t before;
} growth;

static growth growth_begin(void)
{
	growth g;

	rbt_memory_trim();
	rbt_memory_reset_peak();
	g.before = rbt_memory_resident();
	return g;
}

static void want_growth_below(const growth *g, size_t bytes)
{
#ifndef SANITIZED
	if (g->before > 0)
		assert_in_range(rbt_memory_growth(g->before), 0, bytes);
#else
	(void)g;
	(void)bytes;
#endif
}

static void test_two_million_keys_take_the_memory_of_a_window(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	growth g;
	flow f;

	rbt_live_load(live, 1000, 100);
	count_all(live);
	f = flow_of(live, 2000000);
	f.value_len = 100;
	f.sample_every = 50;
	g = growth_begin();
	want_status(live->rb, read_stream(&f, &o, NULL), RB_OK);
	want_growth_below(&g, MOST_READ);
	assert_int_equal(f.ok, 2000000);
	assert_in_range(live->count.peak_bytes, 1, MOST_READ);
	/* Predicted answers in flight are bounded by 8 MiB; so is what the
	 * server keeps for us. */
	assert_in_range(f.peak_output, 0, 9 * MIB);
	want_all_given_back(live);
}

static void test_a_million_commands_take_the_memory_of_a_window(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	growth g;
	flow f;

	rbt_live_load(live, 1000, 100);
	count_all(live);
	f = flow_of(live, 1000000);
	f.value_len = 100;
	g = growth_begin();
	want_status(live->rb, command_stream(&f, &o, NULL), RB_ERR_PARTIAL);
	want_growth_below(&g, MOST_READ);
	assert_int_equal(f.ok, 900000);
	assert_in_range(live->count.peak_bytes, 1, MOST_READ);
	want_all_given_back(live);
}

static void test_half_a_million_pairs_take_the_memory_of_a_window(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	heard h = { .stop_at = 0 };
	growth g;
	flow f;

	assert_true(rbt_keys_init(&live->keys, "key:", 1000));
	count_all(live);
	f = flow_of(live, 500000);
	f.value_len = 1000;
	g = growth_begin();
	want_status(live->rb, write_stream(&f, &o, &h, NULL), RB_OK);
	want_growth_below(&g, 40 * MIB);
	assert_int_equal(h.outcomes[RB_ANSWERED], 500000);
	assert_in_range(live->count.peak_bytes, 1, 40 * MIB);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, 1000, 1000);
	rbt_live_drop(live);
	want_all_given_back(live);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_stream_of_keys_comes_in_order),
		RBT_LIVE(test_a_stream_of_pairs_is_written),
		RBT_LIVE(test_a_stream_of_commands_is_answered_in_order),
		RBT_LIVE(test_each_chunk_of_a_stream_may_be_a_transaction),
		RBT_LIVE(test_the_last_pair_of_a_key_in_a_stream_wins),
		RBT_LIVE(test_an_empty_stream_sends_nothing),
		RBT_LIVE(test_the_outcomes_of_a_conditional_stream_are_told),
		RBT_LIVE(test_a_source_that_stops_leaves_all_it_gave_answered),
		RBT_LIVE(test_a_sink_that_stops_is_not_called_again),
		RBT_LIVE(test_on_chunk_may_stop_a_stream_of_writes),
		RBT_LIVE(test_a_bad_entry_ends_a_stream_with_its_number),
		RBT_LIVE(test_a_value_above_the_limit_ends_a_stream),
		RBT_LIVE(test_multi_and_missing_callbacks_are_refused),
		RBT_LIVE(test_a_server_killed_in_the_middle_loses_no_entry),
		RBT_LIVE(test_a_killed_server_leaves_each_command_one_status),
		RBT_LIVE(
			test_a_killed_server_leaves_writes_unknown_or_not_sent),
		RBT_LIVE(
			test_a_connection_closed_before_the_stream_asks_for_nothing),
		RBT_LIVE(test_two_million_keys_take_the_memory_of_a_window),
		RBT_LIVE(test_a_million_commands_take_the_memory_of_a_window),
		RBT_LIVE(test_half_a_million_pairs_take_the_memory_of_a_window),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

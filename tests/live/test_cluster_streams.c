/*
 * Streams to and from a cluster: the sink has the order of the source, though
 * the nodes answer in their own.
 */
#include "nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB ((size_t)1024 * 1024)

enum { VALUE = 40 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

/* Both ends of a stream over n->keys, once. */
typedef struct flow {
	rbt_nodes *n;
	size_t end;	/* the source ends there */
	size_t stop_at; /* or stops with an error there */
	size_t halt_at; /* the sink stops once it has taken so many */
	size_t bad_at;	/* every so many-th command is an error */
	size_t given, taken, calls;
	size_t values, nils, failed;
	char scratch[128]; /* overwritten for each entry */
	unsigned char *seen;
	size_t reported;
} flow;

static flow flow_of(rbt_nodes *n, size_t end)
{
	flow f;

	memset(&f, 0, sizeof(f));
	f.n = n;
	f.end = end;
	f.stop_at = f.halt_at = SIZE_MAX;
	f.seen = calloc(end + 1, 1);
	assert_non_null(f.seen);
	return f;
}

static int next_key(void *arg, rb_slice *key)
{
	flow *f = arg;
	size_t i = f->given;

	if (i == f->stop_at)
		return -1;
	if (i == f->end)
		return 0;
	f->given++;
	memcpy(f->scratch, f->n->keys.keys[i], f->n->keys.lens[i]);
	key->data = f->scratch;
	key->len = f->n->keys.lens[i];
	return 1;
}

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	flow *f = arg;
	int said = next_key(arg, key);

	if (said <= 0)
		return said;
	rbt_value_fill(f->scratch + 64, VALUE, f->given - 1);
	value->data = f->scratch + 64;
	value->len = VALUE;
	return said;
}

/* "GET key", some of them "LPUSH key x". */
static int next_command(void *arg, rb_command *command)
{
	static const char *argv[3];
	static size_t lens[3];
	flow *f = arg;
	rb_slice key = { NULL, 0 };
	int said = next_key(arg, &key);
	bool bad = f->bad_at > 0 && f->given % f->bad_at == 0;

	if (said <= 0)
		return said;
	argv[0] = bad ? "LPUSH" : "GET";
	argv[1] = key.data;
	argv[2] = "x";
	lens[0] = strlen(argv[0]);
	lens[1] = key.len;
	lens[2] = 1;
	command->argc = bad ? 3 : 2;
	command->argv = argv;
	command->argvlen = lens;
	return 1;
}

/* What comes is the next, and what was asked for. */
static void count_value(flow *f, size_t i, const rb_slice *key,
			const rb_slice *value, rb_status status)
{
	assert_int_equal(key->len, f->n->keys.lens[i]);
	assert_memory_equal(key->data, f->n->keys.keys[i], key->len);
	if (status != RB_OK) {
		f->failed++;
		assert_null(value->data);
	} else if (!value->data) {
		f->nils++;
		assert_int_equal(i % 2, 1);
	} else {
		f->values++;
		assert_true(rbt_value_is(value->data, value->len, VALUE, i));
	}
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	flow *f = arg;

	f->calls++;
	assert_true(n > 0);
	assert_int_equal(first, f->taken);
	for (size_t i = 0; i < n; i++)
		count_value(f, first + i, &keys[i], &values[i], statuses[i]);
	f->taken += n;
	return f->taken >= f->halt_at ? -1 : 0;
}

static int take_reply(void *arg, size_t first,
		      const struct redisReply *const *replies,
		      const rb_status *statuses, size_t n)
{
	flow *f = arg;

	assert_int_equal(first, f->taken);
	for (size_t i = 0; i < n; i++) {
		const redisReply *reply = replies[i];
		size_t number = first + i;

		assert_non_null(reply);
		f->failed += statuses[i] != RB_OK;
		if (reply->type == REDIS_REPLY_ERROR)
			assert_int_equal((number + 1) % f->bad_at, 0);
		else
			assert_true(rbt_value_is(reply->str, reply->len, VALUE,
						 number));
	}
	f->taken += n;
	return f->taken >= f->halt_at ? -1 : 0;
}

/* Every entry is in one report. */
static int report(void *arg, const rb_chunk *chunk)
{
	flow *f = arg;

	for (size_t i = 0; i < chunk->count; i++) {
		size_t number =
			chunk->entries ? chunk->entries[i] : chunk->first + i;

		assert_in_range(number, 0, f->end - 1);
		assert_int_equal(f->seen[number]++, 0);
		f->reported++;
	}
	return 0;
}

static void flow_fini(flow *f)
{
	free(f->seen);
}

/* ---------------------------------------------------------------- reading -- */

static void test_a_hundred_thousand_keys_come_in_order(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_options o = rbt_options(0, 0);
	flow f = flow_of(n, 100000);

	o.on_chunk = report;
	o.on_chunk_arg = &f;
	rbt_nodes_load(n, "key:", f.end, 2, VALUE);
	want_status(n->rb,
		    rb_mget_stream(n->rb, next_key, &f, take, &f, &o, &stats),
		    RB_OK);
	assert_int_equal(f.taken, f.end);
	assert_int_equal(f.values, f.end / 2);
	assert_int_equal(f.nils, f.end / 2);
	assert_true(f.calls > 1);
	assert_int_equal(f.reported, f.end);
	assert_int_equal(stats.keys, f.end);
	assert_int_equal(stats.redirects, 0);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
	assert_int_equal(rbt_cluster_errors(n->cluster, "CROSSSLOT"), 0);
	/* A window of it, and not all. */
	assert_true(n->count.peak_bytes < 24 * MIB);
	flow_fini(&f);
}

static void test_a_short_stream_comes_in_order(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 100, 1001 };
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", 1001, 2, VALUE);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		flow f = flow_of(n, sizes[i]);

		want_status(n->rb,
			    rb_mget_stream(n->rb, next_key, &f, take, &f, NULL,
					   NULL),
			    RB_OK);
		assert_int_equal(f.taken, sizes[i]);
		assert_int_equal(f.nils, sizes[i] / 2);
		flow_fini(&f);
	}
}

static void test_a_sink_that_stops_ends_its_stream(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(100, 4);
	flow f = flow_of(n, 20000);

	f.halt_at = 1000;
	rbt_nodes_load(n, "key:", f.end, 2, VALUE);
	want_status(n->rb,
		    rb_mget_stream(n->rb, next_key, &f, take, &f, &o, NULL),
		    RB_ERR_CANCELLED);
	assert_in_range(f.taken, 1000, f.end - 1);
	assert_true(f.given < f.end);
	flow_fini(&f);
	/* In step: the next one is fine. */
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, VALUE);
}

static void test_a_source_that_stops_has_all_it_gave_taken(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	flow f = flow_of(n, 20000);

	f.stop_at = 7777;
	rbt_nodes_load(n, "key:", f.end, 2, VALUE);
	want_status(n->rb,
		    rb_mget_stream(n->rb, next_key, &f, take, &f, NULL, NULL),
		    RB_ERR_CANCELLED);
	assert_int_equal(f.given, 7777);
	assert_int_equal(f.taken, 7777);
	flow_fini(&f);
}

/* ---------------------------------------------------------------- writing -- */

static void test_pairs_of_a_stream_reach_their_nodes(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_options o = rbt_options(0, 0);
	flow f = flow_of(n, 50000);

	o.on_chunk = report;
	o.on_chunk_arg = &f;
	rbt_nodes_load(n, "key:", f.end, 0, VALUE);
	want_status(n->rb, rb_mset_stream(n->rb, next_pair, &f, &o, &stats),
		    RB_OK);
	assert_int_equal(f.given, f.end);
	assert_int_equal(f.reported, f.end);
	assert_int_equal(stats.keys, f.end);
	assert_int_equal(stats.redirects, 0);
	want_stored(n, 1, VALUE);
	flow_fini(&f);
}

static void test_pairs_of_a_stream_may_expire(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	flow f = flow_of(n, 3000);

	o.expire_ms = 500000;
	rbt_nodes_load(n, "key:", f.end, 0, VALUE);
	want_status(n->rb, rb_mset_stream(n->rb, next_pair, &f, &o, NULL),
		    RB_OK);
	want_stored(n, 1, VALUE);
	assert_in_range(rbt_nodes_number(n, "PTTL", n->keys.keys[2999]), 1,
			500000);
	flow_fini(&f);
}

/* --------------------------------------------------------------- commands -- */

static void test_commands_of_a_stream_are_answered_in_order(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	flow f = flow_of(n, 30000);

	rbt_nodes_load(n, "key:", f.end, 1, VALUE);
	want_status(n->rb,
		    rb_pipeline_stream(n->rb, next_command, &f, take_reply, &f,
				       NULL, NULL),
		    RB_OK);
	assert_int_equal(f.taken, f.end);
	assert_int_equal(f.failed, 0);
	flow_fini(&f);
}

static void test_errors_of_a_stream_keep_their_places(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	flow f = flow_of(n, 5000);

	f.bad_at = 10;
	rbt_nodes_load(n, "key:", f.end, 1, VALUE);
	want_status(n->rb,
		    rb_pipeline_stream(n->rb, next_command, &f, take_reply, &f,
				       NULL, NULL),
		    RB_ERR_PARTIAL);
	assert_int_equal(f.taken, f.end);
	assert_int_equal(f.failed, f.end / 10);
	flow_fini(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_a_hundred_thousand_keys_come_in_order),
		RBT_NODES(test_a_short_stream_comes_in_order),
		RBT_NODES(test_a_sink_that_stops_ends_its_stream),
		RBT_NODES(test_a_source_that_stops_has_all_it_gave_taken),
		RBT_NODES(test_pairs_of_a_stream_reach_their_nodes),
		RBT_NODES(test_pairs_of_a_stream_may_expire),
		RBT_NODES(test_commands_of_a_stream_are_answered_in_order),
		RBT_NODES(test_errors_of_a_stream_keep_their_places),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

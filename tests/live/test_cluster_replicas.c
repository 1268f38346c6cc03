/*
 * Reads that may be a little old are asked of replicas, writes never are.
 */
#include "commands.h"
#include "nodes.h"
#include "replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 3000, LEN = 30, PRIMARIES = 3, LATE_MS = 20000 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = PRIMARIES,
					       .replicas = 1,
					       .partial = true };

	return rbt_nodes_open(state, &o);
}

static rb_options reading(void)
{
	rb_options o = rbt_options(0, 0);

	o.flags = RB_READ_REPLICAS;
	return o;
}

/* Values that have come to all nodes, for a client that knows them. */
static rbt_nodes *use_loaded(void **state, size_t step)
{
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", KEYS, step, LEN);
	want_done(n, rbt_cluster_await_replicated(n->cluster, LATE_MS));
	want_status(n->rb, rb_client_connect(n->rb), RB_OK);
	rbt_nodes_reset_stats(n);
	return n;
}

static uint64_t calls_of(rbt_nodes *n, bool replicas, const char *command)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < (size_t)2 * PRIMARIES; i++)
		if ((i >= PRIMARIES) == replicas)
			sum += rbt_cluster_calls_at(n->cluster, i, command);
	return sum;
}

static uint64_t reads_of(rbt_nodes *n, bool replicas)
{
	return calls_of(n, replicas, "mget") + calls_of(n, replicas, "get");
}

static void test_replicas_answer_all_reads(void **state)
{
	rbt_nodes *n = use_loaded(state, 2);
	rb_options o = reading();

	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
	assert_int_equal(reads_of(n, false), 0);
	assert_true(reads_of(n, true) > 0);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
	/* It holds for a connection, and is said once on each. */
	assert_int_equal(rbt_cluster_calls(n->cluster, "readonly"), PRIMARIES);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	assert_int_equal(rbt_cluster_calls(n->cluster, "readonly"), PRIMARIES);
	for (size_t i = 0; i < rb_result_chunks(n->res); i++) {
		const rb_chunk *chunk = rb_result_chunk(n->res, i);
		size_t node = rbt_cluster_at_port(
			n->cluster, atoi(strrchr(chunk->node, ':') + 1));

		assert_in_range(node, PRIMARIES, 2 * PRIMARIES - 1);
	}
}

static void test_without_the_flag_no_replica_is_asked(void **state)
{
	rbt_nodes *n = use_loaded(state, 2);

	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	assert_int_equal(reads_of(n, true), 0);
	assert_int_equal(rbt_cluster_calls(n->cluster, "readonly"), 0);
}

static void test_fields_and_sizes_are_read_there_too(void **state)
{
	static const char *fields[] = { "a", "b" };
	rbt_nodes *n = use_loaded(state, 1);
	rb_options o = reading();

	o.flags |= RB_SIZE_FIRST;
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 1, LEN);
	assert_int_equal(calls_of(n, false, "strlen"), 0);
	want_done(n, rbt_cluster_do(n->cluster,
				    rbt_cluster_owner(n->cluster,
						      rbt_slot_of("hash", 4)),
				    "HSET hash a 1"));
	want_done(n, rbt_cluster_await_replicated(n->cluster, LATE_MS));
	rbt_nodes_reset_stats(n);
	o = reading();
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_hmget_chunked(n->rb, "hash", 4, fields, NULL, 2, &o,
				     &n->res),
		    RB_OK);
	want_text(n->res, 0, "1");
	want_nil(n->res, 1);
	assert_int_equal(calls_of(n, false, "hmget"), 0);
	assert_true(calls_of(n, true, "hmget") > 0);
}

static void test_writes_never_go_to_a_replica(void **state)
{
	rbt_nodes *n = use_loaded(state, 0);
	rb_options o = reading();
	rbt_commands c;
	rbt_pairs p;

	/* The connections to the replicas are there. */
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	rbt_pairs_init(&p, "key:", KEYS, LEN);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				    p.lens, KEYS, &o, &n->res),
		    RB_OK);
	rbt_pairs_fini(&p);
	want_covered(n);
	rbt_commands_init(&c);
	for (int i = 0; i < 300; i++)
		rbt_commands_add(&c, "INCR counter:%d", i);
	rbt_nodes_drop(n);
	want_status(n->rb, rb_pipeline_chunked(n->rb, c.list, c.n, &o, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_unlink_chunked(n->rb, n->keys.keys, n->keys.lens, KEYS,
				      &o, &n->res),
		    RB_OK);
	assert_int_equal(rb_result_total(n->res), KEYS);
	/* A replica sends whoever writes on to its primary. */
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
	assert_int_equal(rbt_cluster_errors(n->cluster, "READONLY"), 0);
}

static void test_primaries_serve_where_a_replica_has_died(void **state)
{
	rbt_nodes *n = use_loaded(state, 2);
	rb_options o = reading();

	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	rbt_cluster_kill(n->cluster, PRIMARIES + 1);
	rbt_nodes_reset_stats(n);
	for (int turn = 0; turn < 2; turn++) {
		want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
		want_read(n, 2, LEN);
		want_covered(n);
		/* The same for a client that knows nothing yet. */
		rbt_nodes_client(n, 0, NULL);
	}
}

static void test_primaries_serve_where_all_replicas_have_died(void **state)
{
	rbt_nodes *n = use_loaded(state, 2);
	rb_options o = reading();

	for (size_t i = 0; i < PRIMARIES; i++)
		rbt_cluster_kill(n->cluster, PRIMARIES + i);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
}

static int kill_midway(void *arg, const rb_chunk *chunk)
{
	rbt_nodes *n = arg;

	(void)chunk;
	if (rbt_cluster_runs(n->cluster, PRIMARIES))
		rbt_cluster_kill(n->cluster, PRIMARIES);
	return 0;
}

static void test_a_replica_that_dies_amid_reads_is_done_without(void **state)
{
	rbt_nodes *n = use_loaded(state, 2);
	rb_options o = rbt_options(50, 2);

	o.flags = RB_READ_REPLICAS;
	o.on_chunk = kill_midway;
	o.on_chunk_arg = n;
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
}

static void test_dropped_connections_say_readonly_again(void **state)
{
	rbt_nodes *n = use_loaded(state, 2);
	rb_options o = reading();

	for (int turn = 0; turn < 3; turn++) {
		want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
		want_read(n, 2, LEN);
		want_done(n, rbt_cluster_do_all(
				     n->cluster,
				     "CLIENT KILL TYPE normal SKIPME yes"));
	}
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
}

/* A replica knows nothing of a key that is on its way. */
static void test_a_slot_that_moves_is_read_all_the_same(void **state)
{
	rbt_nodes *n = use_loaded(state, 1);
	rb_options o = reading();
	unsigned slot = rbt_slot_of(n->keys.keys[0], n->keys.lens[0]);
	size_t owner = rbt_cluster_owner(n->cluster, slot);

	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_done(n,
		  rbt_cluster_move(n->cluster, slot, (owner + 1) % PRIMARIES));
	want_done(n, rbt_cluster_await_replicated(n->cluster, LATE_MS));
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 1, LEN);
	want_covered(n);
}

/* ---------------------------------------------------------------- streams -- */

typedef struct flow {
	const rbt_keys *keys;
	size_t given, taken;
} flow;

static int next_key(void *arg, rb_slice *key)
{
	flow *f = arg;

	if (f->given == f->keys->n)
		return 0;
	key->data = f->keys->keys[f->given];
	key->len = f->keys->lens[f->given++];
	return 1;
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	flow *f = arg;

	(void)keys;
	assert_int_equal(first, f->taken);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(statuses[i], RB_OK);
		assert_true(rbt_value_is(values[i].data, values[i].len, LEN,
					 first + i));
	}
	f->taken += n;
	return 0;
}

static void test_a_stream_is_read_from_replicas(void **state)
{
	rbt_nodes *n = use_loaded(state, 1);
	rb_options o = reading();
	flow f = { &n->keys, 0, 0 };

	want_status(n->rb,
		    rb_mget_stream(n->rb, next_key, &f, take, &f, &o, NULL),
		    RB_OK);
	assert_int_equal(f.taken, KEYS);
	assert_int_equal(reads_of(n, false), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_replicas_answer_all_reads),
		RBT_NODES(test_without_the_flag_no_replica_is_asked),
		RBT_NODES(test_fields_and_sizes_are_read_there_too),
		RBT_NODES(test_writes_never_go_to_a_replica),
		RBT_NODES(test_primaries_serve_where_a_replica_has_died),
		RBT_NODES(test_primaries_serve_where_all_replicas_have_died),
		RBT_NODES(test_a_replica_that_dies_amid_reads_is_done_without),
		RBT_NODES(test_dropped_connections_say_readonly_again),
		RBT_NODES(test_a_slot_that_moves_is_read_all_the_same),
		RBT_NODES(test_a_stream_is_read_from_replicas),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

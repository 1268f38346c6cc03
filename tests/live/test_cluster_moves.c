/*
 * Slots that have moved since the client looked: MOVED, and what follows.
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

enum { KEYS = 2000, LEN = 30, ROUNDS = 200 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3,
					       .partial = true };

	return rbt_nodes_open(state, &o);
}

static unsigned slot_of_key(const rbt_nodes *n, size_t i)
{
	return rbt_slot_of(n->keys.keys[i], n->keys.lens[i]);
}

/* To the node behind its own. */
static size_t move_slot(rbt_nodes *n, unsigned slot)
{
	size_t to = (rbt_cluster_owner(n->cluster, slot) + 1) % 3;

	want_done(n, rbt_cluster_move(n->cluster, slot, to));
	return to;
}

static rb_stats stats_of(const rbt_nodes *n)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(n->res, &stats), RB_OK);
	return stats;
}

static uint64_t count_reads(rbt_nodes *n)
{
	return rbt_cluster_calls(n->cluster, "mget") +
	       rbt_cluster_calls(n->cluster, "get");
}

/* The client has a map, by so many reads; then the slot of key 0 is another
 * node's. */
static unsigned make_stale(rbt_nodes *n, uint64_t *reads)
{
	unsigned slot;

	rbt_nodes_load(n, "key:", KEYS, 2, LEN);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	slot = slot_of_key(n, 0);
	if (reads)
		*reads = count_reads(n);
	move_slot(n, slot);
	rbt_nodes_reset_stats(n);
	return slot;
}

static size_t keys_in_slot(const rbt_nodes *n, unsigned slot)
{
	size_t count = 0;

	for (size_t i = 0; i < n->keys.n; i++)
		count += slot_of_key(n, i) == slot;
	return count;
}

/* ----------------------------------------------------------------- reads -- */

static void test_only_the_moved_slot_is_asked_for_again(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	uint64_t moved, reads = 0;
	unsigned slot = make_stale(n, &reads);

	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
	moved = rbt_cluster_errors(n->cluster, "MOVED");
	assert_in_range(moved, 1, keys_in_slot(n, slot));
	assert_true(stats_of(n).redirects > 0);
	/* What was refused is no call of a node; the rest was called once. */
	assert_int_equal(count_reads(n), reads);
}

static void test_the_second_call_knows_the_way(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	make_stale(n, NULL);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	rbt_nodes_reset_stats(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
	assert_int_equal(stats_of(n).redirects, 0);
}

static void test_many_moved_slots_cost_few_looks_at_the_map(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", KEYS, 2, LEN);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	for (size_t i = 0; i < 60; i++)
		move_slot(n, slot_of_key(n, i));
	rbt_nodes_reset_stats(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
	assert_in_range(rbt_cluster_calls(n->cluster, "cluster|slots"), 0, 4);
	rbt_nodes_reset_stats(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
}

static void test_a_hash_that_moved_is_found(void **state)
{
	static const char *fields[] = { "a", "b" };
	rbt_nodes *n = rbt_nodes_use(state);
	unsigned slot = rbt_slot_of("hash", 4);

	for (int turn = 0; turn < 3; turn++) {
		want_done(n, rbt_cluster_do(n->cluster,
					    rbt_cluster_owner(n->cluster, slot),
					    "HSET hash a 1"));
		rbt_nodes_drop(n);
		want_status(n->rb,
			    rb_hmget_chunked(n->rb, "hash", 4, fields, NULL, 2,
					     NULL, &n->res),
			    RB_OK);
		want_text(n->res, 0, "1");
		want_nil(n->res, 1);
		move_slot(n, slot);
	}
}

static void test_sizes_are_asked_for_where_the_slot_went(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);

	o.flags = RB_SIZE_FIRST;
	make_stale(n, NULL);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
}

/* ---------------------------------------------------------------- writes -- */

static void test_pairs_go_where_the_slot_went(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_pairs p;

	make_stale(n, NULL);
	rbt_pairs_init(&p, "key:", KEYS, LEN);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				    p.lens, KEYS, NULL, &n->res),
		    RB_OK);
	rbt_pairs_fini(&p);
	for (size_t i = 0; i < KEYS; i++)
		want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
	want_stored(n, 1, LEN);
	assert_true(rbt_cluster_errors(n->cluster, "MOVED") > 0);
}

static void test_keys_that_moved_are_counted_once(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	make_stale(n, NULL);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_exists_chunked(n->rb, n->keys.keys, n->keys.lens, KEYS,
				      NULL, &n->res),
		    RB_OK);
	assert_int_equal(rb_result_total(n->res), KEYS / 2);
	move_slot(n, slot_of_key(n, 0));
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_unlink_chunked(n->rb, n->keys.keys, n->keys.lens, KEYS,
				      NULL, &n->res),
		    RB_OK);
	assert_int_equal(rb_result_total(n->res), KEYS / 2);
	want_covered(n);
	want_stored(n, 0, LEN);
}

static void test_a_transaction_goes_where_the_slot_went(void **state)
{
	static const char *const lines[] = { "SET {t}a 1", "INCR {t}a",
					     "GET {t}a" };
	rbt_nodes *n = rbt_nodes_use(state);

	for (int turn = 0; turn < 3; turn++) {
		rbt_commands c;

		rbt_commands_init(&c);
		rbt_commands_lines(&c, lines, 3);
		rbt_nodes_drop(n);
		want_status(n->rb,
			    rb_transaction(n->rb, c.list, c.n, NULL, &n->res),
			    RB_OK);
		rbt_commands_fini(&c);
		want_reply(n->res, 0, "+OK");
		want_reply(n->res, 1, ":2");
		want_reply(n->res, 2, "\"2\"");
		move_slot(n, rbt_slot_of("t", 1));
	}
}

/* -------------------------------------------------------------- pipelines -- */

static void test_a_group_in_a_pipeline_moves_as_a_whole(void **state)
{
	static const char *const lines[] = { "MULTI", "INCR {t}a", "INCR {t}a",
					     "EXEC", "GET {t}a" };
	rbt_nodes *n = rbt_nodes_use(state);
	char want[32];

	for (int turn = 0; turn < 3; turn++) {
		rbt_commands c;

		rbt_commands_init(&c);
		rbt_commands_lines(&c, lines, 5);
		rbt_nodes_drop(n);
		want_status(
			n->rb,
			rb_pipeline_chunked(n->rb, c.list, c.n, NULL, &n->res),
			RB_OK);
		rbt_commands_fini(&c);
		want_reply(n->res, 0, "+OK");
		want_reply(n->res, 1, "+QUEUED");
		want_reply(n->res, 2, "+QUEUED");
		snprintf(want, sizeof(want), "[:%d, :%d]", 2 * turn + 1,
			 2 * turn + 2);
		want_reply(n->res, 3, want);
		snprintf(want, sizeof(want), "\"%d\"", 2 * turn + 2);
		want_reply(n->res, 4, want);
		move_slot(n, rbt_slot_of("t", 1));
	}
}

/* Two writes and a read of one key, to a node that has it no more. */
static void run_round(rbt_nodes *n, const rb_options *o, size_t round)
{
	rbt_commands c;
	char want[32];

	rbt_commands_init(&c);
	for (int i = 1; i <= 2; i++)
		rbt_commands_add(&c, "SET k0 %zu.%d", round, i);
	rbt_commands_add(&c, "GET k0");
	rbt_nodes_drop(n);
	want_status(n->rb, rb_pipeline_chunked(n->rb, c.list, c.n, o, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	want_reply(n->res, 0, "+OK");
	want_reply(n->res, 1, "+OK");
	snprintf(want, sizeof(want), "\"%zu.2\"", round);
	want_reply(n->res, 2, want);
	want_covered(n);
}

static void play_rounds(rbt_nodes *n, const rb_options *o)
{
	unsigned slot = rbt_slot_of("k0", 2);
	char want[32], got[32];

	for (size_t round = 0; round < ROUNDS; round++) {
		run_round(n, o, round);
		snprintf(want, sizeof(want), "%zu.2", round);
		rbt_nodes_get(n, "k0", got, sizeof(got));
		assert_string_equal(got, want);
		move_slot(n, slot);
	}
	/* They did go to the wrong node first. */
	assert_true(rbt_cluster_errors(n->cluster, "MOVED") > ROUNDS / 2);
}

static void test_redirects_keep_the_order_of_a_key(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	play_rounds(n, NULL);
}

static void test_redirects_keep_the_order_over_chunks(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(1, 8);

	play_rounds(n, &o);
}

static void test_redirects_keep_the_order_over_connections(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(1, 8);

	o.connections = 4;
	rbt_nodes_client(n, 0, &o);
	play_rounds(n, NULL);
}

/* -------------------------------------------------------------- endpoints -- */

/* False, with words: the servers are too old to do so. */
static bool hide_hosts(rbt_nodes *n)
{
	if (rbt_cluster_do_all(n->cluster,
			       "CONFIG SET cluster-preferred-endpoint-type "
			       "unknown-endpoint"))
		return true;
	print_message("%s\n", rbt_cluster_why(n->cluster));
	return false;
}

static void test_a_host_that_is_not_named_is_the_one_that_answers(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	if (!hide_hosts(n))
		skip();
	rbt_nodes_client(n, 1, NULL);
	rbt_nodes_load(n, "key:", KEYS, 2, LEN);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	move_slot(n, slot_of_key(n, 0));
	rbt_nodes_reset_stats(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
	assert_true(rbt_cluster_errors(n->cluster, "MOVED") > 0);
}

/* ------------------------------------------------------------- uncovered -- */

static void test_a_slot_of_nobody_fails_by_itself(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	size_t at = 0;

	o.failover_ms = 1000;
	rbt_nodes_client(n, 0, &o);
	rbt_nodes_load(n, "k", KEYS, 2, LEN);
	/* A key whose slot will be nobody's, and no other's. */
	while (keys_in_slot(n, slot_of_key(n, at)) > 1)
		at++;
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_done(n, rbt_cluster_uncover(n->cluster, slot_of_key(n, at),
					 slot_of_key(n, at)));
	for (int turn = 0; turn < 2; turn++) {
		want_status(n->rb, rbt_nodes_read(n, NULL), RB_ERR_PARTIAL);
		want_refused(n->res, at, "CLUSTERDOWN");
		assert_int_equal(rb_result_failed(n->res), 1);
		for (size_t i = 0; i < KEYS; i++)
			if (i != at && i % 2 == 0)
				want_filled(n->res, i, LEN, i);
			else if (i != at)
				want_nil(n->res, i);
		want_covered(n);
		/* A client that has not seen it before fares the same. */
		rbt_nodes_client(n, 0, &o);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_only_the_moved_slot_is_asked_for_again),
		RBT_NODES(test_the_second_call_knows_the_way),
		RBT_NODES(test_many_moved_slots_cost_few_looks_at_the_map),
		RBT_NODES(test_a_hash_that_moved_is_found),
		RBT_NODES(test_sizes_are_asked_for_where_the_slot_went),
		RBT_NODES(test_pairs_go_where_the_slot_went),
		RBT_NODES(test_keys_that_moved_are_counted_once),
		RBT_NODES(test_a_transaction_goes_where_the_slot_went),
		RBT_NODES(test_a_group_in_a_pipeline_moves_as_a_whole),
		RBT_NODES(test_redirects_keep_the_order_of_a_key),
		RBT_NODES(test_redirects_keep_the_order_over_chunks),
		RBT_NODES(test_redirects_keep_the_order_over_connections),
		RBT_NODES(
			test_a_host_that_is_not_named_is_the_one_that_answers),
		RBT_NODES(test_a_slot_of_nobody_fails_by_itself),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

/*
 * Several connections to each node: everything is as with one, only that there
 * are more of them.
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

enum { KEYS = 10000, LEN = 30, LANES = 4 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

static rbt_nodes *use_lanes(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);

	o.connections = LANES;
	rbt_nodes_client(n, 0, &o);
	return n;
}

/* Clients that have sent one of these commands last. */
static size_t count_clients(rbt_nodes *n, size_t node, const char *command)
{
	redisReply *reply = rbt_cluster_ask(n->cluster, node, "CLIENT LIST");
	char words[32];
	size_t count = 0;

	assert_non_null(reply);
	snprintf(words, sizeof(words), " cmd=%s ", command);
	for (const char *at = strstr(reply->str, words); at;
	     at = strstr(at + 1, words))
		count++;
	freeReplyObject(reply);
	return count;
}

static void test_values_come_over_all_connections(void **state)
{
	rbt_nodes *n = use_lanes(state);

	rbt_nodes_load(n, "key:", KEYS, 2, LEN);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(count_clients(n, i, "mget") +
					 count_clients(n, i, "get"),
				 LANES);
}

static void test_pairs_go_over_all_connections(void **state)
{
	rbt_nodes *n = use_lanes(state);
	rbt_pairs p;

	rbt_nodes_load(n, "key:", KEYS, 0, LEN);
	rbt_pairs_init(&p, "key:", KEYS, LEN);
	want_status(n->rb,
		    rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				    p.lens, KEYS, NULL, &n->res),
		    RB_OK);
	rbt_pairs_fini(&p);
	for (size_t i = 0; i < KEYS; i++)
		want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
	want_stored(n, 1, LEN);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(count_clients(n, i, "mset") +
					 count_clients(n, i, "set"),
				 LANES);
}

/* Whatever connection a key has, it is always the same. */
static void test_commands_to_one_key_keep_their_order(void **state)
{
	enum { COUNTERS = 40, TURNS = 100 };
	rbt_nodes *n = use_lanes(state);
	rb_options o = rbt_options(16, 4);
	rbt_commands c;
	char want[16];

	rbt_commands_init(&c);
	for (int turn = 0; turn < TURNS; turn++)
		for (int k = 0; k < COUNTERS; k++)
			rbt_commands_add(&c, "INCR counter:%d", k);
	want_status(n->rb, rb_pipeline_chunked(n->rb, c.list, c.n, &o, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < (size_t)COUNTERS * TURNS; i++) {
		snprintf(want, sizeof(want), ":%zu", i / COUNTERS + 1);
		want_reply(n->res, i, want);
	}
	want_covered(n);
}

static void test_the_last_value_of_a_key_wins(void **state)
{
	enum { PAIRS = 4000, DISTINCT = 20 };
	static char texts[PAIRS][8];
	rbt_nodes *n = use_lanes(state);
	rb_options o = rbt_options(4, 8);
	const char *keys[PAIRS], *values[PAIRS];
	char got[16];

	rbt_nodes_load(n, "key:", DISTINCT, 0, 0);
	for (size_t i = 0; i < PAIRS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%zu", i);
		keys[i] = n->keys.keys[i % DISTINCT];
		values[i] = texts[i];
	}
	want_status(n->rb,
		    rb_mset_chunked(n->rb, keys, NULL, values, NULL, PAIRS, &o,
				    &n->res),
		    RB_OK);
	for (size_t k = 0; k < DISTINCT; k++) {
		rbt_nodes_get(n, n->keys.keys[k], got, sizeof(got));
		assert_string_equal(got, texts[PAIRS - DISTINCT + k]);
	}
}

static void test_dropped_connections_are_all_made_anew(void **state)
{
	rbt_nodes *n = use_lanes(state);

	rbt_nodes_load(n, "key:", KEYS, 2, LEN);
	for (int turn = 0; turn < 3; turn++) {
		want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
		want_read(n, 2, LEN);
		want_done(n, rbt_cluster_do_all(
				     n->cluster,
				     "CLIENT KILL TYPE normal SKIPME yes"));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_values_come_over_all_connections),
		RBT_NODES(test_pairs_go_over_all_connections),
		RBT_NODES(test_commands_to_one_key_keep_their_order),
		RBT_NODES(test_the_last_value_of_a_key_wins),
		RBT_NODES(test_dropped_connections_are_all_made_anew),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

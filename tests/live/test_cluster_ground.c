/*
 * The ground that the tests of clusters stand on: nodes do what those tests
 * take for granted, without the library.
 */
#include "nodes.h"
#include "nodes_mend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { SLOT = 100, LATE_MS = 20000 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3,
					       .replicas = 1,
					       .node_timeout_ms = 1000,
					       .partial = true };

	return rbt_nodes_open(state, &o);
}

/* What the node says to a command: the text of an error or a status. */
static void want_said(rbt_nodes *n, size_t node, const char *words,
		      const char *command)
{
	redisReply *reply = rbt_cluster_ask(n->cluster, node, command);
	char said[256] = "(nothing)";

	if (reply && reply->str)
		snprintf(said, sizeof(said), "%s", reply->str);
	if (reply)
		freeReplyObject(reply);
	want_words(said, words);
}

/* Two keys in the slot: "{tag}a" with a value, and the line of a command. */
static void make_line(char *out, size_t size, const char *format)
{
	char tag[32];

	rbt_slot_tag(SLOT, tag, sizeof(tag));
	snprintf(out, size, format, tag, tag);
}

static void test_slots_are_those_of_the_specification(void **state)
{
	static const struct {
		const char *key;
		unsigned slot;
	} rows[] = {
		{ "", 0 },
		{ "123456789", 12739 },
		{ "{}", 15257 },
		{ "{a", 10276 },
		{ "foo{}{bar}", 8363 },
		{ "foo{{bar}}zap", 4015 },
		{ "foo{bar}{zap}", 5061 },
		{ "}{a}", 15495 },
		{ "{user1000}.following", 3443 },
		{ "a}b{c}d", 7365 },
	};
	rbt_nodes *n = rbt_nodes_bare(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		redisReply *reply = rbt_cluster_ask(
			n->cluster, 0, "CLUSTER KEYSLOT %s", rows[i].key);

		assert_non_null(reply);
		assert_int_equal(reply->integer, rows[i].slot);
		freeReplyObject(reply);
		assert_int_equal(rbt_slot_of(rows[i].key, strlen(rows[i].key)),
				 rows[i].slot);
	}
}

static void test_a_moved_slot_is_answered_by_the_way_to_it(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	char words[64], get[64], key[48];

	make_line(key, sizeof(key), "%sa");
	make_line(get, sizeof(get), "GET %sa");
	rbt_nodes_set(n, key, "v");
	assert_int_equal(rbt_cluster_owner(n->cluster, SLOT), 0);
	want_done(n, rbt_cluster_move(n->cluster, SLOT, 2));
	assert_int_equal(rbt_cluster_owner(n->cluster, SLOT), 2);
	rbt_nodes_reset_stats(n);
	snprintf(words, sizeof(words), "MOVED %d 127.0.0.1:%d", SLOT,
		 rbt_cluster_port(n->cluster, 2));
	want_said(n, 0, words, get);
	want_said(n, 1, words, get);
	want_said(n, 2, "v", get);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 2);
	assert_int_equal(rbt_cluster_calls(n->cluster, "get"), 1);
}

static void test_an_open_slot_asks_and_says_try_again(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	char words[64], get[64], mget[96], mset[96], key[48];

	make_line(key, sizeof(key), "%sa");
	make_line(get, sizeof(get), "GET %snew");
	make_line(mget, sizeof(mget), "MGET %sa %snew");
	make_line(mset, sizeof(mset), "MSET %sb 1 %sc 2");
	rbt_nodes_set(n, key, "v");
	want_done(n, rbt_cluster_begin_move(n->cluster, SLOT, 1));
	snprintf(words, sizeof(words), "ASK %d 127.0.0.1:%d", SLOT,
		 rbt_cluster_port(n->cluster, 1));
	want_said(n, 0, words, get);
	want_said(n, 0, "TRYAGAIN", mget);
	want_said(n, 0, words, mset);
	want_said(n, 1, "OK", "ASKING");
	want_said(n, 1, "TRYAGAIN", mset);
	/* ASKING holds for one command. */
	want_said(n, 1, "MOVED", mset);
	want_done(n, rbt_cluster_migrate_key(n->cluster, key, 1));
	make_line(get, sizeof(get), "GET %sa");
	want_said(n, 0, words, get);
	want_said(n, 1, "OK", "ASKING");
	want_said(n, 1, "v", get);
	want_done(n, rbt_cluster_abort_move(n->cluster, SLOT, 1));
	want_said(n, 0, "v", get);
}

static void test_a_cluster_is_mended_between_tests(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	char key[48];

	rbt_nodes_load(n, "key:", 5000, 3, 10);
	want_stored(n, 3, 10);
	assert_false(rbt_nodes_stored(n, 2, 10));
	want_stored(n, 3, 10);
	make_line(key, sizeof(key), "%sa");
	rbt_nodes_set(n, key, "v");
	want_done(n, rbt_cluster_begin_move(n->cluster, SLOT, 1));
	want_done(n, rbt_cluster_move(n->cluster, 8000, 2));
	want_done(n, rbt_nodes_mend(n->cluster));
	assert_int_equal(rbt_cluster_owner(n->cluster, SLOT), 0);
	assert_int_equal(rbt_cluster_owner(n->cluster, 8000), 1);
	for (size_t i = 0; i < 6; i++) {
		redisReply *reply = rbt_cluster_ask(n->cluster, i, "DBSIZE");

		assert_non_null(reply);
		assert_int_equal(reply->integer, 0);
		freeReplyObject(reply);
	}
	/* No slot is open: a new key is taken. */
	rbt_nodes_set(n, key, "w");
}

static void test_a_slot_of_nobody_is_down(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	char get[64];

	make_line(get, sizeof(get), "GET %sa");
	want_done(n, rbt_cluster_uncover(n->cluster, SLOT, SLOT + 9));
	for (size_t i = 0; i < 6; i++)
		want_said(n, i, "CLUSTERDOWN", get);
	rbt_nodes_set(n, "foo", "bar");
}

static void test_a_killed_primary_is_replaced_and_comes_back(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	char key[48], value[16];

	make_line(key, sizeof(key), "%sa");
	rbt_nodes_set(n, key, "v");
	want_done(n, rbt_cluster_await_replicated(n->cluster, LATE_MS));
	rbt_cluster_kill(n->cluster, 0);
	assert_false(rbt_cluster_runs(n->cluster, 0));
	want_done(n, rbt_cluster_await_other(n->cluster, SLOT, 0, LATE_MS));
	want_done(n, rbt_cluster_await_serving(n->cluster, LATE_MS));
	assert_int_equal(rbt_cluster_owner(n->cluster, SLOT), 3);
	rbt_nodes_get(n, key, value, sizeof(value));
	assert_string_equal(value, "v");
	want_done(n, rbt_cluster_restart(n->cluster, 0));
	want_done(n, rbt_cluster_await_ok(n->cluster, LATE_MS));
	assert_false(rbt_cluster_is_primary(n->cluster, 0));
	assert_true(rbt_cluster_is_primary(n->cluster, 3));
}

static void test_a_frozen_node_is_back_after_a_thaw(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);

	rbt_cluster_freeze(n->cluster, 4);
	assert_false(rbt_cluster_runs(n->cluster, 4));
	rbt_cluster_thaw(n->cluster, 4);
	want_done(n, rbt_cluster_await_ok(n->cluster, LATE_MS));
	want_said(n, 4, "PONG", "PING");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_slots_are_those_of_the_specification),
		RBT_NODES(test_a_moved_slot_is_answered_by_the_way_to_it),
		RBT_NODES(test_an_open_slot_asks_and_says_try_again),
		RBT_NODES(test_a_cluster_is_mended_between_tests),
		RBT_NODES(test_a_slot_of_nobody_is_down),
		RBT_NODES(test_a_killed_primary_is_replaced_and_comes_back),
		RBT_NODES(test_a_frozen_node_is_back_after_a_thaw),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

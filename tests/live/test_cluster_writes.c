/*
 * Writes to a cluster: each pair goes to the node that owns its key, and every
 * entry is told what became of it.
 */
#include "commands.h"
#include "nodes.h"
#include "nodes_mend.h"
#include "replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

typedef rb_status verb(rb_client *client, const char **keys,
		       const size_t *keylens, size_t nkeys,
		       const rb_options *opts, rb_result **out);

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

static void want_no_redirects(rbt_nodes *n)
{
	static const char *const words[] = { "MOVED", "ASK", "CROSSSLOT",
					     "TRYAGAIN" };

	for (size_t i = 0; i < COUNT(words); i++)
		assert_int_equal(rbt_cluster_errors(n->cluster, words[i]), 0);
}

/* The pairs whose keys are n->keys. */
static rb_status write_pairs(rbt_nodes *n, const rbt_pairs *p,
			     const rb_options *o)
{
	rbt_nodes_drop(n);
	return rb_mset_chunked(n->rb, p->keys.keys, p->keys.lens, p->values,
			       p->lens, p->n, o, &n->res);
}

static void make_pairs(rbt_nodes *n, rbt_pairs *p, size_t count, size_t len)
{
	rbt_nodes_load(n, "key:", count, 0, len);
	rbt_pairs_init(p, "key:", count, len);
}

static void want_all_written(rbt_nodes *n, rb_outcome outcome)
{
	for (size_t i = 0; i < rb_result_count(n->res); i++)
		want_written(n->res, i, outcome);
}

static size_t owner_of(rbt_nodes *n, const char *key)
{
	return rbt_cluster_owner(n->cluster, rbt_slot_of(key, strlen(key)));
}

/* ----------------------------------------------------------------- MSET -- */

static void test_ten_thousand_pairs_reach_their_nodes(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_pairs p;

	make_pairs(n, &p, 10000, 60);
	want_status(n->rb, write_pairs(n, &p, NULL), RB_OK);
	rbt_pairs_fini(&p);
	want_all_written(n, RB_ANSWERED);
	want_covered(n);
	want_no_redirects(n);
	want_stored(n, 1, 60);
}

static void test_small_chunks_write_the_same(void **state)
{
	static const size_t rows[][2] = { { 1, 1 }, { 3, 0 }, { 50, 4 } };
	rbt_nodes *n = rbt_nodes_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(rows[i][0], rows[i][1]);
		rbt_pairs p;

		make_pairs(n, &p, 900, 20 + i);
		want_status(n->rb, write_pairs(n, &p, &o), RB_OK);
		rbt_pairs_fini(&p);
		want_all_written(n, RB_ANSWERED);
		want_covered(n);
		want_stored(n, 1, 20 + i);
	}
}

static void test_the_last_value_of_a_key_wins(void **state)
{
	enum { DISTINCT = 40, ALL = 8000 };
	static char texts[ALL][8];
	rbt_nodes *n = rbt_nodes_use(state);
	const char **keys = calloc(ALL, sizeof(*keys));
	const char **values = calloc(ALL, sizeof(*values));
	char got[16];

	assert_true(keys && values);
	rbt_nodes_load(n, "key:", DISTINCT, 0, 0);
	for (size_t i = 0; i < ALL; i++) {
		keys[i] = n->keys.keys[i * i % 7919 % DISTINCT];
		snprintf(texts[i], sizeof(texts[i]), "%zu", i);
		values[i] = texts[i];
	}
	for (size_t chunk = 1; chunk <= 1000; chunk *= 10) {
		rb_options o = rbt_options(chunk, 0);

		rbt_nodes_drop(n);
		want_status(n->rb,
			    rb_mset_chunked(n->rb, keys, NULL, values, NULL,
					    ALL, &o, &n->res),
			    RB_OK);
		want_covered(n);
		for (size_t k = 0; k < DISTINCT; k++) {
			size_t last = ALL;

			while (last-- > 0)
				if (keys[last] == n->keys.keys[k])
					break;
			/* Not every remainder is a square's. */
			if (last == SIZE_MAX)
				continue;
			rbt_nodes_get(n, n->keys.keys[k], got, sizeof(got));
			assert_string_equal(got, texts[last]);
		}
		want_done(n, rbt_cluster_do_primaries(n->cluster, "FLUSHALL"));
	}
	free(keys);
	free(values);
}

static void test_large_values_arrive_whole(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_pairs p;

	make_pairs(n, &p, 20, 2 * MIB);
	want_status(n->rb, write_pairs(n, &p, NULL), RB_OK);
	rbt_pairs_fini(&p);
	want_all_written(n, RB_ANSWERED);
	want_stored(n, 1, 2 * MIB);
}

/* -------------------------------------------------- expiry and conditions -- */

static bool knows_msetex(rbt_nodes *n)
{
	redisReply *reply =
		rbt_cluster_ask(n->cluster, 0, "COMMAND INFO MSETEX");
	bool known = reply && reply->elements == 1 &&
		     reply->element[0]->type == REDIS_REPLY_ARRAY &&
		     reply->element[0]->elements > 0;

	if (reply)
		freeReplyObject(reply);
	return known;
}

static void test_keys_expire_whatever_the_server_knows(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	rbt_pairs p;

	o.expire_ms = 500000;
	make_pairs(n, &p, 3000, 10);
	for (int turn = 0; turn < 2; turn++) {
		want_status(n->rb, write_pairs(n, &p, &o), RB_OK);
		want_all_written(n, RB_ANSWERED);
		want_covered(n);
		want_stored(n, 1, 10);
		for (size_t i = 0; i < 3000; i += 300)
			assert_in_range(
				rbt_nodes_number(n, "PTTL", p.keys.keys[i]), 1,
				500000);
	}
	rbt_pairs_fini(&p);
	/* Nodes are asked once whether they know it. */
	if (!knows_msetex(n))
		assert_int_equal(rbt_cluster_calls(n->cluster, "set"), 6000);
	want_no_redirects(n);
}

static void test_conditions_hold_for_each_key(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	rbt_pairs p;

	make_pairs(n, &p, 900, 10);
	want_done(n, rbt_nodes_fill(n->cluster, &n->keys, 3, 10));
	o.flags = RB_IF_ABSENT;
	want_status(n->rb, write_pairs(n, &p, &o), RB_OK);
	for (size_t i = 0; i < 900; i++)
		want_written(n->res, i, i % 3 ? RB_ANSWERED : RB_REJECTED);
	want_covered(n);
	want_stored(n, 1, 10);
	want_done(n, rbt_cluster_do_primaries(n->cluster, "FLUSHALL"));
	want_done(n, rbt_nodes_fill(n->cluster, &n->keys, 3, 10));
	o.flags = RB_IF_PRESENT;
	want_status(n->rb, write_pairs(n, &p, &o), RB_OK);
	for (size_t i = 0; i < 900; i++)
		want_written(n->res, i, i % 3 ? RB_REJECTED : RB_ANSWERED);
	want_stored(n, 3, 10);
	rbt_pairs_fini(&p);
}

static void test_groups_are_made_by_slot(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	uint64_t groups;
	rbt_pairs p;

	o.flags = RB_TRANSACTION;
	make_pairs(n, &p, 500, 10);
	want_status(n->rb, write_pairs(n, &p, &o), RB_OK);
	rbt_pairs_fini(&p);
	want_all_written(n, RB_ANSWERED);
	want_covered(n);
	want_stored(n, 1, 10);
	want_no_redirects(n);
	groups = rbt_cluster_calls(n->cluster, "multi");
	assert_in_range(groups, 3, 500);
	assert_int_equal(rbt_cluster_calls(n->cluster, "exec"), groups);
}

/* ----------------------------------------------------------------- HSET -- */

static void test_fields_go_to_the_node_of_their_hash(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(100, 3);
	rbt_pairs p;

	rbt_pairs_init(&p, "f:", 950, 30);
	for (int turn = 0; turn < 2; turn++) {
		rbt_nodes_drop(n);
		want_status(n->rb,
			    rb_hset_chunked(n->rb, "hash", 4, p.keys.keys,
					    p.keys.lens, p.values, p.lens, 950,
					    &o, &n->res),
			    RB_OK);
		want_all_written(n, RB_ANSWERED);
		assert_int_equal(rb_result_total(n->res), turn ? 0 : 950);
	}
	assert_int_equal(rbt_nodes_number(n, "HLEN", "hash"), 950);
	assert_int_equal(
		rbt_cluster_calls_at(n->cluster, owner_of(n, "hash"), "hset"),
		20);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_hmget_chunked(n->rb, "hash", 4, p.keys.keys, p.keys.lens,
				     950, NULL, &n->res),
		    RB_OK);
	want_loaded(n->res, 950, 30);
	rbt_pairs_fini(&p);
	want_no_redirects(n);
}

/* ----------------------------------------------------------------- keys -- */

static void want_numbers(rbt_nodes *n, int64_t total)
{
	int64_t sum = 0;

	want_covered(n);
	for (size_t i = 0; i < rb_result_chunks(n->res); i++)
		sum += rb_result_chunk(n->res, i)->number;
	assert_int_equal(sum, total);
	assert_int_equal(rb_result_total(n->res), total);
}

static void test_unlink_exists_and_touch_count_over_nodes(void **state)
{
	static const struct {
		verb *fn;
		const char *name;
	} rows[] = {
		{ rb_exists_chunked, "exists" },
		{ rb_touch_chunked, "touch" },
		{ rb_unlink_chunked, "unlink" },
	};
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", 10000, 4, 10);
	for (size_t r = 0; r < COUNT(rows); r++) {
		rbt_nodes_drop(n);
		want_status(n->rb,
			    rows[r].fn(n->rb, n->keys.keys, n->keys.lens, 10000,
				       NULL, &n->res),
			    RB_OK);
		want_all_written(n, RB_ANSWERED);
		want_numbers(n, 2500);
		assert_true(rbt_cluster_calls(n->cluster, rows[r].name) > 0);
	}
	want_no_redirects(n);
	want_stored(n, 0, 10);
}

static void test_a_key_given_twice_counts_as_servers_count(void **state)
{
	static const char *keys[] = { "a", "{a}b", "a", "no", "a", "c" };
	static const int64_t totals[] = { 5, 5, 3 };
	static verb *const verbs[] = { rb_exists_chunked, rb_touch_chunked,
				       rb_unlink_chunked };
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_set(n, "a", "1");
	rbt_nodes_set(n, "{a}b", "2");
	rbt_nodes_set(n, "c", "3");
	for (size_t i = 0; i < COUNT(verbs); i++) {
		rbt_nodes_drop(n);
		want_status(n->rb,
			    verbs[i](n->rb, keys, NULL, 6, NULL, &n->res),
			    RB_OK);
		want_numbers(n, totals[i]);
	}
}

/* ------------------------------------------------------------- refusals -- */

/* What one node refuses is no matter of the others. */
static void test_a_node_without_memory_fails_for_itself(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	size_t fine = 0;
	rbt_pairs p;

	make_pairs(n, &p, 3000, 10);
	want_done(n, rbt_cluster_do(n->cluster, 1, "CONFIG SET maxmemory 1"));
	want_status(n->rb, write_pairs(n, &p, NULL), RB_ERR_PARTIAL);
	want_words(rb_client_error(n->rb), "OOM");
	want_done(n, rbt_cluster_do(n->cluster, 1, "CONFIG SET maxmemory 0"));
	for (size_t i = 0; i < 3000; i++) {
		rb_outcome outcome = rb_result_outcome(n->res, i);

		if (owner_of(n, p.keys.keys[i]) != 1) {
			want_written(n->res, i, RB_ANSWERED);
			fine++;
			continue;
		}
		want_failed(n->res, i, rb_result_status(n->res, i), outcome);
		want_words(rb_result_message(n->res, i), "OOM");
		assert_true(outcome == RB_REJECTED || outcome == RB_NOT_SENT);
	}
	want_covered(n);
	assert_in_range(fine, 1, 2999);
	want_status(n->rb, write_pairs(n, &p, NULL), RB_OK);
	rbt_pairs_fini(&p);
	want_stored(n, 1, 10);
}

static void test_bad_pairs_are_named_and_nothing_is_sent(void **state)
{
	static const char *keys[] = { "a", NULL }, *values[] = { "1", "2" };
	static const size_t two[] = { 1, 2 };
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_reset_stats(n);
	want_status(n->rb,
		    rb_mset_chunked(n->rb, keys, two, values, NULL, 2, NULL,
				    &n->res),
		    RB_ERR_INVALID);
	assert_null(n->res);
	want_words(rb_client_error(n->rb), "keys[1]");
	assert_int_equal(rbt_cluster_calls(n->cluster, "mset") +
				 rbt_cluster_calls(n->cluster, "set"),
			 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_ten_thousand_pairs_reach_their_nodes),
		RBT_NODES(test_small_chunks_write_the_same),
		RBT_NODES(test_the_last_value_of_a_key_wins),
		RBT_NODES(test_large_values_arrive_whole),
		RBT_NODES(test_keys_expire_whatever_the_server_knows),
		RBT_NODES(test_conditions_hold_for_each_key),
		RBT_NODES(test_groups_are_made_by_slot),
		RBT_NODES(test_fields_go_to_the_node_of_their_hash),
		RBT_NODES(test_unlink_exists_and_touch_count_over_nodes),
		RBT_NODES(test_a_key_given_twice_counts_as_servers_count),
		RBT_NODES(test_a_node_without_memory_fails_for_itself),
		RBT_NODES(test_bad_pairs_are_named_and_nothing_is_sent),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

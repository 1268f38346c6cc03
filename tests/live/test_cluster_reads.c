/*
 * Reads from a cluster: every value belongs to its key, whatever node has it.
 */
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

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

static uint64_t reads_at(rbt_nodes *n, size_t node)
{
	return rbt_cluster_calls_at(n->cluster, node, "mget") +
	       rbt_cluster_calls_at(n->cluster, node, "get");
}

static void want_no_redirects(rbt_nodes *n)
{
	static const char *const words[] = { "MOVED", "ASK", "CROSSSLOT",
					     "TRYAGAIN", "ERR" };

	for (size_t i = 0; i < COUNT(words); i++)
		assert_int_equal(rbt_cluster_errors(n->cluster, words[i]), 0);
}

static rb_status read_keys(rbt_nodes *n, const char **keys, const size_t *lens,
			   size_t count, const rb_options *o)
{
	rbt_nodes_drop(n);
	return rb_mget_chunked(n->rb, keys, lens, count, o, &n->res);
}

/* ----------------------------------------------------------------- MGET -- */

static void test_ten_thousand_keys_come_in_their_order(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", 10000, 2, 100);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 100);
	want_covered(n);
	want_no_redirects(n);
	for (size_t i = 0; i < 3; i++)
		assert_true(reads_at(n, i) > 0);
	/* Keys of one slot went together. */
	assert_true(rbt_cluster_calls(n->cluster, "mget") > 0);
}

static void test_small_chunks_and_windows_change_no_value(void **state)
{
	static const size_t rows[][2] = {
		{ 1, 1 }, { 1, 0 }, { 7, 1 }, { 7, 3 }, { 100, 64 },
	};
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", 2000, 3, 40);
	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(rows[i][0], rows[i][1]);

		want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
		want_read(n, 3, 40);
		want_covered(n);
		for (size_t k = 0; k < rb_result_chunks(n->res); k++)
			assert_in_range(rb_result_chunk(n->res, k)->count, 1,
					rows[i][0]);
	}
	want_no_redirects(n);
}

static void test_keys_may_come_more_than_once(void **state)
{
	enum { DISTINCT = 50, ALL = 6000 };
	rbt_nodes *n = rbt_nodes_use(state);
	const char **keys = calloc(ALL, sizeof(*keys));
	size_t *of = calloc(ALL, sizeof(*of));

	assert_true(keys && of);
	rbt_nodes_load(n, "key:", DISTINCT, 2, 30);
	for (size_t i = 0; i < ALL; i++) {
		of[i] = i * i % 7919 % DISTINCT;
		keys[i] = n->keys.keys[of[i]];
	}
	want_status(n->rb, read_keys(n, keys, NULL, ALL, NULL), RB_OK);
	for (size_t i = 0; i < ALL; i++)
		if (of[i] % 2 == 0)
			want_filled(n->res, i, 30, of[i]);
		else
			want_nil(n->res, i);
	want_covered(n);
	free(keys);
	free(of);
}

static void test_slots_of_one_node_are_not_mixed(void **state)
{
	static const char *keys[] = { "k2", "k3" };
	rbt_nodes *n = rbt_nodes_use(state);
	unsigned slots[2];

	for (size_t i = 0; i < 2; i++)
		slots[i] = rbt_slot_of(keys[i], 2);
	assert_int_not_equal(slots[0], slots[1]);
	assert_int_equal(rbt_cluster_owner(n->cluster, slots[0]),
			 rbt_cluster_owner(n->cluster, slots[1]));
	rbt_nodes_set(n, "k2", "two");
	rbt_nodes_set(n, "k3", "three");
	want_status(n->rb, read_keys(n, keys, NULL, 2, NULL), RB_OK);
	want_text(n->res, 0, "two");
	want_text(n->res, 1, "three");
	want_no_redirects(n);
}

static void test_every_key_is_looked_at(void **state)
{
	static const char *keys[] = { "{t}1", "{t}2", "zz" };
	rb_stats stats = { .struct_size = sizeof(stats) };
	rbt_nodes *n = rbt_nodes_use(state);

	for (size_t i = 0; i < 3; i++)
		rbt_nodes_set(n, keys[i], keys[i]);
	rbt_nodes_reset_stats(n);
	want_status(n->rb, read_keys(n, keys, NULL, 3, NULL), RB_OK);
	want_text(n->res, 0, "{t}1");
	want_text(n->res, 1, "{t}2");
	want_text(n->res, 2, "zz");
	/* Those with the same tag in one command. */
	assert_int_equal(rbt_cluster_calls(n->cluster, "mget") +
				 rbt_cluster_calls(n->cluster, "get"),
			 2);
	assert_int_equal(rb_result_stats(n->res, &stats), RB_OK);
	assert_int_equal(stats.keys, 3);
	want_covered(n);
}

static void test_keys_of_any_bytes_find_their_slots(void **state)
{
	static const struct {
		const char *key;
		size_t len;
	} rows[] = {
		{ "", 0 },
		{ "{}", 2 },
		{ "{a", 2 },
		{ "}{a}", 4 },
		{ "{a}b}c", 6 },
		{ "foo{}{bar}", 10 },
		{ "foo{{bar}}zap", 13 },
		{ "foo{bar}{zap}", 13 },
		{ "a\0b", 3 },
		{ "a\0b{t\0g}", 8 },
		{ "{\xff}x", 4 },
		{ "\xff\xfe", 2 },
		{ " ", 1 },
		{ "\r\n", 2 },
		{ "123456789", 9 },
	};
	rbt_nodes *n = rbt_nodes_use(state);
	const char *keys[COUNT(rows)];
	size_t lens[COUNT(rows)];

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t owner = rbt_cluster_owner(
			n->cluster, rbt_slot_of(rows[i].key, rows[i].len));

		keys[i] = rows[i].key;
		lens[i] = rows[i].len;
		want_done(n,
			  rbt_cluster_do(n->cluster, owner, "SET %b %b",
					 keys[i], lens[i], keys[i], lens[i]));
	}
	rbt_nodes_reset_stats(n);
	want_status(n->rb, read_keys(n, keys, lens, COUNT(rows), NULL), RB_OK);
	for (size_t i = 0; i < COUNT(rows); i++)
		want_bytes(n->res, i, keys[i], lens[i]);
	want_covered(n);
	want_no_redirects(n);
}

static void test_a_batch_may_be_empty_or_of_one_key(void **state)
{
	static const char *key = "lonely";
	rbt_nodes *n = rbt_nodes_use(state);

	want_status(n->rb, read_keys(n, NULL, NULL, 0, NULL), RB_OK);
	assert_int_equal(rb_result_count(n->res), 0);
	want_status(n->rb, read_keys(n, &key, NULL, 1, NULL), RB_OK);
	want_nil(n->res, 0);
	rbt_nodes_set(n, key, "not quite");
	want_status(n->rb, read_keys(n, &key, NULL, 1, NULL), RB_OK);
	want_text(n->res, 0, "not quite");
	want_covered(n);
}

/* A key alone in its slot is asked for as well as one among others is. */
static void test_another_type_is_nil_also_alone(void **state)
{
	static const char *keys[] = { "{t}1", "{t}list", "{t}2", "list",
				      "{u}hash" };
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_set(n, "{t}1", "1");
	rbt_nodes_set(n, "{t}2", "2");
	for (size_t i = 1; i < 5; i += 2) {
		size_t owner = rbt_cluster_owner(
			n->cluster, rbt_slot_of(keys[i], strlen(keys[i])));

		want_done(n, rbt_cluster_do(n->cluster, owner, "RPUSH %s x",
					    keys[i]));
	}
	want_done(n, rbt_cluster_do(n->cluster,
				    rbt_cluster_owner(n->cluster,
						      rbt_slot_of("{u}", 3)),
				    "HSET {u}hash f v"));
	want_status(n->rb, read_keys(n, keys, NULL, 5, NULL), RB_OK);
	want_text(n->res, 0, "1");
	want_nil(n->res, 1);
	want_text(n->res, 2, "2");
	want_nil(n->res, 3);
	want_nil(n->res, 4);
	want_covered(n);
	want_status(n->rb, read_keys(n, keys + 3, NULL, 1, NULL), RB_OK);
	want_nil(n->res, 0);
}

static void test_large_values_come_whole(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "big:", 24, 2, 2 * MIB);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 2 * MIB);
	want_covered(n);
}

static void test_a_value_past_the_bound_fails_alone(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);

	rbt_nodes_load(n, "key:", 300, 1, 100);
	want_done(n, rbt_cluster_do(
			     n->cluster,
			     rbt_cluster_owner(n->cluster,
					       rbt_slot_of(n->keys.keys[77],
							   n->keys.lens[77])),
			     "SETRANGE %s 5000 x", n->keys.keys[77]));
	o.max_value_bytes = 1000;
	want_status(n->rb, rbt_nodes_read(n, &o), RB_ERR_PARTIAL);
	assert_int_equal(rb_result_failed(n->res), 1);
	want_failed(n->res, 77, RB_ERR_LIMIT, RB_ANSWERED);
	for (size_t i = 0; i < 300; i++)
		if (i != 77)
			want_filled(n->res, i, 100, i);
	want_covered(n);
}

static void test_sizes_may_be_asked_for_first(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);

	rbt_nodes_load(n, "key:", 600, 2, 5000);
	o.flags = RB_SIZE_FIRST;
	o.chunk_reply_bytes = 20000;
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 2, 5000);
	want_covered(n);
	assert_int_equal(rbt_cluster_calls(n->cluster, "strlen"), 600);
	for (size_t i = 0; i < rb_result_chunks(n->res); i++)
		assert_in_range(rb_result_chunk(n->res, i)->reply_bytes, 1,
				20000);
	want_no_redirects(n);
}

/* ---------------------------------------------------------------- HMGET -- */

static void test_fields_of_a_hash_come_from_its_node(void **state)
{
	static const char *const hashes[] = { "h", "hash:2", "{x}3", "" };
	static const char *fields[] = { "a", "none", "b", "a" };
	rbt_nodes *n = rbt_nodes_use(state);

	for (size_t i = 0; i < COUNT(hashes); i++) {
		size_t len = strlen(hashes[i]);
		size_t owner = rbt_cluster_owner(n->cluster,
						 rbt_slot_of(hashes[i], len));

		want_done(n,
			  rbt_cluster_do(n->cluster, owner, "HSET %b a 1 b 22",
					 hashes[i], len));
		rbt_nodes_reset_stats(n);
		rbt_nodes_drop(n);
		want_status(n->rb,
			    rb_hmget_chunked(n->rb, hashes[i], len, fields,
					     NULL, 4, NULL, &n->res),
			    RB_OK);
		want_text(n->res, 0, "1");
		want_nil(n->res, 1);
		want_text(n->res, 2, "22");
		want_text(n->res, 3, "1");
		want_no_redirects(n);
		assert_true(rbt_cluster_calls_at(n->cluster, owner, "hmget") >
			    0);
	}
}

static void test_many_fields_are_cut_into_chunks(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(100, 3);

	assert_true(rbt_keys_init(&n->keys, "f:", 1000));
	want_status(n->rb,
		    rb_hmget_chunked(n->rb, "no hash", 7, n->keys.keys,
				     n->keys.lens, 1000, &o, &n->res),
		    RB_OK);
	assert_int_equal(rbt_count_nil(n->res), 1000);
	assert_int_equal(rbt_cluster_calls(n->cluster, "hmget"), 10);
	want_no_redirects(n);
}

static void test_what_is_no_hash_refuses_its_fields(void **state)
{
	static const char *fields[] = { "a", "b" };
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_set(n, "text", "t");
	want_status(n->rb,
		    rb_hmget_chunked(n->rb, "text", 4, fields, NULL, 2, NULL,
				     &n->res),
		    RB_ERR_PARTIAL);
	for (size_t i = 0; i < 2; i++)
		want_refused(n->res, i, "WRONGTYPE");
}

/* ---------------------------------------------------------------- seeds -- */

static void test_one_seed_leads_to_all_nodes(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", 500, 2, 10);
	rbt_nodes_client(n, 1, NULL);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 10);
	want_no_redirects(n);
}

static void test_a_seed_that_is_gone_is_passed_over(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	/* Nobody listens on port 1. */
	rbt_nodes_load(n, "key:", 500, 2, 10);
	rbt_nodes_client_of(n, NULL, "redis+cluster://127.0.0.1:1,127.0.0.1:%d",
			    rbt_cluster_port(n->cluster, 1));
	want_status(n->rb, rb_client_connect(n->rb), RB_OK);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 10);
}

static void test_without_any_node_there_is_no_result(void **state)
{
	static const char *key = "k";
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_client_of(n, NULL, "redis+cluster://127.0.0.1:1");
	want_status(n->rb, read_keys(n, &key, NULL, 1, NULL), RB_ERR_CONNECT);
	assert_null(n->res);
	want_words(rb_client_error(n->rb), "127.0.0.1:1");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_ten_thousand_keys_come_in_their_order),
		RBT_NODES(test_small_chunks_and_windows_change_no_value),
		RBT_NODES(test_keys_may_come_more_than_once),
		RBT_NODES(test_slots_of_one_node_are_not_mixed),
		RBT_NODES(test_every_key_is_looked_at),
		RBT_NODES(test_keys_of_any_bytes_find_their_slots),
		RBT_NODES(test_a_batch_may_be_empty_or_of_one_key),
		RBT_NODES(test_another_type_is_nil_also_alone),
		RBT_NODES(test_large_values_come_whole),
		RBT_NODES(test_a_value_past_the_bound_fails_alone),
		RBT_NODES(test_sizes_may_be_asked_for_first),
		RBT_NODES(test_fields_of_a_hash_come_from_its_node),
		RBT_NODES(test_many_fields_are_cut_into_chunks),
		RBT_NODES(test_what_is_no_hash_refuses_its_fields),
		RBT_NODES(test_one_seed_leads_to_all_nodes),
		RBT_NODES(test_a_seed_that_is_gone_is_passed_over),
		RBT_NODES(test_without_any_node_there_is_no_result),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

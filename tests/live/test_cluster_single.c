/*
 * One process with all slots, as a cluster and as one plain server, which it is
 * not: it refuses keys of several slots in one command.
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

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { KEYS = 5000, LEN = 40, MOST_CROSSED = 70 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 1 };

	return rbt_nodes_open(state, &o);
}

static const char *const schemes[] = { "redis+cluster", "redis" };

static rbt_nodes *use_as(void **state, const char *scheme,
			 const rb_options *defaults)
{
	rbt_nodes *n = rbt_nodes_bare(state);

	rbt_nodes_client_of(n, defaults, "%s://127.0.0.1:%d", scheme,
			    rbt_cluster_port(n->cluster, 0));
	return n;
}

static rb_status write_all(rbt_nodes *n, const rb_options *o)
{
	rbt_pairs p;
	rb_status status;

	rbt_nodes_drop(n);
	rbt_pairs_init(&p, "key:", KEYS, LEN);
	status = rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				 p.lens, KEYS, o, &n->res);
	rbt_pairs_fini(&p);
	return status;
}

static void test_values_come_either_way(void **state)
{
	for (size_t i = 0; i < COUNT(schemes); i++) {
		rbt_nodes *n = use_as(state, schemes[i], NULL);

		rbt_nodes_load(n, "key:", KEYS, 2, LEN);
		for (int turn = 0; turn < 2; turn++) {
			want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
			want_read(n, 2, LEN);
		}
		assert_in_range(rbt_cluster_errors(n->cluster, "CROSSSLOT"), 0,
				i * MOST_CROSSED);
	}
}

static void test_pairs_are_written_either_way(void **state)
{
	static const uint32_t flags[] = { 0, RB_TRANSACTION, RB_IF_ABSENT };

	for (size_t i = 0; i < COUNT(schemes); i++)
		for (size_t k = 0; k < COUNT(flags); k++) {
			rb_options o = rbt_options(0, 0);
			rbt_nodes *n = use_as(state, schemes[i], NULL);

			o.flags = flags[k];
			rbt_nodes_load(n, "key:", KEYS, 0, LEN);
			want_status(n->rb, write_all(n, &o), RB_OK);
			for (size_t e = 0; e < KEYS; e++)
				want_written(n->res, e, RB_ANSWERED);
			want_stored(n, 1, LEN);
			want_done(n, rbt_cluster_do(n->cluster, 0, "FLUSHALL"));
		}
}

static void test_pairs_expire_either_way(void **state)
{
	rb_options o = rbt_options(0, 0);

	o.expire_ms = 500000;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		rbt_nodes *n = use_as(state, schemes[i], NULL);

		rbt_nodes_load(n, "key:", KEYS, 0, LEN);
		want_status(n->rb, write_all(n, &o), RB_OK);
		want_stored(n, 1, LEN);
		assert_in_range(rbt_nodes_number(n, "PTTL", n->keys.keys[7]), 1,
				500000);
		want_done(n, rbt_cluster_do(n->cluster, 0, "FLUSHALL"));
	}
}

static void test_keys_are_removed_either_way(void **state)
{
	for (size_t i = 0; i < COUNT(schemes); i++) {
		rbt_nodes *n = use_as(state, schemes[i], NULL);

		rbt_nodes_load(n, "key:", KEYS, 5, LEN);
		rbt_nodes_drop(n);
		want_status(n->rb,
			    rb_unlink_chunked(n->rb, n->keys.keys, n->keys.lens,
					      KEYS, NULL, &n->res),
			    RB_OK);
		assert_int_equal(rb_result_total(n->res), KEYS / 5);
		want_stored(n, 0, LEN);
	}
}

/* It does not know its own address before another node has told it. */
static void test_a_node_without_a_name_is_found_again(void **state)
{
	rbt_nodes *n = use_as(state, "redis+cluster", NULL);

	rbt_nodes_load(n, "key:", KEYS, 2, LEN);
	for (int turn = 0; turn < 3; turn++) {
		want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
		want_read(n, 2, LEN);
		want_covered(n);
		want_done(n, rbt_cluster_do_all(
				     n->cluster,
				     "CLIENT KILL TYPE normal SKIPME yes"));
	}
}

/* ---------------------------------------------------------- no cluster -- */

static void test_a_server_that_is_none_says_so(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	rbt_server *plain = rbt_server_start(NULL);
	const char *key = "k";
	rb_status status;

	assert_non_null(plain);
	rbt_nodes_client_of(n, NULL, "redis+cluster://127.0.0.1:%d",
			    rbt_server_port(plain));
	status = rb_mget_chunked(n->rb, &key, NULL, 1, NULL, &n->res);
	rbt_server_stop(plain);
	assert_int_not_equal(status, RB_OK);
	assert_int_not_equal(status, RB_ERR_TIMEOUT);
	want_words(rb_client_error(n->rb), "cluster support disabled");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_values_come_either_way),
		RBT_NODES(test_pairs_are_written_either_way),
		RBT_NODES(test_pairs_expire_either_way),
		RBT_NODES(test_keys_are_removed_either_way),
		RBT_NODES(test_a_node_without_a_name_is_found_again),
		RBT_NODES(test_a_server_that_is_none_says_so),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

/*
 * Every node of a cluster wants to know who comes.
 */
#include "nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3,
					       .user = "alice",
					       .password = "open/sesame" };

	return rbt_nodes_open(state, &o);
}

static void open_as(rbt_nodes *n, const char *who)
{
	rbt_nodes_client_of(n, NULL, "redis+cluster://%s127.0.0.1:%d", who,
			    rbt_cluster_port(n->cluster, 0));
}

static void test_every_node_is_told_who_comes(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);

	open_as(n, "alice:open%2Fsesame@");
	rbt_nodes_load(n, "key:", 1000, 2, 20);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 20);
	want_covered(n);
	assert_int_equal(rbt_cluster_errors(n->cluster, "NOAUTH"), 0);
}

static void test_dropped_connections_log_in_again(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);

	open_as(n, "alice:open%2Fsesame@");
	rbt_nodes_load(n, "key:", 1000, 2, 20);
	for (int turn = 0; turn < 3; turn++) {
		want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
		want_read(n, 2, 20);
		want_done(n, rbt_cluster_do_all(
				     n->cluster,
				     "CLIENT KILL TYPE normal SKIPME yes"));
	}
}

static void test_a_node_met_by_a_redirect_is_told_too(void **state)
{
	static const char *key = "foo";
	rbt_nodes *n = rbt_nodes_bare(state);

	open_as(n, "alice:open%2Fsesame@");
	rbt_nodes_set(n, key, "bar");
	for (size_t to = 0; to < 3; to++) {
		rbt_nodes_drop(n);
		want_status(
			n->rb,
			rb_mget_chunked(n->rb, &key, NULL, 1, NULL, &n->res),
			RB_OK);
		want_text(n->res, 0, "bar");
		if (rbt_cluster_owner(n->cluster, 12182) != to)
			want_done(n, rbt_cluster_move(n->cluster, 12182, to));
	}
}

static void test_who_is_not_let_in_is_told_so(void **state)
{
	static const struct {
		const char *who, *words;
	} rows[] = {
		{ "", "NOAUTH" },
		{ "alice:wrong%2Fsesame@", "WRONGPASS" },
		{ "bob:open%2Fsesame@", "WRONGPASS" },
		{ ":open%2Fsesame@", "WRONGPASS" },
	};
	rbt_nodes *n = rbt_nodes_bare(state);

	assert_true(rbt_keys_init(&n->keys, "key:", 10));
	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_status status;

		open_as(n, rows[i].who);
		status = rbt_nodes_read(n, NULL);
		if (status != RB_ERR_CONNECT && status != RB_ERR_SERVER)
			fail_msg("\"%s\": %s", rows[i].who,
				 rb_status_text(status));
		want_words(rb_client_error(n->rb), rows[i].words);
		want_no_words(rb_client_error(n->rb), "sesame");
		for (size_t k = 0; k < rb_result_count(n->res); k++)
			assert_int_not_equal(rb_result_status(n->res, k),
					     RB_OK);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_every_node_is_told_who_comes),
		RBT_NODES(test_dropped_connections_log_in_again),
		RBT_NODES(test_a_node_met_by_a_redirect_is_told_too),
		RBT_NODES(test_who_is_not_let_in_is_told_so),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

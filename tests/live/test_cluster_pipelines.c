/*
 * Commands of any kind to a cluster: each goes where its keys are, and what
 * one node cannot do is told by the node.
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

typedef rb_status call(rb_client *client, const rb_command *commands,
		       size_t ncommands, const rb_options *opts,
		       rb_result **out);

typedef struct line {
	const char *command;
	const char *reply; /* NULL: any but an error */
} line;

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

static rb_status run_lines(rbt_nodes *n, call *fn, const line *lines,
			   size_t count, const rb_options *o)
{
	rbt_commands c;
	rb_status status;

	rbt_nodes_drop(n);
	rbt_commands_init(&c);
	for (size_t i = 0; i < count; i++)
		rbt_commands_add(&c, "%s", lines[i].command);
	status = fn(n->rb, c.list, c.n, o, &n->res);
	rbt_commands_fini(&c);
	return status;
}

#define RUN(n, lines, o) \
	run_lines((n), rb_pipeline_chunked, (lines), COUNT(lines), (o))
#define RUN_GROUP(n, lines, o) \
	run_lines((n), rb_transaction, (lines), COUNT(lines), (o))

static void want_replies(rbt_nodes *n, const line *lines, size_t count)
{
	assert_int_equal(rb_result_count(n->res), count);
	for (size_t i = 0; i < count; i++)
		if (lines[i].reply)
			want_reply(n->res, i, lines[i].reply);
		else
			assert_int_equal(rb_result_status(n->res, i), RB_OK);
	want_covered(n);
}

static void want_no_redirects(rbt_nodes *n)
{
	static const char *const words[] = { "MOVED", "ASK", "CROSSSLOT",
					     "TRYAGAIN" };

	for (size_t i = 0; i < COUNT(words); i++)
		assert_int_equal(rbt_cluster_errors(n->cluster, words[i]), 0);
}

/* ---------------------------------------------------------------- by key -- */

static void test_each_command_goes_to_the_node_of_its_key(void **state)
{
	static const line lines[] = {
		{ "SET k1 v", "+OK" },
		{ "GET k1", "\"v\"" },
		{ "INCR k2", ":1" },
		{ "RPUSH k3 a b", ":2" },
		{ "LRANGE k3 0 -1", "[\"a\", \"b\"]" },
		{ "HSET k4 f v", ":1" },
		{ "HGETALL k4", NULL },
		{ "SADD k5 m", ":1" },
		{ "ZADD k6 1 m", ":1" },
		{ "ZSCORE k6 m", NULL },
		{ "XADD k7 1-1 f v", "\"1-1\"" },
		{ "SETBIT k8 7 1", ":0" },
		{ "PFADD k9 a", ":1" },
		{ "GEOADD k10 1 1 m", ":1" },
		{ "EXPIRE k1 100", ":1" },
		{ "TYPE k3", "+list" },
		{ "DEL k1 {k1}x", ":1" },
		{ "get k2", "\"1\"" },
	};
	rbt_nodes *n = rbt_nodes_use(state);

	want_status(n->rb, RUN(n, lines, NULL), RB_OK);
	want_replies(n, lines, COUNT(lines));
	want_no_redirects(n);
}

/* Where the first key is not behind the name. */
static void test_keys_are_found_where_they_stand(void **state)
{
	static const line lines[] = {
		{ "SET {t}a 1", "+OK" },
		{ "SET {t}b 2", "+OK" },
		{ "EVAL return{KEYS[1],KEYS[2],ARGV[1]} 2 {t}a {t}b x",
		  "[\"{t}a\", \"{t}b\", \"x\"]" },
		{ "ZADD {t}z 1 m", ":1" },
		{ "ZUNIONSTORE {t}u 2 {t}z {t}none", ":1" },
		{ "BITOP OR {t}o {t}a {t}b", ":1" },
		{ "OBJECT ENCODING {t}a", "\"int\"" },
		{ "MEMORY USAGE {t}a", NULL },
		{ "XADD {t}s 1-1 f v", "\"1-1\"" },
		{ "XGROUP CREATE {t}s g 0", "+OK" },
		{ "XREADGROUP GROUP g me COUNT 1 STREAMS {t}s >", NULL },
		{ "XREAD COUNT 1 STREAMS {t}s 0", NULL },
		{ "XINFO STREAM {t}s", NULL },
		{ "SORT {t}l", "[]" },
		{ "RENAME {t}a {t}c", "+OK" },
		{ "MGET {t}a {t}b {t}c", "[nil, \"2\", \"1\"]" },
		{ "MSET {t}a 5 {t}b 6", "+OK" },
		{ "EXISTS {t}a {t}b {t}x", ":2" },
		{ "ZINTER 2 {t}z {t}u", "[\"m\"]" },
	};
	rbt_nodes *n = rbt_nodes_use(state);

	want_status(n->rb, RUN(n, lines, NULL), RB_OK);
	want_replies(n, lines, COUNT(lines));
	assert_int_equal(rbt_cluster_errors(n->cluster, "CROSSSLOT"), 0);
}

static void test_commands_without_a_key_are_answered_once(void **state)
{
	static const line lines[] = {
		{ "PING", "+PONG" },	   { "ECHO hello", "\"hello\"" },
		{ "SET k1 1", "+OK" },	   { "PING pong", "\"pong\"" },
		{ "TIME", NULL },	   { "GET k1", "\"1\"" },
		{ "COMMAND COUNT", NULL },
	};
	rbt_nodes *n = rbt_nodes_use(state);

	want_status(n->rb, RUN(n, lines, NULL), RB_OK);
	want_replies(n, lines, COUNT(lines));
	assert_int_equal(rbt_cluster_calls(n->cluster, "echo"), 1);
	want_no_redirects(n);
}

static void test_commands_to_one_key_keep_their_order(void **state)
{
	enum { KEYS = 50, TURNS = 100 };
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(64, 8);
	rbt_commands c;
	char want[16];

	rbt_commands_init(&c);
	for (int turn = 0; turn < TURNS; turn++)
		for (int k = 0; k < KEYS; k++)
			rbt_commands_add(&c, "INCR counter:%d", k);
	want_status(n->rb, rb_pipeline_chunked(n->rb, c.list, c.n, &o, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < (size_t)KEYS * TURNS; i++) {
		snprintf(want, sizeof(want), ":%zu", i / KEYS + 1);
		want_reply(n->res, i, want);
	}
	want_covered(n);
	want_no_redirects(n);
}

static void test_ten_thousand_commands_are_answered_in_order(void **state)
{
	rb_stats stats = { .struct_size = sizeof(stats) };
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_commands c;
	char want[32];

	rbt_commands_init(&c);
	for (int i = 0; i < 5000; i++) {
		rbt_commands_add(&c, "SET key:%d %d", i, i);
		rbt_commands_add(&c, "GET key:%d", i);
	}
	want_status(n->rb,
		    rb_pipeline_chunked(n->rb, c.list, c.n, NULL, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < 5000; i++) {
		want_reply(n->res, 2 * i, "+OK");
		snprintf(want, sizeof(want), "\"%zu\"", i);
		want_reply(n->res, 2 * i + 1, want);
	}
	want_covered(n);
	assert_int_equal(rb_result_stats(n->res, &stats), RB_OK);
	assert_int_equal(stats.keys, 10000);
	assert_int_equal(stats.redirects, 0);
	want_no_redirects(n);
}

/* ---------------------------------------------------------------- errors -- */

static void test_an_error_is_that_commands_own(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_commands c;

	rbt_commands_init(&c);
	for (int i = 0; i < 300; i++)
		rbt_commands_add(&c,
				 i % 3 == 0 ? "SET k%d text" :
				 i % 3 == 1 ? "LPUSH k%d x" :
					      "GET k%d",
				 i / 3);
	want_status(n->rb,
		    rb_pipeline_chunked(n->rb, c.list, c.n, NULL, &n->res),
		    RB_ERR_PARTIAL);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < 300; i += 3) {
		want_reply(n->res, i, "+OK");
		want_refused(n->res, i + 1, "WRONGTYPE");
		want_reply(n->res, i + 2, "\"text\"");
	}
	want_covered(n);
}

static void test_what_no_server_knows_is_told_by_one(void **state)
{
	static const line lines[] = { { "SET k1 1", "+OK" },
				      { "NOSUCHCOMMAND k1", NULL },
				      { "GET", NULL },
				      { "GET k1", "\"1\"" } };
	rbt_nodes *n = rbt_nodes_use(state);

	want_status(n->rb, RUN(n, lines, NULL), RB_ERR_PARTIAL);
	want_reply(n->res, 0, "+OK");
	want_refused(n->res, 1, "unknown command");
	want_refused(n->res, 2, "wrong number of arguments");
	want_reply(n->res, 3, "\"1\"");
	want_covered(n);
}

/* It sets all or none: in two slots nobody can do that. */
static void test_keys_of_two_slots_are_refused_by_name(void **state)
{
	static const line lines[] = { { "SET before 1", "+OK" },
				      { "MSETNX one 1 two 2", NULL },
				      { "SET after 1", "+OK" },
				      { "MSETNX {t}1 1 {t}2 2", ":1" },
				      { "SINTERSTORE d s1 s2", NULL },
				      { "DEL before after", NULL },
				      { "MGET before after none", NULL } };
	static const size_t crossed[] = { 1, 4, 5, 6 };
	rbt_nodes *n = rbt_nodes_use(state);
	char got[16];

	want_status(n->rb, RUN(n, lines, NULL), RB_ERR_PARTIAL);
	for (size_t i = 0; i < COUNT(crossed); i++)
		want_refused(n->res, crossed[i], "CROSSSLOT");
	for (size_t i = 0; i < 4; i++)
		if (lines[i].reply)
			want_reply(n->res, i, lines[i].reply);
	want_covered(n);
	rbt_nodes_get(n, "one", got, sizeof(got));
	assert_string_equal(got, "(nil)");
	rbt_nodes_get(n, "two", got, sizeof(got));
	assert_string_equal(got, "(nil)");
	rbt_nodes_get(n, "before", got, sizeof(got));
	assert_string_equal(got, "1");
}

static void test_what_answers_more_than_once_is_refused(void **state)
{
	static const line lines[] = { { "SET k1 1", NULL },
				      { "SUBSCRIBE channel", NULL } };
	rbt_nodes *n = rbt_nodes_use(state);

	want_status(n->rb, RUN(n, lines, NULL), RB_ERR_INVALID);
	assert_null(n->res);
	assert_int_equal(rbt_cluster_calls(n->cluster, "set"), 0);
}

/* ---------------------------------------------------------------- groups -- */

static void test_a_group_in_a_pipeline_stays_together(void **state)
{
	static const line lines[] = {
		{ "SET k1 1", "+OK" },	     { "MULTI", "+OK" },
		{ "SET {t}a 1", "+QUEUED" }, { "INCR {t}b", "+QUEUED" },
		{ "EXEC", "[+OK, :1]" },     { "INCR k1", ":2" },
		{ "MULTI", "+OK" },	     { "INCR {u}a", "+QUEUED" },
		{ "DISCARD", "+OK" },	     { "GET {u}a", "nil" },
		{ "MULTI", "+OK" },	     { "EXEC", "[]" },
		{ "GET {t}a", "\"1\"" },
	};
	rbt_nodes *n = rbt_nodes_use(state);

	for (size_t chunk = 1; chunk <= 100; chunk *= 10) {
		rb_options o = rbt_options(chunk, 4);

		want_status(n->rb, RUN(n, lines, &o), RB_OK);
		want_replies(n, lines, COUNT(lines));
		want_done(n, rbt_cluster_do_primaries(n->cluster, "FLUSHALL"));
	}
	want_no_redirects(n);
}

static void test_a_group_over_two_slots_is_not_half_done(void **state)
{
	static const line lines[] = { { "MULTI", NULL },
				      { "SET one 1", NULL },
				      { "SET two 2", NULL },
				      { "EXEC", NULL } };
	rbt_nodes *n = rbt_nodes_use(state);
	char got[16];

	assert_int_not_equal(RUN(n, lines, NULL), RB_OK);
	rbt_nodes_get(n, "one", got, sizeof(got));
	assert_string_equal(got, "(nil)");
	rbt_nodes_get(n, "two", got, sizeof(got));
	assert_string_equal(got, "(nil)");
}

static void test_a_transaction_of_one_slot_is_applied(void **state)
{
	static const line lines[] = { { "SET {t}a 1", "+OK" },
				      { "INCR {t}a", ":2" },
				      { "MGET {t}a {t}b", "[\"2\", nil]" },
				      { "PING", "+PONG" } };
	rbt_nodes *n = rbt_nodes_use(state);
	size_t owner = rbt_cluster_owner(n->cluster, rbt_slot_of("t", 1));

	want_status(n->rb, RUN_GROUP(n, lines, NULL), RB_OK);
	want_replies(n, lines, COUNT(lines));
	assert_int_equal(rbt_cluster_calls_at(n->cluster, owner, "exec"), 1);
	assert_int_equal(rbt_cluster_calls(n->cluster, "exec"), 1);
	want_no_redirects(n);
}

static void test_a_transaction_of_two_slots_is_never_sent(void **state)
{
	static const line over[] = { { "SET one 1", NULL },
				     { "SET two 2", NULL } };
	static const line within[] = { { "PING", NULL },
				       { "MSET one 1 two 2", NULL } };
	rbt_nodes *n = rbt_nodes_use(state);

	want_status(n->rb, rb_client_connect(n->rb), RB_OK);
	rbt_nodes_reset_stats(n);
	want_status(n->rb, RUN_GROUP(n, over, NULL), RB_ERR_INVALID);
	assert_null(n->res);
	want_words(rb_client_error(n->rb), "slot");
	assert_int_equal(rbt_cluster_calls(n->cluster, "multi"), 0);
	assert_int_equal(rbt_cluster_calls(n->cluster, "set"), 0);
	/* What a command has besides its first key is for the node to see. */
	want_status(n->rb, RUN_GROUP(n, within, NULL), RB_ERR_SERVER);
	want_words(rb_client_error(n->rb), "CROSSSLOT");
	assert_int_equal(rb_result_outcome(n->res, 0), RB_REJECTED);
	assert_int_equal(rbt_cluster_calls(n->cluster, "mset"), 0);
}

static void test_a_pipeline_of_one_slot_may_be_transactions(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(10, 2);
	rbt_commands c;
	char want[16];

	o.flags = RB_TRANSACTION;
	rbt_commands_init(&c);
	for (int i = 0; i < 100; i++)
		rbt_commands_add(&c, "INCR {t}x");
	want_status(n->rb, rb_pipeline_chunked(n->rb, c.list, c.n, &o, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < 100; i++) {
		snprintf(want, sizeof(want), ":%zu", i + 1);
		want_reply(n->res, i, want);
	}
	assert_int_equal(rbt_cluster_calls(n->cluster, "exec"), 10);
	want_covered(n);
}

/* -------------------------------------------------------------- collected -- */

static void test_a_collected_pipeline_runs_again(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_pipeline *p = NULL;
	char want[16];

	assert_int_equal(rb_pipeline_new(&p, n->rb), RB_OK);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rb_pipeline_append(p, "INCR k%d", i), RB_OK);
	for (int turn = 1; turn <= 3; turn++) {
		rbt_nodes_drop(n);
		want_status(n->rb, rb_pipeline_run(p, NULL, &n->res), RB_OK);
		snprintf(want, sizeof(want), ":%d", turn);
		for (size_t i = 0; i < 100; i++)
			want_reply(n->res, i, want);
	}
	rb_pipeline_free(p);
	want_covered(n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_each_command_goes_to_the_node_of_its_key),
		RBT_NODES(test_keys_are_found_where_they_stand),
		RBT_NODES(test_commands_without_a_key_are_answered_once),
		RBT_NODES(test_commands_to_one_key_keep_their_order),
		RBT_NODES(test_ten_thousand_commands_are_answered_in_order),
		RBT_NODES(test_an_error_is_that_commands_own),
		RBT_NODES(test_what_no_server_knows_is_told_by_one),
		RBT_NODES(test_keys_of_two_slots_are_refused_by_name),
		RBT_NODES(test_what_answers_more_than_once_is_refused),
		RBT_NODES(test_a_group_in_a_pipeline_stays_together),
		RBT_NODES(test_a_group_over_two_slots_is_not_half_done),
		RBT_NODES(test_a_transaction_of_one_slot_is_applied),
		RBT_NODES(test_a_transaction_of_two_slots_is_never_sent),
		RBT_NODES(test_a_pipeline_of_one_slot_may_be_transactions),
		RBT_NODES(test_a_collected_pipeline_runs_again),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

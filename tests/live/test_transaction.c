/*
 * All or nothing: groups of commands, and chunks of writes, between MULTI and
 * EXEC.
 */
#include "commands.h"
#include "live.h"
#include "replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WRONGTYPE \
	"WRONGTYPE Operation against a key holding the wrong kind of value"

typedef rb_status call(rb_client *client, const rb_command *commands,
		       size_t ncommands, const rb_options *opts,
		       rb_result **out);

static rb_status run(rbt_live *live, call *fn, const char *const *lines,
		     size_t n, const rb_options *o)
{
	rbt_commands c;
	rb_status status;

	rbt_live_drop(live);
	rbt_commands_init(&c);
	rbt_commands_lines(&c, lines, n);
	status = fn(live->rb, c.list, c.n, o, &live->res);
	rbt_commands_fini(&c);
	return status;
}

#define RUN(live, lines, o) \
	run((live), rb_transaction, (lines), COUNT(lines), (o))

static rb_stats stats_of(const rbt_live *live)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	return stats;
}

/* ---------------------------------------------------------- one group -- */

static void test_a_group_is_applied_and_answered(void **state)
{
	static const char *const lines[] = { "SET a 1",	  "INCR a",
					     "GET a",	  "HSET h f v",
					     "HGETALL h", "GET nokey" };
	rbt_live *live = rbt_live_use(state);
	const rb_chunk *chunk;

	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
	want_reply(live->res, 0, "+OK");
	want_reply(live->res, 1, ":2");
	want_reply(live->res, 2, "\"2\"");
	want_reply(live->res, 3, ":1");
	want_reply(live->res, 4, "[\"f\", \"v\"]");
	want_reply(live->res, 5, "nil");
	assert_int_equal(rb_result_chunks(live->res), 1);
	want_chunk(live->res, 0, 6, RB_OK, RB_ANSWERED);
	assert_int_equal(stats_of(live).commands, 8);
	assert_int_equal(stats_of(live).keys, 6);
	assert_int_equal(stats_of(live).round_trips, 1);
	chunk = rb_result_chunk(live->res, 0);
	assert_int_equal(stats_of(live).request_bytes, chunk->request_bytes);
	assert_int_equal(stats_of(live).reply_bytes, chunk->reply_bytes);
	assert_int_equal(rbt_live_calls(live, "multi"), 1);
	assert_int_equal(rbt_live_calls(live, "exec"), 1);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_an_empty_group_is_fine_and_sends_nothing(void **state)
{
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb,
		    rb_transaction(live->rb, NULL, 0, NULL, &live->res), RB_OK);
	assert_int_equal(rb_result_count(live->res), 0);
	assert_int_equal(rb_result_chunks(live->res), 0);
	assert_int_equal(rbt_live_calls(live, "multi"), 0);
	rbt_want_pong(live->ctx);
}

static void test_a_command_refused_when_queued_aborts_all(void **state)
{
	static const char *const lines[] = { "SET a 1", "NOSUCH x", "SET b 2",
					     "GET", "SET c 3" };
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb, RUN(live, lines, NULL), RB_ERR_SERVER);
	for (size_t i = 0; i < 5; i++) {
		want_refused(live->res, i,
			     i == 1 ? "unknown command" :
			     i == 3 ? "wrong number of arguments" :
				      "EXECABORT");
		assert_null(rb_result_reply(live->res, i));
	}
	want_chunk(live->res, 0, 5, RB_ERR_SERVER, RB_REJECTED);
	want_words(rb_client_error(live->rb), "EXECABORT");
	want_words(rb_client_error(live->rb), "unknown command");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	assert_int_equal(rb_result_failed(live->res), 5);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_an_error_inside_exec_undoes_nothing(void **state)
{
	static const char *const lines[] = { "SET a 1", "LPUSH a x", "INCR a",
					     "HGET a f" };
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb, RUN(live, lines, NULL), RB_ERR_PARTIAL);
	want_reply(live->res, 0, "+OK");
	want_reply(live->res, 1, "-" WRONGTYPE);
	want_reply(live->res, 2, ":2");
	want_reply(live->res, 3, "-" WRONGTYPE);
	want_chunk(live->res, 0, 4, RB_ERR_PARTIAL, RB_PARTLY);
	assert_int_equal(rb_result_failed(live->res), 2);
	want_words(rb_client_error(live->rb), "WRONGTYPE");
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_a_changed_key_under_watch_applies_nothing(void **state)
{
	static const char *const lines[] = { "SET a 1", "SET b 2" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->ctx, "WATCH w");
	rbt_do(live->admin, "SET w changed");
	want_status(live->rb, RUN(live, lines, NULL), RB_ERR_SERVER);
	want_refused(live->res, 0, "watched");
	want_refused(live->res, 1, "watched");
	assert_null(rb_result_reply(live->res, 0));
	want_chunk(live->res, 0, 2, RB_ERR_SERVER, RB_REJECTED);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a b"), 0);
	want_sound(live->res);
	/* EXEC has ended the watch. */
	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a b"), 2);
	/* One that is not changed is no hindrance. */
	rbt_do(live->ctx, "WATCH w");
	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
}

static void test_a_group_past_the_bounds_is_refused_and_not_split(void **state)
{
	static const char *const lines[] = { "SET a 1", "SET b 2", "SET c 3" };
	rbt_live *live = rbt_live_use(state);
	/* MULTI, EXEC, and "*3" "$3" "SET" "$1" "a" "$1" "1" each. */
	const size_t bytes = 15 + 14 + 3 * (4 + 4 + 5 + 4 + 3 + 4 + 3);
	rb_options o = rbt_options(2, 0);

	want_status(live->rb, RUN(live, lines, &o), RB_ERR_LIMIT);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), "chunk_keys");
	o.chunk_keys = 3;
	o.chunk_request_bytes = bytes - 1;
	want_status(live->rb, RUN(live, lines, &o), RB_ERR_LIMIT);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), "chunk_request_bytes");
	assert_int_equal(rbt_live_calls(live, "multi"), 0);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	o.chunk_request_bytes = bytes;
	want_status(live->rb, RUN(live, lines, &o), RB_OK);
	assert_int_equal(rb_result_chunk(live->res, 0)->request_bytes, bytes);
}

/* The values seen before would cut it, if it could be cut. */
static void test_a_group_is_not_split_by_the_size_of_its_answers(void **state)
{
	static const char *const lines[] = { "GET big", "GET big", "GET big" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 1);

	rbt_live_load(live, 1, 100000);
	rbt_do(live->admin, "COPY %s big", live->keys.keys[0]);
	o.chunk_reply_bytes = 100;
	o.window_reply_bytes = 100;
	for (int i = 0; i < 3; i++) {
		want_status(live->rb, RUN(live, lines, &o), RB_OK);
		assert_int_equal(rb_result_chunks(live->res), 1);
		for (size_t k = 0; k < 3; k++)
			want_filled(live->res, k, 100000, 0);
	}
	assert_int_equal(rbt_live_calls(live, "exec"), 3);
}

static void test_a_caller_inside_multi_gets_no_transaction(void **state)
{
	static const char *const lines[] = { "SET a 1", "SET b 2" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->ctx, "MULTI");
	rbt_do(live->ctx, "SET own 1");
	want_status(live->rb, RUN(live, lines, NULL), RB_ERR_SERVER);
	want_failed(live->res, 0, RB_ERR_SERVER, RB_UNKNOWN);
	want_failed(live->res, 1, RB_ERR_SERVER, RB_UNKNOWN);
	want_words(rb_client_error(live->rb), "MULTI");
	want_sound(live->res);
	rbt_want_pong(live->ctx);
	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
}

static void test_multi_and_exec_inside_a_transaction_are_refused(void **state)
{
	static const char *const words[] = { "MULTI", "exec", "Discard",
					     "SUBSCRIBE c", "QUIT" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	o.flags = RB_TRANSACTION;
	for (size_t i = 0; i < COUNT(words); i++) {
		const char *lines[] = { "SET a 1", words[i], "SET b 1" };

		want_status(live->rb, RUN(live, lines, NULL), RB_ERR_INVALID);
		assert_null(live->res);
		want_words(rb_client_error(live->rb), "commands[1]");
		want_status(live->rb,
			    run(live, rb_pipeline_chunked, lines, 3, &o),
			    RB_ERR_INVALID);
		assert_null(live->res);
		want_words(rb_client_error(live->rb), "commands[1]");
	}
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	rbt_want_pong(live->ctx);
}

static void test_bad_commands_of_a_group_are_named(void **state)
{
	static const char *set[] = { "SET", "a", "1" };
	rbt_live *live = rbt_live_use(state);
	rb_command commands[] = { { 3, set, NULL }, { 0, set, NULL } };
	rb_options o = rbt_options(0, 0);

	want_status(live->rb,
		    rb_transaction(live->rb, commands, 2, NULL, &live->res),
		    RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "commands[1]");
	want_status(live->rb,
		    rb_transaction(live->rb, NULL, 2, NULL, &live->res),
		    RB_ERR_INVALID);
	want_status(live->rb, rb_transaction(live->rb, commands, 1, NULL, NULL),
		    RB_ERR_INVALID);
	o.max_value_bytes = 2;
	want_status(live->rb,
		    rb_transaction(live->rb, commands, 1, &o, &live->res),
		    RB_ERR_LIMIT);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
}

static void test_a_reply_past_the_limit_inside_exec_fails_alone(void **state)
{
	static const char *const lines[] = { "GET big", "GET small" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	rbt_do(live->admin, "MSET big 12345678901 small 1");
	o.max_value_bytes = 10;
	want_status(live->rb, RUN(live, lines, &o), RB_ERR_PARTIAL);
	want_failed(live->res, 0, RB_ERR_LIMIT, RB_ANSWERED);
	want_reply(live->res, 1, "\"1\"");
	rbt_want_pong(live->ctx);
}

/* -------------------------------------------------------- RB_TRANSACTION -- */

static rb_status do_mset(rbt_live *live, const rbt_pairs *p,
			 const rb_options *o)
{
	return rb_mset_chunked(live->rb, p->keys.keys, p->keys.lens, p->values,
			       p->lens, p->n, o, &live->res);
}

static rb_status do_hset(rbt_live *live, const rbt_pairs *p,
			 const rb_options *o)
{
	return rb_hset_chunked(live->rb, "hash", 4, p->keys.keys, p->keys.lens,
			       p->values, p->lens, p->n, o, &live->res);
}

static rb_status do_unlink(rbt_live *live, const rbt_pairs *p,
			   const rb_options *o)
{
	return rb_unlink_chunked(live->rb, p->keys.keys, p->keys.lens, p->n, o,
				 &live->res);
}

static rb_status do_pipeline(rbt_live *live, const rbt_pairs *p,
			     const rb_options *o)
{
	rbt_commands c;
	rb_status status;

	rbt_commands_init(&c);
	for (size_t i = 0; i < p->n; i++)
		rbt_commands_add(&c, "SET %s v", p->keys.keys[i]);
	status = rb_pipeline_chunked(live->rb, c.list, c.n, o, &live->res);
	rbt_commands_fini(&c);
	return status;
}

static void test_each_chunk_is_a_transaction_and_billed_as_one(void **state)
{
	static const struct {
		rb_status (*fn)(rbt_live *live, const rbt_pairs *p,
				const rb_options *o);
		uint32_t flags;
		uint64_t expire_ms;
		size_t commands; /* of 25 entries in 3 chunks */
	} rows[] = {
		{ do_mset, 0, 0, 3 * 3 },
		{ do_mset, RB_IF_ABSENT, 0, 25 + 6 },
		{ do_mset, RB_IF_PRESENT, 90000, 25 + 6 },
		{ do_hset, 0, 0, 3 * 3 },
		{ do_unlink, 0, 0, 3 * 3 },
		{ do_pipeline, 0, 0, 25 + 6 },
	};
	rbt_live *live = rbt_live_use(state);
	rbt_pairs p;

	rbt_pairs_init(&p, "k", 25, 5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(10, 2);

		rbt_do(live->admin, "FLUSHALL");
		rbt_do(live->admin, "CONFIG RESETSTAT");
		if (rows[i].flags == RB_IF_PRESENT || rows[i].fn == do_unlink) {
			want_status(live->rb, do_mset(live, &p, NULL), RB_OK);
			rbt_live_drop(live);
		}
		o.flags = RB_TRANSACTION | rows[i].flags;
		o.expire_ms = rows[i].expire_ms;
		want_status(live->rb, rows[i].fn(live, &p, &o), RB_OK);
		assert_int_equal(rb_result_chunks(live->res), 3);
		want_chunk(live->res, 2, 5, RB_OK, RB_ANSWERED);
		assert_int_equal(rbt_live_calls(live, "multi"), 3);
		assert_int_equal(rbt_live_calls(live, "exec"), 3);
		assert_int_equal(stats_of(live).commands, rows[i].commands);
		assert_int_equal(stats_of(live).keys, 25);
		if (rows[i].fn == do_hset || rows[i].fn == do_unlink)
			assert_int_equal(rb_result_total(live->res), 25);
		for (size_t k = 0; k < 25; k++)
			assert_int_equal(rb_result_outcome(live->res, k),
					 RB_ANSWERED);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"),
				 rows[i].fn == do_hset	 ? 1 :
				 rows[i].fn == do_unlink ? 0 :
							   25);
		want_sound(live->res);
		rbt_live_drop(live);
		rbt_want_pong(live->ctx);
	}
	rbt_pairs_fini(&p);
}

static void test_conditions_inside_a_transaction_are_per_key(void **state)
{
	static const char *keys[] = { "a", "b", "c" },
			  *values[] = { "1", "2", "3" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	rbt_do(live->admin, "SET b old");
	o.flags = RB_TRANSACTION | RB_IF_ABSENT;
	want_status(live->rb,
		    rb_mset_chunked(live->rb, keys, NULL, values, NULL, 3, &o,
				    &live->res),
		    RB_OK);
	want_written(live->res, 0, RB_ANSWERED);
	want_written(live->res, 1, RB_REJECTED);
	want_written(live->res, 2, RB_ANSWERED);
	want_chunk(live->res, 0, 3, RB_OK, RB_PARTLY);
}

static void test_reads_take_no_notice_of_the_flag(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(7, 2);

	o.flags = RB_TRANSACTION;
	rbt_live_load(live, 20, 5);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 20, 5);
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_exists_chunked(live->rb, live->keys.keys,
				      live->keys.lens, 20, &o, &live->res),
		    RB_OK);
	assert_int_equal(rb_result_total(live->res), 20);
	assert_int_equal(rbt_live_calls(live, "multi"), 0);
}

static void test_a_chunk_that_aborts_leaves_the_others_applied(void **state)
{
	static const char *const lines[] = {
		"SET a 1", "SET b 1", "SET c 1",
		"NOSUCH",  "SET d 1", "LPUSH d x"
	};
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 3);

	o.flags = RB_TRANSACTION;
	want_status(live->rb, run(live, rb_pipeline_chunked, lines, 6, &o),
		    RB_ERR_PARTIAL);
	want_chunk(live->res, 0, 2, RB_OK, RB_ANSWERED);
	want_chunk(live->res, 1, 2, RB_ERR_SERVER, RB_REJECTED);
	want_chunk(live->res, 2, 2, RB_ERR_PARTIAL, RB_PARTLY);
	want_refused(live->res, 2, "EXECABORT");
	want_refused(live->res, 3, "unknown command");
	want_reply(live->res, 4, "+OK");
	want_reply(live->res, 5, "-" WRONGTYPE);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a b c d"), 3);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_hset_of_another_type_fails_inside_its_transaction(void **state)
{
	static const char *fields[] = { "f" }, *values[] = { "v" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	rbt_do(live->admin, "SET text v");
	o.flags = RB_TRANSACTION;
	want_status(live->rb,
		    rb_hset_chunked(live->rb, "text", 4, fields, NULL, values,
				    NULL, 1, &o, &live->res),
		    RB_ERR_PARTIAL);
	want_refused(live->res, 0, "WRONGTYPE");
	want_chunk(live->res, 0, 1, RB_ERR_SERVER, RB_REJECTED);
	rbt_want_pong(live->ctx);
}

static void test_a_server_without_memory_aborts_the_transaction(void **state)
{
	static const char *keys[] = { "a", "b" }, *values[] = { "1", "2" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 1);

	o.flags = RB_TRANSACTION;
	rbt_do(live->admin, "CONFIG SET maxmemory 1");
	assert_int_not_equal(rb_mset_chunked(live->rb, keys, NULL, values, NULL,
					     2, &o, &live->res),
			     RB_OK);
	want_refused(live->res, 0, "OOM");
	assert_int_equal(rb_result_failed(live->res), 2);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_group_is_applied_and_answered),
		RBT_LIVE(test_an_empty_group_is_fine_and_sends_nothing),
		RBT_LIVE(test_a_command_refused_when_queued_aborts_all),
		RBT_LIVE(test_an_error_inside_exec_undoes_nothing),
		RBT_LIVE(test_a_changed_key_under_watch_applies_nothing),
		RBT_LIVE(test_a_group_past_the_bounds_is_refused_and_not_split),
		RBT_LIVE(test_a_group_is_not_split_by_the_size_of_its_answers),
		RBT_LIVE(test_a_caller_inside_multi_gets_no_transaction),
		RBT_LIVE(test_multi_and_exec_inside_a_transaction_are_refused),
		RBT_LIVE(test_bad_commands_of_a_group_are_named),
		RBT_LIVE(test_a_reply_past_the_limit_inside_exec_fails_alone),
		RBT_LIVE(test_each_chunk_is_a_transaction_and_billed_as_one),
		RBT_LIVE(test_conditions_inside_a_transaction_are_per_key),
		RBT_LIVE(test_reads_take_no_notice_of_the_flag),
		RBT_LIVE(test_a_chunk_that_aborts_leaves_the_others_applied),
		RBT_LIVE(
			test_hset_of_another_type_fails_inside_its_transaction),
		RBT_LIVE(test_a_server_without_memory_aborts_the_transaction),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

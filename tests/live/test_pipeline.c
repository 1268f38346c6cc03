/*
 * Commands of any kind, and the reply to each.
 */
#define _XOPEN_SOURCE 700 /* setitimer */

#include "commands.h"
#include "live.h"
#include "patience.h"
#include "replies.h"
#include "tick.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WRONGTYPE \
	"WRONGTYPE Operation against a key holding the wrong kind of value"

static rb_status run(rbt_live *live, const char *const *lines, size_t n,
		     const rb_options *o)
{
	rbt_commands c;
	rb_status status;

	rbt_live_drop(live);
	rbt_commands_init(&c);
	rbt_commands_lines(&c, lines, n);
	status = rb_pipeline_chunked(live->rb, c.list, c.n, o, &live->res);
	rbt_commands_fini(&c);
	return status;
}

#define RUN(live, lines, o) run((live), (lines), COUNT(lines), (o))

/* ---------------------------------------------------------------- order -- */

static void test_every_reply_stands_where_its_command_stood(void **state)
{
	static const struct {
		size_t keys, window;
	} rows[] = { { 1, 1 }, { 1, 64 }, { 7, 3 }, { 1000, 0 }, { 0, 0 } };
	rbt_live *live = rbt_live_use(state);
	char text[64];

	for (size_t r = 0; r < COUNT(rows); r++) {
		rb_options o = rbt_options(rows[r].keys, rows[r].window);
		rbt_commands c;

		rbt_commands_init(&c);
		for (size_t i = 0; i < 3000; i++) {
			if (i % 3 == 0)
				rbt_commands_add(&c, "ECHO e%zu", i);
			else if (i % 3 == 1)
				rbt_commands_add(&c, "INCRBY n%zu:%zu %zu", r,
						 i, i);
			else
				rbt_commands_add(&c, "GET nothing%zu", i);
		}
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_pipeline_chunked(live->rb, c.list, c.n, &o,
						&live->res),
			    RB_OK);
		rbt_commands_fini(&c);
		for (size_t i = 0; i < 3000; i++) {
			snprintf(text, sizeof(text),
				 i % 3 == 0 ? "\"e%zu\"" :
				 i % 3 == 1 ? ":%zu" :
					      "nil",
				 i);
			want_reply(live->res, i, text);
		}
		want_sound(live->res);
		rbt_want_pong(live->ctx);
	}
}

static void test_a_batch_is_cut_by_commands(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);
	rb_stats stats = { .struct_size = sizeof(stats) };
	rbt_commands c;

	rbt_commands_init(&c);
	for (size_t i = 0; i < 95; i++)
		rbt_commands_add(&c, "GET k%zu", i);
	want_status(live->rb,
		    rb_pipeline_chunked(live->rb, c.list, c.n, &o, &live->res),
		    RB_OK);
	rbt_commands_fini(&c);
	assert_int_equal(rb_result_chunks(live->res), 10);
	want_chunk(live->res, 9, 5, RB_OK, RB_ANSWERED);
	assert_int_equal(rbt_live_calls(live, "get"), 95);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(stats.commands, 95);
	assert_int_equal(stats.keys, 95);
	want_sound(live->res);
}

static void test_a_batch_is_cut_by_exact_bytes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000, 2);
	/* "*2" "$3" "GET" "$4" "k000" */
	const size_t each = 4 + 4 + 5 + 4 + 6;
	rbt_commands c;

	rbt_commands_init(&c);
	for (size_t i = 0; i < 100; i++)
		rbt_commands_add(&c, "GET k%03zu", i);
	for (size_t bound = 1; bound < 8 * each; bound += 5) {
		size_t want = bound < each ? 1 : bound / each;

		o.chunk_request_bytes = bound;
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_pipeline_chunked(live->rb, c.list, c.n, &o,
						&live->res),
			    RB_OK);
		want_chunk(live->res, 0, want, RB_OK, RB_ANSWERED);
		assert_int_equal(rb_result_chunk(live->res, 0)->request_bytes,
				 want * each);
		want_sound(live->res);
	}
	rbt_commands_fini(&c);
}

static void test_no_commands_are_fine(void **state)
{
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb,
		    rb_pipeline_chunked(live->rb, NULL, 0, NULL, &live->res),
		    RB_OK);
	assert_int_equal(rb_result_count(live->res), 0);
	assert_int_equal(rb_result_chunks(live->res), 0);
	rbt_want_pong(live->ctx);
}

/* -------------------------------------------------------------- replies -- */

static const char *const all_kinds[] = {
	"SET s text",
	"GET s",
	"GET nokey",
	"HSET h f v",
	"GET h",
	"HMGET s f",
	"HMGET nokey f",
	"HMGET h f g",
	"HGETALL h",
	"HGETALL nokey",
	"INCR n",
	"DECRBY n 9000000",
	"APPEND empty ",
	"GET empty",
	"RPUSH l a b c",
	"LRANGE l 0 -1",
	"LPOP nokey 3",
	"ZADD z 1.5 m 2 o",
	"ZSCORE z m",
	"ZRANGE z 0 -1 WITHSCORES",
	"SADD set x",
	"SMEMBERS set",
	"XADD x 1-1 f v",
	"XRANGE x - +",
	"XREAD COUNT 5 STREAMS x 0",
	"TYPE z",
	"EVAL return{1,{2,{'three',false}},redis.error_reply('ODD')} 0",
	"NOSUCHCOMMAND a b",
	"SET s",
	"OBJECT ENCODING n",
	"COMMAND INFO get nosuch",
	"CONFIG GET maxclients",
	"PING",
	"EXISTS s h nokey",
	"GEOADD geo 13.3 38.1 a",
	"GEOPOS geo a b",
};

static void test_every_reply_is_what_hiredis_itself_makes_of_it(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(5, 3);
	char *want[COUNT(all_kinds)];
	rbt_commands c;

	rbt_commands_init(&c);
	rbt_commands_lines(&c, all_kinds, COUNT(all_kinds));
	for (size_t i = 0; i < c.n; i++) {
		redisReply *reply = redisCommandArgv(
			live->admin, c.list[i].argc, c.list[i].argv, NULL);

		assert_non_null(reply);
		want[i] = rbt_reply_print(reply);
		freeReplyObject(reply);
	}
	rbt_do(live->admin, "FLUSHALL");
	want_status(live->rb,
		    rb_pipeline_chunked(live->rb, c.list, c.n, &o, &live->res),
		    RB_ERR_PARTIAL);
	for (size_t i = 0; i < c.n; i++)
		want_reply(live->res, i, want[i]);
	want_sound(live->res);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < COUNT(all_kinds); i++)
		free(want[i]);
	rbt_want_pong(live->ctx);
}

static void test_the_text_of_a_reply_is_a_value_too(void **state)
{
	static const char *const lines[] = {
		"SET s text", "GET s", "GET no", "INCR n", "GET e", "LPUSH s x"
	};
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "SET e %s", "");
	want_status(live->rb, RUN(live, lines, NULL), RB_ERR_PARTIAL);
	want_text(live->res, 0, "OK");
	want_text(live->res, 1, "text");
	want_nil(live->res, 2);
	assert_null(rb_result_value(live->res, 3).data);
	want_text(live->res, 4, "");
	want_refused(live->res, 5, "WRONGTYPE");
	assert_null(rb_result_value(live->res, 5).data);
	assert_null(rb_result_reply(live->res, 6));
	assert_null(rb_result_reply(NULL, 0));
}

static void test_any_bytes_go_both_ways(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char all[256];
	const char *set[] = { "SET", "a\0b", all };
	const size_t set_lens[] = { 3, 3, sizeof(all) };
	const char *get[] = { "GET", "a\0b" };
	const char *formats[] = { "GET", "%s %b\r\n" };
	const size_t format_lens[] = { 3, 7 };
	const rb_command commands[] = {
		{ 3, set, set_lens },
		{ 2, get, set_lens },
		{ 2, formats, format_lens },
	};

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	rbt_do(live->admin, "SET %s short", "a");
	rbt_do(live->admin, "SET %b %b", formats[1], (size_t)7, "f", (size_t)1);
	want_status(
		live->rb,
		rb_pipeline_chunked(live->rb, commands, 3, NULL, &live->res),
		RB_OK);
	want_text(live->res, 0, "OK");
	want_bytes(live->res, 1, all, sizeof(all));
	want_text(live->res, 2, "f");
}

static void test_a_reply_of_megabytes_is_whole(void **state)
{
	static const char *const lines[] = { "GET big", "LRANGE l 0 -1",
					     "GET big", "PING" };
	rbt_live *live = rbt_live_use(state);
	const size_t len = (size_t)5 * 1024 * 1024;
	char *big = malloc(len);
	const redisReply *list;

	assert_non_null(big);
	rbt_value_fill(big, len, 7);
	rbt_do(live->admin, "SET big %b", big, len);
	free(big);
	for (int i = 0; i < 300; i++)
		rbt_do(live->admin, "RPUSH l %d %s %s", i, "", "x");
	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
	want_filled(live->res, 0, len, 7);
	want_filled(live->res, 2, len, 7);
	want_reply(live->res, 3, "+PONG");
	list = rb_result_reply(live->res, 1);
	assert_int_equal(list->elements, 900);
	for (int i = 0; i < 300; i++) {
		assert_int_equal(atoi(list->element[3 * i]->str), i);
		assert_int_equal(list->element[3 * i + 1]->len, 0);
		assert_string_equal(list->element[3 * i + 1]->str, "");
		assert_string_equal(list->element[3 * i + 2]->str, "x");
	}
}

/* --------------------------------------------------------------- errors -- */

static void test_an_error_is_its_own_commands_alone(void **state)
{
	static const char *const others[] = { "GET str", "GET nokey",
					      "GET str" };
	static const char *const want[] = { "\"1\"", "nil", "\"1\"" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "SET str 1");
	/* The error in the first, second, third and last place, in one chunk
	 * and in four. */
	for (size_t place = 0; place < 8; place++) {
		const char *lines[4];
		rb_options o = rbt_options(place < 4 ? 100 : 1, 0);
		size_t k = 0;

		for (size_t i = 0; i < 4; i++)
			lines[i] = i == place % 4 ? "LPUSH str x" : others[k++];
		want_status(live->rb, RUN(live, lines, &o), RB_ERR_PARTIAL);
		k = 0;
		for (size_t i = 0; i < 4; i++)
			want_reply(live->res, i,
				   i == place % 4 ? "-" WRONGTYPE : want[k++]);
		assert_int_equal(rb_result_failed(live->res), 1);
		want_words(rb_client_error(live->rb), "WRONGTYPE");
		want_sound(live->res);
		rbt_want_pong(live->ctx);
	}
}

static void test_a_chunk_with_errors_is_partly_applied(void **state)
{
	static const char *const lines[] = { "GET h", "SET a 1",   "GET h",
					     "GET h", "SET b 1",   "SET c 1",
					     "GET h", "NOSUCH x y" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 4);

	rbt_do(live->admin, "HSET h f v");
	want_status(live->rb, RUN(live, lines, &o), RB_ERR_PARTIAL);
	want_chunk(live->res, 0, 2, RB_ERR_PARTIAL, RB_PARTLY);
	want_chunk(live->res, 1, 2, RB_ERR_PARTIAL, RB_REJECTED);
	want_chunk(live->res, 2, 2, RB_OK, RB_ANSWERED);
	want_chunk(live->res, 3, 2, RB_ERR_PARTIAL, RB_REJECTED);
	want_words(rb_result_chunk(live->res, 0)->message, "WRONGTYPE");
	assert_int_equal(rb_result_failed(live->res), 5);
	want_sound(live->res);
}

static void test_the_next_call_gets_its_own_replies(void **state)
{
	static const char *const lines[] = { "SET l1 one", "GET h", "GET l1" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 2);

	rbt_do(live->admin, "HSET h f v");
	for (int stop = 0; stop < 2; stop++) {
		o.flags = stop ? RB_STOP_ON_ERROR : 0;
		want_status(live->rb, RUN(live, lines, &o), RB_ERR_PARTIAL);
		want_reply(live->res, 0, "+OK");
		want_reply(live->res, 1, "-" WRONGTYPE);
		rbt_want_pong(live->ctx);
	}
}

static void test_stop_on_error_says_what_was_not_sent(void **state)
{
	static const char *const lines[] = { "SET a 1", "GET h",   "SET b 1",
					     "SET c 1", "SET d 1", "SET e 1" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(3, 1);

	o.flags = RB_STOP_ON_ERROR;
	rbt_do(live->admin, "HSET h f v");
	want_status(live->rb, RUN(live, lines, &o), RB_ERR_PARTIAL);
	want_reply(live->res, 0, "+OK");
	want_reply(live->res, 1, "-" WRONGTYPE);
	want_reply(live->res, 2, "+OK");
	for (size_t i = 3; i < 6; i++) {
		want_failed(live->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
		want_words(rb_result_message(live->res, i), "WRONGTYPE");
		assert_null(rb_result_reply(live->res, i));
	}
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a b c d e"), 2);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_a_string_past_the_limit_fails_alone(void **state)
{
	static const char *const lines[] = { "GET big", "GET small",
					     "MGET small big small",
					     "GET small" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 0);

	o.max_value_bytes = 10;
	rbt_do(live->admin, "MSET big 12345678901 small 1234567890");
	want_status(live->rb, RUN(live, lines, &o), RB_ERR_PARTIAL);
	want_failed(live->res, 0, RB_ERR_LIMIT, RB_ANSWERED);
	want_text(live->res, 1, "1234567890");
	assert_int_equal(rb_result_reply(live->res, 2)->elements, 3);
	assert_string_equal(rb_result_reply(live->res, 2)->element[2]->str,
			    "1234567890");
	want_text(live->res, 3, "1234567890");
	rbt_want_pong(live->ctx);
}

/* ---------------------------------------------------------------- MULTI -- */

static void test_multi_stays_in_one_chunk_whatever_the_bounds(void **state)
{
	static const char *const lines[] = {
		"MULTI", "SET t 1",    "LPUSH t x", "EXEC",    "GET t",
		"MULTI", "SET gone 1", "DISCARD",   "GET gone"
	};
	static const struct {
		size_t keys, bytes;
	} rows[] = { { 2, 0 }, { 1, 0 }, { 0, 1 }, { 0, 40 }, { 1000, 0 } };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(rows[i].keys, 2);

		o.chunk_request_bytes = rows[i].bytes;
		rbt_do(live->admin, "DEL t");
		want_status(live->rb, RUN(live, lines, &o), RB_OK);
		want_reply(live->res, 0, "+OK");
		want_reply(live->res, 1, "+QUEUED");
		want_reply(live->res, 2, "+QUEUED");
		want_reply(live->res, 3, "[+OK, -" WRONGTYPE "]");
		want_reply(live->res, 4, "\"1\"");
		want_reply(live->res, 5, "+OK");
		want_reply(live->res, 6, "+QUEUED");
		want_reply(live->res, 7, "+OK");
		want_reply(live->res, 8, "nil");
		if (i < 4)
			want_chunk(live->res, 0, 4, RB_OK, RB_ANSWERED);
		want_sound(live->res);
	}
}

static void test_a_multi_that_does_not_fit_begins_a_chunk(void **state)
{
	static const char *const lines[] = { "SET a 1", "MULTI", "SET b 1",
					     "SET c 1", "EXEC",	 "SET d 1" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(4, 2);

	want_status(live->rb, RUN(live, lines, &o), RB_OK);
	assert_int_equal(rb_result_chunks(live->res), 3);
	want_chunk(live->res, 0, 1, RB_OK, RB_ANSWERED);
	want_chunk(live->res, 1, 4, RB_OK, RB_ANSWERED);
	want_chunk(live->res, 2, 1, RB_OK, RB_ANSWERED);
}

/* ---------------------------------------------------------- refused ones -- */

/* Nothing of it may have reached the server. */
static void want_nothing_sent(rbt_live *live)
{
	assert_null(live->res);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS first"), 0);
	rbt_want_pong(live->ctx);
}

static void test_what_does_not_answer_once_is_refused_by_name(void **state)
{
	static const char *const refused[] = {
		"SUBSCRIBE c",
		"subscribe c",
		"PSubscribe c*",
		"SSUBSCRIBE c",
		"UNSUBSCRIBE",
		"PUNSUBSCRIBE",
		"SUNSUBSCRIBE",
		"MONITOR",
		"mOnItOr",
		"SYNC",
		"PSYNC ? -1",
		"CLIENT REPLY OFF",
		"client reply skip",
		"QUIT",
		"quit",
		"SHUTDOWN NOSAVE",
	};
	rbt_live *live = rbt_live_use(state);
	char name[32];

	for (size_t i = 0; i < COUNT(refused); i++) {
		const char *lines[] = { "SET first 1", refused[i], "PING" };

		want_status(live->rb, RUN(live, lines, NULL), RB_ERR_INVALID);
		want_words(rb_client_error(live->rb), "commands[1]");
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(refused[i], " "), refused[i]);
		want_words(rb_client_error(live->rb), name);
		want_nothing_sent(live);
	}
}

static void test_names_that_only_look_alike_are_sent(void **state)
{
	static const char *const lines[] = { "CLIENT ID", "SET SUBSCRIBE QUIT",
					     "GET SUBSCRIBE", "ECHO MONITOR" };
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
	assert_int_equal(rb_result_reply(live->res, 0)->type,
			 REDIS_REPLY_INTEGER);
	want_reply(live->res, 2, "\"QUIT\"");
	want_reply(live->res, 3, "\"MONITOR\"");
}

static void test_a_multi_without_its_exec_is_refused(void **state)
{
	static const char *const open[] = { "SET first 1", "MULTI", "SET b 1" };
	static const char *const second[] = { "SET first 1", "multi", "exec",
					      "PING", "MULTI" };
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb, RUN(live, open, NULL), RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "commands[1]");
	want_words(rb_client_error(live->rb), "MULTI");
	want_nothing_sent(live);
	want_status(live->rb, RUN(live, second, NULL), RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "commands[4]");
	want_nothing_sent(live);
}

static void test_bad_commands_are_named(void **state)
{
	rbt_live *live = rbt_live_use(state);
	static const char *set[] = { "SET", "first", "1" };
	static const char *hole[] = { "SET", NULL, "1" };
	static const size_t hole_lens[] = { 3, 2, 1 };
	static const size_t empty_lens[] = { 3, 0, 1 };
	static const size_t huge_lens[] = { 3, SIZE_MAX - 2, 1 };
	const struct {
		rb_command bad;
		const char *words;
	} rows[] = {
		{ { 0, set, NULL }, "commands[1] is empty" },
		{ { -1, set, NULL }, "commands[1] is empty" },
		{ { 3, NULL, NULL }, "commands[1] is empty" },
		{ { 3, hole, NULL }, "commands[1].argv[1] is NULL" },
		{ { 3, hole, hole_lens }, "commands[1].argvlen[1] is 2" },
		{ { 3, set, huge_lens }, "commands[1].argvlen[1]" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_command commands[] = { { 3, set, NULL }, rows[i].bad };

		want_status(live->rb,
			    rb_pipeline_chunked(live->rb, commands, 2, NULL,
						&live->res),
			    RB_ERR_INVALID);
		want_words(rb_client_error(live->rb), rows[i].words);
		want_nothing_sent(live);
	}
	want_status(live->rb,
		    rb_pipeline_chunked(live->rb, NULL, 2, NULL, &live->res),
		    RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "commands is NULL");
	/* None is not empty, but NULL of length 0 is. */
	{
		rb_command fine = { 3, hole, empty_lens };

		want_status(live->rb,
			    rb_pipeline_chunked(live->rb, &fine, 1, NULL,
						&live->res),
			    RB_OK);
		want_reply(live->res, 0, "+OK");
	}
}

static void test_an_argument_above_max_value_bytes_is_named(void **state)
{
	static const char *const lines[] = { "SET first 1",
					     "SET key 12345678" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	o.max_value_bytes = 7;
	want_status(live->rb, RUN(live, lines, &o), RB_ERR_LIMIT);
	want_words(rb_client_error(live->rb), "commands[1].argv[2]");
	want_nothing_sent(live);
	o.max_value_bytes = 8;
	want_status(live->rb, RUN(live, lines, &o), RB_OK);
}

/* -------------------------------------------------------------- nesting -- */

/* EVAL of a table of so many levels around a 1. */
static rb_status nest(rbt_live *live, size_t levels)
{
	char script[160];
	const char *argv[] = { "EVAL", script, "0" };
	const char *ping[] = { "PING" };
	const rb_command commands[] = { { 3, argv, NULL }, { 1, ping, NULL } };

	snprintf(script, sizeof(script), "return %.*s1%.*s", (int)levels,
		 "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", (int)levels,
		 "}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}");
	rbt_live_drop(live);
	return rb_pipeline_chunked(live->rb, commands, 2, NULL, &live->res);
}

static void test_replies_nest_as_deep_as_32(void **state)
{
	static const size_t levels[] = { 1, 7, 8, 9, 31, 32 };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(levels); i++) {
		const redisReply *reply;

		want_status(live->rb, nest(live, levels[i]), RB_OK);
		reply = rb_result_reply(live->res, 0);
		for (size_t k = 0; k < levels[i]; k++) {
			assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
			assert_int_equal(reply->elements, 1);
			reply = reply->element[0];
		}
		assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
		assert_int_equal(reply->integer, 1);
		want_reply(live->res, 1, "+PONG");
		rbt_want_pong(live->ctx);
	}
}

static void test_a_reply_nested_deeper_ends_the_connection(void **state)
{
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb, nest(live, 33), RB_ERR_PROTOCOL);
	want_failed(live->res, 0, RB_ERR_PROTOCOL, RB_UNKNOWN);
	want_failed(live->res, 1, RB_ERR_PROTOCOL, RB_UNKNOWN);
	assert_null(rb_result_reply(live->res, 0));
	want_sound(live->res);
	rbt_want_broken(live->ctx, live->rb);
}

/* -------------------------------------------------------------- builder -- */

static void test_the_builder_formats_as_hiredis_does(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char bytes[] = "v\0 x";
	rb_pipeline *p;

	assert_int_equal(rb_pipeline_new(&p, live->rb), RB_OK);
	assert_int_equal(rb_pipeline_count(p), 0);
	assert_int_equal(rb_pipeline_append(p, "SET %s %b", "a key", bytes,
					    sizeof(bytes)),
			 RB_OK);
	memset(bytes, 'X', sizeof(bytes));
	assert_int_equal(rb_pipeline_append(p, "GET %s", "a key"), RB_OK);
	assert_int_equal(rb_pipeline_append(p, "SET n%d %d", 7, -42), RB_OK);
	assert_int_equal(rb_pipeline_append(p, "INCRBY n7 %lld", 1LL << 40),
			 RB_OK);
	assert_int_equal(rb_pipeline_append(p, "SET  %s   %s ", "e", ""),
			 RB_OK);
	assert_int_equal(rb_pipeline_append(p, "STRLEN e"), RB_OK);
	assert_int_equal(rb_pipeline_append(p, "ECHO 100%%"), RB_OK);
	assert_int_equal(rb_pipeline_count(p), 7);
	want_status(live->rb, rb_pipeline_run(p, NULL, &live->res), RB_OK);
	rb_pipeline_free(p);
	want_bytes(live->res, 1, "v\0 x", 5);
	want_reply(live->res, 3, ":1099511627734");
	want_reply(live->res, 4, "+OK");
	want_reply(live->res, 5, ":0");
	want_reply(live->res, 6, "\"100%\"");
}

static void test_a_format_that_hiredis_refuses_changes_nothing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *broken = "SET k %q";
	const char *hole[] = { "SET", NULL };
	const size_t lens[] = { 3, 1 };
	rb_pipeline *p;

	assert_int_equal(rb_pipeline_new(&p, live->rb), RB_OK);
	assert_int_equal(rb_pipeline_append(p, "PING"), RB_OK);
	assert_int_equal(rb_pipeline_append(p, broken), RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "format");
	assert_int_equal(rb_pipeline_append(p, "%s", ""), RB_OK);
	assert_int_equal(rb_pipeline_append(p, "   "), RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_append(p, NULL), RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_append_argv(p, 0, hole, NULL),
			 RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "argc");
	assert_int_equal(rb_pipeline_append_argv(p, -3, hole, NULL),
			 RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_append_argv(p, 1, NULL, NULL),
			 RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_append_argv(p, 2, hole, NULL),
			 RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_append_argv(p, 2, hole, lens),
			 RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_count(p), 2);
	want_status(live->rb, rb_pipeline_run(p, NULL, &live->res),
		    RB_ERR_PARTIAL);
	want_reply(live->res, 0, "+PONG");
	want_refused(live->res, 1, "unknown command");
	rb_pipeline_free(p);
}

static void test_a_builder_runs_again_and_forgets_when_told(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *argv[] = { "INCR", "n" };
	char text[16];
	rb_pipeline *p;

	assert_int_equal(rb_pipeline_new(&p, live->rb), RB_OK);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rb_pipeline_append_argv(p, 2, argv, NULL),
				 RB_OK);
	for (int round = 0; round < 3; round++) {
		rbt_live_drop(live);
		want_status(live->rb, rb_pipeline_run(p, NULL, &live->res),
			    RB_OK);
		snprintf(text, sizeof(text), ":%d", round * 100 + 100);
		want_reply(live->res, 99, text);
	}
	rb_pipeline_clear(p);
	assert_int_equal(rb_pipeline_count(p), 0);
	rbt_live_drop(live);
	want_status(live->rb, rb_pipeline_run(p, NULL, &live->res), RB_OK);
	assert_int_equal(rb_result_count(live->res), 0);
	assert_int_equal(rb_pipeline_append(p, "GET n"), RB_OK);
	rbt_live_drop(live);
	want_status(live->rb, rb_pipeline_run(p, NULL, &live->res), RB_OK);
	want_reply(live->res, 0, "\"300\"");
	rb_pipeline_free(p);
}

static void test_a_builder_takes_nulls_as_said(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_result *res = (rb_result *)&res;
	rb_pipeline *p = (rb_pipeline *)&p;

	assert_int_equal(rb_pipeline_new(&p, NULL), RB_ERR_INVALID);
	assert_null(p);
	assert_int_equal(rb_pipeline_new(NULL, live->rb), RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_append(NULL, "PING"), RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_append_argv(NULL, 1, NULL, NULL),
			 RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_run(NULL, NULL, &res), RB_ERR_INVALID);
	assert_null(res);
	assert_int_equal(rb_pipeline_count(NULL), 0);
	rb_pipeline_clear(NULL);
	rb_pipeline_free(NULL);
}

/* ------------------------------------------------------- time and again -- */

static void test_commands_that_block_are_awaited(void **state)
{
	static const char *const lines[] = { "WAIT 0 0", "BLPOP empty 0.05",
					     "RPUSH l x", "BLPOP l 0",
					     "WAIT 1 30" };
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
	want_reply(live->res, 0, ":0");
	want_reply(live->res, 1, "nil");
	want_reply(live->res, 3, "[\"l\", \"x\"]");
	want_reply(live->res, 4, ":0");
	rbt_want_pong(live->ctx);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* As often as this, without SA_RESTART; 0: no more. */
static void interrupt_every(unsigned us)
{
	struct itimerval timer;
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	memset(&timer, 0, sizeof(timer));
	action.sa_handler = us ? count_signal : SIG_IGN;
	timer.it_value.tv_usec = timer.it_interval.tv_usec = (suseconds_t)us;
	if (us)
		sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	if (!us)
		sigaction(SIGALRM, &action, NULL);
}

static void test_signals_send_nothing_twice(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 3);
	int rounds = 0;
	rbt_commands c;
	rb_status status;

	rbt_commands_init(&c);
	for (int i = 0; i < 1000; i++)
		rbt_commands_add(&c, "RPUSH l %d", i);
	signals = 0;
	interrupt_every(300);
	do {
		rbt_live_drop(live);
		status = rb_pipeline_chunked(live->rb, c.list, c.n, &o,
					     &live->res);
		rounds++;
	} while (status == RB_OK && signals < 20 && rounds < 1000);
	interrupt_every(0);
	want_status(live->rb, status, RB_OK);
	assert_true(signals >= 20);
	assert_int_equal(rbt_ask_number(live->admin, "LLEN l"), rounds * 1000);
	rbt_commands_fini(&c);
}

/* Until the counter is there. */
static void await_number(rbt_live *live, const char *key)
{
	for (int i = 0; i < 2000; i++) {
		if (rbt_ask_number(live->admin, "EXISTS %s", key) == 1)
			return;
		rbt_sleep_ms(5);
	}
	fail_msg("%s was never set", key);
}

static void test_a_write_that_timed_out_is_unknown_and_not_repeated(
	void **state)
{
	static const char *const lines[] = { "INCR n" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	unsigned ms = 0;
	char n[16];

	rbt_live_stop(live);
	do {
		o.timeout_ms = rbt_more_patience(&ms);
		want_status(live->rb, RUN(live, lines, &o), RB_ERR_TIMEOUT);
		/* As long as nothing was sent, the connection is in step. */
	} while (rb_result_outcome(live->res, 0) == RB_NOT_SENT);
	rbt_live_go_on(live);
	want_failed(live->res, 0, RB_ERR_TIMEOUT, RB_UNKNOWN);
	await_number(live, "n");
	rbt_ask(live->admin, n, sizeof(n), "GET n");
	assert_string_equal(n, "1");
	rbt_want_broken(live->ctx, live->rb);
}

static void test_the_connection_is_hiredis_own_afterwards(void **state)
{
	static const char *const lines[] = { "SELECT 3", "SET k three",
					     "CLIENT SETNAME me" };
	rbt_live *live = rbt_live_use(state);
	char text[64];

	want_status(live->rb, RUN(live, lines, NULL), RB_OK);
	rbt_ask(live->ctx, text, sizeof(text), "GET k");
	assert_string_equal(text, "three");
	rbt_ask(live->ctx, text, sizeof(text), "CLIENT GETNAME");
	assert_string_equal(text, "me");
}

/* ---------------------------------------------------------------- RESP3 -- */

/* A context that speaks RESP3, which not every hiredis could have read the
 * answer of. */
static redisContext *connect_resp3(rbt_live *live)
{
	redisContext *ctx = rbt_live_tcp(live);
	static const char hello[] = "HELLO 3\r\nECHO end\r\n";
	static const char end[] = "$3\r\nend\r\n";
	char buf[8192];
	size_t len = 0;
	ssize_t n;

	assert_int_equal(send(ctx->fd, hello, sizeof(hello) - 1, MSG_NOSIGNAL),
			 sizeof(hello) - 1);
	do {
		n = recv(ctx->fd, buf + len, sizeof(buf) - len, 0);
		assert_true(n > 0);
		len += (size_t)n;
	} while (len < sizeof(end) ||
		 memcmp(buf + len - (sizeof(end) - 1), end, sizeof(end) - 1));
	assert_int_equal(buf[0], '%');
	return ctx;
}

static void test_resp3_types_come_as_hiredis_numbers_them(void **state)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "HGETALL h", "%[\"f\", \"v\"]" },
		{ "HGETALL nokey", "%[]" },
		{ "SMEMBERS s", "~[\"x\"]" },
		{ "ZSCORE z m", ",1.5" },
		{ "ZRANGE z 0 -1 WITHSCORES", "[[\"m\", ,1.5]]" },
		{ "GET nokey", "nil" },
		{ "MGET a nokey", "[\"1\", nil]" },
		{ "EVAL redis.setresp(3);return{1==1,1==2} 0", "[#1, #0]" },
		{ "EVAL redis.setresp(3);return{double=3.25} 0", ",3.25" },
		{ "EVAL redis.setresp(3);return{map={a=1}} 0", "%[\"a\", :1]" },
		{ "EVAL redis.setresp(3);return{big_number='1234567890123'} 0",
		  "(1234567890123" },
		{ "EVAL redis.setresp(3);return{verbatim_string="
		  "{string='abc',format='txt'}} 0",
		  "=abc" },
		{ "INCR n", ":1" },
		{ "PING", "+PONG" },
	};
	rbt_live *live = rbt_live_use(state);
	const char *lines[COUNT(rows)];
	rb_options o = rbt_options(4, 2);

	rbt_do(live->admin, "HSET h f v");
	rbt_do(live->admin, "SADD s x");
	rbt_do(live->admin, "ZADD z 1.5 m");
	rbt_do(live->admin, "SET a 1");
	rbt_live_wrap(live, connect_resp3(live), NULL);
	for (size_t i = 0; i < COUNT(rows); i++)
		lines[i] = rows[i].line;
	want_status(live->rb, RUN(live, lines, &o), RB_OK);
	for (size_t i = 0; i < COUNT(rows); i++)
		want_reply(live->res, i, rows[i].want);
#if HIREDIS_MAJOR >= 1
	assert_true(rb_result_reply(live->res, 3)->dval == 1.5);
#endif
	rbt_want_pong(live->ctx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_every_reply_stands_where_its_command_stood),
		RBT_LIVE(test_a_batch_is_cut_by_commands),
		RBT_LIVE(test_a_batch_is_cut_by_exact_bytes),
		RBT_LIVE(test_no_commands_are_fine),
		RBT_LIVE(test_every_reply_is_what_hiredis_itself_makes_of_it),
		RBT_LIVE(test_the_text_of_a_reply_is_a_value_too),
		RBT_LIVE(test_any_bytes_go_both_ways),
		RBT_LIVE(test_a_reply_of_megabytes_is_whole),
		RBT_LIVE(test_an_error_is_its_own_commands_alone),
		RBT_LIVE(test_a_chunk_with_errors_is_partly_applied),
		RBT_LIVE(test_the_next_call_gets_its_own_replies),
		RBT_LIVE(test_stop_on_error_says_what_was_not_sent),
		RBT_LIVE(test_a_string_past_the_limit_fails_alone),
		RBT_LIVE(test_multi_stays_in_one_chunk_whatever_the_bounds),
		RBT_LIVE(test_a_multi_that_does_not_fit_begins_a_chunk),
		RBT_LIVE(test_what_does_not_answer_once_is_refused_by_name),
		RBT_LIVE(test_names_that_only_look_alike_are_sent),
		RBT_LIVE(test_a_multi_without_its_exec_is_refused),
		RBT_LIVE(test_bad_commands_are_named),
		RBT_LIVE(test_an_argument_above_max_value_bytes_is_named),
		RBT_LIVE(test_replies_nest_as_deep_as_32),
		RBT_LIVE(test_a_reply_nested_deeper_ends_the_connection),
		RBT_LIVE(test_the_builder_formats_as_hiredis_does),
		RBT_LIVE(test_a_format_that_hiredis_refuses_changes_nothing),
		RBT_LIVE(test_a_builder_runs_again_and_forgets_when_told),
		RBT_LIVE(test_a_builder_takes_nulls_as_said),
		RBT_LIVE(test_commands_that_block_are_awaited),
		RBT_LIVE(test_signals_send_nothing_twice),
		RBT_LIVE(
			test_a_write_that_timed_out_is_unknown_and_not_repeated),
		RBT_LIVE(test_the_connection_is_hiredis_own_afterwards),
		RBT_LIVE(test_resp3_types_come_as_hiredis_numbers_them),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

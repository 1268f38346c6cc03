/*
 * Writes whose connection ends, or whose answers are not what they should be:
 * each entry has one outcome, and it is the true one.
 */
#include "commands.h"
#include "patience.h"
#include "replies.h"
#include "scene.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static rb_status set_pairs(rbt_scene *s, size_t n, size_t len,
			   const rb_options *o)
{
	rbt_pairs p;
	rb_status status;

	rb_result_free(s->res);
	s->res = NULL;
	rbt_pairs_init(&p, "k", n, len);
	status = rb_mset_chunked(s->rb, p.keys.keys, p.keys.lens, p.values,
				 p.lens, n, o, &s->res);
	rbt_pairs_fini(&p);
	return status;
}

typedef rb_status call(rb_client *client, const rb_command *commands,
		       size_t ncommands, const rb_options *opts,
		       rb_result **out);

/* n times SET with a value of len bytes. */
static rb_status send_sets(rbt_scene *s, call *fn, size_t n, size_t len,
			   const rb_options *o)
{
	char *value = calloc(1, len + 1);
	const char *argv[] = { "SET", "key", value };
	const size_t lens[] = { 3, 3, len };
	rb_command *commands = calloc(n, sizeof(*commands));
	rb_status status;

	assert_true(value && commands);
	for (size_t i = 0; i < n; i++) {
		commands[i].argc = 3;
		commands[i].argv = argv;
		commands[i].argvlen = lens;
	}
	rb_result_free(s->res);
	s->res = NULL;
	status = fn(s->rb, commands, n, o, &s->res);
	free(commands);
	free(value);
	return status;
}

static uint64_t bytes_sent(const rbt_scene *s)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(s->res, &stats), RB_OK);
	return stats.request_bytes;
}

/* ------------------------------------------------------- whole commands -- */

static void test_of_ten_chunks_2_are_answered_4_unknown_4_not_sent(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(2), RBT_SEND("+OK\r\n+OK\r\n"),
		RBT_EXPECT(4), RBT_CLOSE,
		RBT_END,
	};
	static const rbt_family families[] = { RBT_PAIR, RBT_TCP, RBT_UNIX };
	rb_options o = rbt_options(1, 4);

	for (size_t i = 0; i < COUNT(families); i++) {
		rbt_scene *s = rbt_scene_use(state);

		rbt_scene_play(s, families[i], script);
		want_status(s->rb, set_pairs(s, 10, 5, &o), RB_ERR_IO);
		for (size_t k = 0; k < 2; k++)
			want_written(s->res, k, RB_ANSWERED);
		for (size_t k = 2; k < 6; k++)
			want_failed(s->res, k, RB_ERR_IO, RB_UNKNOWN);
		for (size_t k = 6; k < 10; k++)
			want_failed(s->res, k, RB_ERR_SKIPPED, RB_NOT_SENT);
		assert_int_equal(rb_result_chunk(s->res, 5)->attempts, 1);
		assert_int_equal(rb_result_chunk(s->res, 6)->attempts, 0);
		assert_int_equal(rbt_peer_commands(s->peer), 6);
		want_words(rb_client_error(s->rb), "closed");
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

static void test_commands_of_a_chunk_answered_in_part_keep_their_answers(
	void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(5),
		RBT_SEND("+OK\r\n-ERR no\r\n$-1\r\n"),
		RBT_CLOSE,
		RBT_END,
	};
	static const char *const lines[] = { "SET a 1", "NO", "GET x",
					     "SET b 1", "SET c 1" };
	rbt_scene *s = rbt_scene_use(state);
	rbt_commands c;

	rbt_scene_play(s, RBT_PAIR, script);
	rbt_commands_init(&c);
	rbt_commands_lines(&c, lines, COUNT(lines));
	want_status(s->rb,
		    rb_pipeline_chunked(s->rb, c.list, c.n, NULL, &s->res),
		    RB_ERR_IO);
	rbt_commands_fini(&c);
	want_reply(s->res, 0, "+OK");
	want_reply(s->res, 1, "-ERR no");
	want_reply(s->res, 2, "nil");
	want_failed(s->res, 3, RB_ERR_IO, RB_UNKNOWN);
	want_failed(s->res, 4, RB_ERR_IO, RB_UNKNOWN);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

/* ----------------------------------------------------- cut in the middle -- */

/* A peer that takes a little of a large chunk and goes, or stays silent. */
enum { LITTLE = 10000 };

static const rbt_step takes_a_little[] = { RBT_READ(LITTLE), RBT_CLOSE,
					   RBT_END };
static const rbt_step falls_silent[] = { RBT_READ(LITTLE), RBT_WAIT, RBT_END };

typedef struct cut_row {
	rbt_family family;
	const rbt_step *script;
	rb_status status;
} cut_row;

static const cut_row cuts[] = {
	{ RBT_PAIR, takes_a_little, RB_ERR_IO },
	{ RBT_TCP, takes_a_little, RB_ERR_IO },
	{ RBT_PAIR, falls_silent, RB_ERR_TIMEOUT },
	{ RBT_TCP, falls_silent, RB_ERR_TIMEOUT },
};

/* *ms: 0 at first. */
static void start_cut(rbt_scene *s, const cut_row *row, rb_options *o,
		      unsigned *ms)
{
	rbt_peer_options p = { .family = row->family,
			       .script = row->script,
			       .rcvbuf = 4096,
			       .read_size = 1000 };
	int size = 4096;

	if (row->status == RB_ERR_TIMEOUT)
		o->timeout_ms = rbt_more_patience(ms);
	rbt_scene_start(s, &p);
	setsockopt(s->ctx->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* The deadline has passed before as much as the peer takes was sent. */
static bool is_too_soon(const rbt_scene *s, const cut_row *row)
{
	return row->status == RB_ERR_TIMEOUT && bytes_sent(s) < LITTLE;
}

/* One chunk for all. */
static rb_options cut_options(void)
{
	rb_options o = rbt_options(100000, 1);

	o.chunk_request_bytes = SIZE_MAX / 2;
	return o;
}

/* "*3" "$3" "SET" "$3" "key" "$3000" and so many bytes */
enum { SETS = 3000, LEN = 3000, SET_SIZE = 4 + 4 + 5 + 4 + 5 + 7 + LEN + 2 };

static void test_commands_that_had_left_whole_are_unknown_the_rest_not_sent(
	void **state)
{
	for (size_t i = 0; i < COUNT(cuts); i++) {
		rb_options o = cut_options();
		rbt_scene *s = rbt_scene_use(state);
		unsigned ms = 0;
		size_t whole;

		do {
			start_cut(s, &cuts[i], &o, &ms);
			want_status(s->rb,
				    send_sets(s, rb_pipeline_chunked, SETS, LEN,
					      &o),
				    cuts[i].status);
		} while (is_too_soon(s, &cuts[i]));
		whole = (size_t)(bytes_sent(s) / SET_SIZE);
		assert_in_range(whole, 3, SETS - 1);
		for (size_t k = 0; k < SETS; k++)
			want_failed(s->res, k, cuts[i].status,
				    k < whole ? RB_UNKNOWN : RB_NOT_SENT);
		assert_int_equal(rb_result_chunks(s->res), 2);
		want_chunk(s->res, 0, whole, cuts[i].status, RB_UNKNOWN);
		want_chunk(s->res, 1, SETS - whole, cuts[i].status,
			   RB_NOT_SENT);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

static void test_the_two_halves_of_a_cut_chunk_have_their_own_bytes(
	void **state)
{
	rb_options o = cut_options();
	rbt_scene *s = rbt_scene_use(state);
	const rb_chunk *chunk;
	unsigned ms = 0;

	start_cut(s, &cuts[0], &o, &ms);
	want_status(s->rb, send_sets(s, rb_pipeline_chunked, SETS, LEN, &o),
		    RB_ERR_IO);
	assert_int_equal(rb_result_chunks(s->res), 2);
	for (size_t i = 0; i < 2; i++) {
		chunk = rb_result_chunk(s->res, i);
		assert_int_equal(chunk->request_bytes, chunk->count * SET_SIZE);
	}
}

/* Large values are borrowed: the cut lies between pieces, too. */
static void test_large_values_are_told_apart_as_well(void **state)
{
	enum { N = 100, BIG = 100000 };
	const size_t size = 4 + 4 + 5 + 4 + 5 + 9 + BIG + 2;
	rb_options o = cut_options();
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;
	size_t whole;

	do {
		start_cut(s, &cuts[2], &o, &ms);
		want_status(s->rb,
			    send_sets(s, rb_pipeline_chunked, N, BIG, &o),
			    RB_ERR_TIMEOUT);
	} while (is_too_soon(s, &cuts[2]));
	whole = (size_t)(bytes_sent(s) / size);
	assert_int_equal(rbt_count_outcome(s->res, RB_UNKNOWN), whole);
	assert_int_equal(rbt_count_outcome(s->res, RB_NOT_SENT), N - whole);
	want_sound(s->res);
}

static void test_pairs_under_a_condition_are_told_apart(void **state)
{
	/* "*4" "$3" "SET" "$9" "k00000000" "$2000" 2000 bytes "$2" "NX" */
	const size_t size = 4 + 4 + 5 + 4 + 11 + 7 + 2002 + 4 + 4;
	rb_options o = cut_options();
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;
	size_t whole;

	o.flags = RB_IF_ABSENT;
	start_cut(s, &cuts[0], &o, &ms);
	want_status(s->rb, set_pairs(s, 3000, 2000, &o), RB_ERR_IO);
	whole = (size_t)(bytes_sent(s) / size);
	assert_in_range(whole, 1, 2999);
	for (size_t i = 0; i < 3000; i++)
		want_failed(s->res, i, RB_ERR_IO,
			    i < whole ? RB_UNKNOWN : RB_NOT_SENT);
	want_sound(s->res);
}

static void test_an_mset_cut_in_the_middle_was_not_sent(void **state)
{
	rb_options o = cut_options();

	for (size_t i = 0; i < COUNT(cuts); i++) {
		rbt_scene *s = rbt_scene_use(state);
		unsigned ms = 0;

		do {
			start_cut(s, &cuts[i], &o, &ms);
			want_status(s->rb, set_pairs(s, 3000, 2000, &o),
				    cuts[i].status);
		} while (is_too_soon(s, &cuts[i]));
		assert_int_equal(rbt_count_outcome(s->res, RB_NOT_SENT), 3000);
		want_chunk(s->res, 0, 3000, cuts[i].status, RB_NOT_SENT);
		assert_int_equal(rb_result_chunk(s->res, 0)->attempts, 1);
		rbt_scene_want_broken(s);
	}
}

static void test_a_transaction_whose_exec_had_not_left_was_not_sent(
	void **state)
{
	rb_options o = cut_options();
	static call *const calls[] = { rb_transaction, rb_pipeline_chunked };

	for (size_t i = 0; i < 2; i++) {
		rbt_scene *s = rbt_scene_use(state);
		unsigned ms = 0;

		o.flags = i == 1 ? RB_TRANSACTION : 0;
		start_cut(s, &cuts[0], &o, &ms);
		want_status(s->rb, send_sets(s, calls[i], SETS, LEN, &o),
			    RB_ERR_IO);
		assert_true(bytes_sent(s) > 10000);
		assert_int_equal(rb_result_chunks(s->res), 1);
		want_chunk(s->res, 0, SETS, RB_ERR_IO, RB_NOT_SENT);
		assert_int_equal(rbt_count_outcome(s->res, RB_NOT_SENT), SETS);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

static void test_a_transaction_that_had_left_is_unknown(void **state)
{
	static const rbt_step unanswered[] = { RBT_EXPECT(5), RBT_CLOSE,
					       RBT_END };
	static const rbt_step queued[] = {
		RBT_EXPECT(5),
		RBT_SEND("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n"),
		RBT_CLOSE,
		RBT_END,
	};
	static const rbt_step begun[] = {
		RBT_EXPECT(5),
		RBT_SEND("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n"),
		RBT_CLOSE,
		RBT_END,
	};
	static const rbt_step *const scripts[] = { unanswered, queued, begun };

	for (size_t i = 0; i < COUNT(scripts); i++) {
		rbt_scene *s = rbt_scene_use(state);

		rbt_scene_play(s, RBT_PAIR, scripts[i]);
		want_status(s->rb, send_sets(s, rb_transaction, 3, 5, NULL),
			    RB_ERR_IO);
		for (size_t k = 0; k < 3; k++)
			want_failed(s->res, k, RB_ERR_IO, RB_UNKNOWN);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

/* ------------------------------------------------------------ last words -- */

static void test_last_words_are_told_of_writes_too(void **state)
{
	static const rbt_step script[] = {
		RBT_READ(10000),
		RBT_SEND("+OK\r\n-ERR Protocol error: invalid bulk length\r\n"),
		RBT_CLOSE,
		RBT_END,
	};
	rb_options o = rbt_options(1, 3);
	rbt_scene *s = rbt_scene_use(state);
	const char *keys[] = { "a", "big", "c" };
	char *big = calloc(1, 8000000);
	const char *values[] = { "1", big, "2" };
	const size_t lens[] = { 1, 8000000, 1 };

	assert_non_null(big);
	rbt_scene_play(s, RBT_TCP, script);
	want_status(s->rb,
		    rb_mset_chunked(s->rb, keys, NULL, values, lens, 3, &o,
				    &s->res),
		    RB_ERR_SERVER);
	free(big);
	want_words(rb_client_error(s->rb), "invalid bulk length");
	want_written(s->res, 0, RB_ANSWERED);
	want_refused(s->res, 1, "invalid bulk length");
	assert_int_equal(rb_result_outcome(s->res, 2), RB_NOT_SENT);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

static void test_one_reply_too_few_is_a_timeout_and_no_reuse(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(5),
		RBT_SEND("+OK\r\n:3\r\n:4\r\n:5\r\n"),
		RBT_DRAIN(30000),
		RBT_END,
	};
	static const char *const lines[] = { "SET a 1", "AUTH x", "INCR c",
					     "INCR c", "INCR c" };
	static const size_t keys[] = { 1, 5 };

	for (size_t i = 0; i < 2; i++) {
		rb_options o = rbt_options(keys[i], 5);
		rbt_scene *s = rbt_scene_use(state);
		unsigned ms = 0;
		rbt_commands c;

		rbt_commands_init(&c);
		rbt_commands_lines(&c, lines, COUNT(lines));
		do {
			o.timeout_ms = rbt_more_patience(&ms);
			rbt_scene_play(s, RBT_PAIR, script);
			want_status(s->rb,
				    rb_pipeline_chunked(s->rb, c.list, c.n, &o,
							&s->res),
				    RB_ERR_TIMEOUT);
		} while (rb_result_outcome(s->res, 4) == RB_NOT_SENT);
		rbt_commands_fini(&c);
		want_failed(s->res, 4, RB_ERR_TIMEOUT, RB_UNKNOWN);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

/* ---------------------------------------------------------- odd answers -- */

typedef enum odd_call { MSET, SETNX, HSET, UNLINK, GROUP, MSET_GROUP } odd_call;

static rb_status do_call(rbt_scene *s, odd_call what)
{
	static const char *keys[] = { "a", "b" }, *values[] = { "1", "2" };
	rb_options o = rbt_options(0, 0);

	if (what == SETNX)
		o.flags = RB_IF_ABSENT;
	if (what == MSET_GROUP)
		o.flags = RB_TRANSACTION;
	if (what == HSET)
		return rb_hset_chunked(s->rb, "h", 1, keys, NULL, values, NULL,
				       2, &o, &s->res);
	if (what == UNLINK)
		return rb_unlink_chunked(s->rb, keys, NULL, 2, &o, &s->res);
	if (what == GROUP)
		return send_sets(s, rb_transaction, 2, 3, &o);
	return rb_mset_chunked(s->rb, keys, NULL, values, NULL, 2, &o, &s->res);
}

#define QUEUED2 "+OK\r\n+QUEUED\r\n+QUEUED\r\n"

static void test_an_answer_of_another_shape_ends_the_connection(void **state)
{
	static const struct {
		odd_call what;
		const char *answer;
	} rows[] = {
		{ MSET, ":1\r\n" },
		{ MSET, "$2\r\nOK\r\n" },
		{ MSET, "$-1\r\n" },
		{ MSET, "*-1\r\n" },
		{ MSET, "*1\r\n+OK\r\n" },
		{ MSET, "+KO\r\n" },
		{ MSET, "+OKAY\r\n" },
		{ MSET, "_\r\n" },
		{ MSET, "#t\r\n" },
		{ MSET, "OK\r\n" },
		{ SETNX, "+OK\r\n:1\r\n" },
		{ SETNX, "$2\r\nOK\r\n+OK\r\n" },
		{ SETNX, "*0\r\n+OK\r\n" },
		{ SETNX, "+\r\n+OK\r\n" },
		{ HSET, "+OK\r\n" },
		{ HSET, "$1\r\n1\r\n" },
		{ HSET, "$-1\r\n" },
		{ HSET, "*1\r\n:1\r\n" },
		{ UNLINK, "+OK\r\n" },
		{ UNLINK, ",1\r\n" },
		{ UNLINK, ":x\r\n" },
		{ GROUP, "+QUEUED\r\n" },
		{ GROUP, ":1\r\n" },
		{ GROUP, "+OK\r\n+OK\r\n" },
		{ GROUP, "+OK\r\n:1\r\n" },
		{ GROUP, "+OK\r\n+QUEUED\r\n$-1\r\n" },
		{ GROUP, QUEUED2 "+OK\r\n" },
		{ GROUP, QUEUED2 ":2\r\n" },
		{ GROUP, QUEUED2 "$2\r\nab\r\n" },
		{ GROUP, QUEUED2 "*0\r\n" },
		{ GROUP, QUEUED2 "*1\r\n+OK\r\n" },
		{ GROUP, QUEUED2 "*3\r\n+OK\r\n+OK\r\n+OK\r\n" },
		{ GROUP, QUEUED2 "%1\r\n+OK\r\n+OK\r\n" },
		{ MSET_GROUP, "+OK\r\n+QUEUED\r\n*2\r\n+OK\r\n+OK\r\n" },
		{ MSET_GROUP, "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n" },
		{ MSET_GROUP, "+OK\r\n+QUEUED\r\n*1\r\n$-1\r\n" },
		{ MSET_GROUP, "+OK\r\n+QUEUED\r\n*1\r\n*0\r\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const rbt_step script[] = {
			RBT_EXPECT(1),
			RBT_SEND_BYTES(rows[i].answer, strlen(rows[i].answer)),
			RBT_DRAIN(60000),
			RBT_END,
		};
		rbt_scene *s = rbt_scene_use(state);
		rb_status status;

		rbt_scene_play(s, RBT_PAIR, script);
		status = do_call(s, rows[i].what);
		if (status != RB_ERR_PROTOCOL)
			print_error("row %zu\n", i);
		want_status(s->rb, status, RB_ERR_PROTOCOL);
		assert_non_null(s->res);
		/* The last entry was not answered in any row. */
		want_failed(s->res, 1, RB_ERR_PROTOCOL, RB_UNKNOWN);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

static void test_a_command_queued_by_a_foreign_multi_is_no_success(void **state)
{
	static const odd_call calls[] = { MSET, SETNX, HSET, UNLINK };

	for (size_t i = 0; i < COUNT(calls); i++) {
		const rbt_step script[] = {
			RBT_EXPECT(calls[i] == SETNX ? 2 : 1),
			RBT_REPEAT("+QUEUED\r\n", calls[i] == SETNX ? 2 : 1),
			RBT_EXPECT(1),
			RBT_SEND("+PONG\r\n"),
			RBT_END,
		};
		rbt_scene *s = rbt_scene_use(state);

		rbt_scene_play(s, RBT_PAIR, script);
		want_status(s->rb, do_call(s, calls[i]), RB_ERR_PROTOCOL);
		want_failed(s->res, 0, RB_ERR_PROTOCOL, RB_UNKNOWN);
		want_failed(s->res, 1, RB_ERR_PROTOCOL, RB_UNKNOWN);
		assert_int_equal(rb_result_total(s->res), 0);
		rbt_scene_want_pong(s);
		rbt_scene_want_over(s);
	}
}

static void test_multi_that_is_refused_leaves_it_unknown(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(4),
		RBT_SEND("-ERR no MULTI here\r\n+OK\r\n:1\r\n"
			 "-ERR EXEC without MULTI\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, do_call(s, GROUP), RB_ERR_SERVER);
	want_failed(s->res, 0, RB_ERR_SERVER, RB_UNKNOWN);
	want_failed(s->res, 1, RB_ERR_SERVER, RB_UNKNOWN);
	want_words(rb_client_error(s->rb), "no MULTI here");
	rbt_scene_want_pong(s);
	rbt_scene_want_over(s);
}

static void test_errors_without_text_have_some(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND("-\r\n"),
		RBT_EXPECT(2), RBT_SEND("-\r\n+OK\r\n"),
		RBT_EXPECT(4), RBT_SEND(QUEUED2 "*2\r\n-\r\n+OK\r\n"),
		RBT_EXPECT(1), RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	static const odd_call calls[] = { MSET, SETNX, GROUP };
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	for (size_t i = 0; i < COUNT(calls); i++) {
		rb_result_free(s->res);
		s->res = NULL;
		want_status(s->rb, do_call(s, calls[i]), RB_ERR_PARTIAL);
		want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
		if (calls[i] != MSET)
			assert_int_equal(rb_result_outcome(s->res, 1),
					 RB_ANSWERED);
		want_sound(s->res);
	}
	rbt_scene_want_pong(s);
	rbt_scene_want_over(s);
}

/* --------------------------------------------------------------- MSETEX -- */

typedef struct msetex_peer {
	const char *info; /* the answer to COMMAND INFO */
	size_t asked;
	size_t msetex;
	size_t sets;
} msetex_peer;

static bool arg_is(const rbt_arg *arg, const char *text)
{
	return arg->len == strlen(text) &&
	       memcmp(arg->data, text, arg->len) == 0;
}

static void serve_msetex(void *arg, size_t argc, const rbt_arg *argv,
			 rbt_reply *reply)
{
	msetex_peer *p = arg;

	if (arg_is(&argv[0], "COMMAND")) {
		p->asked += argc == 3 && arg_is(&argv[1], "INFO") &&
			    arg_is(&argv[2], "MSETEX");
		rbt_reply_text(reply, p->info);
	} else if (arg_is(&argv[0], "MSETEX")) {
		p->msetex++;
		rbt_reply_text(reply, ":1\r\n");
	} else {
		p->sets += arg_is(&argv[0], "SET");
		rbt_reply_text(reply, "+OK\r\n");
	}
}

static void start_msetex(rbt_scene *s, msetex_peer *p)
{
	rbt_peer_options options = { .family = RBT_PAIR,
				     .handler = serve_msetex,
				     .handler_arg = p,
				     .record = 4096 };

	rbt_scene_start(s, &options);
}

#define KNOWN "*1\r\n*3\r\n$6\r\nmsetex\r\n:-4\r\n*1\r\n+write\r\n"
#define ASK "*3\r\n$7\r\nCOMMAND\r\n$4\r\nINFO\r\n$6\r\nMSETEX\r\n"

static void test_msetex_is_sent_byte_for_byte_where_it_is_known(void **state)
{
	static const char want[] =
		ASK "*8\r\n$6\r\nMSETEX\r\n$1\r\n2\r\n$1\r\na\r\n$1\r\n1\r\n"
		    "$2\r\nbb\r\n$0\r\n\r\n$2\r\nPX\r\n$4\r\n1500\r\n"
		    "*6\r\n$6\r\nMSETEX\r\n$1\r\n1\r\n$1\r\nc\r\n$1\r\n3\r\n"
		    "$2\r\nPX\r\n$4\r\n1500\r\n";
	static const char *keys[] = { "a", "bb", "c" };
	static const char *values[] = { "1", "", "3" };
	msetex_peer p = { .info = KNOWN };
	rb_options o = rbt_options(2, 2);
	rb_stats stats = { .struct_size = sizeof(stats) };
	rbt_scene *s = rbt_scene_use(state);
	char got[sizeof(want) + 64];

	start_msetex(s, &p);
	o.expire_ms = 1500;
	want_status(s->rb,
		    rb_mset_chunked(s->rb, keys, NULL, values, NULL, 3, &o,
				    &s->res),
		    RB_OK);
	assert_int_equal(rbt_peer_recorded(s->peer, got, sizeof(got)),
			 sizeof(want) - 1);
	assert_memory_equal(got, want, sizeof(want) - 1);
	for (size_t i = 0; i < 3; i++)
		want_written(s->res, i, RB_ANSWERED);
	assert_int_equal(rb_result_chunks(s->res), 2);
	assert_int_equal(rb_result_stats(s->res, &stats), RB_OK);
	assert_int_equal(stats.commands, 2);
	for (size_t i = 0; i < 2; i++) {
		const rb_chunk *chunk = rb_result_chunk(s->res, i);

		assert_int_equal(chunk->request_bytes, i == 0 ? 69 : 55);
	}
}

static void test_each_client_asks_its_server_once(void **state)
{
	msetex_peer p = { .info = KNOWN };
	rb_options o = rbt_options(10, 2);
	rbt_scene *s = rbt_scene_use(state);

	start_msetex(s, &p);
	o.expire_ms = 1500;
	for (int i = 0; i < 3; i++)
		want_status(s->rb, set_pairs(s, 95, 3, &o), RB_OK);
	assert_int_equal(p.asked, 1);
	assert_int_equal(p.msetex, 30);
	assert_int_equal(p.sets, 0);
	/* A condition is for each key by itself, so it is SET. */
	o.flags = RB_IF_ABSENT;
	want_status(s->rb, set_pairs(s, 95, 3, &o), RB_OK);
	assert_int_equal(p.sets, 95);
	assert_int_equal(p.asked, 1);
}

static void test_a_server_without_msetex_is_sent_set(void **state)
{
	static const char *const infos[] = {
		"*1\r\n*-1\r\n", "*1\r\n$-1\r\n",
		"*0\r\n",	 "-ERR unknown command 'COMMAND'\r\n",
		"*-1\r\n",	 "_\r\n",
	};

	for (size_t i = 0; i < COUNT(infos); i++) {
		msetex_peer p = { .info = infos[i] };
		rb_options o = rbt_options(10, 2);
		rbt_scene *s = rbt_scene_use(state);

		start_msetex(s, &p);
		o.expire_ms = 1500;
		for (int k = 0; k < 2; k++)
			want_status(s->rb, set_pairs(s, 25, 3, &o), RB_OK);
		assert_int_equal(p.asked, 1);
		assert_int_equal(p.msetex, 0);
		assert_int_equal(p.sets, 50);
	}
}

static void test_nobody_asks_for_what_is_not_wanted(void **state)
{
	static const struct {
		uint32_t flags;
		uint64_t expire_ms;
	} rows[] = { { 0, 0 }, { RB_IF_ABSENT, 0 }, { RB_IF_PRESENT, 10 } };
	msetex_peer p = { .info = KNOWN };
	rbt_scene *s = rbt_scene_use(state);

	start_msetex(s, &p);
	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(10, 2);

		o.flags = rows[i].flags;
		o.expire_ms = rows[i].expire_ms;
		want_status(s->rb, set_pairs(s, 25, 3, &o), RB_OK);
	}
	assert_int_equal(p.asked, 0);
	assert_int_equal(p.msetex, 0);
}

/* The question is the library's own, which no bound of the caller's forbids. */
static void test_a_bound_on_values_does_not_bound_the_question(void **state)
{
	msetex_peer p = { .info = KNOWN };
	rb_options o = rbt_options(10, 2);
	rbt_scene *s = rbt_scene_use(state);

	start_msetex(s, &p);
	o.expire_ms = 1500;
	o.max_value_bytes = 3;
	want_status(s->rb, set_pairs(s, 25, 3, &o), RB_OK);
	assert_int_equal(p.asked, 1);
	assert_int_equal(p.msetex, 3);
}

static void test_a_question_without_an_answer_is_no_bad_argument(void **state)
{
	static const rbt_step silent[] = { RBT_DRAIN(30000), RBT_END };
	static const rbt_step closes[] = { RBT_EXPECT(1), RBT_CLOSE, RBT_END };
	static const struct {
		const rbt_step *script;
		rb_status status;
	} rows[] = { { silent, RB_ERR_TIMEOUT }, { closes, RB_ERR_IO } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(10, 2);
		rbt_scene *s = rbt_scene_use(state);
		unsigned ms = 0;
		uint64_t start;

		o.expire_ms = 1500;
		do {
			if (rows[i].status == RB_ERR_TIMEOUT)
				o.timeout_ms = rbt_more_patience(&ms);
			rbt_scene_play(s, RBT_PAIR, rows[i].script);
			start = rbt_now_us();
			want_status(s->rb, set_pairs(s, 25, 3, &o),
				    rows[i].status);
			assert_in_range(rbt_scene_ms_since(start), 0,
					ms + 6000);
			/* In step: the question was not sent. */
		} while (s->ctx->err == 0);
		if (s->res)
			assert_int_equal(rb_result_failed(s->res), 25);
		rbt_scene_want_broken(s);
	}
}

/* --------------------------------------------------------------- pieces -- */

static void test_a_reply_in_single_bytes_is_the_same(void **state)
{
	static const char bytes[] =
		"*5\r\n$3\r\nabc\r\n*2\r\n:-7\r\n$-1\r\n+st\r\n-ERR in\r\n"
		"*0\r\n"
		"-ERR own\r\n";
	static const rbt_step script[] = {
		RBT_EXPECT(2), RBT_TRICKLE(bytes, 0),
		RBT_EXPECT(1), RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	static const char *argv[] = { "PING" };
	static const rb_command commands[] = { { 1, argv, NULL },
					       { 1, argv, NULL } };
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb,
		    rb_pipeline_chunked(s->rb, commands, 2, NULL, &s->res),
		    RB_ERR_PARTIAL);
	want_reply(s->res, 0, "[\"abc\", [:-7, nil], +st, -ERR in, []]");
	want_reply(s->res, 1, "-ERR own");
	rbt_scene_want_pong(s);
	rbt_scene_want_over(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(
			test_of_ten_chunks_2_are_answered_4_unknown_4_not_sent),
		RBT_SCENE(
			test_commands_of_a_chunk_answered_in_part_keep_their_answers),
		RBT_SCENE(
			test_commands_that_had_left_whole_are_unknown_the_rest_not_sent),
		RBT_SCENE(
			test_the_two_halves_of_a_cut_chunk_have_their_own_bytes),
		RBT_SCENE(test_large_values_are_told_apart_as_well),
		RBT_SCENE(test_pairs_under_a_condition_are_told_apart),
		RBT_SCENE(test_an_mset_cut_in_the_middle_was_not_sent),
		RBT_SCENE(
			test_a_transaction_whose_exec_had_not_left_was_not_sent),
		RBT_SCENE(test_a_transaction_that_had_left_is_unknown),
		RBT_SCENE(test_last_words_are_told_of_writes_too),
		RBT_SCENE(test_one_reply_too_few_is_a_timeout_and_no_reuse),
		RBT_SCENE(test_an_answer_of_another_shape_ends_the_connection),
		RBT_SCENE(
			test_a_command_queued_by_a_foreign_multi_is_no_success),
		RBT_SCENE(test_multi_that_is_refused_leaves_it_unknown),
		RBT_SCENE(test_errors_without_text_have_some),
		RBT_SCENE(test_msetex_is_sent_byte_for_byte_where_it_is_known),
		RBT_SCENE(test_each_client_asks_its_server_once),
		RBT_SCENE(test_a_server_without_msetex_is_sent_set),
		RBT_SCENE(test_nobody_asks_for_what_is_not_wanted),
		RBT_SCENE(test_a_bound_on_values_does_not_bound_the_question),
		RBT_SCENE(test_a_question_without_an_answer_is_no_bad_argument),
		RBT_SCENE(test_a_reply_in_single_bytes_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

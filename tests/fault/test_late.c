/*
 * Answers that come too late, too often, too seldom, or unasked.
 */
#include "patience.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_a_late_answer_reaches_nobody(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_WAIT,
		RBT_SEND("*1\r\n$4\r\nLATE\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(0, 0);
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;

	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_TCP, script);
		want_status(s->rb, rbt_scene_read(s, 1, &o), RB_ERR_TIMEOUT);
	} while (rb_result_outcome(s->res, 0) == RB_NOT_SENT);
	want_failed(s->res, 0, RB_ERR_TIMEOUT, RB_UNKNOWN);
	rbt_scene_want_broken(s);
	rbt_peer_release(s->peer);
	rbt_peer_await_step(s->peer, 3, 60000);
	rbt_scene_want_broken(s);
	/* Not even somebody who wipes the error away. */
	s->ctx->err = 0;
	assert_null(redisCommand(s->ctx, "GET other"));
}

static void test_an_own_client_dials_anew_after_a_timeout(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),	  RBT_SEND("*1\r\n$4\r\nLA"),
		RBT_DRAIN(60000), RBT_CLOSE,
		RBT_EXPECT(1),	  RBT_SEND("*1\r\n$5\r\nright\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(0, 0);
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;

	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play_own(s, script, "", "", NULL);
		want_status(s->rb, rb_client_connect(s->rb), RB_OK);
		want_status(s->rb, rbt_scene_read(s, 1, &o), RB_ERR_TIMEOUT);
	} while (rb_result_outcome(s->res, 0) == RB_NOT_SENT);
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_OK);
	want_text(s->res, 0, "right");
	assert_int_equal(rbt_peer_connections(s->peer), 2);
	rbt_scene_want_over(s);
}

/* Nobody can tell which of the five was not answered. */
static void test_an_answer_too_few_ends_the_connection(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(5),
		RBT_SEND("*1\r\n$1\r\na\r\n*1\r\n$1\r\nc\r\n"
			 "*1\r\n$1\r\nd\r\n*1\r\n$1\r\ne\r\n"),
		RBT_DRAIN(30000),
		RBT_END,
	};
	rb_options o = rbt_options(1, 5);
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;

	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_PAIR, script);
		want_status(s->rb, rbt_scene_read(s, 5, &o), RB_ERR_TIMEOUT);
	} while (rb_result_outcome(s->res, 4) == RB_NOT_SENT);
	want_failed(s->res, 4, RB_ERR_TIMEOUT, RB_UNKNOWN);
	rbt_scene_want_broken(s);
}

static void test_an_answer_too_many_ends_the_connection(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(2),
		RBT_SEND("*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n*1\r\n$1\r\nc\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(1, 2);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 2, &o), RB_ERR_PROTOCOL);
	assert_string_not_equal(rb_client_error(s->rb), "");
	rbt_scene_want_broken(s);
}

static void test_an_answer_too_many_behind_a_call_is_busy(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND("*1\r\n$1\r\na\r\n"),
		RBT_WAIT,      RBT_SEND("+extra\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_OK);
	rbt_peer_release(s->peer);
	rbt_scene_want_over(s);
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_ERR_BUSY);
	assert_null(s->res);
	/* Whose it is only the caller knows. */
	assert_int_equal(s->ctx->err, 0);
}

/* The command is longer than the peer has read when it answers. */
static void test_an_answer_before_its_command_is_none(void **state)
{
	static const rbt_step script[] = {
		RBT_READ(100),
		RBT_SEND("*200000\r\n$1\r\na\r\n"),
		RBT_DRAIN(30000),
		RBT_END,
	};
	rb_options o = rbt_options(200000, 1);
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;

	o.chunk_request_bytes = (size_t)1 << 30;
	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_PAIR, script);
		/* It never gets whole, whichever way that is found out. */
		assert_int_not_equal(rbt_scene_read(s, 200000, &o), RB_OK);
	} while (s->ctx->err == 0);
	assert_int_equal(rbt_count_nil(s->res), 0);
	assert_in_range(rb_result_failed(s->res), 199999, 200000);
	rbt_scene_want_broken(s);
}

static void test_a_greeting_is_nobodys_answer(void **state)
{
	static const rbt_step script[] = {
		RBT_ACCEPT,
		RBT_SEND("*1\r\n$8\r\ngreeting\r\n"),
		RBT_DRAIN(30000),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_UNIX, script);
	assert_true(rbt_peer_await_step(s->peer, 2, 60000));
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_ERR_BUSY);
	assert_null(s->res);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_a_late_answer_reaches_nobody),
		RBT_SCENE(test_an_own_client_dials_anew_after_a_timeout),
		RBT_SCENE(test_an_answer_too_few_ends_the_connection),
		RBT_SCENE(test_an_answer_too_many_ends_the_connection),
		RBT_SCENE(test_an_answer_too_many_behind_a_call_is_busy),
		RBT_SCENE(test_an_answer_before_its_command_is_none),
		RBT_SCENE(test_a_greeting_is_nobodys_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

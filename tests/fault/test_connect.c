/*
 * Connecting by oneself to a peer that does not play along.
 */
#include "scene.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define WHO "ann:sesame@"

/* What the peer says to AUTH, and what is told of it. */
static const struct {
	rbt_step say[2];
	const char *words;
} answers[] = {
	{ { RBT_SEND("-ERR nope\r\n") }, "AUTH failed: ERR nope" },
	{ { RBT_SEND("-\r\n") }, "AUTH failed" },
	{ { RBT_SEND("-ERR max number of clients reached\r\n"), RBT_CLOSE },
	  "max number of clients reached" },
	{ { RBT_SEND("-ERR unknown command `AUTH`, with args beginning with: "
		     "`ann`, `sesame`, \r\n") },
	  "AUTH failed" },
	{ { RBT_SEND("+QUEUED\r\n") }, "AUTH failed" },
	{ { RBT_SEND("+OKAY\r\n") }, "AUTH failed" },
	{ { RBT_SEND("$2\r\nOK\r\n") }, "AUTH failed" },
	{ { RBT_SEND(":1\r\n") }, "AUTH failed" },
	{ { RBT_SEND("$-1\r\n") }, "AUTH failed" },
	{ { RBT_SEND("*1\r\n+OK\r\n") }, "AUTH failed" },
	{ { RBT_SEND("+OK\r\n+OK\r\n") }, "AUTH failed" },
	{ { RBT_SEND("HTTP/1.1 400 Bad Request\r\n") }, "AUTH failed" },
	{ { RBT_REPEAT("+xxxxxxxxxxxxxxx", 1000) }, "too long" },
	{ { RBT_REPEAT("-xxxxxxxxxxxxxxx", 1000) }, "too long" },
	{ { RBT_SEND("*1000000\r\n") }, "AUTH failed" },
	{ { RBT_CLOSE }, "closed" },
	{ { RBT_SEND("+O"), RBT_CLOSE }, "closed" },
};

static void play(rbt_scene *s, const rbt_step *say)
{
	const rbt_step expect = RBT_EXPECT(1), drain = RBT_DRAIN(30000),
		       end = RBT_END;
	rbt_step script[5];
	size_t n = 0;

	script[n++] = expect;
	for (size_t i = 0; i < 2 && say[i].kind != RBT_STEP_END; i++)
		script[n++] = say[i];
	if (script[n - 1].kind != RBT_STEP_CLOSE)
		script[n++] = drain;
	script[n] = end;
	rbt_scene_play_own(s, script, WHO, "", NULL);
}

static void test_any_answer_to_auth_but_ok_is_a_failure(void **state)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		rbt_scene *s = rbt_scene_use(state);
		uint64_t start = rbt_now_us();

		play(s, answers[i].say);
		want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_ERR_CONNECT);
		assert_null(s->res);
		want_words(rb_client_error(s->rb), answers[i].words);
		want_words(rb_client_error(s->rb), "127.0.0.1");
		want_no_words(rb_client_error(s->rb), "sesame");
		/* Not by waiting for more. */
		assert_in_range(rbt_scene_ms_since(start), 0, 30000);
	}
}

/* Now AUTH is written before the peer is gone, now behind it; and nothing
 * here ignores SIGPIPE. */
static void test_a_peer_that_closes_at_once_is_a_failure(void **state)
{
	static const rbt_step closes[] = { RBT_ACCEPT, RBT_CLOSE, RBT_END };
	static const rbt_step resets[] = { RBT_ACCEPT, RBT_RESET, RBT_END };
	rbt_scene *s = rbt_scene_use(state);

	for (int i = 0; i < 50; i++) {
		rbt_scene_play_own(s, i % 2 ? closes : resets, WHO, "", NULL);
		want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_ERR_CONNECT);
		assert_null(s->res);
		want_words(rb_client_error(s->rb), "127.0.0.1");
	}
}

static void test_select_is_checked_as_well(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
		RBT_EXPECT(1), RBT_SEND("-ERR DB index is out of range\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play_own(s, script, WHO, "/7", NULL);
	want_status(s->rb, rb_client_connect(s->rb), RB_ERR_CONNECT);
	want_words(rb_client_error(s->rb),
		   "SELECT failed: ERR DB index is out of range");
}

static void test_the_handshake_is_sent_to_the_letter(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		/* In pieces, as anything may come. */
		RBT_TRICKLE("+OK\r\n", 1),
		RBT_EXPECT(1),
		RBT_TRICKLE("+OK\r\n", 1),
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n$1\r\nv\r\n"),
		RBT_END,
	};
	static const char want[] =
		"*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$6\r\nsesame\r\n"
		"*2\r\n$6\r\nSELECT\r\n$1\r\n7\r\n"
		"*2\r\n$4\r\nMGET\r\n$12\r\nkey:00000000\r\n";
	char got[sizeof(want)];
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play_own(s, script, WHO, "/7", NULL);
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_OK);
	want_text(s->res, 0, "v");
	assert_int_equal(rbt_peer_recorded(s->peer, got, sizeof(got)),
			 sizeof(want) - 1);
	assert_memory_equal(got, want, sizeof(want) - 1);
}

static void test_a_failed_call_is_followed_by_a_new_try(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),	  RBT_SEND("-LOADING dataset in memory\r\n"),
		RBT_DRAIN(60000), RBT_CLOSE,
		RBT_EXPECT(1),	  RBT_SEND("+OK\r\n"),
		RBT_EXPECT(1),	  RBT_SEND("*1\r\n$1\r\nv\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play_own(s, script, WHO, "", NULL);
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_ERR_CONNECT);
	want_words(rb_client_error(s->rb), "LOADING");
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_OK);
	want_text(s->res, 0, "v");
	assert_string_equal(rb_client_error(s->rb), "");
}

/* AUTH and SELECT go out again on each connection, and their +OK is no
 * answer to anything else. */
static void test_a_new_connection_is_authenticated_anew(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("+OK\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+OK\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n$3\r\none\r\n"),
		RBT_CLOSE,
		RBT_EXPECT(1),
		RBT_SEND("+OK\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+OK\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n$3\r\ntwo\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play_own(s, script, WHO, "/7", NULL);
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_OK);
	want_text(s->res, 0, "one");
	/* The close stands behind the answer; step 7 waits for us. */
	assert_true(rbt_peer_await_step(s->peer, 7, 60000));
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_OK);
	want_text(s->res, 0, "two");
	rbt_scene_want_over(s);
}

static void test_with_one_attempt_a_drop_is_told_and_nothing_repeated(
	void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND("*1\r\n$3\r\none\r\n"),
		RBT_EXPECT(1), RBT_CLOSE,
		RBT_EXPECT(1), RBT_SEND("*1\r\n$5\r\nagain\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(1, 1);
	rbt_scene *s = rbt_scene_use(state);

	o.attempts = 1;
	rbt_scene_play_own(s, script, "", "", NULL);
	want_status(s->rb, rbt_scene_read(s, 3, &o), RB_ERR_IO);
	want_text(s->res, 0, "one");
	want_failed(s->res, 1, RB_ERR_IO, RB_UNKNOWN);
	want_failed(s->res, 2, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(s->res);
	assert_int_equal(rbt_peer_connections(s->peer), 1);
	want_status(s->rb, rbt_scene_read(s, 1, &o), RB_OK);
	want_text(s->res, 0, "again");
}

/* Words before any command, as from a server that has no time for us any more:
 * there is no caller whose they could be, and nothing was sent. */
static void test_a_connection_that_was_given_notice_is_made_anew(void **state)
{
	static const rbt_step script[] = {
		RBT_ACCEPT,
		RBT_WAIT,
		RBT_SEND("-ERR max number of clients reached\r\n"),
		RBT_CLOSE,
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n$1\r\nv\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play_own(s, script, "", "", NULL);
	want_status(s->rb, rb_client_connect(s->rb), RB_OK);
	rbt_peer_release(s->peer);
	assert_true(rbt_peer_await_step(s->peer, 4, 60000));
	want_status(s->rb, rbt_scene_read(s, 1, NULL), RB_OK);
	assert_string_equal(rb_client_error(s->rb), "");
	want_text(s->res, 0, "v");
}

/* ------------------------------------------------------------ deadlines -- */

static void test_silence_is_bounded_by_the_nearer_deadline(void **state)
{
	static const rbt_step silence[] = { RBT_DRAIN(30000), RBT_END };
	static const rbt_step drops[] = {
		RBT_EXPECT(1),
		RBT_TRICKLE("+OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO"
			    "OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO",
			    20),
		RBT_END,
	};
	static const struct {
		const rbt_step *script;
		uint32_t connect_ms, call_ms;
		rb_status status;
	} rows[] = {
		{ silence, 300, 20000, RB_ERR_CONNECT },
		{ silence, 20000, 300, RB_ERR_TIMEOUT },
		{ drops, 300, 20000, RB_ERR_CONNECT },
		{ drops, 20000, 300, RB_ERR_TIMEOUT },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(0, 0);
		uint64_t start = rbt_now_us();
		rbt_scene *s = rbt_scene_use(state);

		o.connect_timeout_ms = rows[i].connect_ms;
		o.timeout_ms = rows[i].call_ms;
		rbt_scene_play_own(s, rows[i].script, WHO, "", &o);
		want_status(s->rb, rbt_scene_read(s, 1, NULL), rows[i].status);
		assert_null(s->res);
		assert_in_range(rbt_scene_ms_since(start), 290, 6000);
		want_words(rb_client_error(s->rb), "deadline");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_any_answer_to_auth_but_ok_is_a_failure),
		RBT_SCENE(test_a_peer_that_closes_at_once_is_a_failure),
		RBT_SCENE(test_select_is_checked_as_well),
		RBT_SCENE(test_the_handshake_is_sent_to_the_letter),
		RBT_SCENE(test_a_failed_call_is_followed_by_a_new_try),
		RBT_SCENE(test_a_new_connection_is_authenticated_anew),
		RBT_SCENE(
			test_with_one_attempt_a_drop_is_told_and_nothing_repeated),
		RBT_SCENE(test_a_connection_that_was_given_notice_is_made_anew),
		RBT_SCENE(test_silence_is_bounded_by_the_nearer_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

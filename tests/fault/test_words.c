/*
 * A server's last words before it closes are the reason that is told.
 */
#include "scene.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TOO_LONG "-ERR Protocol error: invalid bulk length\r\n"
#define QUOTA                                                             \
	"-ERR max requests limit exceeded. Limit: 500000, Usage: 500000." \
	"\r\n"

/* A command of 8 MiB, which the peer does not wait for. */
static rb_status write_much(rbt_scene *s)
{
	size_t len = (size_t)8 * 1024 * 1024;
	char *key = malloc(len);
	const char *keys[] = { "a", key, "b" };
	const size_t lens[] = { 1, len, 1 };
	rb_options o = rbt_options(1, 3);
	rb_status status;

	assert_non_null(key);
	memset(key, 'k', len);
	status = rb_mget_chunked(s->rb, keys, lens, 3, &o, &s->res);
	free(key);
	return status;
}

static void test_words_are_read_after_a_failed_write(void **state)
{
	static const rbt_step closes[] = {
		RBT_READ(1000),
		RBT_SEND("*1\r\n$1\r\nA\r\n" TOO_LONG),
		RBT_CLOSE,
		RBT_END,
	};
	static const rbt_step resets[] = {
		RBT_READ(1000),
		RBT_SEND("*1\r\n$1\r\nA\r\n" TOO_LONG),
		/* Long enough for the words to be on their way. */
		RBT_DELAY(20),
		RBT_RESET,
		RBT_END,
	};
	static const struct {
		rbt_family family;
		const rbt_step *script;
	} rows[] = {
		{ RBT_TCP, closes },
		{ RBT_UNIX, closes },
		{ RBT_PAIR, closes },
		{ RBT_TCP, resets },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		rbt_scene *s = rbt_scene_use(state);

		rbt_scene_play(s, rows[i].family, rows[i].script);
		want_status(s->rb, write_much(s), RB_ERR_SERVER);
		want_words(rb_client_error(s->rb), "invalid bulk length");
		want_text(s->res, 0, "A");
		want_failed(s->res, 1, RB_ERR_SERVER, RB_REJECTED);
		want_words(rb_result_message(s->res, 1), "invalid bulk length");
		want_failed(s->res, 2, RB_ERR_SKIPPED, RB_NOT_SENT);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

/* Nobody reads what we write, and nothing can be read: without words, the
 * system's are told. */
static void test_a_failed_write_without_words_says_so(void **state)
{
	static const rbt_step script[] = {
		RBT_READ(1000),
		RBT_RESET,
		RBT_END,
	};
	static const rbt_family families[] = { RBT_TCP, RBT_PAIR };

	for (size_t i = 0; i < COUNT(families); i++) {
		rbt_scene *s = rbt_scene_use(state);

		rbt_scene_play(s, families[i], script);
		want_status(s->rb, write_much(s), RB_ERR_IO);
		assert_string_not_equal(rb_client_error(s->rb), "");
		want_failed(s->res, 1, RB_ERR_IO, RB_NOT_SENT);
		want_failed(s->res, 2, RB_ERR_SKIPPED, RB_NOT_SENT);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

/* ------------------------------------------------------- between answers -- */

static void test_a_quota_that_ran_out_ends_the_batch(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(2), RBT_SEND("*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n"),
		RBT_EXPECT(2), RBT_SEND(QUOTA QUOTA),
		RBT_EXPECT(1), RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(1, 2);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 10, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "Usage: 500000.");
	want_text(s->res, 0, "A");
	want_text(s->res, 1, "B");
	want_failed(s->res, 2, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 3, RB_ERR_SERVER, RB_REJECTED);
	for (size_t i = 4; i < 10; i++)
		want_failed(s->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_words(rb_result_message(s->res, 9), "Usage: 500000.");
	want_sound(s->res);
	/* It has not closed, and everything was answered. */
	rbt_scene_want_pong(s);
	rbt_scene_want_over(s);
}

static void test_a_quota_before_a_close_is_the_reason(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(4),
		RBT_SEND("*1\r\n$1\r\nA\r\n" QUOTA),
		RBT_CLOSE,
		RBT_END,
	};
	rb_options o = rbt_options(1, 4);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 10, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "max requests limit exceeded");
	want_text(s->res, 0, "A");
	want_failed(s->res, 1, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 2, RB_ERR_IO, RB_UNKNOWN);
	want_failed(s->res, 3, RB_ERR_IO, RB_UNKNOWN);
	want_words(rb_result_message(s->res, 3), "max requests limit exceeded");
	assert_int_not_equal(rb_result_outcome(s->res, 9), RB_ANSWERED);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

static void test_a_protocol_error_closes_whatever_the_server_does(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_SEND("*1\r\n$1\r\nA\r\n" TOO_LONG),
		RBT_CLOSE,
		RBT_END,
	};
	rb_options o = rbt_options(1, 3);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "invalid bulk length");
	want_text(s->res, 0, "A");
	want_failed(s->res, 1, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 2, RB_ERR_IO, RB_UNKNOWN);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

/* Others answer no chunk, but say why there is no answer. */
static void test_an_end_in_the_middle_keeps_the_last_words(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_SEND("-BUSY with a script\r\n*1\r\n$5\r\nab"),
		RBT_CLOSE,
		RBT_END,
	};
	rb_options o = rbt_options(1, 3);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, &o), RB_ERR_IO);
	want_words(rb_client_error(s->rb), "closed");
	want_words(rb_client_error(s->rb), "BUSY with a script");
	want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 1, RB_ERR_IO, RB_UNKNOWN);
	want_failed(s->res, 2, RB_ERR_IO, RB_UNKNOWN);
	want_sound(s->res);
}

static void test_a_server_full_of_clients_says_so(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("-ERR max number of clients reached\r\n"),
		RBT_CLOSE,
		RBT_END,
	};
	rb_options o = rbt_options(1, 1);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_TCP, script);
	want_status(s->rb, rbt_scene_read(s, 3, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "max number of clients reached");
	want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 1, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_words_are_read_after_a_failed_write),
		RBT_SCENE(test_a_failed_write_without_words_says_so),
		RBT_SCENE(test_a_quota_that_ran_out_ends_the_batch),
		RBT_SCENE(test_a_quota_before_a_close_is_the_reason),
		RBT_SCENE(
			test_a_protocol_error_closes_whatever_the_server_does),
		RBT_SCENE(test_an_end_in_the_middle_keeps_the_last_words),
		RBT_SCENE(test_a_server_full_of_clients_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

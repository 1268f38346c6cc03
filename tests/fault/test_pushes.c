/*
 * RESP3 has more than answers: pushes and attributes, which are walked over
 * wherever they may stand.
 */
#include "patience.h"
#include "scene.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

#define PUSH ">2\r\n$10\r\ninvalidate\r\n*1\r\n$5\r\nkey:1\r\n"
#define ATTRIBUTE "|1\r\n+ttl\r\n:3600\r\n"

/* All answer an MGET of three keys with A, nil and C. */
static const char *const answers[] = {
	"*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n",
	PUSH "*3\r\n$1\r\nA\r\n$-1\r\n$1\r\nC\r\n",
	PUSH PUSH PUSH "*3\r\n$1\r\nA\r\n$-1\r\n$1\r\nC\r\n",
	"*3\r\n$1\r\nA\r\n$-1\r\n$1\r\nC\r\n" PUSH,
	"*3\r\n$1\r\nA\r\n$-1\r\n$1\r\nC\r\n" PUSH PUSH,
	ATTRIBUTE "*3\r\n$1\r\nA\r\n$-1\r\n$1\r\nC\r\n",
	ATTRIBUTE ATTRIBUTE "*3\r\n$1\r\nA\r\n$-1\r\n$1\r\nC\r\n",
	"*3\r\n" ATTRIBUTE "$1\r\nA\r\n$-1\r\n$1\r\nC\r\n",
	"*3\r\n$1\r\nA\r\n" ATTRIBUTE "$-1\r\n$1\r\nC\r\n",
	"*3\r\n$1\r\nA\r\n$-1\r\n" ATTRIBUTE ATTRIBUTE "$1\r\nC\r\n",
	PUSH ATTRIBUTE "*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n",
	"|0\r\n*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n",
	">0\r\n*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n",
	"|1\r\n+k\r\n*2\r\n$1\r\nx\r\n%1\r\n+a\r\n_\r\n"
	"*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n",
	">1\r\n*3\r\n$1\r\nX\r\n$1\r\nY\r\n$1\r\nZ\r\n"
	"*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n",
	">2\r\n+message\r\n-ERR not for you\r\n"
	"*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n",
};

static void want_a_nil_c(const rbt_scene *s)
{
	want_text(s->res, 0, "A");
	want_nil(s->res, 1);
	want_text(s->res, 2, "C");
	want_sound(s->res);
}

static void test_pushes_and_attributes_shift_nothing(void **state)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		const rbt_step script[] = {
			RBT_EXPECT(1),
			RBT_SEND_BYTES(answers[i], strlen(answers[i])),
			RBT_EXPECT(1),
			RBT_SEND("+PONG\r\n"),
			RBT_END,
		};
		rbt_scene *s = rbt_scene_use(state);

		rbt_scene_play(s, RBT_PAIR, script);
		want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_OK);
		want_a_nil_c(s);
		rbt_scene_want_pong(s);
	}
}

static void test_they_may_come_byte_by_byte(void **state)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		const rbt_step script[] = {
			RBT_EXPECT(1),
			RBT_TRICKLE_BYTES(answers[i], strlen(answers[i]), 0),
			RBT_END,
		};
		rbt_scene *s = rbt_scene_use(state);

		rbt_scene_play(s, RBT_PAIR, script);
		want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_OK);
		want_a_nil_c(s);
	}
}

static void test_pushes_stand_between_chunks(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_SEND(PUSH "*1\r\n$1\r\nA\r\n" PUSH PUSH "*1\r\n_\r\n" PUSH),
		RBT_SEND(ATTRIBUTE "*1\r\n" ATTRIBUTE "$1\r\nC\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(1, 3);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, &o), RB_OK);
	want_a_nil_c(s);
}

/* Waiting in the socket when the call begins, they make nobody wait. */
static void test_a_push_before_the_call_is_no_unread_reply(void **state)
{
	static const rbt_step script[] = {
		RBT_ACCEPT,    RBT_SEND(PUSH),
		RBT_EXPECT(1), RBT_SEND("*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_UNIX, script);
	assert_true(rbt_peer_await_step(s->peer, 2, 60000));
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_OK);
	want_a_nil_c(s);
}

static void test_an_answer_behind_a_push_before_the_call_is_none(void **state)
{
	static const rbt_step script[] = {
		RBT_ACCEPT,
		RBT_SEND(PUSH "*3\r\n$1\r\nX\r\n$1\r\nY\r\n$1\r\nZ\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n"),
		RBT_DRAIN(30000),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);
	rb_status status;

	rbt_scene_play(s, RBT_UNIX, script);
	assert_true(rbt_peer_await_step(s->peer, 2, 60000));
	status = rbt_scene_read(s, 3, NULL);
	/* Busy, or found out later; never taken for the answer. */
	if (status != RB_ERR_BUSY)
		want_status(s->rb, status, RB_ERR_PROTOCOL);
	for (size_t i = 0; i < rb_result_count(s->res); i++)
		assert_int_not_equal(rb_result_status(s->res, i), RB_OK);
}

static void test_a_push_without_its_end_is_awaited(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n>2\r\n+a\r"),
		RBT_DELAY(20),
		RBT_SEND("\n+b\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_OK);
	want_a_nil_c(s);
	rbt_scene_want_pong(s);
}

/* The server takes keys of one slot only, and so gets each key by itself. */
#define CROSSED RBT_EXPECT(1), RBT_SEND("-CROSSSLOT no\r\n"), RBT_EXPECT(3)
#define THREE "$1\r\nA\r\n$1\r\nA\r\n$1\r\nA\r\n"

static void test_a_push_without_its_end_is_awaited_by_slots_too(void **state)
{
	static const rbt_step script[] = {
		CROSSED,       RBT_SEND(THREE ">2\r\n+a\r"),
		RBT_DELAY(20), RBT_SEND("\n+b\r\n"),
		RBT_EXPECT(1), RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_OK);
	want_text(s->res, 2, "A");
	rbt_scene_want_pong(s);
}

/* It would be taken for the answer to what the caller sends next. */
static void test_half_an_answer_too_many_breaks_the_connection(void **state)
{
	static const rbt_step script[] = {
		CROSSED,	  RBT_SEND(THREE "+half of"),
		RBT_DELAY(20),	  RBT_SEND(" it\r\n"),
		RBT_DRAIN(30000), RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	(void)rbt_scene_read(s, 3, NULL);
	want_text(s->res, 0, "A");
	want_text(s->res, 2, "A");
	rbt_scene_want_broken(s);
}

/* --------------------------------------------------------------- floods -- */

static void test_a_flood_of_pushes_takes_no_memory(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_REPEAT(PUSH, 500000),
		RBT_SEND("*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_OK);
	want_a_nil_c(s);
	assert_in_range(s->count.peak_bytes, 1, MIB);
}

static void test_one_push_of_many_bytes_takes_no_memory(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND(">2\r\n+message\r\n$33554432\r\n"),
		RBT_REPEAT("0123456789abcdef0123456789abcdef", MIB),
		RBT_SEND("\r\n*3\r\n$1\r\nA\r\n_\r\n$1\r\nC\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_OK);
	want_a_nil_c(s);
	assert_in_range(s->count.peak_bytes, 1, MIB);
}

/* The peer pushes as fast as it can, and never answers. */
static void test_a_flood_of_pushes_does_not_move_the_deadline(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_REPEAT(PUSH, 2000000000),
		RBT_END,
	};
	rb_options o = rbt_options(0, 0);
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;
	uint64_t start;

	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_PAIR, script);
		start = rbt_now_us();
		want_status(s->rb, rbt_scene_read(s, 3, &o), RB_ERR_TIMEOUT);
		assert_in_range(rbt_scene_ms_since(start), ms - 10, ms + 6000);
	} while (s->ctx->err == 0);
	assert_in_range(s->count.peak_bytes, 1, MIB);
	rbt_scene_want_broken(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_pushes_and_attributes_shift_nothing),
		RBT_SCENE(test_they_may_come_byte_by_byte),
		RBT_SCENE(test_pushes_stand_between_chunks),
		RBT_SCENE(test_a_push_before_the_call_is_no_unread_reply),
		RBT_SCENE(test_an_answer_behind_a_push_before_the_call_is_none),
		RBT_SCENE(test_a_push_without_its_end_is_awaited),
		RBT_SCENE(test_a_push_without_its_end_is_awaited_by_slots_too),
		RBT_SCENE(test_half_an_answer_too_many_breaks_the_connection),
		RBT_SCENE(test_a_flood_of_pushes_takes_no_memory),
		RBT_SCENE(test_one_push_of_many_bytes_takes_no_memory),
		RBT_SCENE(test_a_flood_of_pushes_does_not_move_the_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

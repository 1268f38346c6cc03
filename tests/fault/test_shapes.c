/*
 * Answers of every shape to one MGET of three keys.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What is to come of one entry. */
typedef struct entry {
	rb_status status;
	const char *text; /* its value, or its words; NULL: nil */
} entry;

#define VALUE(text)           \
	{                     \
		RB_OK, (text) \
	}
#define NIL                 \
	{                   \
		RB_OK, NULL \
	}
#define SAYS(text)                    \
	{                             \
		RB_ERR_SERVER, (text) \
	}
#define SHAPE                       \
	{                           \
		RB_ERR_PROTOCOL, "" \
	}

static void want_entry(const rb_result *res, size_t i, const entry *want)
{
	if (want->status != RB_OK) {
		assert_int_equal(rb_result_status(res, i), want->status);
		assert_null(rb_result_value(res, i).data);
		want_words(rb_result_message(res, i), want->text);
	} else if (want->text) {
		want_bytes(res, i, want->text, strlen(want->text));
	} else {
		want_nil(res, i);
	}
}

/* The peer answers one command so, and a PING after that. */
static void play(rbt_scene *s, const char *reply, size_t len)
{
	const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND_BYTES(reply, len),
		RBT_EXPECT(1), RBT_SEND("+PONG\r\n"),
		RBT_END,
	};

	rbt_scene_play(s, RBT_PAIR, script);
}

/* ------------------------------------------- elements of a good array -- */

static const struct {
	const char *reply;
	rb_status status;
	entry entries[3];
} arrays[] = {
	{ "*3\r\n$1\r\nA\r\n$0\r\n\r\n$-1\r\n",
	  RB_OK,
	  { VALUE("A"), VALUE(""), NIL } },
	{ "*3\r\n$-1\r\n$-1\r\n$-1\r\n", RB_OK, { NIL, NIL, NIL } },
	{ "*3\r\n_\r\n$1\r\nB\r\n_\r\n", RB_OK, { NIL, VALUE("B"), NIL } },
	/* Errors of single keys, as some proxies have them. */
	{ "*3\r\n$1\r\nA\r\n-upstream failure\r\n$-1\r\n",
	  RB_ERR_PARTIAL,
	  { VALUE("A"), SAYS("upstream failure"), NIL } },
	{ "*3\r\n-ERR one\r\n$1\r\nB\r\n$1\r\nC\r\n",
	  RB_ERR_PARTIAL,
	  { SAYS("ERR one"), VALUE("B"), VALUE("C") } },
	{ "*3\r\n$-1\r\n$1\r\nB\r\n-ERR three\r\n",
	  RB_ERR_PARTIAL,
	  { NIL, VALUE("B"), SAYS("ERR three") } },
	{ "*3\r\n-ERR one\r\n-ERR two\r\n-ERR three\r\n",
	  RB_ERR_PARTIAL,
	  { SAYS("ERR one"), SAYS("ERR two"), SAYS("ERR three") } },
	{ "*3\r\n!8\r\nERR\r\none\r\n$1\r\nB\r\n$1\r\nC\r\n",
	  RB_ERR_PARTIAL,
	  { SAYS("ERR\r\none"), VALUE("B"), VALUE("C") } },
	/* What is no value fails alone. */
	{ "*3\r\n:5\r\n$1\r\nB\r\n$-1\r\n",
	  RB_ERR_PARTIAL,
	  { SHAPE, VALUE("B"), NIL } },
	{ "*3\r\n$1\r\nA\r\n+OK\r\n$-1\r\n",
	  RB_ERR_PARTIAL,
	  { VALUE("A"), SHAPE, NIL } },
	{ "*3\r\n$1\r\nA\r\n$-1\r\n*0\r\n",
	  RB_ERR_PARTIAL,
	  { VALUE("A"), NIL, SHAPE } },
	{ "*3\r\n*-1\r\n$1\r\nB\r\n$1\r\nC\r\n",
	  RB_ERR_PARTIAL,
	  { SHAPE, VALUE("B"), VALUE("C") } },
	{ "*3\r\n$1\r\nA\r\n*2\r\n$1\r\nx\r\n$-1\r\n$1\r\nC\r\n",
	  RB_ERR_PARTIAL,
	  { VALUE("A"), SHAPE, VALUE("C") } },
	{ "*3\r\n*1\r\n*2\r\n-a\r\n:1\r\n$1\r\nB\r\n$1\r\nC\r\n",
	  RB_ERR_PARTIAL,
	  { SHAPE, VALUE("B"), VALUE("C") } },
	{ "*3\r\n$1\r\nA\r\n$1\r\nB\r\n*1\r\n*1\r\n:1\r\n",
	  RB_ERR_PARTIAL,
	  { VALUE("A"), VALUE("B"), SHAPE } },
	{ "*3\r\n%1\r\n+k\r\n+v\r\n~1\r\n:1\r\n$1\r\nC\r\n",
	  RB_ERR_PARTIAL,
	  { SHAPE, SHAPE, VALUE("C") } },
	{ "*3\r\n#t\r\n,1.5\r\n(12345678901234567890123\r\n",
	  RB_ERR_PARTIAL,
	  { SHAPE, SHAPE, SHAPE } },
};

static void test_each_element_is_judged_by_itself(void **state)
{
	for (size_t i = 0; i < COUNT(arrays); i++) {
		rbt_scene *s = rbt_scene_use(state);

		play(s, arrays[i].reply, strlen(arrays[i].reply));
		want_status(s->rb, rbt_scene_read(s, 3, NULL),
			    arrays[i].status);
		for (size_t k = 0; k < 3; k++)
			want_entry(s->res, k, &arrays[i].entries[k]);
		want_sound(s->res);
		rbt_scene_want_pong(s);
		rbt_scene_want_over(s);
	}
}

/* ----------------------------------------------- other than an array -- */

static const char *const wrong_heads[] = {
	"$-1\r\n",
	"_\r\n",
	"*-1\r\n",
	"+OK\r\n",
	"+PONG\r\n",
	":1\r\n",
	"$3\r\nabc\r\n",
	"$0\r\n\r\n",
	"*0\r\n",
	"*1\r\n$1\r\nA\r\n",
	"*2\r\n$1\r\nA\r\n$1\r\nB\r\n",
	"*4\r\n$1\r\nA\r\n$1\r\nB\r\n$1\r\nC\r\n$1\r\nD\r\n",
	"~3\r\n$1\r\nA\r\n$1\r\nB\r\n$1\r\nC\r\n",
	"%1\r\n$1\r\nA\r\n$1\r\nB\r\n",
	"#t\r\n",
	",1.5\r\n",
	"=7\r\ntxt:abc\r\n",
	"*3\r\n$1\r\nA\r\n$1\r\nBB\r\n$1\r\nC\r\n",
	"*3\r\n$1\r\nA\r\n?\r\n$1\r\nC\r\n",
};

static void test_an_answer_of_another_shape_ends_the_connection(void **state)
{
	for (size_t i = 0; i < COUNT(wrong_heads); i++) {
		rbt_scene *s = rbt_scene_use(state);

		play(s, wrong_heads[i], strlen(wrong_heads[i]));
		want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_ERR_PROTOCOL);
		assert_string_not_equal(rb_client_error(s->rb), "");
		assert_non_null(s->res);
		assert_int_equal(rbt_count_nil(s->res), 0);
		want_failed(s->res, 2, RB_ERR_PROTOCOL, RB_UNKNOWN);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

/* An answer of a wrong length may be anyone's: so may all behind it. */
static void test_what_follows_a_wrong_shape_is_not_read(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_SEND("*2\r\n$1\r\nA\r\n$1\r\nB\r\n"),
		RBT_SEND("*1\r\n$1\r\nX\r\n"),
		RBT_SEND("*2\r\n$1\r\nE\r\n$1\r\nF\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(2, 3);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_PROTOCOL);
	want_text(s->res, 0, "A");
	want_text(s->res, 1, "B");
	for (size_t i = 2; i < 6; i++)
		want_failed(s->res, i, RB_ERR_PROTOCOL, RB_UNKNOWN);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

/* --------------------------------------------------------- error texts -- */

static void test_an_error_instead_of_the_array_fails_the_chunk(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_SEND("*2\r\n$1\r\nA\r\n$-1\r\n"),
		RBT_SEND("-ERR not today\r\n"),
		RBT_SEND("*1\r\n$1\r\nE\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(2, 3);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 5, &o), RB_ERR_PARTIAL);
	want_words(rb_client_error(s->rb), "ERR not today");
	want_text(s->res, 0, "A");
	want_nil(s->res, 1);
	want_failed(s->res, 2, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 3, RB_ERR_SERVER, RB_REJECTED);
	assert_string_equal(rb_result_message(s->res, 3), "ERR not today");
	want_text(s->res, 4, "E");
	want_sound(s->res);
	rbt_scene_want_pong(s);
}

static void test_an_error_of_4000_bytes_is_kept_whole(void **state)
{
	enum { LEN = 4000 };
	char reply[LEN + 4];
	rbt_scene *s = rbt_scene_use(state);

	memset(reply, 'E', sizeof(reply));
	reply[0] = '-';
	memcpy(reply + 1 + LEN, "\r\n", 3);
	play(s, reply, LEN + 3);
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_ERR_PARTIAL);
	want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
	assert_int_equal(strlen(rb_result_message(s->res, 0)), LEN);
	assert_int_equal(strspn(rb_result_message(s->res, 0), "E"), LEN);
	/* The line on the call is as long as it can be. */
	want_words(rb_client_error(s->rb), "EEEEEEEE");
	rbt_scene_want_pong(s);
}

static void test_an_error_without_text_is_an_error(void **state)
{
	static const char *const replies[] = {
		"-\r\n",
		"*3\r\n-\r\n-\r\n-\r\n",
		"*3\r\n!0\r\n\r\n-\r\n-\r\n",
	};

	for (size_t i = 0; i < COUNT(replies); i++) {
		rbt_scene *s = rbt_scene_use(state);

		play(s, replies[i], strlen(replies[i]));
		want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_ERR_PARTIAL);
		for (size_t k = 0; k < 3; k++)
			want_failed(s->res, k, RB_ERR_SERVER,
				    rb_result_outcome(s->res, k));
		want_sound(s->res);
		rbt_scene_want_pong(s);
	}
}

static void test_a_queued_command_is_no_value(void **state)
{
	rbt_scene *s = rbt_scene_use(state);

	play(s, "+QUEUED\r\n", 9);
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_ERR_PROTOCOL);
	want_words(rb_client_error(s->rb), "MULTI");
	want_failed(s->res, 0, RB_ERR_PROTOCOL, RB_UNKNOWN);
	/* In step, unlike after other shapes. */
	rbt_scene_want_pong(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_each_element_is_judged_by_itself),
		RBT_SCENE(test_an_answer_of_another_shape_ends_the_connection),
		RBT_SCENE(test_what_follows_a_wrong_shape_is_not_read),
		RBT_SCENE(test_an_error_instead_of_the_array_fails_the_chunk),
		RBT_SCENE(test_an_error_of_4000_bytes_is_kept_whole),
		RBT_SCENE(test_an_error_without_text_is_an_error),
		RBT_SCENE(test_a_queued_command_is_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

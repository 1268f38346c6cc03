/*
 * Answers that come in pieces over a real connection, or end in the middle.
 * Every kind of answer is cut in test_cuts.c.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The answers to two chunks of three keys, element by element. */
static const struct {
	const char *bytes;
	const char *value; /* NULL: nil */
	int is_entry;
} parts[] = {
	{ "*3\r\n", NULL, 0 },
	{ "$5\r\nfirst\r\n", "first", 1 },
	{ "$-1\r\n", NULL, 1 },
	{ "$0\r\n\r\n", "", 1 },
	{ "*3\r\n", NULL, 0 },
	{ "$12\r\n$-1\r\n$-1\r\n\r\n\r\n", "$-1\r\n$-1\r\n\r\n", 1 },
	{ "$1\r\n\r\r\n", "\r", 1 },
	{ "$-1\r\n", NULL, 1 },
};

enum { ENTRIES = 6, CHUNK = 3, LONGEST = 12 };

/* All of it, and behind which byte each entry has come. */
typedef struct answer {
	char bytes[128];
	size_t len;
	size_t end[ENTRIES];
	const char *value[ENTRIES];
} answer;

static void put_together(answer *a)
{
	size_t entry = 0;

	memset(a, 0, sizeof(*a));
	for (size_t i = 0; i < COUNT(parts); i++) {
		size_t len = strlen(parts[i].bytes);

		memcpy(a->bytes + a->len, parts[i].bytes, len);
		a->len += len;
		if (!parts[i].is_entry)
			continue;
		a->value[entry] = parts[i].value;
		a->end[entry++] = a->len;
	}
	assert_int_equal(entry, ENTRIES);
}

static void want_answer(const rb_result *res, const answer *a, size_t i)
{
	if (a->value[i])
		want_bytes(res, i, a->value[i], strlen(a->value[i]));
	else
		want_nil(res, i);
}

static void play_pieces(rbt_scene *s, rbt_family family, const rbt_step *middle,
			size_t n)
{
	const rbt_step expect = RBT_EXPECT(2), end = RBT_END;
	rbt_step script[8];

	script[0] = expect;
	memcpy(script + 1, middle, n * sizeof(*middle));
	script[n + 1] = end;
	rbt_scene_play(s, family, script);
}

static void test_an_answer_may_come_byte_by_byte(void **state)
{
	static const rbt_family families[] = { RBT_TCP, RBT_UNIX, RBT_PAIR };
	rb_options o = rbt_options(CHUNK, 2);
	answer a;

	put_together(&a);
	for (size_t i = 0; i < COUNT(families); i++) {
		const rbt_step middle[] = {
			RBT_TRICKLE_BYTES(a.bytes, a.len, 1),
			RBT_EXPECT(1),
			RBT_SEND("+PONG\r\n"),
		};
		rbt_scene *s = rbt_scene_use(state);

		play_pieces(s, families[i], middle, COUNT(middle));
		want_status(s->rb, rbt_scene_read(s, ENTRIES, &o), RB_OK);
		for (size_t k = 0; k < ENTRIES; k++)
			want_answer(s->res, &a, k);
		want_sound(s->res);
		rbt_scene_want_pong(s);
	}
}

/* The answer in two pieces. */
static void read_split(rbt_scene *s, const answer *a, size_t cut,
		       const rb_options *o)
{
	const rbt_step middle[] = {
		RBT_SEND_BYTES(a->bytes, cut),
		RBT_DELAY(1),
		RBT_SEND_BYTES(a->bytes + cut, a->len - cut),
		RBT_EXPECT(1),
		RBT_SEND("+PONG\r\n"),
	};

	play_pieces(s, RBT_PAIR, middle, COUNT(middle));
	want_status(s->rb, rbt_scene_read(s, ENTRIES, o), RB_OK);
	want_sound(s->res);
	rbt_scene_want_pong(s);
}

static void test_an_answer_may_be_split_anywhere(void **state)
{
	rb_options o = rbt_options(CHUNK, 2);
	answer a;
	rbt_scene *s = rbt_scene_use(state);

	/* Just as long as allowed. */
	o.max_value_bytes = LONGEST;
	put_together(&a);
	for (size_t cut = 1; cut < a.len; cut++) {
		read_split(s, &a, cut, &o);
		for (size_t k = 0; k < ENTRIES; k++)
			want_answer(s->res, &a, k);
	}
}

/* What had come whole stays; what had not is lost, and never nil. */
static void want_cut_at(const rb_result *res, const answer *a, size_t cut)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		if (a->end[i] <= cut)
			want_answer(res, a, i);
		else
			want_failed(res, i, RB_ERR_IO, RB_UNKNOWN);
	}
	want_sound(res);
}

static void test_an_answer_may_end_anywhere(void **state)
{
	static const rbt_family families[] = { RBT_TCP, RBT_PAIR };
	rb_options o = rbt_options(CHUNK, 2);
	answer a;

	put_together(&a);
	for (size_t cut = 0; cut < 2 * a.len; cut++) {
		const rbt_step middle[] = {
			RBT_SEND_BYTES(a.bytes, cut / 2),
			RBT_CLOSE,
		};
		rbt_scene *s = rbt_scene_use(state);

		play_pieces(s, families[cut % 2], middle, COUNT(middle));
		want_status(s->rb, rbt_scene_read(s, ENTRIES, &o), RB_ERR_IO);
		assert_string_not_equal(rb_client_error(s->rb), "");
		want_cut_at(s->res, &a, cut / 2);
		rbt_scene_want_broken(s);
	}
}

/* A reset may take away what had come before it. */
static void test_a_reset_anywhere_leaves_no_false_nil(void **state)
{
	rb_options o = rbt_options(CHUNK, 2);
	answer a;

	put_together(&a);
	for (size_t cut = 0; cut < a.len; cut++) {
		const rbt_step middle[] = {
			RBT_SEND_BYTES(a.bytes, cut),
			RBT_RESET,
		};
		rbt_scene *s = rbt_scene_use(state);

		play_pieces(s, RBT_TCP, middle, COUNT(middle));
		want_status(s->rb, rbt_scene_read(s, ENTRIES, &o), RB_ERR_IO);
		for (size_t i = 0; i < ENTRIES; i++) {
			if (rb_result_status(s->res, i) == RB_OK)
				want_answer(s->res, &a, i);
			else
				want_failed(s->res, i, RB_ERR_IO, RB_UNKNOWN);
		}
		want_failed(s->res, ENTRIES - 1, RB_ERR_IO, RB_UNKNOWN);
		want_sound(s->res);
		rbt_scene_want_broken(s);
	}
}

/* Half of the connection is closed: no more answers, though the peer still
 * listens. */
static void test_a_half_closed_connection_is_lost(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND("*2\r\n$1\r\nA\r\n"),
		RBT_SHUT,      RBT_DRAIN(60000),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_TCP, script);
	want_status(s->rb, rbt_scene_read(s, 2, NULL), RB_ERR_IO);
	want_text(s->res, 0, "A");
	want_failed(s->res, 1, RB_ERR_IO, RB_UNKNOWN);
	want_words(rb_client_error(s->rb), "closed");
	rbt_scene_want_broken(s);
}

static void test_a_close_behind_the_last_answer_is_no_failure(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("*2\r\n$1\r\nA\r\n$-1\r\n"),
		RBT_CLOSE,
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 2, NULL), RB_OK);
	want_text(s->res, 0, "A");
	want_nil(s->res, 1);
	rbt_scene_want_over(s);
	/* The next call finds out, before it sends anything. */
	want_status(s->rb, rbt_scene_read(s, 2, NULL), RB_ERR_IO);
	want_failed(s->res, 0, RB_ERR_SKIPPED, RB_NOT_SENT);
	rbt_scene_want_broken(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_an_answer_may_come_byte_by_byte),
		RBT_SCENE(test_an_answer_may_be_split_anywhere),
		RBT_SCENE(test_an_answer_may_end_anywhere),
		RBT_SCENE(test_a_reset_anywhere_leaves_no_false_nil),
		RBT_SCENE(test_a_half_closed_connection_is_lost),
		RBT_SCENE(test_a_close_behind_the_last_answer_is_no_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

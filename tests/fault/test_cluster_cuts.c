/*
 * Nodes whose connection ends in the middle of an answer: what had come of it
 * counts, and where it has sent the client too.
 */
#include "replies.h"
#include "round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In the order of their slots, which are all node 1's: one chunk, of a command
 * for each slot. */
static const char *all[] = { "foo", "a", "{t}1", "{t}2" };

typedef struct break_off {
	const char *word; /* "MOVED" or "ASK": "foo" is node 0's */
	const char *text; /* or in place of the first answer */
} break_off;

/* "foo" is refused, and the last command has no answer but the end of the
 * connection: the first so many times. */
static bool refuse_and_end(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	const break_off *b = arg;

	if (v->node != 1 || v->connection > 0)
		return false;
	if (rbt_visit_arg(v, 1, "foo") && b->text)
		rbt_reply_text(reply, b->text);
	else if (rbt_visit_arg(v, 1, "foo"))
		rbt_ring_redirect(v, reply, b->word, 0);
	else if (rbt_visit_arg(v, 1, "{t}1"))
		reply->then = RBT_THEN_CLOSE;
	else
		return false;
	return true;
}

static const break_off cases[] = {
	{ .word = "ASK" },
	{ .word = "MOVED" },
	{ .text = "-TRYAGAIN Multiple keys request during rehashing of "
		  "slot\r\n" },
	{ .text = "-CLUSTERDOWN The cluster is down\r\n" },
	{ .text = "-LOADING Redis is loading the dataset in memory\r\n" },
};

static void test_a_refusal_before_the_end_is_heeded_by_reads(void **state)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		break_off b = cases[i];
		rbt_ring_options o = { .answer = refuse_and_end, .arg = &b };
		rbt_round *r;

		r = rbt_round_use(state, &o);
		rbt_round_client(r, 1, NULL);
		want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
		rbt_round_want_keys(r, all, 4);
	}
}

/* What was refused is written; what nobody has answered is in doubt. */
static void test_a_refusal_before_the_end_is_heeded_by_writes(void **state)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		break_off b = cases[i];
		rbt_ring_options o = { .answer = refuse_and_end, .arg = &b };
		char written[256];
		rbt_round *r;

		r = rbt_round_use(state, &o);
		rbt_round_client(r, 1, NULL);
		want_status(r->rb, rbt_round_write(r, all, 4, NULL),
			    RB_ERR_PARTIAL);
		want_written(r->res, 0, RB_ANSWERED);
		want_written(r->res, 1, RB_ANSWERED);
		want_failed(r->res, 2, RB_ERR_IO, RB_UNKNOWN);
		want_failed(r->res, 3, RB_ERR_IO, RB_UNKNOWN);
		rbt_ring_written(r->ring, written, sizeof(written));
		assert_string_equal(written, "a=a foo=foo ");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_ROUND(test_a_refusal_before_the_end_is_heeded_by_reads),
		RBT_ROUND(test_a_refusal_before_the_end_is_heeded_by_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Nodes that do not let a client in: for a while, or for good.
 */
#include "replies.h"
#include "round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "b" and "c" are node 0's, "foo" and "a" are node 1's. */
static const char *all[] = { "b", "foo", "c", "a" };

typedef struct door {
	const char *words;
	size_t shut; /* connections to node 1 that are told so */
} door;

static bool turn_away(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	const door *d = arg;

	if (!rbt_visit_is(v, "AUTH") || v->node != 1 ||
	    v->connection >= d->shut)
		return false;
	rbt_reply_text(reply, d->words);
	reply->then = RBT_THEN_CLOSE;
	return true;
}

static void call_at(rbt_round *r)
{
	rbt_round_client_of(r, NULL, "redis+cluster://:secret@127.0.0.1:%d",
			    rbt_ring_port(r->ring, 0));
}

static void test_who_has_no_room_is_asked_again(void **state)
{
	static const char *const words[] = {
		"-ERR max number of clients reached\r\n",
		"-LOADING Redis is loading the dataset in memory\r\n",
		"-MASTERDOWN Link with MASTER is down\r\n",
		"-BUSY Redis is busy running a script\r\n",
	};

	for (size_t i = 0; i < COUNT(words); i++) {
		door d = { words[i], 2 };
		rbt_ring_options o = { .answer = turn_away, .arg = &d };
		rbt_round *r = rbt_round_use(state, &o);

		call_at(r);
		want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
		rbt_round_want_keys(r, all, 4);
		assert_int_equal(rbt_ring_look(r->ring).connections[1], 3);
	}
}

/* One that does not know us never will: no time is lost by it. */
static void test_who_turns_us_away_is_not_asked_again(void **state)
{
	door d = { "-WRONGPASS invalid username-password pair\r\n", SIZE_MAX };
	rbt_ring_options o = { .answer = turn_away, .arg = &d };
	rbt_round *r = rbt_round_use(state, &o);

	call_at(r);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_ERR_PARTIAL);
	want_text(r->res, 0, "b");
	want_failed(r->res, 1, RB_ERR_CONNECT, RB_NOT_SENT);
	want_text(r->res, 2, "c");
	want_failed(r->res, 3, RB_ERR_CONNECT, RB_NOT_SENT);
	assert_int_equal(rb_result_failed(r->res), 2);
	assert_in_range(rbt_ring_look(r->ring).connections[1], 1, 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_ROUND(test_who_has_no_room_is_asked_again),
		RBT_ROUND(test_who_turns_us_away_is_not_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

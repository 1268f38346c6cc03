/*
 * Nodes that do not let a client in: for a while, or for good.
 */
#include "commands.h"
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

/* What has no key is anybody's. */
static bool turn_away_or_answer(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	if (turn_away(arg, v, reply))
		return true;
	if (!rbt_visit_is(v, "PING"))
		return false;
	rbt_reply_text(reply, "+PONG\r\n");
	return true;
}

static void test_a_command_without_a_key_goes_to_who_is_there(void **state)
{
	static const char *const lines[] = {
		"PING",	 "GET foo", "PING", "PING",  "MULTI",	"PING", "EXEC",
		"GET a", "SET b b", "PING", "MULTI", "GET foo", "EXEC", "PING",
	};
	door d = { "-WRONGPASS invalid username-password pair\r\n", SIZE_MAX };
	rbt_ring_options o = { .answer = turn_away_or_answer, .arg = &d };
	rbt_round *r = rbt_round_use(state, &o);
	rbt_commands c;
	rb_status status;

	call_at(r);
	rbt_commands_init(&c);
	for (size_t i = 0; i < COUNT(lines); i++)
		rbt_commands_add(&c, "%s", lines[i]);
	status = rb_pipeline_chunked(r->rb, c.list, c.n, NULL, &r->res);
	rbt_commands_fini(&c);
	want_status(r->rb, status, RB_ERR_PARTIAL);
	want_reply(r->res, 0, "+PONG");
	want_failed(r->res, 1, RB_ERR_CONNECT, RB_NOT_SENT);
	want_reply(r->res, 2, "+PONG");
	want_reply(r->res, 3, "+PONG");
	want_reply(r->res, 5, "+PONG");
	want_failed(r->res, 7, RB_ERR_CONNECT, RB_NOT_SENT);
	want_reply(r->res, 8, "+OK");
	want_reply(r->res, 9, "+PONG");
	want_failed(r->res, 10, RB_ERR_CONNECT, RB_NOT_SENT);
	want_failed(r->res, 11, RB_ERR_CONNECT, RB_NOT_SENT);
	want_reply(r->res, 13, "+PONG");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_ROUND(test_who_has_no_room_is_asked_again),
		RBT_ROUND(test_who_turns_us_away_is_not_asked_again),
		RBT_ROUND(test_a_command_without_a_key_goes_to_who_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What the server refuses: its words are kept, and nothing else is lost.
 */
#include "live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The test's context as a user who may do this. */
static void become(rbt_live *live, const char *rules)
{
	rbt_do(live->admin, "ACL DELUSER lim");
	/* Cut at its spaces by hiredis: the format is the command. */
	rbt_do(live->admin, rules);
	rbt_do(live->ctx, "AUTH lim pw");
}

static void test_hmget_of_another_type_is_refused_in_words(void **state)
{
	static const char *fields[] = { "a", "b", "c" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 0);

	rbt_do(live->admin, "SET text v");
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "text", 4, fields, NULL, 3, &o,
				     &live->res),
		    RB_ERR_PARTIAL);
	for (size_t i = 0; i < 3; i++) {
		want_failed(live->res, i, RB_ERR_SERVER, RB_REJECTED);
		want_words(rb_result_message(live->res, i), "WRONGTYPE");
	}
	assert_int_equal(rb_result_failed(live->res), 3);
	want_words(rb_client_error(live->rb), "WRONGTYPE");
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_a_forbidden_key_fails_alone(void **state)
{
	static const char *keys[] = { "ok:1", "no:1", "ok:2", "ok:3", "no:2" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 0);

	rbt_do(live->admin, "MSET ok:1 1 no:1 2 ok:2 3 ok:3 4 no:2 5");
	become(live, "ACL SETUSER lim on >pw ~ok:* +@all");
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 5, &o, &live->res),
		    RB_ERR_PARTIAL);
	want_text(live->res, 0, "1");
	want_failed(live->res, 1, RB_ERR_SERVER, RB_REJECTED);
	want_words(rb_result_message(live->res, 1), "NOPERM");
	want_text(live->res, 2, "3");
	want_text(live->res, 3, "4");
	want_failed(live->res, 4, RB_ERR_SERVER, RB_REJECTED);
	want_words(rb_client_error(live->rb), "NOPERM");
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static rb_status read_keys(rbt_live *live, const char **keys, size_t n,
			   const rb_options *o)
{
	return rb_mget_chunked(live->rb, keys, NULL, n, o, &live->res);
}

static rb_status write_keys(rbt_live *live, const char **keys, size_t n,
			    const rb_options *o)
{
	return rb_mset_chunked(live->rb, keys, NULL, keys, NULL, n, o,
			       &live->res);
}

static rb_status count_keys(rbt_live *live, const char **keys, size_t n,
			    const rb_options *o)
{
	return rb_exists_chunked(live->rb, keys, NULL, n, o, &live->res);
}

/* One command is refused for all the keys in it, over each connection. */
static void test_forbidden_keys_fail_alone_over_several_connections(
	void **state)
{
	typedef rb_status verb(rbt_live * live, const char **keys, size_t n,
			       const rb_options *o);
	static verb *const verbs[] = { read_keys, write_keys, count_keys };
	enum { N = 200, EVERY = 7 };
	rbt_live *live = rbt_live_use(state);
	static char names[N][16];
	const char *keys[N];

	for (size_t i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "%s:%zu",
			 i % EVERY == 0 ? "no" : "ok", i);
		keys[i] = names[i];
	}
	become(live, "ACL SETUSER lim on >pw ~ok:* +@all");
	for (size_t v = 0; v < 3; v++) {
		rb_options o = rbt_options(0, 0);

		o.connections = 3;
		rbt_live_open_uri(live, &o, "unix://lim:pw@%s",
				  rbt_server_socket(live->server));
		want_status(live->rb, verbs[v](live, keys, N, &o),
			    RB_ERR_PARTIAL);
		for (size_t i = 0; i < N; i++) {
			if (i % EVERY == 0)
				want_failed(live->res, i, RB_ERR_SERVER,
					    RB_REJECTED);
			else
				assert_int_equal(rb_result_status(live->res, i),
						 RB_OK);
		}
		rbt_live_drop(live);
	}
}

static void test_a_forbidden_command_ends_the_batch(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);

	rbt_live_load(live, 100, 5);
	become(live, "ACL SETUSER lim on >pw ~* +@all -mget");
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_SERVER);
	want_words(rb_client_error(live->rb), "NOPERM");
	for (size_t i = 0; i < 20; i++)
		want_failed(live->res, i, RB_ERR_SERVER, RB_REJECTED);
	for (size_t i = 20; i < 100; i++)
		want_failed(live->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_a_missing_password_ends_the_batch(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(5, 3);
	char answer[128];

	/* Above ten arguments it would close the connection. */
	rbt_live_load(live, 100, 5);
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_live_wrap(live, rbt_live_unix(live), NULL);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_SERVER);
	want_words(rb_client_error(live->rb), "NOAUTH");
	for (size_t i = 0; i < 15; i++)
		want_failed(live->res, i, RB_ERR_SERVER, RB_REJECTED);
	for (size_t i = 15; i < 100; i++)
		want_failed(live->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(live->res);
	/* In step: each question gets its own answer. */
	rbt_ask(live->ctx, answer, sizeof(answer), "PING");
	want_words(answer, "NOAUTH");
	rbt_do(live->ctx, "AUTH secret");
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 100, 5);
}

static void test_a_large_batch_without_password_ends_in_words(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 5000, 5);
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_live_wrap(live, rbt_live_unix(live), NULL);
	want_status(live->rb, rbt_live_read(live, NULL), RB_ERR_SERVER);
	want_words(rb_client_error(live->rb), "unauthenticated");
	want_failed(live->res, 0, RB_ERR_SERVER, RB_REJECTED);
	assert_int_equal(rb_result_failed(live->res), 5000);
	want_sound(live->res);
	rbt_want_broken(live->ctx, live->rb);
}

static void test_stop_on_error_sends_nothing_after_a_failure(void **state)
{
	static const char *keys[] = { "ok:1", "ok:2", "no:1", "ok:3", "ok:4" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 1);

	o.flags = RB_STOP_ON_ERROR;
	rbt_do(live->admin, "MSET ok:1 1 ok:2 2 no:1 3 ok:3 4 ok:4 5");
	rbt_do(live->admin, "CONFIG RESETSTAT");
	become(live, "ACL SETUSER lim on >pw ~ok:* +@all");
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 5, &o, &live->res),
		    RB_ERR_PARTIAL);
	want_text(live->res, 0, "1");
	want_text(live->res, 1, "2");
	want_failed(live->res, 2, RB_ERR_SERVER, RB_REJECTED);
	want_failed(live->res, 3, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_failed(live->res, 4, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_words(rb_result_message(live->res, 4), "NOPERM");
	assert_int_equal(rbt_live_calls(live, "mget"), 2);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_stop_on_error_awaits_what_is_in_flight(void **state)
{
	static const char *keys[] = { "no:1", "ok:1", "ok:2", "ok:3" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 2);

	o.flags = RB_STOP_ON_ERROR;
	rbt_do(live->admin, "MSET ok:1 1 ok:2 2 no:1 3 ok:3 4");
	become(live, "ACL SETUSER lim on >pw ~ok:* +@all");
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 4, &o, &live->res),
		    RB_ERR_PARTIAL);
	want_failed(live->res, 0, RB_ERR_SERVER, RB_REJECTED);
	want_text(live->res, 1, "1");
	want_failed(live->res, 2, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_failed(live->res, 3, RB_ERR_SKIPPED, RB_NOT_SENT);
	rbt_want_pong(live->ctx);
}

static void test_stop_on_error_stops_at_a_long_value_too(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 1);

	o.flags = RB_STOP_ON_ERROR;
	o.max_value_bytes = 10;
	rbt_live_load(live, 3, 5);
	rbt_do(live->admin, "SET %s 12345678901", live->keys.keys[1]);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_PARTIAL);
	want_filled(live->res, 0, 5, 0);
	want_failed(live->res, 1, RB_ERR_LIMIT, RB_ANSWERED);
	want_failed(live->res, 2, RB_ERR_SKIPPED, RB_NOT_SENT);
	rbt_want_pong(live->ctx);
}

/* Larger than the server keeps for one client: it closes without a word. */
static void test_an_answer_too_large_for_the_server_is_no_nil(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(6, 6);

	rbt_live_load(live, 6, 400000);
	rbt_do(live->admin, "CONFIG SET client-output-buffer-limit %s",
	       "normal 1048576 0 0");
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	assert_int_equal(rbt_count_nil(live->res), 0);
	assert_in_range(rb_result_failed(live->res), 1, 6);
	for (size_t i = 0; i < 6; i++)
		if (rb_result_status(live->res, i) != RB_OK)
			want_failed(live->res, i, RB_ERR_IO, RB_UNKNOWN);
	rbt_want_broken(live->ctx, live->rb);
}

static void test_smaller_chunks_pass_the_same_server(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 1);

	rbt_live_load(live, 12, 400000);
	rbt_do(live->admin, "CONFIG SET client-output-buffer-limit %s",
	       "normal 1048576 0 0");
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 12, 400000);
	rbt_want_pong(live->ctx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_hmget_of_another_type_is_refused_in_words),
		RBT_LIVE(test_a_forbidden_key_fails_alone),
		RBT_LIVE(
			test_forbidden_keys_fail_alone_over_several_connections),
		RBT_LIVE(test_a_forbidden_command_ends_the_batch),
		RBT_LIVE(test_a_missing_password_ends_the_batch),
		RBT_LIVE(test_a_large_batch_without_password_ends_in_words),
		RBT_LIVE(test_stop_on_error_sends_nothing_after_a_failure),
		RBT_LIVE(test_stop_on_error_awaits_what_is_in_flight),
		RBT_LIVE(test_stop_on_error_stops_at_a_long_value_too),
		RBT_LIVE(test_an_answer_too_large_for_the_server_is_no_nil),
		RBT_LIVE(test_smaller_chunks_pass_the_same_server),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

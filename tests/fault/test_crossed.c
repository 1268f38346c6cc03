/*
 * One plain endpoint that refuses keys of several slots in one command, as some
 * services do: the client learns to put them together by slot.
 */
#include "commands.h"
#include "replies.h"
#include "round.h"

#include <hiredis/hiredis.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As many as may be in flight before the first answer, and some more. */
enum { KEYS = 3000, MOST_CROSSED = 70 };

static rbt_round *use_plain(void **state, const rbt_ring_options *options)
{
	rbt_ring_options o = *options;
	rbt_round *r;

	o.nodes = 1;
	r = rbt_round_bare(state, &o);
	assert_non_null(r);
	rbt_round_client_of(r, NULL, "redis://127.0.0.1:%d",
			    rbt_ring_port(r->ring, 0));
	return r;
}

static size_t crossed(const rbt_round *r)
{
	return rbt_ring_look(r->ring).crossed;
}

/* --------------------------------------------------------------- learning -- */

static void want_learned(rbt_round *r, const rb_options *o)
{
	rbt_keys keys;
	size_t before;

	assert_true(rbt_keys_init(&keys, "key:", KEYS));
	want_status(r->rb, rbt_round_read(r, keys.keys, KEYS, o), RB_OK);
	rbt_round_want_keys(r, keys.keys, KEYS);
	before = crossed(r);
	assert_in_range(before, 1, MOST_CROSSED);
	want_status(r->rb, rbt_round_read(r, keys.keys, KEYS, o), RB_OK);
	rbt_round_want_keys(r, keys.keys, KEYS);
	want_status(r->rb, rbt_round_write(r, keys.keys, KEYS, o), RB_OK);
	for (size_t i = 0; i < KEYS; i++)
		want_written(r->res, i, RB_ANSWERED);
	/* Once is enough, whatever the verb. */
	assert_int_equal(crossed(r), before);
	rbt_keys_fini(&keys);
}

static void test_a_client_learns_it_once(void **state)
{
	static const size_t rows[][2] = { { 0, 0 }, { 10, 4 }, { 2, 64 } };
	rbt_ring_options ring = { .nodes = 1 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(rows[i][0], rows[i][1]);

		want_learned(use_plain(state, &ring), &o);
	}
}

static void test_a_wrapped_context_learns_it_too(void **state)
{
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);
	rb_options o = rbt_options(0, 0);
	redisContext *ctx =
		redisConnect("127.0.0.1", rbt_ring_port(r->ring, 0));

	assert_true(ctx && !ctx->err);
	o.allocator = &r->count.allocator;
	rb_client_free(r->rb);
	r->rb = NULL;
	assert_int_equal(rb_client_wrap(&r->rb, ctx, &o), RB_OK);
	want_learned(r, NULL);
	rb_client_free(r->rb);
	r->rb = NULL;
	redisFree(ctx);
}

/* What the caller has not read yet is still the caller's, by slots too. */
static void test_a_context_with_unread_answers_is_busy(void **state)
{
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);
	redisContext *ctx =
		redisConnect("127.0.0.1", rbt_ring_port(r->ring, 0));
	const char *keys[] = { "b", "foo" };
	void *reply = NULL;

	assert_true(ctx && !ctx->err);
	rb_client_free(r->rb);
	r->rb = NULL;
	assert_int_equal(rb_client_wrap(&r->rb, ctx, NULL), RB_OK);
	want_status(r->rb, rbt_round_read(r, keys, 2, NULL), RB_OK);
	assert_int_equal(crossed(r), 1);
	assert_int_equal(redisAppendCommand(ctx, "GET c"), REDIS_OK);
	want_status(r->rb, rbt_round_read(r, keys, 2, NULL), RB_ERR_BUSY);
	assert_null(r->res);
	assert_int_equal(redisGetReply(ctx, &reply), REDIS_OK);
	assert_string_equal(((redisReply *)reply)->str, "c");
	freeReplyObject(reply);
	want_status(r->rb, rbt_round_read(r, keys, 2, NULL), RB_OK);
	rbt_round_want_keys(r, keys, 2);
	rb_client_free(r->rb);
	r->rb = NULL;
	redisFree(ctx);
}

static void test_keys_with_one_tag_stay_together(void **state)
{
	static const char *keys[] = { "{t}1", "b", "{t}2", "foo", "{t}3" };
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);
	size_t before;

	want_status(r->rb, rbt_round_read(r, keys, 5, NULL), RB_OK);
	rbt_round_want_keys(r, keys, 5);
	before = rbt_ring_look(r->ring).commands;
	want_status(r->rb, rbt_round_read(r, keys, 5, NULL), RB_OK);
	rbt_round_want_keys(r, keys, 5);
	assert_int_equal(rbt_ring_look(r->ring).commands - before, 3);
	assert_int_equal(crossed(r), 1);
}

static void test_what_has_one_slot_is_never_taken_apart(void **state)
{
	static const char *keys[] = { "{t}1", "{t}2", "{t}3" };
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);

	want_status(r->rb, rbt_round_read(r, keys, 3, NULL), RB_OK);
	want_status(r->rb, rbt_round_write(r, keys, 3, NULL), RB_OK);
	assert_int_equal(rbt_ring_look(r->ring).commands, 2);
}

/* ----------------------------------------------------------------- writes -- */

static void test_each_pair_is_applied_once_and_in_order(void **state)
{
	static const char *keys[] = { "a", "b", "a", "{a}2", "b", "a" };
	static const char *values[] = { "1", "2", "3", "4", "5", "6" };
	rbt_ring_options ring = { .nodes = 1 };
	rb_options o = rbt_options(0, 8);

	for (size_t chunk = 1; chunk <= 6; chunk++) {
		rbt_round *r = use_plain(state, &ring);
		char got[256];

		o.chunk_keys = chunk;
		want_status(r->rb,
			    rb_mset_chunked(r->rb, keys, NULL, values, NULL, 6,
					    &o, &r->res),
			    RB_OK);
		for (size_t i = 0; i < 6; i++)
			want_written(r->res, i, RB_ANSWERED);
		rbt_ring_written(r->ring, got, sizeof(got));
		/* Of one slot as they were given, and none twice. */
		assert_int_equal(strlen(got), 5 * 4 + 7);
		assert_true(strstr(got, "a=1") < strstr(got, "a=3"));
		assert_true(strstr(got, "a=3") < strstr(got, "a=6"));
		assert_true(strstr(got, "b=2") < strstr(got, "b=5"));
		want_words(got, "{a}2=4");
	}
}

/* Others are in flight behind the first chunk that is refused; one of them has
 * a single slot, and must not be written first. */
static void test_nothing_overtakes_the_first_refusal(void **state)
{
	static const char *keys[] = { "a", "foo", "b", "c", "a" };
	static const char *values[] = { "1", "2", "3", "4", "5" };
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);
	rb_options o = rbt_options(2, 8);
	char got[256];

	want_status(r->rb,
		    rb_mset_chunked(r->rb, keys, NULL, values, NULL, 5, &o,
				    &r->res),
		    RB_OK);
	for (size_t i = 0; i < 5; i++)
		want_written(r->res, i, RB_ANSWERED);
	rbt_ring_written(r->ring, got, sizeof(got));
	assert_int_equal(strlen(got), 4 * 4 + 6);
	assert_true(strstr(got, "a=1") < strstr(got, "a=5"));
	assert_in_range(crossed(r), 1, 2);
}

/* What can not be refused waits for nothing. */
static void test_pairs_of_one_slot_do_not_wait(void **state)
{
	enum { PAIRS = 32 };
	rb_stats stats = { .struct_size = sizeof(stats) };
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);
	rb_options o = rbt_options(2, 8);
	rbt_keys keys;

	assert_true(rbt_keys_init(&keys, "{t}", PAIRS));
	want_status(r->rb, rbt_round_write(r, keys.keys, PAIRS, &o), RB_OK);
	assert_int_equal(crossed(r), 0);
	assert_int_equal(rb_result_stats(r->res, &stats), RB_OK);
	assert_in_range(stats.round_trips, 1, PAIRS / 2 / 2);
	rbt_keys_fini(&keys);
}

static bool end_at(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	(void)arg;
	if (!rbt_visit_is(v, "MSET"))
		return false;
	reply->then = RBT_THEN_CLOSE;
	return true;
}

static void test_who_waited_for_the_first_is_not_sent_without_it(void **state)
{
	static const char *keys[] = { "a", "foo", "a" };
	rbt_ring_options ring = { .nodes = 1, .answer = end_at };
	rbt_round *r = use_plain(state, &ring);
	rb_options o = rbt_options(2, 8);

	want_status(r->rb, rbt_round_write(r, keys, 3, &o), RB_ERR_IO);
	want_failed(r->res, 0, RB_ERR_IO, RB_UNKNOWN);
	want_failed(r->res, 2, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_words(rb_result_message(r->res, 2), "closed the connection");
}

static void test_keys_are_counted_over_all_slots(void **state)
{
	typedef rb_status verb(rb_client *, const char **, const size_t *,
			       size_t, const rb_options *, rb_result **);
	static verb *const verbs[] = { rb_exists_chunked, rb_touch_chunked,
				       rb_unlink_chunked };
	rbt_ring_options ring = { .nodes = 1 };
	rbt_keys keys;

	assert_true(rbt_keys_init(&keys, "key:", 500));
	for (size_t i = 0; i < COUNT(verbs); i++) {
		rbt_round *r = use_plain(state, &ring);

		want_status(r->rb,
			    verbs[i](r->rb, keys.keys, keys.lens, 500, NULL,
				     &r->res),
			    RB_OK);
		assert_int_equal(rb_result_total(r->res), 500);
		assert_in_range(crossed(r), 1, MOST_CROSSED);
	}
	rbt_keys_fini(&keys);
}

/* ---------------------------------------------------------------- streams -- */

typedef struct flow {
	const rbt_keys *keys;
	size_t given, taken;
} flow;

static int next_key(void *arg, rb_slice *key)
{
	flow *f = arg;

	if (f->given == f->keys->n)
		return 0;
	key->data = f->keys->keys[f->given];
	key->len = f->keys->lens[f->given++];
	return 1;
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	flow *f = arg;

	assert_int_equal(first, f->taken);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(statuses[i], RB_OK);
		assert_int_equal(values[i].len, keys[i].len);
		assert_memory_equal(values[i].data, keys[i].data, keys[i].len);
	}
	f->taken += n;
	return 0;
}

static void test_a_stream_comes_in_order(void **state)
{
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);
	rbt_keys keys;
	flow f = { .keys = &keys };

	assert_true(rbt_keys_init(&keys, "key:", KEYS));
	want_status(r->rb,
		    rb_mget_stream(r->rb, next_key, &f, take, &f, NULL, NULL),
		    RB_OK);
	assert_int_equal(f.taken, KEYS);
	assert_in_range(crossed(r), 1, MOST_CROSSED);
	rbt_keys_fini(&keys);
}

/* --------------------------------------------------------------- no remedy -- */

static bool refuse_all(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	(void)arg;
	if (!rbt_visit_arg(v, 1, "foo") && !rbt_visit_arg(v, 2, "foo"))
		return false;
	rbt_reply_text(reply, "-CROSSSLOT it is what it is\r\n");
	return true;
}

static void test_a_key_that_is_refused_alone_fails_alone(void **state)
{
	static const char *keys[] = { "b", "foo", "c" };
	rbt_ring_options ring = { .answer = refuse_all };
	rbt_round *r = use_plain(state, &ring);

	want_status(r->rb, rbt_round_read(r, keys, 3, NULL), RB_ERR_PARTIAL);
	want_text(r->res, 0, "b");
	want_refused(r->res, 1, "CROSSSLOT");
	want_text(r->res, 2, "c");
	assert_in_range(rbt_ring_look(r->ring).commands, 3, 10);
}

/* What a command of the caller's own asks for is between the two. */
static void test_a_command_of_any_kind_gets_its_refusal(void **state)
{
	static const char *crossing[] = { "MGET", "b", "c" };
	static const char *fine[] = { "GET", "b" };
	static const rb_command commands[] = { { 3, crossing, NULL },
					       { 2, fine, NULL } };
	rbt_ring_options ring = { .nodes = 1 };
	rbt_round *r = use_plain(state, &ring);

	want_status(r->rb,
		    rb_pipeline_chunked(r->rb, commands, 2, NULL, &r->res),
		    RB_ERR_PARTIAL);
	want_refused(r->res, 0, "CROSSSLOT");
	want_text(r->res, 1, "b");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_ROUND(test_a_client_learns_it_once),
		RBT_ROUND(test_a_wrapped_context_learns_it_too),
		RBT_ROUND(test_a_context_with_unread_answers_is_busy),
		RBT_ROUND(test_keys_with_one_tag_stay_together),
		RBT_ROUND(test_what_has_one_slot_is_never_taken_apart),
		RBT_ROUND(test_each_pair_is_applied_once_and_in_order),
		RBT_ROUND(test_nothing_overtakes_the_first_refusal),
		RBT_ROUND(test_pairs_of_one_slot_do_not_wait),
		RBT_ROUND(test_who_waited_for_the_first_is_not_sent_without_it),
		RBT_ROUND(test_keys_are_counted_over_all_slots),
		RBT_ROUND(test_a_stream_comes_in_order),
		RBT_ROUND(test_a_key_that_is_refused_alone_fails_alone),
		RBT_ROUND(test_a_command_of_any_kind_gets_its_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Reads with the sizes first, over connections that end.
 */
#include "store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 6, LEN = 4, SIZE_ANSWER = 4 };

static rbt_store store;

static void begin(rbt_scene *s, const size_t *budgets, size_t n, int own,
		  const rb_options *o)
{
	rbt_scene_rest(s);
	memset(&store, 0, sizeof(store));
	store.nkeys = N;
	store.value_len = LEN;
	store.closed = own;
	store.budgets = budgets;
	store.nbudgets = n;
	if (own)
		rbt_store_open(&store, s, o);
	else
		rbt_store_wrap(&store, s);
}

static rb_stats stats_of(const rb_result *res)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(res, &stats), RB_OK);
	return stats;
}

/* In both halves of the call, which count as one. */
static void test_the_connection_may_end_at_each_byte(void **state)
{
	rb_options o = rbt_options(2, 2);
	size_t whole = N * SIZE_ANSWER;
	rbt_scene *s = rbt_scene_use(state);

	o.flags = RB_SIZE_FIRST;
	store.value_len = LEN;
	whole += N / 2 * rbt_store_reply_size(&store, 2);
	for (size_t at = 0; at < whole; at++) {
		size_t budgets[] = { RBT_STORE_GREETING + at };
		rb_stats stats;

		begin(s, budgets, 1, 1, &o);
		want_status(s->rb, rbt_scene_read(s, N, &o), RB_OK);
		want_loaded(s->res, N, LEN);
		want_sound(s->res);
		stats = stats_of(s->res);
		/* Between the halves there may be nothing to lose. */
		assert_in_range(stats.reconnects, at != N * SIZE_ANSWER, 1);
		assert_in_range(stats.commands, N + 3, 2 * (N + 3));
		rbt_scene_rest(s);
		assert_int_equal(store.again, 0);
		store.budgets = NULL;
	}
}

static void test_a_wrapped_context_that_ends_says_what_was_read(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	o.flags = RB_SIZE_FIRST;
	for (size_t at = 1; at < N * SIZE_ANSWER + 2 * 24; at++) {
		size_t budgets[] = { at };
		size_t read = 0;

		/* Between two answers the end may be seen early or late. */
		if (at % SIZE_ANSWER == 0)
			continue;
		begin(s, budgets, 1, 0, NULL);
		want_status(s->rb, rbt_scene_read(s, N, &o), RB_ERR_IO);
		want_sound(s->res);
		for (size_t i = 0; i < N; i++) {
			if (rb_result_status(s->res, i) != RB_OK)
				continue;
			want_filled(s->res, i, LEN, i);
			read++;
		}
		if (at < N * SIZE_ANSWER)
			assert_int_equal(read, 0);
		else
			assert_in_range(read, (at - N * SIZE_ANSWER) / 24 * 2,
					N - 1);
		rbt_scene_want_broken(s);
		rbt_scene_rest(s);
		store.budgets = NULL;
	}
}

static void test_stats_are_those_of_both(void **state)
{
	rb_options o = rbt_options(2, 2);
	rb_stats stats;
	size_t sum = 0;
	rbt_scene *s = rbt_scene_use(state);

	o.flags = RB_SIZE_FIRST;
	begin(s, NULL, 0, 0, NULL);
	want_status(s->rb, rbt_scene_read(s, N, &o), RB_OK);
	want_loaded(s->res, N, LEN);
	stats = stats_of(s->res);
	assert_int_equal(stats.commands, N + 3);
	assert_int_equal(stats.keys, 2 * N);
	assert_int_equal(stats.request_bytes, rbt_peer_bytes(s->peer));
	assert_int_equal(stats.reply_bytes,
			 N * SIZE_ANSWER + 3 * rbt_store_reply_size(&store, 2));
	assert_int_equal(stats.retries + stats.splits + stats.reconnects, 0);
	for (size_t i = 0; i < rb_result_chunks(s->res); i++)
		sum += rb_result_chunk(s->res, i)->reply_bytes;
	assert_int_equal(sum, 3 * rbt_store_reply_size(&store, 2));
	rbt_scene_want_pong(s);
	rbt_scene_rest(s);
	assert_int_equal(store.commands, N + 3 + 1);
}

static void test_a_server_that_is_not_ready_is_asked_again(void **state)
{
	rb_options o = rbt_options(2, 2);
	rbt_scene *s = rbt_scene_use(state);

	o.flags = RB_SIZE_FIRST;
	begin(s, NULL, 0, 0, NULL);
	rbt_scene_rest(s);
	store.refusal = "-LOADING not yet\r\n";
	store.refusals = 2;
	rbt_store_wrap(&store, s);
	want_status(s->rb, rbt_scene_read(s, N, &o), RB_OK);
	want_loaded(s->res, N, LEN);
	rbt_scene_want_pong(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_the_connection_may_end_at_each_byte),
		RBT_SCENE(test_a_wrapped_context_that_ends_says_what_was_read),
		RBT_SCENE(test_stats_are_those_of_both),
		RBT_SCENE(test_a_server_that_is_not_ready_is_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

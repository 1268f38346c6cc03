/*
 * Values that are too long, and results that grow too large.
 */
#include "live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

static void set_filled(const rbt_live *live, size_t i, size_t len)
{
	char *value = malloc(len + 1);

	assert_non_null(value);
	rbt_value_fill(value, len, i);
	rbt_do(live->admin, "SET %s %b", live->keys.keys[i], value, len);
	free(value);
}

static void test_a_value_above_the_bound_fails_alone(void **state)
{
	static const size_t sizes[] = { 100, 101, 0, 99, 5000, 300000, 100, 1 };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(3, 0);

	o.max_value_bytes = 100;
	rbt_live_load(live, COUNT(sizes), 0);
	for (size_t i = 0; i < COUNT(sizes); i++)
		set_filled(live, i, sizes[i]);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_PARTIAL);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		if (sizes[i] <= 100)
			want_filled(live->res, i, sizes[i], i);
		else
			want_failed(live->res, i, RB_ERR_LIMIT, RB_ANSWERED);
	}
	assert_int_equal(rb_result_failed(live->res), 3);
	assert_int_equal(rb_result_chunk(live->res, 2)->status, RB_OK);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	assert_int_equal(rb_result_failed(live->res), 0);
}

static void test_a_field_above_the_bound_fails_alone(void **state)
{
	static const char *fields[] = { "a", "b", "c" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	o.max_value_bytes = 4;
	rbt_do(live->admin, "HSET h a 1234 b 12345 c 1");
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "h", 1, fields, NULL, 3, &o,
				     &live->res),
		    RB_ERR_PARTIAL);
	want_text(live->res, 0, "1234");
	want_failed(live->res, 1, RB_ERR_LIMIT, RB_ANSWERED);
	want_text(live->res, 2, "1");
	rbt_want_pong(live->ctx);
}

static void test_a_long_value_is_dropped_as_it_comes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	o.allocator = &live->count.allocator;
	o.max_value_bytes = 1000;
	rbt_live_load(live, 3, 10);
	set_filled(live, 1, 32 * MIB);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_PARTIAL);
	want_filled(live->res, 0, 10, 0);
	want_failed(live->res, 1, RB_ERR_LIMIT, RB_ANSWERED);
	want_filled(live->res, 2, 10, 2);
	assert_in_range(live->count.peak_bytes, 1, 2 * MIB);
	rbt_want_pong(live->ctx);
	rbt_live_drop(live);
	assert_int_equal(live->count.live_blocks, 0);
}

/* ------------------------------------------------------- whole results -- */

static size_t kept_bytes(const rb_result *res)
{
	size_t sum = 0;

	for (size_t i = 0; i < rb_result_count(res); i++)
		sum += rb_result_value(res, i).len;
	return sum;
}

/* Values in front, then those past the bound, then what was not sent; no nil
 * among them, since all keys are there. */
static void want_cut_off(const rbt_live *live, size_t len)
{
	const rb_result *res = live->res;

	for (size_t i = 0; i < rb_result_count(res); i++) {
		switch (rb_result_status(res, i)) {
		case RB_OK:
			want_filled(res, i, len, i);
			break;
		case RB_ERR_LIMIT:
			want_failed(res, i, RB_ERR_LIMIT, RB_ANSWERED);
			break;
		default:
			want_failed(res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
		}
	}
	want_sound(res);
}

static void test_a_full_result_takes_no_more_values(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 20);

	o.max_result_bytes = 2 * MIB;
	rbt_live_load(live, 200, 100000);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_LIMIT);
	want_words(rb_client_error(live->rb), "max_result_bytes");
	want_cut_off(live, 100000);
	/* What one look at the socket brings may come on top, which is no more
	 * than there was room for: as much again. */
	assert_in_range(kept_bytes(live->res), MIB, 5 * MIB);
	assert_in_range(rbt_count_status(live->res, RB_ERR_LIMIT), 1, 199);
	rbt_want_pong(live->ctx);
}

static void test_a_full_result_ends_the_batch(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 1);

	o.max_result_bytes = 30000;
	rbt_live_load(live, 1000, 1000);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_LIMIT);
	want_cut_off(live, 1000);
	assert_in_range(kept_bytes(live->res), 20000, 60000);
	assert_in_range(rbt_live_calls(live, "mget"), 2, 6);
	rbt_want_pong(live->ctx);
}

static void test_the_text_of_a_full_result_is_about_the_result(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 20);
	size_t i = 0;

	o.max_result_bytes = MIB;
	rbt_live_load(live, 100, 100000);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_LIMIT);
	while (i < 100 && rb_result_status(live->res, i) != RB_ERR_LIMIT)
		i++;
	/* The value itself is shorter than max_value_bytes. */
	want_words(rb_result_message(live->res, i), "max_result_bytes");
}

static void test_a_result_below_the_bound_is_whole(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 0);

	o.max_result_bytes = 2 * MIB;
	rbt_live_load(live, 1000, 1000);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 1000, 1000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_value_above_the_bound_fails_alone),
		RBT_LIVE(test_a_field_above_the_bound_fails_alone),
		RBT_LIVE(test_a_long_value_is_dropped_as_it_comes),
		RBT_LIVE(test_a_full_result_takes_no_more_values),
		RBT_LIVE(test_a_full_result_ends_the_batch),
		RBT_LIVE(test_the_text_of_a_full_result_is_about_the_result),
		RBT_LIVE(test_a_result_below_the_bound_is_whole),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

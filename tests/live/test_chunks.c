/*
 * How a batch is cut, by what the server saw of it.
 */
#include "live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const rb_chunk *chunk_at(const rbt_live *live, size_t i)
{
	const rb_chunk *chunk = rb_result_chunk(live->res, i);

	assert_non_null(chunk);
	return chunk;
}

/* What the chunk's command must measure, by the lengths of its keys. */
static size_t mget_size(const rbt_live *live, const rb_chunk *chunk)
{
	return rbt_request_size(4, live->keys.lens + chunk->first,
				chunk->count);
}

static void test_a_remainder_is_a_chunk_of_its_own(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(3, 2);

	for (size_t n = 0; n <= 7; n++) {
		rbt_live_load(live, n, 10);
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, n, 10);
		want_sound(live->res);
		assert_int_equal(rb_result_chunks(live->res), (n + 2) / 3);
		assert_int_equal(rbt_live_calls(live, "mget"), (n + 2) / 3);
	}
}

static void test_an_empty_batch_sends_nothing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	uint64_t before = rbt_live_info(live, "stats", "total_net_input_bytes");
	uint64_t between, after;
	rb_stats stats = { .struct_size = sizeof(stats) };

	between = rbt_live_info(live, "stats", "total_net_input_bytes");
	want_status(live->rb,
		    rb_mget_chunked(live->rb, NULL, NULL, 0, NULL, &live->res),
		    RB_OK);
	assert_int_equal(rb_result_count(live->res), 0);
	assert_int_equal(rb_result_chunks(live->res), 0);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(stats.commands, 0);
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "h", 1, NULL, NULL, 0, NULL,
				     &live->res),
		    RB_OK);
	assert_int_equal(rb_result_count(live->res), 0);
	after = rbt_live_info(live, "stats", "total_net_input_bytes");
	assert_int_equal(after - between, between - before);
	rbt_want_pong(live->ctx);
}

static void test_100000_keys_cost_100_commands(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_stats stats = { .struct_size = sizeof(stats) };

	rbt_live_load(live, 100000, 20);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, 100000, 20);
	assert_int_equal(rbt_live_calls(live, "mget"), 100);
	assert_int_equal(rb_result_chunks(live->res), 100);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(stats.commands, 100);
	assert_int_equal(stats.keys, 100000);
}

static void test_fields_are_cut_as_keys_are(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 0);

	rbt_live_load(live, 95, 0);
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "hash", 4, live->keys.keys,
				     live->keys.lens, 95, &o, &live->res),
		    RB_OK);
	assert_int_equal(rbt_live_calls(live, "hmget"), 10);
	assert_int_equal(chunk_at(live, 9)->count, 5);
	want_sound(live->res);
}

/* --------------------------------------------------------------- bounds -- */

static void test_the_arguments_of_a_command_are_bounded(void **state)
{
	static const struct {
		size_t args, mget, hmget;
	} rows[] = {
		{ 5, 4, 3 }, { 3, 2, 1 },   { 2, 1, 1 },
		{ 1, 1, 1 }, { 11, 10, 9 },
	};
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000, 0);

	rbt_live_load(live, 20, 3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		o.chunk_args = rows[i].args;
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, 20, 3);
		assert_int_equal(chunk_at(live, 0)->count, rows[i].mget);
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_hmget_chunked(live->rb, "h", 1, live->keys.keys,
					     live->keys.lens, 20, &o,
					     &live->res),
			    RB_OK);
		assert_int_equal(chunk_at(live, 0)->count, rows[i].hmget);
		want_sound(live->res);
	}
}

static void test_the_bytes_of_a_command_are_bounded_exactly(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000, 0);

	rbt_live_load(live, 300, 1);
	for (size_t bound = 30; bound < 2600; bound += 7) {
		o.chunk_request_bytes = bound;
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_sound(live->res);
		for (size_t i = 0; i < rb_result_chunks(live->res); i++) {
			const rb_chunk *chunk = chunk_at(live, i);
			size_t size = mget_size(live, chunk);
			size_t last = chunk->first + chunk->count;

			assert_int_equal(chunk->request_bytes, size);
			assert_true(size <= bound || chunk->count == 1);
			/* One more would not have gone in. */
			if (last < 300)
				assert_true(
					rbt_request_size(
						4,
						live->keys.lens + chunk->first,
						chunk->count + 1) > bound);
		}
	}
}

/* The server counts the bytes of all connections; the second question about
 * them, which is the same as the first, is to be taken away. */
static void test_the_server_received_the_bytes_reported(void **state)
{
	static const char name[] = "total_net_input_bytes";
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(70, 0);
	uint64_t before, between, after;
	rb_stats stats = { .struct_size = sizeof(stats) };
	size_t sum = 0;

	rbt_live_load(live, 1234, 77);
	before = rbt_live_info(live, "stats", name);
	between = rbt_live_info(live, "stats", name);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	after = rbt_live_info(live, "stats", name);
	for (size_t i = 0; i < rb_result_chunks(live->res); i++)
		sum += chunk_at(live, i)->request_bytes;
	assert_int_equal(after - between - (between - before), sum);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(stats.request_bytes, sum);
}

static void test_an_entry_above_the_bound_travels_alone(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000, 0);
	size_t len = 5000;
	char *large = malloc(len);
	const char *keys[] = { "a", "b", large, "c", "d" };
	const size_t lens[] = { 1, 1, len, 1, 1 };
	static const size_t counts[] = { 2, 1, 2 };

	assert_non_null(large);
	memset(large, 'x', len);
	rbt_do(live->admin, "MSET a 1 b 2 c 3 d 4 %b large", large, len);
	o.chunk_request_bytes = 1000;
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, lens, 5, &o, &live->res),
		    RB_OK);
	free(large);
	assert_int_equal(rb_result_chunks(live->res), COUNT(counts));
	for (size_t i = 0; i < COUNT(counts); i++)
		assert_int_equal(chunk_at(live, i)->count, counts[i]);
	want_text(live->res, 1, "2");
	want_text(live->res, 2, "large");
	want_text(live->res, 3, "3");
	rbt_want_pong(live->ctx);
}

static void test_a_key_of_a_mebibyte_is_sent_whole(void **state)
{
	rbt_live *live = rbt_live_use(state);
	size_t len = (size_t)1024 * 1024;
	char *large = malloc(3 * len);
	const char *keys[3];
	size_t lens[3];

	assert_non_null(large);
	for (size_t i = 0; i < 3; i++) {
		keys[i] = large + i * len;
		lens[i] = len;
		rbt_value_fill(large + i * len, len, i);
		rbt_do(live->admin, "SET %b %b", keys[i], len, &i, sizeof(i));
	}
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, lens, 3, NULL, &live->res),
		    RB_OK);
	free(large);
	for (size_t i = 0; i < 3; i++)
		want_bytes(live->res, i, &i, sizeof(i));
	rbt_want_pong(live->ctx);
}

static void test_answers_are_bounded_by_the_values_seen(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 1);

	o.chunk_reply_bytes = 10000;
	rbt_live_load(live, 200, 1000);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 200, 1000);
	/* Nothing was seen before the first. */
	assert_int_equal(chunk_at(live, 0)->count, 50);
	for (size_t i = 1; i < rb_result_chunks(live->res); i++)
		assert_in_range(chunk_at(live, i)->reply_bytes, 1, 10000);
	assert_in_range(chunk_at(live, 1)->count, 7, 9);
	/* The client remembers. */
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	assert_in_range(chunk_at(live, 0)->count, 7, 9);
}

static void test_one_entry_goes_however_small_the_bound(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 1);

	o.chunk_reply_bytes = 1;
	o.chunk_request_bytes = 1;
	o.window_reply_bytes = 1;
	rbt_live_load(live, 30, 1000);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 30, 1000);
	assert_int_equal(rb_result_chunks(live->res), 30);
	assert_int_equal(rbt_live_calls(live, "mget"), 30);
}

static void test_the_largest_options_are_taken(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o;

	rb_options_init(&o);
	o.chunk_keys = o.chunk_args = o.chunk_request_bytes = SIZE_MAX;
	o.chunk_reply_bytes = o.window = o.window_reply_bytes = SIZE_MAX;
	o.max_value_bytes = o.max_result_bytes = SIZE_MAX;
	o.timeout_ms = o.connect_timeout_ms = UINT32_MAX;
	rbt_live_load(live, 5000, 10);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 5000, 10);
	assert_int_equal(rbt_live_calls(live, "mget"), 1);
	rbt_want_pong(live->ctx);
}

static void test_a_call_overrules_the_options_of_the_client(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 0);

	rbt_live_load(live, 100, 10);
	rbt_live_wrap(live, rbt_live_unix(live), &o);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	assert_int_equal(rb_result_chunks(live->res), 10);
	o = rbt_options(20, 0);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	assert_int_equal(rb_result_chunks(live->res), 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_remainder_is_a_chunk_of_its_own),
		RBT_LIVE(test_an_empty_batch_sends_nothing),
		RBT_LIVE(test_100000_keys_cost_100_commands),
		RBT_LIVE(test_fields_are_cut_as_keys_are),
		RBT_LIVE(test_the_arguments_of_a_command_are_bounded),
		RBT_LIVE(test_the_bytes_of_a_command_are_bounded_exactly),
		RBT_LIVE(test_the_server_received_the_bytes_reported),
		RBT_LIVE(test_an_entry_above_the_bound_travels_alone),
		RBT_LIVE(test_a_key_of_a_mebibyte_is_sent_whole),
		RBT_LIVE(test_answers_are_bounded_by_the_values_seen),
		RBT_LIVE(test_one_entry_goes_however_small_the_bound),
		RBT_LIVE(test_the_largest_options_are_taken),
		RBT_LIVE(test_a_call_overrules_the_options_of_the_client),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

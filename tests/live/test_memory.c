/*
 * What a batch takes of memory, and that all of it is given back.
 */
#include "live.h"
#include "resident.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Sanitizers keep what is freed, so what is resident tells nothing. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* Replaces the client by one that counts. */
static void count_all(rbt_live *live)
{
	rb_options o = rbt_options(0, 0);

	rbt_count_init(&live->count);
	o.allocator = &live->count.allocator;
	rbt_live_wrap(live, live->ctx, &o);
}

static void drop_client(rbt_live *live)
{
	rb_client_free(live->rb);
	live->rb = NULL;
}

static void test_everything_is_given_back(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(7, 3);

	rbt_live_load(live, 3000, 100);
	count_all(live);
	for (int i = 0; i < 5; i++)
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	assert_in_range(live->count.allocs, 1, 1000);
	rbt_live_drop(live);
	drop_client(live);
	assert_int_equal(live->count.live_blocks, 0);
	assert_int_equal(live->count.live_bytes, 0);
}

static void test_the_client_keeps_nothing_of_a_result(void **state)
{
	rbt_live *live = rbt_live_use(state);
	size_t blocks, bytes;

	rbt_live_load(live, 3000, 100);
	count_all(live);
	/* The first one learns how large the values are. */
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	rbt_live_drop(live);
	blocks = live->count.live_blocks;
	bytes = live->count.live_bytes;
	for (int i = 0; i < 5; i++)
		want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	rbt_live_drop(live);
	assert_int_equal(live->count.live_blocks, blocks);
	assert_int_equal(live->count.live_bytes, bytes);
	/* Its buffers, not the 300 KB of values. */
	assert_in_range(bytes, 1, 150000);
}

static void test_an_own_client_gives_everything_back(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	o.allocator = &live->count.allocator;
	rbt_live_load(live, 100, 100);
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_live_open_uri(live, &o, "redis://:secret@127.0.0.1:%d",
			  rbt_server_port(live->server));
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	rbt_live_open_uri(live, &o, "redis://:wrong@127.0.0.1:%d",
			  rbt_server_port(live->server));
	want_status(live->rb, rbt_live_read(live, NULL), RB_ERR_CONNECT);
	assert_null(live->res);
	drop_client(live);
	assert_in_range(live->count.allocs, 1, 1000);
	assert_int_equal(live->count.live_blocks, 0);
}

static size_t allocations_for(rbt_live *live, size_t n)
{
	size_t asked;

	rbt_live_load(live, n, 100);
	count_all(live);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, n, 100);
	asked = live->count.asked;
	rbt_live_drop(live);
	drop_client(live);
	assert_int_equal(live->count.live_blocks, 0);
	return asked;
}

static void test_allocations_do_not_grow_with_the_values(void **state)
{
	rbt_live *live = rbt_live_use(state);
	size_t few = allocations_for(live, 100);
	size_t many = allocations_for(live, 100000);

	assert_in_range(few, 1, 20);
	/* 11 MB: a handful of slabs more. */
	assert_in_range(many, few, few + 30);
}

static void test_a_million_values_take_little_more_than_their_bytes(
	void **state)
{
	rbt_live *live = rbt_live_use(state);
	size_t n = 1000000, before, grown, bound;
	rb_stats stats = { .struct_size = sizeof(stats) };

	rbt_live_load(live, n, 100);
	count_all(live);
	rbt_memory_trim();
	rbt_memory_reset_peak();
	before = rbt_memory_resident();
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	grown = rbt_memory_growth(before);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	bound = (size_t)stats.reply_bytes / 10 * 11 + 24 * n;
	assert_in_range(live->count.peak_bytes, stats.reply_bytes, bound);
#ifndef SANITIZED
	if (before > 0)
		assert_in_range(grown, 0, bound);
#else
	(void)grown;
#endif
	want_loaded(live->res, n, 100);
	rbt_live_drop(live);
	drop_client(live);
	assert_int_equal(live->count.live_blocks, 0);
}

static void test_results_outlive_client_and_context(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 0);

	rbt_live_load(live, 1000, 100);
	rbt_do(live->admin, "DEL %s", live->keys.keys[7]);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	drop_client(live);
	redisFree(live->ctx);
	live->ctx = NULL;
	rbt_keys_fini(&live->keys);
	rbt_do(live->admin, "FLUSHALL");
	for (size_t i = 0; i < 1000; i++) {
		if (i == 7)
			want_nil(live->res, i);
		else
			want_filled(live->res, i, 100, i);
	}
	want_sound(live->res);
	assert_string_equal(rb_result_chunk(live->res, 3)->node,
			    rbt_server_socket(live->server));
}

static void test_texts_outlive_client_and_context(void **state)
{
	static const char *fields[] = { "a" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "SET text v");
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "text", 4, fields, NULL, 1, NULL,
				     &live->res),
		    RB_ERR_PARTIAL);
	drop_client(live);
	redisFree(live->ctx);
	live->ctx = NULL;
	want_words(rb_result_message(live->res, 0), "WRONGTYPE");
	want_words(rb_result_chunk(live->res, 0)->message, "WRONGTYPE");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_everything_is_given_back),
		RBT_LIVE(test_the_client_keeps_nothing_of_a_result),
		RBT_LIVE(test_an_own_client_gives_everything_back),
		RBT_LIVE(test_allocations_do_not_grow_with_the_values),
		RBT_LIVE(
			test_a_million_values_take_little_more_than_their_bytes),
		RBT_LIVE(test_results_outlive_client_and_context),
		RBT_LIVE(test_texts_outlive_client_and_context),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

/*
 * How large answers get: by what was learned, by what the caller expects, and
 * by the sizes that were asked for first.
 */
#include "live.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

enum { N = 2000, LARGE = 2000000, SMALL = 100, FEW = 50 };

/* The defaults, as the header gives them. */
#define CHUNK_REPLY (4 * MIB)
#define WINDOW_REPLY (8 * MIB)

/* ------------------------------------------------------------- the values -- */

static bool spread(size_t i)
{
	return i % (N / FEW) == 0;
}

static bool block(size_t i)
{
	return i >= 700 && i < 700 + FEW;
}

/* 50 places without any order. */
static bool scattered(size_t i)
{
	return i * 1201 % N < FEW;
}

static const struct {
	const char *name;
	bool (*is_large)(size_t i);
} layouts[] = {
	{ "evenly spread", spread },
	{ "in a block", block },
	{ "scattered", scattered },
};

static size_t value_len(size_t layout, size_t i)
{
	return layouts[layout].is_large(i) ? LARGE : SMALL;
}

static void set_value(redisContext *ctx, const char *key, size_t len, size_t i)
{
	char *value = malloc(len + 1);
	redisReply *reply;

	assert_non_null(value);
	rbt_value_fill(value, len, i);
	reply = redisCommand(ctx, "SET %s %b", key, value, len);
	free(value);
	assert_non_null(reply);
	assert_int_equal(reply->type, REDIS_REPLY_STATUS);
	freeReplyObject(reply);
}

static void load_layout(rbt_live *live, size_t layout)
{
	rbt_live_load(live, N, SMALL);
	for (size_t i = 0; i < N; i++)
		if (layouts[layout].is_large(i))
			set_value(live->admin, live->keys.keys[i], LARGE, i);
	rbt_do(live->admin, "CONFIG RESETSTAT");
}

static void want_layout(const rb_result *res, size_t layout)
{
	assert_int_equal(rb_result_count(res), N);
	for (size_t i = 0; i < N; i++)
		want_filled(res, i, value_len(layout, i), i);
}

/* ---------------------------------------------------------- what it costs -- */

/* What the server holds for its clients, looked at behind each chunk, while
 * nobody reads. */
typedef struct sampler {
	rbt_live *live;
	size_t peak, worst, chunks;
} sampler;

static int sample(void *arg, const rb_chunk *chunk)
{
	sampler *m = arg;
	redisReply *reply = redisCommand(m->live->admin, "CLIENT LIST");
	size_t sum = 0;

	assert_non_null(reply);
	for (const char *p = strstr(reply->str, " omem="); p;
	     p = strstr(p + 1, " omem="))
		sum += strtoull(p + 6, NULL, 10);
	freeReplyObject(reply);
	if (sum > m->peak)
		m->peak = sum;
	if (chunk->count > 1 && chunk->reply_bytes > m->worst)
		m->worst = chunk->reply_bytes;
	m->chunks++;
	return 0;
}

static sampler sampler_of(rbt_live *live, rb_options *o)
{
	sampler m = { .live = live };

	o->on_chunk = sample;
	return m;
}

static void want_bounded(const sampler *m, const char *what, size_t most)
{
	print_message("%s: worst answer of many %zu bytes, output of the "
		      "server %zu bytes, %zu chunks\n",
		      what, m->worst, m->peak, m->chunks);
	assert_in_range(m->worst, 0, CHUNK_REPLY);
	/* The server needs some to keep account of it. */
	assert_in_range(m->peak, 0, most + MIB);
}

static rb_stats stats_of(const rb_result *res)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(res, &stats), RB_OK);
	return stats;
}

/* ------------------------------------------------------------ sizes first -- */

static void test_with_the_sizes_no_answer_passes_its_bound(void **state)
{
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(layouts); i++) {
		rb_options o = rbt_options(0, 0);
		sampler m = sampler_of(live, &o);
		rb_stats stats;

		load_layout(live, i);
		o.on_chunk_arg = &m;
		o.flags = RB_SIZE_FIRST;
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_layout(live->res, i);
		want_sound(live->res);
		want_bounded(&m, layouts[i].name, WINDOW_REPLY);
		stats = stats_of(live->res);
		assert_int_equal(stats.keys, 2 * N);
		assert_int_equal(stats.commands,
				 N + rb_result_chunks(live->res));
		assert_int_equal(rbt_live_calls(live, "strlen"), N);
		assert_int_equal(rbt_live_calls(live, "mget"),
				 rb_result_chunks(live->res));
		/* Two values to a chunk, and what lies between. */
		assert_in_range(rb_result_chunks(live->res), FEW / 2, FEW + 2);
	}
}

static void test_a_bound_below_every_value_gives_lone_entries(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	rbt_live_load(live, 50, 1000);
	o.flags = RB_SIZE_FIRST;
	o.chunk_reply_bytes = 500;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 50, 1000);
	assert_int_equal(rb_result_chunks(live->res), 50);
}

static void test_chunk_keys_holds_with_the_sizes_too(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(7, 3);

	rbt_live_load(live, 50, 10);
	o.flags = RB_SIZE_FIRST;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 50, 10);
	assert_int_equal(rb_result_chunks(live->res), 8);
	assert_int_equal(rb_result_chunk(live->res, 0)->count, 7);
}

static void test_fields_have_sizes_too(void **state)
{
	enum { FIELDS = 400 };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	sampler m = sampler_of(live, &o);
	char *value = malloc(LARGE);

	assert_non_null(value);
	assert_true(rbt_keys_init(&live->keys, "field:", FIELDS));
	for (size_t i = 0; i < FIELDS; i++) {
		size_t len = i % 40 == 3 ? LARGE : SMALL;
		redisReply *reply;

		rbt_value_fill(value, len, i);
		reply = redisCommand(live->admin, "HSET h %s %b",
				     live->keys.keys[i], value, len);
		assert_non_null(reply);
		freeReplyObject(reply);
	}
	free(value);
	rbt_do(live->admin, "CONFIG RESETSTAT");
	o.on_chunk_arg = &m;
	o.flags = RB_SIZE_FIRST;
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "h", 1, live->keys.keys,
				     live->keys.lens, FIELDS, &o, &live->res),
		    RB_OK);
	for (size_t i = 0; i < FIELDS; i++)
		want_filled(live->res, i, i % 40 == 3 ? LARGE : SMALL, i);
	want_bounded(&m, "fields", WINDOW_REPLY);
	assert_int_equal(rbt_live_calls(live, "hstrlen"), FIELDS);
	assert_int_equal(rbt_live_calls(live, "hmget"),
			 rb_result_chunks(live->res));
}

static void test_keys_of_other_types_are_what_they_are(void **state)
{
	static const char *keys[] = { "list", "a", "hash", "none", "b" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 2);

	rbt_do(live->admin, "RPUSH list x");
	rbt_do(live->admin, "HSET hash f v");
	rbt_do(live->admin, "MSET a 1 b 22");
	o.flags = RB_SIZE_FIRST | RB_STOP_ON_ERROR;
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 5, &o, &live->res),
		    RB_OK);
	want_nil(live->res, 0);
	want_text(live->res, 1, "1");
	want_nil(live->res, 2);
	want_nil(live->res, 3);
	want_text(live->res, 4, "22");
	rbt_live_drop(live);
	o.flags = RB_SIZE_FIRST;
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "a", 1, keys, NULL, 5, &o,
				     &live->res),
		    RB_ERR_PARTIAL);
	for (size_t i = 0; i < 5; i++) {
		want_failed(live->res, i, RB_ERR_SERVER, RB_REJECTED);
		want_words(rb_result_message(live->res, i), "WRONGTYPE");
	}
	rbt_want_pong(live->ctx);
}

static int change(void *arg, const rb_chunk *chunk)
{
	rbt_live *live = arg;

	if (chunk->first != 0)
		return 0;
	set_value(live->admin, live->keys.keys[70], 3 * LARGE, 70);
	set_value(live->admin, live->keys.keys[71], 3 * LARGE, 71);
	rbt_do(live->admin, "DEL %s", live->keys.keys[72]);
	set_value(live->admin, live->keys.keys[73], 0, 73);
	return 0;
}

static void test_values_may_change_behind_their_sizes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 1);

	rbt_live_load(live, 100, SMALL);
	o.flags = RB_SIZE_FIRST;
	o.on_chunk = change;
	o.on_chunk_arg = live;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_filled(live->res, 69, SMALL, 69);
	want_filled(live->res, 70, 3 * LARGE, 70);
	want_filled(live->res, 71, 3 * LARGE, 71);
	want_nil(live->res, 72);
	want_filled(live->res, 73, 0, 73);
	want_filled(live->res, 74, SMALL, 74);
	rbt_want_pong(live->ctx);
}

/* --------------------------------------------------------------- failures -- */

static void want_nothing_read(rbt_live *live, size_t n, rb_status status)
{
	assert_non_null(live->res);
	want_sound(live->res);
	assert_int_equal(rb_result_count(live->res), n);
	assert_int_equal(rb_result_failed(live->res), n);
	for (size_t i = 0; i < n; i++) {
		rb_status got = rb_result_status(live->res, i);

		assert_null(rb_result_value(live->res, i).data);
		assert_true(got == status || got == RB_ERR_SKIPPED);
		assert_int_not_equal(rb_result_message(live->res, i)[0], '\0');
		assert_int_not_equal(rb_result_outcome(live->res, i),
				     RB_ANSWERED);
	}
}

static void test_a_deadline_while_asking_for_sizes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);
	uint64_t start;
	rb_status status;

	rbt_live_load(live, 100, SMALL);
	o.flags = RB_SIZE_FIRST;
	o.timeout_ms = 300;
	rbt_live_stop(live);
	start = rbt_now_us();
	status = rbt_live_read(live, &o);
	rbt_live_go_on(live);
	assert_in_range(rbt_now_us() - start, 280000, 20000000);
	want_status(live->rb, status, RB_ERR_TIMEOUT);
	want_nothing_read(live, 100, RB_ERR_TIMEOUT);
	rbt_want_broken(live->ctx, live->rb);
}

static void test_a_killed_server_while_asking_for_sizes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);

	rbt_live_load(live, 100, SMALL);
	o.flags = RB_SIZE_FIRST;
	rbt_live_kill(live);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	want_nothing_read(live, 100, RB_ERR_IO);
	rbt_want_broken(live->ctx, live->rb);
}

/* -------------------------------------------------------------- learning -- */

static void test_evenly_spread_values_keep_their_bounds(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	sampler m = sampler_of(live, &o);

	load_layout(live, 0);
	o.on_chunk_arg = &m;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_layout(live->res, 0);
	/* What is learned is an average: a chunk may pass it. */
	want_bounded(&m, "learned", WINDOW_REPLY + CHUNK_REPLY);
	/* And again, with what is known by then. */
	m = sampler_of(live, &o);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_layout(live->res, 0);
	want_bounded(&m, "known", WINDOW_REPLY + CHUNK_REPLY);
}

static void test_a_long_batch_of_unknown_values_starts_small(void **state)
{
	static const size_t counts[] = { 16, 32, 64, 128, 256, 512 };
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 5000, 10);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, 5000, 10);
	for (size_t i = 0; i < COUNT(counts); i++)
		assert_int_equal(rb_result_chunk(live->res, i)->count,
				 counts[i]);
	for (size_t i = 0; i < rb_result_chunks(live->res); i++)
		assert_in_range(rb_result_chunk(live->res, i)->count, 1, 1125);
	/* Once is enough. */
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	assert_int_equal(rb_result_chunks(live->res), 5);
}

static void test_a_hundred_thousand_keys_cost_a_hundred_commands(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 100000, 10);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, 100000, 10);
	assert_int_equal(rbt_live_calls(live, "mget"), 100);
	assert_int_equal(stats_of(live->res).commands, 100);
}

static void test_a_batch_that_fits_is_one_command(void **state)
{
	static const size_t n[] = { 1, 16, 17, 999, 1000 };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(n); i++) {
		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		rbt_live_load(live, n[i], 10);
		want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
		want_loaded(live->res, n[i], 10);
		assert_int_equal(rb_result_chunks(live->res), 1);
	}
}

static void test_a_count_that_is_asked_for_is_kept(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000, 0);

	rbt_live_load(live, 2500, 10);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 2500, 10);
	assert_int_equal(rb_result_chunks(live->res), 3);
	assert_int_equal(rb_result_chunk(live->res, 0)->count, 1000);
}

/* ----------------------------------------------------------- expectations -- */

static void test_the_first_chunk_is_as_large_as_expected(void **state)
{
	static const struct {
		size_t n, value_len, least, most;
	} rows[] = {
		/* 4 MiB less one of them. */
		{ 300, 100000, 35, 41 },
		{ 300, 1000000, 2, 4 },
		{ 5000, 10, 1000, 1000 },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(0, 0);
		const rb_chunk *first;

		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		rbt_do(live->admin, "FLUSHALL");
		rbt_live_load(live, rows[i].n, rows[i].value_len);
		o.expected_value_bytes = rows[i].value_len;
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, rows[i].n, rows[i].value_len);
		first = rb_result_chunk(live->res, 0);
		assert_in_range(first->count, rows[i].least, rows[i].most);
		for (size_t k = 0; k < rb_result_chunks(live->res); k++)
			assert_in_range(
				rb_result_chunk(live->res, k)->reply_bytes, 1,
				CHUNK_REPLY);
	}
}

static void test_an_expectation_that_is_wrong_costs_no_value(void **state)
{
	static const size_t expected[] = { 1, 1000000, SIZE_MAX };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(expected); i++) {
		rb_options o = rbt_options(0, 0);

		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		rbt_live_load(live, 3000, 500);
		o.expected_value_bytes = expected[i];
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, 3000, 500);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_with_the_sizes_no_answer_passes_its_bound),
		RBT_LIVE(test_a_bound_below_every_value_gives_lone_entries),
		RBT_LIVE(test_chunk_keys_holds_with_the_sizes_too),
		RBT_LIVE(test_fields_have_sizes_too),
		RBT_LIVE(test_keys_of_other_types_are_what_they_are),
		RBT_LIVE(test_values_may_change_behind_their_sizes),
		RBT_LIVE(test_a_deadline_while_asking_for_sizes),
		RBT_LIVE(test_a_killed_server_while_asking_for_sizes),
		RBT_LIVE(test_evenly_spread_values_keep_their_bounds),
		RBT_LIVE(test_a_long_batch_of_unknown_values_starts_small),
		RBT_LIVE(test_a_hundred_thousand_keys_cost_a_hundred_commands),
		RBT_LIVE(test_a_batch_that_fits_is_one_command),
		RBT_LIVE(test_a_count_that_is_asked_for_is_kept),
		RBT_LIVE(test_the_first_chunk_is_as_large_as_expected),
		RBT_LIVE(test_an_expectation_that_is_wrong_costs_no_value),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

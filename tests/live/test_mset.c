/*
 * Pairs that are written, and what of them is said and found afterwards.
 */
#include "commands.h"
#include "live.h"
#include "replies.h"
#include "resident.h"

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

/* Sanitizers keep what is freed, so what is resident tells nothing. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

static rb_status set_pairs(rbt_live *live, const rbt_pairs *p,
			   const rb_options *o)
{
	rbt_live_drop(live);
	return rb_mset_chunked(live->rb, p->keys.keys, p->keys.lens, p->values,
			       p->lens, p->n, o, &live->res);
}

/* Pairs of texts, which end with a NUL. */
static rb_status set_texts(rbt_live *live, const char **keys,
			   const char **values, size_t n, const rb_options *o)
{
	rbt_live_drop(live);
	return rb_mset_chunked(live->rb, keys, NULL, values, NULL, n, o,
			       &live->res);
}

static void want_key(rbt_live *live, const char *key, const char *value)
{
	char got[256];

	rbt_ask(live->admin, got, sizeof(got), "GET %s", key);
	assert_string_equal(got, value);
}

static void want_all_written(rbt_live *live, size_t n)
{
	assert_int_equal(rb_result_count(live->res), n);
	assert_int_equal(rb_result_failed(live->res), 0);
	for (size_t i = 0; i < n; i++)
		want_written(live->res, i, RB_ANSWERED);
	want_sound(live->res);
}

/* ---------------------------------------------------------------- bytes -- */

static void test_exact_bytes_are_written(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char all[256];
	const char *keys[] = { "a\0b",	 "a",	  "100%done", "my key",
			       "%s%n%b", "\"q\"", "",	      all };
	const size_t keylens[] = { 3, 1, 8, 6, 6, 3, 0, sizeof(all) };
	const char *values[] = {
		"x\0\r\n$-1\r\n", "short",     "a%%b", "", "%d",
		"\r\n",		  "empty key", all
	};
	const size_t valuelens[] = { 9, 5, 4, 0, 2, 2, 9, sizeof(all) };
	rb_options o = rbt_options(3, 2);

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)(255 - i);
	want_status(live->rb,
		    rb_mset_chunked(live->rb, keys, keylens, values, valuelens,
				    8, &o, &live->res),
		    RB_OK);
	want_all_written(live, 8);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 8);
	rbt_live_drop(live);
	want_status(
		live->rb,
		rb_mget_chunked(live->rb, keys, keylens, 8, NULL, &live->res),
		RB_OK);
	for (size_t i = 0; i < 8; i++)
		want_bytes(live->res, i, values[i], valuelens[i]);
}

static void test_many_pairs_are_read_back(void **state)
{
	static const struct {
		size_t n, len, keys, window;
	} rows[] = {
		{ 20000, 100, 0, 0 },  { 3000, 10, 7, 3 },
		{ 100, 70000, 9, 2 },  { 500, 16384, 11, 0 },
		{ 500, 16383, 11, 0 },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(rows[i].keys, rows[i].window);
		rbt_pairs p;

		rbt_do(live->admin, "FLUSHALL");
		rbt_pairs_init(&p, "key:", rows[i].n, rows[i].len);
		want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
		want_all_written(live, rows[i].n);
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_mget_chunked(live->rb, p.keys.keys, p.keys.lens,
					    p.n, NULL, &live->res),
			    RB_OK);
		want_loaded(live->res, rows[i].n, rows[i].len);
		rbt_pairs_fini(&p);
	}
}

static void test_the_last_value_of_a_key_wins(void **state)
{
	enum { N = 1001 };
	static const struct {
		size_t keys, window;
	} rows[] = { { 1, 64 }, { 10, 8 }, { 1000, 2 }, { 3, 0 } };
	rbt_live *live = rbt_live_use(state);
	const char *keys[N], *values[N];

	for (size_t i = 0; i < N; i++) {
		keys[i] = "x";
		values[i] = "0";
	}
	keys[0] = keys[N - 1] = "k";
	values[0] = "1";
	for (int round = 0; round < 200; round++) {
		rb_options o = rbt_options(rows[round % 4].keys,
					   rows[round % 4].window);

		values[N - 1] = round % 2 ? "2" : "3";
		want_status(live->rb, set_texts(live, keys, values, N, &o),
			    RB_OK);
		assert_int_equal(rb_result_failed(live->res), 0);
		want_key(live, "k", values[N - 1]);
		want_key(live, "x", "0");
	}
}

/* ---------------------------------------------------------------- chunks -- */

static void test_a_remainder_of_pairs_is_a_chunk_of_its_own(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(3, 2);
	rb_stats stats = { .struct_size = sizeof(stats) };

	for (size_t n = 0; n <= 7; n++) {
		rbt_pairs p;

		rbt_do(live->admin, "FLUSHALL");
		rbt_do(live->admin, "CONFIG RESETSTAT");
		rbt_pairs_init(&p, "k", n, 5);
		want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
		rbt_pairs_fini(&p);
		want_all_written(live, n);
		assert_int_equal(rb_result_chunks(live->res), (n + 2) / 3);
		assert_int_equal(rbt_live_calls(live, "mset"), (n + 2) / 3);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), n);
		assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
		assert_int_equal(stats.commands, (n + 2) / 3);
		assert_int_equal(stats.keys, n);
	}
}

/* What an MSET of count pairs from first on measures. */
static size_t mset_size(const rbt_pairs *p, size_t first, size_t count)
{
	size_t *lens = malloc(2 * count * sizeof(*lens));
	size_t size;

	assert_non_null(lens);
	for (size_t i = 0; i < count; i++) {
		lens[2 * i] = p->keys.lens[first + i];
		lens[2 * i + 1] = p->lens[first + i];
	}
	size = rbt_request_size(4, lens, 2 * count);
	free(lens);
	return size;
}

static void test_the_bytes_of_a_chunk_of_pairs_are_bounded_exactly(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000, 0);
	rbt_pairs p;

	rbt_pairs_init(&p, "k", 120, 12);
	for (size_t i = 0; i < p.n; i++)
		p.lens[i] = i % 13;
	for (size_t bound = 30; bound < 2200; bound += 31) {
		o.chunk_request_bytes = bound;
		want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
		want_all_written(live, p.n);
		for (size_t i = 0; i < rb_result_chunks(live->res); i++) {
			const rb_chunk *c = rb_result_chunk(live->res, i);
			size_t size = mset_size(&p, c->first, c->count);

			assert_int_equal(c->request_bytes, size);
			assert_int_equal(c->reply_bytes, 5);
			assert_true(size <= bound || c->count == 1);
			if (c->first + c->count < p.n)
				assert_true(mset_size(&p, c->first,
						      c->count + 1) > bound);
		}
	}
	rbt_pairs_fini(&p);
}

static void test_the_arguments_of_an_mset_are_bounded(void **state)
{
	static const size_t rows[][2] = {
		{ 1, 1 }, { 2, 1 }, { 3, 1 }, { 4, 1 }, { 5, 2 }, { 21, 10 },
	};
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000, 0);
	rbt_pairs p;

	rbt_pairs_init(&p, "k", 20, 3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		o.chunk_args = rows[i][0];
		want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
		assert_int_equal(rb_result_chunk(live->res, 0)->count,
				 rows[i][1]);
		want_all_written(live, p.n);
	}
	rbt_pairs_fini(&p);
}

static void test_large_values_are_not_copied(void **state)
{
	enum { N = 64 };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 2);
	size_t before, grown;
	rbt_pairs p;

	rbt_count_init(&live->count);
	o.allocator = &live->count.allocator;
	rbt_live_wrap(live, live->ctx, &o);
	rbt_pairs_init(&p, "big", N, MIB);
	rbt_memory_trim();
	rbt_memory_reset_peak();
	before = rbt_memory_resident();
	want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
	grown = rbt_memory_growth(before);
	want_all_written(live, N);
	assert_in_range(live->count.peak_bytes, 1, 300000);
#ifndef SANITIZED
	if (before > 0)
		assert_in_range(grown, 0, 8 * MIB);
#else
	(void)grown;
#endif
	/* One at a time, which is what the reader may take. */
	for (size_t i = 0; i < N; i += 9) {
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_mget_chunked(live->rb, &p.keys.keys[i], NULL, 1,
					    NULL, &live->res),
			    RB_OK);
		want_filled(live->res, 0, MIB, i);
	}
	rbt_pairs_fini(&p);
	rbt_live_drop(live);
	rb_client_free(live->rb);
	live->rb = NULL;
	assert_int_equal(live->count.live_blocks, 0);
}

/* -------------------------------------------------- what MSET does to keys -- */

static void test_keys_lose_their_time_to_live_and_their_type(void **state)
{
	static const char *keys[] = { "tk", "hh" }, *values[] = { "2", "s" };
	rbt_live *live = rbt_live_use(state);
	char text[32];

	rbt_do(live->admin, "SET tk 1 EX 100");
	rbt_do(live->admin, "HSET hh f v");
	want_status(live->rb, set_texts(live, keys, values, 2, NULL), RB_OK);
	assert_int_equal(rbt_ask_number(live->admin, "TTL tk"), -1);
	rbt_ask(live->admin, text, sizeof(text), "TYPE hh");
	assert_string_equal(text, "string");
}

static void test_keys_expire_when_asked_to(void **state)
{
	static const uint32_t flags[] = { 0, RB_IF_ABSENT, RB_IF_PRESENT,
					  RB_TRANSACTION,
					  RB_TRANSACTION | RB_IF_ABSENT };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(flags); i++) {
		rb_options o = rbt_options(7, 2);
		rbt_pairs p;

		rbt_do(live->admin, "FLUSHALL");
		rbt_pairs_init(&p, "k", 20, 10);
		if (flags[i] & RB_IF_PRESENT)
			want_status(live->rb, set_pairs(live, &p, NULL), RB_OK);
		o.expire_ms = 5000000000;
		o.flags = flags[i];
		want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
		want_all_written(live, 20);
		for (size_t k = 0; k < 20; k++)
			assert_in_range(rbt_ask_number(live->admin, "PTTL %s",
						       p.keys.keys[k]),
					4999000000, 5000000000);
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_mget_chunked(live->rb, p.keys.keys, p.keys.lens,
					    p.n, NULL, &live->res),
			    RB_OK);
		want_loaded(live->res, 20, 10);
		rbt_pairs_fini(&p);
	}
}

static void test_no_key_is_set_without_its_expiry(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(4, 2);
	rbt_pairs p;

	o.expire_ms = 100000;
	rbt_pairs_init(&p, "k", 10, 3);
	want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
	rbt_pairs_fini(&p);
	assert_int_equal(rbt_live_calls(live, "mset"), 0);
	assert_int_equal(rbt_live_calls(live, "expire"), 0);
	assert_int_equal(rbt_live_calls(live, "pexpire"), 0);
}

/* ----------------------------------------------------------- conditions -- */

static void test_a_condition_tells_which_keys_were_set(void **state)
{
	static const char *keys[] = { "a", "b", "c", "d", "e", "f" };
	static const char *values[] = { "1", "2", "3", "4", "5", "6" };
	rbt_live *live = rbt_live_use(state);
	rb_stats stats = { .struct_size = sizeof(stats) };

	for (int present = 0; present < 2; present++) {
		/* b, c, d are there: chunks of none, all and one of two. */
		bool met[] = { !present, present,  present,
			       present,	 !present, !present };
		rb_options o = rbt_options(2, 2);

		o.flags = present ? RB_IF_PRESENT : RB_IF_ABSENT;
		rbt_do(live->admin, "FLUSHALL");
		rbt_do(live->admin, "MSET b old c old d old");
		rbt_do(live->admin, "CONFIG RESETSTAT");
		want_status(live->rb, set_texts(live, keys, values, 6, &o),
			    RB_OK);
		for (size_t i = 0; i < 6; i++) {
			want_written(live->res, i,
				     met[i] ? RB_ANSWERED : RB_REJECTED);
			want_key(live, keys[i],
				 met[i]	  ? values[i] :
				 !present ? "old" :
					    "");
		}
		want_chunk(live->res, 0, 2, RB_OK, RB_PARTLY);
		want_chunk(live->res, 1, 2, RB_OK,
			   present ? RB_ANSWERED : RB_REJECTED);
		want_chunk(live->res, 2, 2, RB_OK,
			   present ? RB_REJECTED : RB_ANSWERED);
		assert_int_equal(rb_result_failed(live->res), 0);
		assert_int_equal(rbt_live_calls(live, "set"), 6);
		assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
		assert_int_equal(stats.commands, 6);
		assert_int_equal(stats.keys, 6);
		want_sound(live->res);
		rbt_want_pong(live->ctx);
	}
}

static void test_a_key_twice_under_a_condition_is_judged_in_order(void **state)
{
	static const char *keys[] = { "k", "k", "k" },
			  *values[] = { "1", "2", "3" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 3);

	o.flags = RB_IF_ABSENT;
	want_status(live->rb, set_texts(live, keys, values, 3, &o), RB_OK);
	want_written(live->res, 0, RB_ANSWERED);
	want_written(live->res, 1, RB_REJECTED);
	want_written(live->res, 2, RB_REJECTED);
	want_key(live, "k", "1");
}

static void test_both_conditions_at_once_are_refused(void **state)
{
	static const char *keys[] = { "a" }, *values[] = { "1" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0), mine = rbt_options(0, 0);

	o.flags = RB_IF_ABSENT | RB_IF_PRESENT;
	want_status(live->rb, set_texts(live, keys, values, 1, &o),
		    RB_ERR_INVALID);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), "RB_IF_ABSENT");
	/* The client's flags are joined to the call's. */
	mine.flags = RB_IF_ABSENT;
	rbt_live_wrap(live, live->ctx, &mine);
	o.flags = RB_IF_PRESENT;
	want_status(live->rb, set_texts(live, keys, values, 1, &o),
		    RB_ERR_INVALID);
	o.flags = 0;
	o.expire_ms = (uint64_t)INT64_MAX + 1;
	want_status(live->rb, set_texts(live, keys, values, 1, &o),
		    RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "expire_ms");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	rbt_want_pong(live->ctx);
}

static void test_an_expiry_that_the_server_refuses_fails_each_pair(void **state)
{
	static const char *keys[] = { "a", "b" }, *values[] = { "1", "2" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	o.expire_ms = INT64_MAX;
	o.flags = RB_IF_ABSENT;
	want_status(live->rb, set_texts(live, keys, values, 2, &o),
		    RB_ERR_PARTIAL);
	want_refused(live->res, 0, "expire");
	want_refused(live->res, 1, "expire");
	want_chunk(live->res, 0, 2, RB_ERR_PARTIAL, RB_REJECTED);
	rbt_want_pong(live->ctx);
}

/* ------------------------------------------------------------- arguments -- */

static void test_bad_pairs_are_named_and_nothing_is_sent(void **state)
{
	static const char *keys[] = { "a", "b", "c" };
	static const char *hole_keys[] = { "a", NULL, "c" };
	static const char *values[] = { "1", "2", "3" };
	static const char *hole[] = { "1", NULL, "3" };
	static const size_t one[] = { 1, 1, 1 };
	static const size_t three[] = { 1, 3, 1 };
	static const size_t huge[] = { 1, SIZE_MAX - 2, 1 };
	static const size_t half[] = { 1, SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1 };
	static const struct {
		const char **keys;
		const size_t *keylens;
		const char **values;
		const size_t *valuelens;
		const char *words;
	} rows[] = {
		{ NULL, NULL, values, NULL, "keys is NULL" },
		{ keys, NULL, NULL, NULL, "values is NULL" },
		{ hole_keys, NULL, values, NULL, "keys[1] is NULL" },
		{ hole_keys, one, values, NULL, "keylens[1] is 1" },
		{ keys, huge, values, one, "keylens[1]" },
		{ keys, one, hole, NULL, "values[1] is NULL" },
		{ keys, one, hole, three, "valuelens[1] is 3" },
		{ keys, one, values, huge, "valuelens[1]" },
		{ keys, one, values, half, "valuelens[1]" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_mset_chunked(live->rb, rows[i].keys,
					    rows[i].keylens, rows[i].values,
					    rows[i].valuelens, 3, NULL,
					    &live->res),
			    RB_ERR_INVALID);
		assert_null(live->res);
		want_words(rb_client_error(live->rb), rows[i].words);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
		rbt_want_pong(live->ctx);
	}
}

static void test_null_of_length_0_is_an_empty_value(void **state)
{
	static const char *keys[] = { "a", "b" }, *values[] = { NULL, "" };
	static const size_t lens[] = { 0, 0 };
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb,
		    rb_mset_chunked(live->rb, keys, NULL, values, lens, 2, NULL,
				    &live->res),
		    RB_OK);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a b"), 2);
	assert_int_equal(rbt_ask_number(live->admin, "STRLEN a"), 0);
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_mset_chunked(live->rb, NULL, NULL, NULL, NULL, 0, NULL,
				    &live->res),
		    RB_OK);
	assert_int_equal(rb_result_count(live->res), 0);
}

static void test_a_value_above_max_value_bytes_is_named(void **state)
{
	static const char *keys[] = { "a", "b", "c" };
	static const char *values[] = { "1", "12345678", "3" };
	static const uint32_t flags[] = { 0, RB_IF_ABSENT, RB_TRANSACTION };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(flags); i++) {
		rb_options o = rbt_options(1, 1);

		o.flags = flags[i];
		o.max_value_bytes = 7;
		want_status(live->rb, set_texts(live, keys, values, 3, &o),
			    RB_ERR_LIMIT);
		assert_null(live->res);
		want_words(rb_client_error(live->rb), "values[1]");
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
		o.max_value_bytes = 8;
		want_status(live->rb, set_texts(live, keys, values, 3, &o),
			    RB_OK);
		rbt_do(live->admin, "FLUSHALL");
	}
}

/* ------------------------------------------------------- server's limits -- */

/* Keys a, big, c, the second of so many bytes. */
static rb_status set_big(rbt_live *live, size_t len, size_t window)
{
	rb_options o = rbt_options(1, window);
	char *big = calloc(1, len);
	const char *keys[] = { "a", "big", "c" };
	const char *values[] = { "1", big, "2" };
	const size_t lens[] = { 1, len, 1 };
	rb_status status;

	assert_non_null(big);
	rbt_live_drop(live);
	status = rb_mset_chunked(live->rb, keys, NULL, values, lens, 3, &o,
				 &live->res);
	free(big);
	return status;
}

static void test_a_value_past_the_servers_limit_hides_no_neighbour(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "CONFIG SET proto-max-bulk-len 1mb");
	want_status(live->rb, set_big(live, 8 * MIB, 3), RB_ERR_SERVER);
	want_written(live->res, 0, RB_ANSWERED);
	want_refused(live->res, 1, "invalid bulk length");
	assert_int_not_equal(rb_result_status(live->res, 2), RB_OK);
	assert_int_not_equal(rb_result_outcome(live->res, 2), RB_ANSWERED);
	want_words(rb_client_error(live->rb), "invalid bulk length");
	want_sound(live->res);
	want_key(live, "a", "1");
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS big c"), 0);
	rbt_want_broken(live->ctx, live->rb);
}

static void test_a_value_at_the_servers_limit_is_written(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "CONFIG SET proto-max-bulk-len 1mb");
	want_status(live->rb, set_big(live, MIB, 3), RB_OK);
	want_all_written(live, 3);
	assert_int_equal(rbt_ask_number(live->admin, "STRLEN big"), MIB);
	want_status(live->rb, set_big(live, MIB + 1, 3), RB_ERR_SERVER);
	want_written(live->res, 0, RB_ANSWERED);
	want_refused(live->res, 1, "invalid bulk length");
	assert_int_equal(rbt_ask_number(live->admin, "STRLEN big"), MIB);
}

static void test_a_reset_without_words_leaves_the_value_in_doubt(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "CONFIG SET client-query-buffer-limit 1mb");
	want_status(live->rb, set_big(live, 2000000, 1), RB_ERR_IO);
	want_written(live->res, 0, RB_ANSWERED);
	assert_int_equal(rb_result_status(live->res, 1), RB_ERR_IO);
	assert_true(rb_result_outcome(live->res, 1) == RB_UNKNOWN ||
		    rb_result_outcome(live->res, 1) == RB_NOT_SENT);
	want_failed(live->res, 2, RB_ERR_SKIPPED, RB_NOT_SENT);
	assert_int_not_equal(rb_client_error(live->rb)[0], '\0');
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS big c"), 0);
	rbt_want_broken(live->ctx, live->rb);
}

/* ----------------------------------------------------------------- refused -- */

static void test_a_forbidden_key_fails_alone_among_pairs(void **state)
{
	static const char *keys[] = { "ok:9", "no:9", "ok:1", "ok:2" };
	static const char *values[] = { "1", "2", "3", "4" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 2);

	rbt_do(live->admin, "ACL DELUSER lim");
	rbt_do(live->admin, "ACL SETUSER lim on >pw ~ok:* +@all");
	rbt_do(live->ctx, "AUTH lim pw");
	want_status(live->rb, set_texts(live, keys, values, 4, &o),
		    RB_ERR_PARTIAL);
	want_written(live->res, 0, RB_ANSWERED);
	want_refused(live->res, 1, "NOPERM");
	want_written(live->res, 2, RB_ANSWERED);
	want_written(live->res, 3, RB_ANSWERED);
	want_chunk(live->res, 1, 1, RB_ERR_SERVER, RB_REJECTED);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS ok:9"), 1);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS no:9"), 0);
	/* A transaction is applied as a whole, or not at all. */
	rbt_do(live->admin, "DEL ok:9");
	o.flags = RB_TRANSACTION;
	want_status(live->rb, set_texts(live, keys, values, 4, &o),
		    RB_ERR_PARTIAL);
	want_refused(live->res, 0, "NOPERM");
	want_refused(live->res, 1, "NOPERM");
	want_written(live->res, 2, RB_ANSWERED);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS ok:9 no:9"), 0);
	o.flags = 0;
	/* Each by itself, with an expiry. */
	o.expire_ms = 100000;
	want_status(live->rb, set_texts(live, keys, values, 4, &o),
		    RB_ERR_PARTIAL);
	want_refused(live->res, 1, "NOPERM");
	want_written(live->res, 2, RB_ANSWERED);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_a_server_without_memory_ends_the_batch(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);
	rbt_pairs p;

	rbt_do(live->admin, "CONFIG SET maxmemory 1");
	rbt_pairs_init(&p, "k", 100, 10);
	want_status(live->rb, set_pairs(live, &p, &o), RB_ERR_SERVER);
	rbt_pairs_fini(&p);
	want_words(rb_client_error(live->rb), "OOM");
	for (size_t i = 0; i < 20; i++)
		want_refused(live->res, i, "OOM");
	for (size_t i = 20; i < 100; i++)
		want_failed(live->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_a_replica_writes_nothing(void **state)
{
	static const char *keys[] = { "a", "b", "c" };
	static const char *values[] = { "1", "2", "3" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 2);
	rb_status status;

	/* Of nobody: there is no server on port 1. */
	rbt_do(live->admin, "REPLICAOF 127.0.0.1 1");
	status = set_texts(live, keys, values, 3, &o);
	rbt_do(live->admin, "REPLICAOF NO ONE");
	assert_true(status == RB_ERR_PARTIAL || status == RB_ERR_SERVER);
	want_words(rb_client_error(live->rb), "READONLY");
	want_refused(live->res, 0, "READONLY");
	assert_int_equal(rb_result_failed(live->res), 3);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_inside_the_callers_multi_nothing_is_written(void **state)
{
	static const char *keys[] = { "x" }, *values[] = { "1" };
	static const struct {
		uint32_t flags;
		uint64_t expire_ms;
	} rows[] = { { 0, 0 }, { RB_IF_ABSENT, 0 }, { RB_IF_ABSENT, 1000 } };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(0, 0);

		o.flags = rows[i].flags;
		o.expire_ms = rows[i].expire_ms;
		rbt_do(live->ctx, "MULTI");
		want_status(live->rb, set_texts(live, keys, values, 1, &o),
			    RB_ERR_PROTOCOL);
		want_words(rb_client_error(live->rb), "MULTI");
		want_failed(live->res, 0, RB_ERR_PROTOCOL, RB_UNKNOWN);
		rbt_do(live->ctx, "DISCARD");
		assert_int_equal(rbt_ask_number(live->admin, "EXISTS x"), 0);
		want_status(live->rb, set_texts(live, keys, values, 1, &o),
			    RB_OK);
		rbt_do(live->admin, "DEL x");
	}
}

/* The server closes all connections but the admin's, before it answers. */
static void kill_others(rbt_live *live)
{
	rbt_do(live->admin, "CLIENT KILL TYPE normal SKIPME yes");
}

static void test_an_idle_connection_that_was_closed_writes_nothing(void **state)
{
	static const char *keys[] = { "i1", "i2" }, *values[] = { "v", "v" };
	rbt_live *live = rbt_live_use(state);

	kill_others(live);
	want_status(live->rb, set_texts(live, keys, values, 2, NULL),
		    RB_ERR_IO);
	for (size_t i = 0; i < 2; i++) {
		assert_int_not_equal(rb_result_status(live->res, i), RB_OK);
		assert_int_not_equal(rb_result_outcome(live->res, i),
				     RB_ANSWERED);
	}
	want_words(rb_client_error(live->rb), "closed");
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS i1 i2"), 0);
	want_sound(live->res);
	rbt_want_broken(live->ctx, live->rb);
}

/* ------------------------------------------------------------- on_chunk -- */

typedef struct heard {
	size_t calls;
	size_t entries;
	size_t stop_after;
	size_t request_bytes;
} heard;

static int hear(void *arg, const rb_chunk *chunk)
{
	heard *h = arg;

	assert_int_equal(chunk->first, h->entries);
	h->calls++;
	h->entries += chunk->count;
	h->request_bytes += chunk->request_bytes;
	return h->calls == h->stop_after ? -1 : 0;
}

static void test_on_chunk_hears_of_each_chunk_and_may_stop(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 1);
	rb_stats stats = { .struct_size = sizeof(stats) };
	heard h = { 0, 0, 0, 0 };
	rbt_pairs p;

	o.on_chunk = hear;
	o.on_chunk_arg = &h;
	rbt_pairs_init(&p, "k", 95, 5);
	want_status(live->rb, set_pairs(live, &p, &o), RB_OK);
	assert_int_equal(h.calls, 10);
	assert_int_equal(h.entries, 95);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(stats.request_bytes, h.request_bytes);
	rbt_do(live->admin, "FLUSHALL");
	memset(&h, 0, sizeof(h));
	h.stop_after = 3;
	want_status(live->rb, set_pairs(live, &p, &o), RB_ERR_CANCELLED);
	rbt_pairs_fini(&p);
	assert_int_equal(h.calls, 3);
	assert_int_equal(rbt_count_outcome(live->res, RB_ANSWERED), 30);
	assert_int_equal(rbt_count_outcome(live->res, RB_NOT_SENT), 65);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 30);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_exact_bytes_are_written),
		RBT_LIVE(test_many_pairs_are_read_back),
		RBT_LIVE(test_the_last_value_of_a_key_wins),
		RBT_LIVE(test_a_remainder_of_pairs_is_a_chunk_of_its_own),
		RBT_LIVE(
			test_the_bytes_of_a_chunk_of_pairs_are_bounded_exactly),
		RBT_LIVE(test_the_arguments_of_an_mset_are_bounded),
		RBT_LIVE(test_large_values_are_not_copied),
		RBT_LIVE(test_keys_lose_their_time_to_live_and_their_type),
		RBT_LIVE(test_keys_expire_when_asked_to),
		RBT_LIVE(test_no_key_is_set_without_its_expiry),
		RBT_LIVE(test_a_condition_tells_which_keys_were_set),
		RBT_LIVE(test_a_key_twice_under_a_condition_is_judged_in_order),
		RBT_LIVE(test_both_conditions_at_once_are_refused),
		RBT_LIVE(
			test_an_expiry_that_the_server_refuses_fails_each_pair),
		RBT_LIVE(test_bad_pairs_are_named_and_nothing_is_sent),
		RBT_LIVE(test_null_of_length_0_is_an_empty_value),
		RBT_LIVE(test_a_value_above_max_value_bytes_is_named),
		RBT_LIVE(
			test_a_value_past_the_servers_limit_hides_no_neighbour),
		RBT_LIVE(test_a_value_at_the_servers_limit_is_written),
		RBT_LIVE(test_a_reset_without_words_leaves_the_value_in_doubt),
		RBT_LIVE(test_a_forbidden_key_fails_alone_among_pairs),
		RBT_LIVE(test_a_server_without_memory_ends_the_batch),
		RBT_LIVE(test_a_replica_writes_nothing),
		RBT_LIVE(test_inside_the_callers_multi_nothing_is_written),
		RBT_LIVE(
			test_an_idle_connection_that_was_closed_writes_nothing),
		RBT_LIVE(test_on_chunk_hears_of_each_chunk_and_may_stop),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

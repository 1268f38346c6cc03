/*
 * Fields of a hash that are written, and keys that are removed, counted and
 * touched: the numbers of chunks and their sum.
 */
#include "commands.h"
#include "live.h"
#include "replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef rb_status verb(rb_client *client, const char **keys,
		       const size_t *keylens, size_t nkeys,
		       const rb_options *opts, rb_result **out);

static rb_status set_fields(rbt_live *live, const rbt_pairs *p,
			    const rb_options *o)
{
	rbt_live_drop(live);
	return rb_hset_chunked(live->rb, "hash", 4, p->keys.keys, p->keys.lens,
			       p->values, p->lens, p->n, o, &live->res);
}

static rb_status count_keys(rbt_live *live, verb *fn, const rbt_keys *keys,
			    const rb_options *o)
{
	rbt_live_drop(live);
	return fn(live->rb, keys->keys, keys->lens, keys->n, o, &live->res);
}

/* ----------------------------------------------------------------- HSET -- */

static void test_fields_are_written_with_their_bytes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 3);
	rbt_pairs p;

	rbt_pairs_init(&p, "f:", 95, 300);
	want_status(live->rb, set_fields(live, &p, &o), RB_OK);
	for (size_t i = 0; i < 95; i++)
		want_written(live->res, i, RB_ANSWERED);
	want_sound(live->res);
	assert_int_equal(rbt_live_calls(live, "hset"), 10);
	assert_int_equal(rbt_ask_number(live->admin, "HLEN hash"), 95);
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "hash", 4, p.keys.keys,
				     p.keys.lens, 95, NULL, &live->res),
		    RB_OK);
	want_loaded(live->res, 95, 300);
	rbt_pairs_fini(&p);
}

static void test_the_numbers_of_hset_count_new_fields(void **state)
{
	static const char *fields[] = { "a", "b", "c", "d", "a", "e" };
	static const char *values[] = { "1", "2", "3", "4", "5", "6" };
	static const int64_t numbers[] = { 1, 2, 1 };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 3);
	char text[8];

	rbt_do(live->admin, "HSET hash a old");
	want_status(live->rb,
		    rb_hset_chunked(live->rb, "hash", 4, fields, NULL, values,
				    NULL, 6, &o, &live->res),
		    RB_OK);
	for (size_t i = 0; i < 3; i++) {
		want_chunk(live->res, i, 2, RB_OK, RB_ANSWERED);
		assert_int_equal(rb_result_chunk(live->res, i)->number,
				 numbers[i]);
	}
	assert_int_equal(rb_result_total(live->res), 4);
	rbt_ask(live->admin, text, sizeof(text), "HGET hash a");
	assert_string_equal(text, "5");
}

static void test_hset_of_another_type_is_refused(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 2);
	char text[8];
	rbt_pairs p;

	rbt_do(live->admin, "SET hash text");
	rbt_pairs_init(&p, "f", 3, 5);
	want_status(live->rb, set_fields(live, &p, &o), RB_ERR_PARTIAL);
	rbt_pairs_fini(&p);
	for (size_t i = 0; i < 3; i++)
		want_refused(live->res, i, "WRONGTYPE");
	want_chunk(live->res, 0, 2, RB_ERR_SERVER, RB_REJECTED);
	assert_int_equal(rb_result_total(live->res), 0);
	want_sound(live->res);
	rbt_ask(live->admin, text, sizeof(text), "GET hash");
	assert_string_equal(text, "text");
	rbt_want_pong(live->ctx);
}

static void test_bad_fields_are_named(void **state)
{
	static const char *fields[] = { "a", "b" }, *values[] = { "1", "2" };
	static const char *hole[] = { "a", NULL };
	static const size_t two[] = { 1, 2 };
	static const struct {
		const char *key, **fields, **values;
		const size_t *valuelens;
		const char *words;
	} rows[] = {
		{ NULL, fields, values, NULL, "key is NULL" },
		{ "h", NULL, values, NULL, "fields is NULL" },
		{ "h", hole, values, NULL, "fields[1] is NULL" },
		{ "h", fields, NULL, NULL, "values is NULL" },
		{ "h", fields, hole, NULL, "values[1] is NULL" },
		{ "h", fields, hole, two, "valuelens[1] is 2" },
	};
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	for (size_t i = 0; i < COUNT(rows); i++) {
		want_status(live->rb,
			    rb_hset_chunked(live->rb, rows[i].key, 1,
					    rows[i].fields, NULL,
					    rows[i].values, rows[i].valuelens,
					    2, NULL, &live->res),
			    RB_ERR_INVALID);
		assert_null(live->res);
		want_words(rb_client_error(live->rb), rows[i].words);
	}
	o.max_value_bytes = 1;
	values[1] = "22";
	want_status(live->rb,
		    rb_hset_chunked(live->rb, "h", 1, fields, NULL, values,
				    NULL, 2, &o, &live->res),
		    RB_ERR_LIMIT);
	values[1] = "2";
	want_words(rb_client_error(live->rb), "values[1]");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	rbt_want_pong(live->ctx);
}

/* ----------------------------------------------------------------- keys -- */

static void test_unlink_exists_and_touch_count_by_chunk(void **state)
{
	static const struct {
		verb *fn;
		const char *name;
	} rows[] = {
		{ rb_exists_chunked, "exists" },
		{ rb_touch_chunked, "touch" },
		{ rb_unlink_chunked, "unlink" },
	};
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);
	rb_stats stats = { .struct_size = sizeof(stats) };

	rbt_live_load(live, 95, 5);
	/* Of the third chunk, only seven are there. */
	rbt_do(live->admin, "DEL %s %s %s", live->keys.keys[20],
	       live->keys.keys[24], live->keys.keys[29]);
	for (size_t r = 0; r < COUNT(rows); r++) {
		want_status(live->rb,
			    count_keys(live, rows[r].fn, &live->keys, &o),
			    RB_OK);
		assert_int_equal(rb_result_chunks(live->res), 10);
		for (size_t i = 0; i < 10; i++)
			assert_int_equal(rb_result_chunk(live->res, i)->number,
					 i == 2 ? 7 :
					 i == 9 ? 5 :
						  10);
		assert_int_equal(rb_result_total(live->res), 92);
		for (size_t i = 0; i < 95; i++)
			want_written(live->res, i, RB_ANSWERED);
		assert_int_equal(rbt_live_calls(live, rows[r].name), 10);
		assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
		assert_int_equal(stats.commands, 10);
		assert_int_equal(stats.keys, 95);
		want_sound(live->res);
	}
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
}

static void test_a_key_given_twice_counts_as_the_server_counts(void **state)
{
	static const char *keys[] = { "a", "b", "a", "no", "a" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 3);

	rbt_do(live->admin, "MSET a 1 b 2");
	want_status(live->rb,
		    rb_exists_chunked(live->rb, keys, NULL, 5, &o, &live->res),
		    RB_OK);
	assert_int_equal(rb_result_total(live->res), 4);
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_touch_chunked(live->rb, keys, NULL, 5, &o, &live->res),
		    RB_OK);
	assert_int_equal(rb_result_total(live->res), 4);
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_unlink_chunked(live->rb, keys, NULL, 5, &o, &live->res),
		    RB_OK);
	assert_int_equal(rb_result_total(live->res), 2);
	assert_int_equal(rb_result_chunk(live->res, 0)->number, 2);
	assert_int_equal(rb_result_chunk(live->res, 1)->number, 0);
	assert_int_equal(rb_result_total(NULL), 0);
}

static void test_keys_of_any_type_and_bytes_are_counted(void **state)
{
	static const char *keys[] = { "h", "l", "a\0b", "", "no" };
	static const size_t lens[] = { 1, 1, 3, 0, 2 };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "HSET h f v");
	rbt_do(live->admin, "RPUSH l x");
	rbt_do(live->admin, "SET %b 1", "a\0b", (size_t)3);
	rbt_do(live->admin, "SET %s 1", "");
	want_status(
		live->rb,
		rb_exists_chunked(live->rb, keys, lens, 5, NULL, &live->res),
		RB_OK);
	assert_int_equal(rb_result_total(live->res), 4);
	rbt_live_drop(live);
	want_status(
		live->rb,
		rb_unlink_chunked(live->rb, keys, lens, 5, NULL, &live->res),
		RB_OK);
	assert_int_equal(rb_result_total(live->res), 4);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
}

static void test_no_entries_send_nothing(void **state)
{
	static verb *const verbs[] = { rb_unlink_chunked, rb_exists_chunked,
				       rb_touch_chunked };
	rbt_live *live = rbt_live_use(state);
	rbt_keys none = { 0, NULL, NULL, NULL };
	rb_options o = rbt_options(0, 0);

	for (int transaction = 0; transaction < 2; transaction++) {
		o.flags = transaction ? RB_TRANSACTION : 0;
		for (size_t i = 0; i < COUNT(verbs); i++) {
			want_status(live->rb,
				    count_keys(live, verbs[i], &none, &o),
				    RB_OK);
			assert_int_equal(rb_result_count(live->res), 0);
			assert_int_equal(rb_result_chunks(live->res), 0);
			assert_int_equal(rb_result_total(live->res), 0);
		}
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_hset_chunked(live->rb, "h", 1, NULL, NULL, NULL,
					    NULL, 0, &o, &live->res),
			    RB_OK);
		assert_int_equal(rb_result_count(live->res), 0);
	}
	assert_int_equal(rbt_live_calls(live, "hset"), 0);
	assert_int_equal(rbt_live_calls(live, "multi"), 0);
	rbt_want_pong(live->ctx);
}

static void test_bad_keys_of_the_counting_verbs_are_named(void **state)
{
	static verb *const verbs[] = { rb_unlink_chunked, rb_exists_chunked,
				       rb_touch_chunked };
	static const char *hole[] = { "a", NULL };
	static const size_t lens[] = { 1, 9 };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "SET a 1");
	for (size_t i = 0; i < COUNT(verbs); i++) {
		want_status(live->rb,
			    verbs[i](live->rb, hole, lens, 2, NULL, &live->res),
			    RB_ERR_INVALID);
		assert_null(live->res);
		want_words(rb_client_error(live->rb), "keylens[1] is 9");
		want_status(live->rb,
			    verbs[i](live->rb, NULL, NULL, 2, NULL, &live->res),
			    RB_ERR_INVALID);
		want_status(live->rb,
			    verbs[i](live->rb, hole, NULL, 1, NULL, NULL),
			    RB_ERR_INVALID);
		assert_int_equal(
			verbs[i](NULL, hole, NULL, 1, NULL, &live->res),
			RB_ERR_INVALID);
	}
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a"), 1);
	rbt_want_pong(live->ctx);
}

static void test_a_forbidden_key_alone_is_not_removed(void **state)
{
	static const char *keys[] = { "ok:1", "no:1", "ok:2" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 2);

	rbt_do(live->admin, "MSET ok:1 1 no:1 1 ok:2 1");
	rbt_do(live->admin, "ACL DELUSER lim");
	rbt_do(live->admin, "ACL SETUSER lim on >pw ~ok:* +@all");
	rbt_do(live->ctx, "AUTH lim pw");
	want_status(live->rb,
		    rb_unlink_chunked(live->rb, keys, NULL, 3, &o, &live->res),
		    RB_ERR_PARTIAL);
	want_written(live->res, 0, RB_ANSWERED);
	want_refused(live->res, 1, "NOPERM");
	want_written(live->res, 2, RB_ANSWERED);
	assert_int_equal(rb_result_total(live->res), 2);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS ok:1 no:1 ok:2"),
			 1);
	want_sound(live->res);
}

static void test_a_count_inside_the_callers_multi_is_no_count(void **state)
{
	static verb *const verbs[] = { rb_unlink_chunked, rb_exists_chunked,
				       rb_touch_chunked };
	static const char *keys[] = { "a" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "SET a 1");
	for (size_t i = 0; i < COUNT(verbs); i++) {
		rbt_do(live->ctx, "MULTI");
		rbt_live_drop(live);
		want_status(live->rb,
			    verbs[i](live->rb, keys, NULL, 1, NULL, &live->res),
			    RB_ERR_PROTOCOL);
		want_words(rb_client_error(live->rb), "MULTI");
		assert_int_equal(rb_result_total(live->res), 0);
		rbt_do(live->ctx, "DISCARD");
	}
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a"), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_fields_are_written_with_their_bytes),
		RBT_LIVE(test_the_numbers_of_hset_count_new_fields),
		RBT_LIVE(test_hset_of_another_type_is_refused),
		RBT_LIVE(test_bad_fields_are_named),
		RBT_LIVE(test_unlink_exists_and_touch_count_by_chunk),
		RBT_LIVE(test_a_key_given_twice_counts_as_the_server_counts),
		RBT_LIVE(test_keys_of_any_type_and_bytes_are_counted),
		RBT_LIVE(test_no_entries_send_nothing),
		RBT_LIVE(test_bad_keys_of_the_counting_verbs_are_named),
		RBT_LIVE(test_a_forbidden_key_alone_is_not_removed),
		RBT_LIVE(test_a_count_inside_the_callers_multi_is_no_count),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

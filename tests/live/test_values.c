/*
 * What comes back: every byte, in the order of the entries.
 */
#include "live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Any bytes, without the NUL that a literal ends with. */
typedef struct blob {
	const char *data;
	size_t len;
} blob;

#define BLOB(text)                       \
	{                                \
		(text), sizeof(text) - 1 \
	}

static void set(const rbt_live *live, blob key, const void *value, size_t len)
{
	rbt_do(live->admin, "SET %b %b", key.data, key.len, value, len);
}

static void test_values_come_in_the_order_of_the_keys(void **state)
{
	static const char *keys[] = { "c", "a", "b", "zz", "a" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 0);

	rbt_do(live->admin, "MSET a 1 c 3");
	rbt_do(live->admin, "SET b %b", "", (size_t)0);
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 5, &o, &live->res),
		    RB_OK);
	assert_int_equal(rb_result_count(live->res), 5);
	want_text(live->res, 0, "3");
	want_text(live->res, 1, "1");
	want_text(live->res, 2, "");
	want_nil(live->res, 3);
	want_text(live->res, 4, "1");
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_fields_come_in_the_order_asked_for(void **state)
{
	static const char *fields[] = { "c", "a", "none", "a", "b" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 3);

	rbt_do(live->admin, "HSET h a 1 b %b c 3", "", (size_t)0);
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "h", 1, fields, NULL, 5, &o,
				     &live->res),
		    RB_OK);
	want_text(live->res, 0, "3");
	want_text(live->res, 1, "1");
	want_nil(live->res, 2);
	want_text(live->res, 3, "1");
	want_text(live->res, 4, "");
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_a_hash_that_is_not_there_has_nil_for_each_field(void **state)
{
	static const char *fields[] = { "a", "b", "c" };
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "none", 4, fields, NULL, 3, NULL,
				     &live->res),
		    RB_OK);
	for (size_t i = 0; i < 3; i++)
		want_nil(live->res, i);
}

static void test_a_key_of_another_type_is_nil_to_mget(void **state)
{
	static const char *keys[] = { "hash", "list", "text" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "HSET hash f v");
	rbt_do(live->admin, "RPUSH list v");
	rbt_do(live->admin, "SET text v");
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 3, NULL, &live->res),
		    RB_OK);
	want_nil(live->res, 0);
	want_nil(live->res, 1);
	want_text(live->res, 2, "v");
}

/* ------------------------------------------------------------ any bytes -- */

static const blob odd_keys[] = {
	BLOB(""),
	BLOB("a"),
	BLOB("a\0b"),
	BLOB("a\0"),
	BLOB("\0"),
	BLOB("\r\n"),
	BLOB("\r\n$-1\r\n"),
	BLOB("*1\r\n$8\r\nFLUSHALL\r\n"),
	BLOB("100%done"),
	BLOB("my key"),
	BLOB(" lead"),
	BLOB("trail "),
	BLOB("%s%n%b"),
	BLOB("a%%b"),
	BLOB("\"q\""),
	BLOB("'q'"),
	BLOB("\\"),
	BLOB("{tag}x"),
	BLOB("\xff\xfe\x80"),
	BLOB("\xc3\xa9"),
};

static void fill_odd(const char **keys, size_t *lens)
{
	for (size_t i = 0; i < COUNT(odd_keys); i++) {
		keys[i] = odd_keys[i].data;
		lens[i] = odd_keys[i].len;
	}
}

static void test_keys_of_any_bytes_are_told_apart(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *keys[COUNT(odd_keys)];
	size_t lens[COUNT(odd_keys)];
	rb_options o = rbt_options(3, 0);

	fill_odd(keys, lens);
	for (size_t i = 0; i < COUNT(odd_keys); i++)
		set(live, odd_keys[i], &i, sizeof(i));
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"),
			 COUNT(odd_keys));
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, lens, COUNT(odd_keys), &o,
				    &live->res),
		    RB_OK);
	for (size_t i = 0; i < COUNT(odd_keys); i++)
		want_bytes(live->res, i, &i, sizeof(i));
	rbt_want_pong(live->ctx);
}

static void test_fields_of_any_bytes_are_told_apart(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *fields[COUNT(odd_keys)];
	size_t lens[COUNT(odd_keys)];
	rb_options o = rbt_options(3, 0);
	const blob h = BLOB("h\0\r\n %");

	fill_odd(fields, lens);
	for (size_t i = 0; i < COUNT(odd_keys); i++)
		rbt_do(live->admin, "HSET %b %b %b", h.data, h.len,
		       odd_keys[i].data, odd_keys[i].len, &i, sizeof(i));
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, h.data, h.len, fields, lens,
				     COUNT(odd_keys), &o, &live->res),
		    RB_OK);
	for (size_t i = 0; i < COUNT(odd_keys); i++)
		want_bytes(live->res, i, &i, sizeof(i));
}

static void test_a_null_key_of_length_0_is_the_empty_key(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *keys[] = { "a", NULL };
	const size_t lens[] = { 1, 0 };

	set(live, (blob)BLOB(""), "empty", 5);
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, lens, 2, NULL, &live->res),
		    RB_OK);
	want_nil(live->res, 0);
	want_text(live->res, 1, "empty");
}

static void test_a_value_holds_all_256_bytes(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *key = "k";
	char value[512];

	for (size_t i = 0; i < sizeof(value); i++)
		value[i] = (char)(i & 0xff);
	set(live, (blob)BLOB("k"), value, sizeof(value));
	want_status(live->rb,
		    rb_mget_chunked(live->rb, &key, NULL, 1, NULL, &live->res),
		    RB_OK);
	want_bytes(live->res, 0, value, sizeof(value));
}

static void test_values_that_look_like_protocol_are_values(void **state)
{
	static const blob values[] = {
		BLOB("x\0\r\n$-1\r\n"),
		BLOB("\r\n"),
		BLOB("$-1\r\n"),
		BLOB("*2\r\n$1\r\na\r\n"),
		BLOB("-ERR no such thing\r"),
		BLOB("+OK\r\n"),
		BLOB("\0"),
		BLOB("\r"),
	};
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, COUNT(values), 0);
	for (size_t i = 0; i < COUNT(values); i++)
		rbt_do(live->admin, "SET %s %b", live->keys.keys[i],
		       values[i].data, values[i].len);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	for (size_t i = 0; i < COUNT(values); i++)
		want_bytes(live->res, i, values[i].data, values[i].len);
	rbt_want_pong(live->ctx);
}

/* ---------------------------------------------------------------- sizes -- */

#define MIB ((size_t)1024 * 1024)

static void test_values_of_0_bytes_to_64_mib_come_whole(void **state)
{
	static const size_t sizes[] = {
		0,	 1,	      2,      255,     4095,	 4096,
		8191,	 8192,	      8193,   16384,   65535,	 65536,
		262143,	 262144,      262145, MIB - 1, MIB,	 MIB + 1,
		4 * MIB, 4 * MIB + 1, 0,      1,       64 * MIB, 3,
	};
	rbt_live *live = rbt_live_use(state);
	char *value = malloc(64 * MIB);

	assert_non_null(value);
	rbt_live_load(live, COUNT(sizes), 0);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		rbt_value_fill(value, sizes[i], i);
		set(live, (blob){ live->keys.keys[i], live->keys.lens[i] },
		    value, sizes[i]);
	}
	free(value);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	for (size_t i = 0; i < COUNT(sizes); i++)
		want_filled(live->res, i, sizes[i], i);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_many_values_of_each_length_come_whole(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(7, 0);
	char value[600];

	rbt_live_load(live, sizeof(value), 0);
	for (size_t i = 0; i < sizeof(value); i++) {
		rbt_value_fill(value, i, i);
		set(live, (blob){ live->keys.keys[i], live->keys.lens[i] },
		    value, i);
	}
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	for (size_t i = 0; i < sizeof(value); i++)
		want_filled(live->res, i, i, i);
}

static void test_values_are_read_over_tcp_as_well(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 20000, 300);
	rbt_live_wrap(live, rbt_live_tcp(live), NULL);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, 20000, 300);
	rbt_want_pong(live->ctx);
}

static void test_the_same_client_reads_again_and_again(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 0);

	rbt_live_load(live, 1000, 50);
	for (int i = 0; i < 20; i++) {
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, 1000, 50);
		rbt_want_pong(live->ctx);
	}
}

static void test_what_is_out_of_range_has_no_value(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 3, 5);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	assert_null(rb_result_value(live->res, 3).data);
	assert_null(rb_result_value(live->res, (size_t)-1).data);
	assert_int_equal(rb_result_status(live->res, 3), RB_ERR_INVALID);
	assert_int_equal(rb_result_outcome(live->res, 3), RB_NOT_SENT);
	assert_string_equal(rb_result_message(live->res, 3), "");
	assert_null(rb_result_chunk(live->res, 1));
	assert_non_null(rb_result_chunk(live->res, 0));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_values_come_in_the_order_of_the_keys),
		RBT_LIVE(test_fields_come_in_the_order_asked_for),
		RBT_LIVE(test_a_hash_that_is_not_there_has_nil_for_each_field),
		RBT_LIVE(test_a_key_of_another_type_is_nil_to_mget),
		RBT_LIVE(test_keys_of_any_bytes_are_told_apart),
		RBT_LIVE(test_fields_of_any_bytes_are_told_apart),
		RBT_LIVE(test_a_null_key_of_length_0_is_the_empty_key),
		RBT_LIVE(test_a_value_holds_all_256_bytes),
		RBT_LIVE(test_values_that_look_like_protocol_are_values),
		RBT_LIVE(test_values_of_0_bytes_to_64_mib_come_whole),
		RBT_LIVE(test_many_values_of_each_length_come_whole),
		RBT_LIVE(test_values_are_read_over_tcp_as_well),
		RBT_LIVE(test_the_same_client_reads_again_and_again),
		RBT_LIVE(test_what_is_out_of_range_has_no_value),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

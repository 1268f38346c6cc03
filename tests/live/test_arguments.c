/*
 * What is refused before anything is sent: the message names the argument.
 */
#include "live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The commands that the server has run, this question not among them. */
static uint64_t commands(const rbt_live *live)
{
	return rbt_live_info(live, "stats", "total_commands_processed");
}

/* Refused with these words, and the server heard nothing of it. */
static void want_refused(rbt_live *live, rb_status status, uint64_t before,
			 const char *words)
{
	want_status(live->rb, status, RB_ERR_INVALID);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), words);
	assert_int_equal(commands(live), before + 1);
	rbt_want_pong(live->ctx);
}

static void test_bad_keys_are_named(void **state)
{
	static const char *keys[] = { "a", "b", "c", NULL, "e" };
	static const size_t five[] = { 1, 1, 1, 5, 1 };
	static const size_t huge[] = { 1, SIZE_MAX - 2, 1 };
	static const size_t half[] = { SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1 };
	static const size_t over[] = { 1, 1, (size_t)512 * 1024 * 1024 + 1 };
	static const struct {
		const char **keys;
		const size_t *lens;
		size_t n;
		const char *words;
	} rows[] = {
		{ NULL, NULL, 1, "keys is NULL" },
		{ NULL, five, 5, "keys is NULL" },
		{ keys, five, 5, "keys[3] is NULL but keylens[3] is 5" },
		{ keys, NULL, 5, "keys[3] is NULL" },
		{ keys, huge, 3, "keylens[1]" },
		{ keys, half, 2, "keylens[0]" },
		{ keys, over, 3, "keylens[2]" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t before = commands(live);

		want_refused(live,
			     rb_mget_chunked(live->rb, rows[i].keys,
					     rows[i].lens, rows[i].n, NULL,
					     &live->res),
			     before, rows[i].words);
	}
}

static void test_bad_fields_are_named(void **state)
{
	static const char *fields[] = { "a", NULL, "c" };
	static const size_t lens[] = { 1, 7, 1 };
	static const size_t huge[] = { SIZE_MAX, 1, 1 };
	static const struct {
		const char *key;
		size_t keylen;
		const char **fields;
		const size_t *lens;
		const char *words;
	} rows[] = {
		{ NULL, 0, fields, NULL, "key is NULL" },
		{ NULL, 5, fields, NULL, "key is NULL" },
		{ "h", SIZE_MAX - 1, fields, NULL, "keylen" },
		{ "h", 1, NULL, NULL, "fields is NULL" },
		{ "h", 1, fields, NULL, "fields[1] is NULL" },
		{ "h", 1, fields, lens,
		  "fields[1] is NULL but fieldlens[1] is 7" },
		{ "h", 1, fields, huge, "fieldlens[0]" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t before = commands(live);

		want_refused(live,
			     rb_hmget_chunked(live->rb, rows[i].key,
					      rows[i].keylen, rows[i].fields,
					      rows[i].lens, 3, NULL,
					      &live->res),
			     before, rows[i].words);
	}
}

static void test_a_missing_client_or_result_is_refused(void **state)
{
	static const char *keys[] = { "a" };
	rbt_live *live = rbt_live_use(state);
	uint64_t before = commands(live);
	rb_result *res = (rb_result *)live;

	assert_int_equal(rb_mget_chunked(NULL, keys, NULL, 1, NULL, &res),
			 RB_ERR_INVALID);
	assert_null(res);
	res = (rb_result *)live;
	assert_int_equal(
		rb_hmget_chunked(NULL, "h", 1, keys, NULL, 1, NULL, &res),
		RB_ERR_INVALID);
	assert_null(res);
	want_refused(live, rb_mget_chunked(live->rb, keys, NULL, 1, NULL, NULL),
		     before, "out is NULL");
	assert_string_not_equal(rb_client_error(NULL), "");
	assert_int_equal(rb_client_connect(NULL), RB_ERR_INVALID);
}

/* ------------------------------------------------------------- options -- */

static void unset_size(rb_options *o)
{
	o->struct_size = 0;
}

static void unknown_flag(rb_options *o)
{
	o->flags = 1u << 30;
}

static void half_an_allocator(rb_options *o)
{
	static const rb_allocator half = { NULL, NULL, NULL, NULL };

	o->allocator = &half;
}

static const struct {
	void (*spoil)(rb_options *o);
	const char *words;
} bad_options[] = {
	{ unset_size, "struct_size" },
	{ unknown_flag, "flags" },
	{ half_an_allocator, "allocator" },
};

static void test_bad_options_of_a_call_are_named(void **state)
{
	static const char *keys[] = { "a" };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(bad_options); i++) {
		uint64_t before = commands(live);
		rb_options o = rbt_options(0, 0);

		bad_options[i].spoil(&o);
		want_refused(live,
			     rb_mget_chunked(live->rb, keys, NULL, 1, &o,
					     &live->res),
			     before, bad_options[i].words);
	}
}

static void test_bad_options_make_no_client(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_client *rb = live->rb;

	for (size_t i = 0; i < COUNT(bad_options); i++) {
		rb_options o = rbt_options(0, 0);

		bad_options[i].spoil(&o);
		assert_int_equal(rb_client_wrap(&rb, live->ctx, &o),
				 RB_ERR_INVALID);
		assert_null(rb);
		assert_int_equal(rb_client_open(&rb, "redis://h", &o),
				 RB_ERR_INVALID);
		assert_null(rb);
	}
}

/* A program compiled against a later header, which knows members that this
 * release does not have. */
typedef struct later_options {
	rb_options known;
	size_t added[3];
} later_options;

static void test_members_of_a_later_header_must_be_unset(void **state)
{
	rbt_live *live = rbt_live_use(state);
	later_options later;
	uint64_t before;

	memset(&later, 0xff, sizeof(later));
	rb_options_init_sized(&later.known, sizeof(later));
	assert_int_equal(later.added[2], 0);
	later.known.chunk_keys = 2;
	rbt_live_load(live, 5, 3);
	want_status(live->rb, rbt_live_read(live, &later.known), RB_OK);
	want_loaded(live->res, 5, 3);
	assert_int_equal(rb_result_chunks(live->res), 3);
	rbt_live_drop(live);
	later.added[1] = 1;
	before = commands(live);
	want_refused(live, rbt_live_read(live, &later.known), before,
		     "release");
}

/* ------------------------------------------------------------- clients -- */

static void test_an_unusable_context_makes_no_client(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_client *rb = live->rb;
	redisContext *dead = redisConnectUnix("/nowhere/at/all");
	redisContext *loose =
		redisConnectUnixNonBlock(rbt_server_socket(live->server));
	rb_status of_dead, of_loose, of_null, of_out;

	of_null = rb_client_wrap(&rb, NULL, NULL);
	assert_null(rb);
	rb = live->rb;
	of_dead = rb_client_wrap(&rb, dead, NULL);
	assert_null(rb);
	rb = live->rb;
	of_loose = rb_client_wrap(&rb, loose, NULL);
	assert_null(rb);
	of_out = rb_client_wrap(NULL, live->ctx, NULL);
	redisFree(dead);
	redisFree(loose);
	assert_int_equal(of_null, RB_ERR_INVALID);
	assert_int_equal(of_dead, RB_ERR_INVALID);
	assert_int_equal(of_loose, RB_ERR_INVALID);
	assert_int_equal(of_out, RB_ERR_INVALID);
}

static void test_a_context_that_broke_later_is_refused(void **state)
{
	static const char *keys[] = { "a" };
	rbt_live *live = rbt_live_use(state);

	live->ctx->err = REDIS_ERR_OTHER;
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 1, NULL, &live->res),
		    RB_ERR_INVALID);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), "ctx");
}

static void test_a_context_with_subscriptions_is_refused(void **state)
{
	static const char *keys[] = { "a" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->ctx, "SUBSCRIBE channel");
	live->ctx->flags |= REDIS_SUBSCRIBED;
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 1, NULL, &live->res),
		    RB_ERR_INVALID);
	want_words(rb_client_error(live->rb), "subscri");
}

static void test_the_error_is_that_of_the_last_call(void **state)
{
	static const char *keys[] = { "a", NULL };
	rbt_live *live = rbt_live_use(state);

	assert_string_equal(rb_client_error(live->rb), "");
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 2, NULL, &live->res),
		    RB_ERR_INVALID);
	assert_string_not_equal(rb_client_error(live->rb), "");
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 1, NULL, &live->res),
		    RB_OK);
	assert_string_equal(rb_client_error(live->rb), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_bad_keys_are_named),
		RBT_LIVE(test_bad_fields_are_named),
		RBT_LIVE(test_a_missing_client_or_result_is_refused),
		RBT_LIVE(test_bad_options_of_a_call_are_named),
		RBT_LIVE(test_bad_options_make_no_client),
		RBT_LIVE(test_members_of_a_later_header_must_be_unset),
		RBT_LIVE(test_an_unusable_context_makes_no_client),
		RBT_LIVE(test_a_context_that_broke_later_is_refused),
		RBT_LIVE(test_a_context_with_subscriptions_is_refused),
		RBT_LIVE(test_the_error_is_that_of_the_last_call),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

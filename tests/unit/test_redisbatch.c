/*
 * The verbs, over a socket and a clock that the test plays.
 */
#include "client.h"
#include "rig.h"
#include "unit.h"

#include <sys/time.h>

static rig r;
static rb_client *client;
static rb_result *res;

static void begin(const rb_options *defaults)
{
	rig_init(&r, 3, 1);
	res = (rb_result *)(uintptr_t)8;
	assert_status(rb_client_wrap(&client, r.pair.ctx, defaults), RB_OK);
	client->sys = &rig_sys;
	client->clock = &r.clock;
}

static void end(void)
{
	rb_result_free(res);
	rb_client_free(client);
	rig_fini(&r);
}

static const char *abc[] = { "a", "bb", "ccc" };
static const size_t abc_lens[] = { 1, 2, 3 };

static rb_status mget(const rb_options *opts)
{
	return rb_mget_chunked(client, abc, abc_lens, 3, opts, &res);
}

static void check_sent(const char *want)
{
	assert_int_equal(r.nsent, strlen(want));
	assert_memory_equal(r.sent, want, r.nsent);
}

static void check_error(const char *words)
{
	if (strstr(rb_client_error(client), words) == NULL)
		fail_msg("\"%s\" is not in: %s", words,
			 rb_client_error(client));
	assert_null(strchr(rb_client_error(client), '\n'));
}

/* ------------------------------------------------------------------ fine -- */

static void test_keys_are_read(void **state)
{
	(void)state;
	begin(NULL);
	rig_say(&r, 1, "*3\r\n$1\r\n1\r\n$-1\r\n$0\r\n\r\n");
	assert_status(mget(NULL), RB_OK);
	check_sent("*4\r\n$4\r\nMGET\r\n$1\r\na\r\n$2\r\nbb\r\n$3\r\nccc\r\n");
	assert_int_equal(rb_result_count(res), 3);
	assert_string_equal(rb_result_value(res, 0).data, "1");
	assert_null(rb_result_value(res, 1).data);
	assert_status(rb_result_status(res, 1), RB_OK);
	assert_string_equal(rb_result_value(res, 2).data, "");
	assert_string_equal(rb_client_error(client), "");
	assert_false(rig_is_broken(&r));
	end();
}

static void test_fields_are_read(void **state)
{
	static const char want[] = "*5\r\n$5\r\nHMGET\r\n$3\r\nh\0x\r\n$1\r\na"
				   "\r\n$2\r\nbb\r\n$3\r\nccc\r\n";

	(void)state;
	begin(NULL);
	r.batch.fixed.data = "h";
	rig_say(&r, 1, "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n3\r\n");
	assert_status(rb_hmget_chunked(client, "h\0x", 3, abc, abc_lens, 3,
				       NULL, &res),
		      RB_OK);
	assert_int_equal(r.nsent, sizeof(want) - 1);
	assert_memory_equal(r.sent, want, sizeof(want) - 1);
	assert_string_equal(rb_result_value(res, 2).data, "3");
	end();
}

static void test_keys_may_end_with_a_nul(void **state)
{
	(void)state;
	begin(NULL);
	rig_say(&r, 1, "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n3\r\n");
	assert_status(rb_mget_chunked(client, abc, NULL, 3, NULL, &res), RB_OK);
	check_sent("*4\r\n$4\r\nMGET\r\n$1\r\na\r\n$2\r\nbb\r\n$3\r\nccc\r\n");
	end();
}

static void test_no_keys_are_no_command(void **state)
{
	(void)state;
	begin(NULL);
	assert_status(rb_mget_chunked(client, NULL, NULL, 0, NULL, &res),
		      RB_OK);
	assert_non_null(res);
	assert_int_equal(rb_result_count(res), 0);
	assert_int_equal(rb_result_chunks(res), 0);
	assert_int_equal(r.nsent, 0);
	rb_result_free(res);
	assert_status(
		rb_hmget_chunked(client, "h", 1, NULL, NULL, 0, NULL, &res),
		RB_OK);
	assert_int_equal(r.nsent, 0);
	end();
}

static void test_options_of_the_call_cut_the_chunks(void **state)
{
	rb_options defaults;
	rb_options o;

	(void)state;
	rb_options_init(&defaults);
	defaults.chunk_keys = 1;
	begin(&defaults);
	rig_serve(&r, LIT("v"), 1000, 10);
	assert_status(mget(NULL), RB_OK);
	assert_int_equal(rb_result_chunks(res), 3);
	rb_result_free(res);
	rb_options_init(&o);
	o.chunk_keys = 2;
	assert_status(mget(&o), RB_OK);
	assert_int_equal(rb_result_chunks(res), 2);
	end();
}

static void test_extreme_options_still_read_all(void **state)
{
	rb_options o;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		begin(NULL);
		rig_serve(&r, LIT("v"), 1000, 10);
		rb_options_init(&o);
		o.chunk_keys = o.chunk_args = o.window = i == 0 ? SIZE_MAX : 1;
		o.chunk_request_bytes = o.chunk_reply_bytes =
			o.window_reply_bytes = i == 0 ? SIZE_MAX : 1;
		o.max_value_bytes = SIZE_MAX;
		o.max_result_bytes = SIZE_MAX;
		assert_status(mget(&o), RB_OK);
		assert_int_equal(rb_result_chunks(res), i == 0 ? 1 : 3);
		assert_int_equal(rb_result_failed(res), 0);
		end();
	}
}

static void test_sizes_of_values_are_remembered(void **state)
{
	(void)state;
	begin(NULL);
	rig_serve(&r, LIT("0123456789"), 1000, 10);
	assert_status(mget(NULL), RB_OK);
	assert_in_range(client->learned[RBI_SHAPE_VALUES].entry_reply, 17, 20);
	end();
}

static void test_a_result_outlives_its_client(void **state)
{
	(void)state;
	begin(NULL);
	rig_serve(&r, LIT("v"), 1000, 10);
	assert_status(mget(NULL), RB_OK);
	rb_client_free(client);
	client = NULL;
	assert_string_equal(rb_result_value(res, 2).data, "v");
	assert_true(strlen(rb_result_chunk(res, 0)->node) > 0);
	end();
}

/* -------------------------------------------------------------- refused -- */

static void check_nothing_happened(rb_status got, rb_status want,
				   const char *words)
{
	assert_status(got, want);
	assert_null(res);
	check_error(words);
	assert_int_equal(r.nsent, 0);
	assert_false(rig_is_broken(&r));
	res = (rb_result *)(uintptr_t)8;
}

static void test_bad_arguments_are_named_and_nothing_is_sent(void **state)
{
	static const char *holed[] = { "a", NULL, "c" };
	static const size_t huge[] = { 1, SIZE_MAX - 2, 1 };
	rb_options o;

	(void)state;
	begin(NULL);
	check_nothing_happened(
		rb_mget_chunked(client, NULL, NULL, 3, NULL, &res),
		RB_ERR_INVALID, "keys is NULL");
	check_nothing_happened(
		rb_mget_chunked(client, holed, abc_lens, 3, NULL, &res),
		RB_ERR_INVALID, "keys[1] is NULL but keylens[1] is 2");
	check_nothing_happened(
		rb_mget_chunked(client, abc, huge, 3, NULL, &res),
		RB_ERR_INVALID, "keylens[1]");
	check_nothing_happened(
		rb_hmget_chunked(client, NULL, 0, abc, abc_lens, 3, NULL, &res),
		RB_ERR_INVALID, "key is NULL");
	check_nothing_happened(
		rb_hmget_chunked(client, "h", 1, holed, NULL, 3, NULL, &res),
		RB_ERR_INVALID, "fields[1] is NULL");
	memset(&o, 0, sizeof(o));
	check_nothing_happened(mget(&o), RB_ERR_INVALID, "struct_size");
	res = NULL;
	end();
}

static void test_no_client_or_no_place_for_the_result_is_refused(void **state)
{
	(void)state;
	begin(NULL);
	assert_status(rb_mget_chunked(NULL, abc, abc_lens, 3, NULL, &res),
		      RB_ERR_INVALID);
	assert_null(res);
	assert_status(rb_mget_chunked(client, abc, abc_lens, 3, NULL, NULL),
		      RB_ERR_INVALID);
	check_error("out is NULL");
	assert_status(rb_mget_chunked(NULL, abc, abc_lens, 3, NULL, NULL),
		      RB_ERR_INVALID);
	assert_int_equal(r.nsent, 0);
	end();
}

static void test_a_busy_context_is_left_to_its_owner(void **state)
{
	(void)state;
	begin(NULL);
	assert_int_equal(redisAppendCommand(r.pair.ctx, "PING"), REDIS_OK);
	check_nothing_happened(mget(NULL), RB_ERR_BUSY, "unsent");
	res = NULL;
	end();
}

static void test_a_broken_context_is_refused(void **state)
{
	(void)state;
	begin(NULL);
	rig_say(&r, 1, "garbage\r\n");
	assert_status(mget(NULL), RB_ERR_PROTOCOL);
	rb_result_free(res);
	assert_status(mget(NULL), RB_ERR_INVALID);
	assert_null(res);
	check_error("error");
	end();
}

static void test_without_memory_for_a_result_there_is_none(void **state)
{
	size_t fail_at;

	(void)state;
	for (fail_at = 1; fail_at <= 4; fail_at++) {
		rbt_count count;
		rb_options o;

		begin(NULL);
		rbt_count_init(&count);
		count.fail_at = fail_at;
		rb_options_init(&o);
		o.allocator = &count.allocator;
		check_nothing_happened(mget(&o), RB_ERR_NOMEM, "memory");
		count.asked = 0;
		check_nothing_happened(
			rb_mget_chunked(client, NULL, NULL, 0, &o, &res),
			RB_ERR_NOMEM, "memory");
		assert_int_equal(count.live_blocks, 0);
		res = NULL;
		end();
	}
}

/* --------------------------------------------------------------- failed -- */

static void test_some_failed_entries_are_partial(void **state)
{
	rb_options o;

	(void)state;
	begin(NULL);
	rb_options_init(&o);
	o.chunk_keys = 2;
	rig_say(&r, 1,
		"*2\r\n$1\r\n1\r\n-upstream failure\r\n"
		"-WRONGTYPE no\r\n");
	assert_status(mget(&o), RB_ERR_PARTIAL);
	assert_int_equal(rb_result_failed(res), 2);
	check_error("2 of 3 entries failed");
	check_error("upstream failure");
	assert_string_equal(rb_result_value(res, 0).data, "1");
	assert_false(rig_is_broken(&r));
	end();
}

static void test_the_first_chunk_that_failed_is_named(void **state)
{
	rb_options o;

	(void)state;
	begin(NULL);
	rb_options_init(&o);
	o.chunk_keys = 1;
	o.window = 3;
	rig_say(&r, 1, "*1\r\n$1\r\n1\r\n*1\r\n$-1\r\n-WRONGTYPE no\r\n");
	assert_status(mget(&o), RB_ERR_PARTIAL);
	check_error("1 of 3 entries failed, the first in chunk 2: WRONGTYPE");
	end();
}

static void test_a_lost_connection_has_a_result(void **state)
{
	(void)state;
	begin(NULL);
	rig_say(&r, 1, "*3\r\n$1\r\n1\r\n");
	rig_fail(&r, 1, ECONNRESET);
	assert_status(mget(NULL), RB_ERR_IO);
	check_error(strerror(ECONNRESET));
	check_error(client->node);
	assert_int_equal(rb_result_failed(res), 2);
	assert_string_equal(rb_result_value(res, 0).data, "1");
	assert_true(rig_is_broken(&r));
	end();
}

static void test_a_connection_that_had_ended_has_a_result_too(void **state)
{
	(void)state;
	begin(NULL);
	client->sys = &rbi_sys_default;
	pair_close_peer(&r.pair);
	assert_status(mget(NULL), RB_ERR_IO);
	check_error("closed the connection");
	assert_int_equal(rb_result_failed(res), 3);
	assert_outcome(rb_result_outcome(res, 0), RB_NOT_SENT);
	assert_status(rb_result_status(res, 0), RB_ERR_SKIPPED);
	assert_int_not_equal(r.pair.ctx->err, 0);
	end();
}

static void test_a_refusal_that_stops_the_batch_is_the_answer(void **state)
{
	(void)state;
	begin(NULL);
	rig_say(&r, 1, "-NOAUTH Authentication required.\r\n");
	assert_status(mget(NULL), RB_ERR_SERVER);
	check_error("NOAUTH Authentication required.");
	assert_int_equal(rb_result_failed(res), 3);
	assert_false(rig_is_broken(&r));
	end();
}

static void test_the_timeout_of_the_context_is_the_deadline(void **state)
{
	struct timeval two = { 2, 0 };

	(void)state;
	begin(NULL);
	assert_int_equal(redisSetTimeout(r.pair.ctx, two), REDIS_OK);
	assert_status(mget(NULL), RB_ERR_TIMEOUT);
	assert_int_equal(r.now_us, RIG_BEGIN_US + 2000000);
	check_error("deadline");
	assert_outcome(rb_result_outcome(res, 0), RB_UNKNOWN);
	assert_true(rig_is_broken(&r));
	end();
}

static void test_the_timeout_of_the_call_comes_first(void **state)
{
	struct timeval two = { 2, 0 };
	rb_options o;

	(void)state;
	begin(NULL);
	assert_int_equal(redisSetTimeout(r.pair.ctx, two), REDIS_OK);
	rb_options_init(&o);
	o.timeout_ms = 30;
	assert_status(mget(&o), RB_ERR_TIMEOUT);
	assert_int_equal(r.now_us, RIG_BEGIN_US + 30000);
	end();
}

static void test_an_error_is_forgotten_by_the_next_call(void **state)
{
	(void)state;
	begin(NULL);
	assert_status(rb_mget_chunked(client, NULL, NULL, 3, NULL, &res),
		      RB_ERR_INVALID);
	rig_serve(&r, LIT("v"), 1000, 10);
	assert_status(mget(NULL), RB_OK);
	assert_string_equal(rb_client_error(client), "");
	end();
}

static void test_calls_follow_each_other_in_step(void **state)
{
	(void)state;
	begin(NULL);
	rig_say(&r, 1, "-WRONGTYPE no\r\n");
	rig_say(&r, 40, "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
	assert_status(mget(NULL), RB_ERR_PARTIAL);
	rb_result_free(res);
	assert_status(mget(NULL), RB_OK);
	assert_string_equal(rb_result_value(res, 2).data, "3");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_read),
		cmocka_unit_test(test_fields_are_read),
		cmocka_unit_test(test_keys_may_end_with_a_nul),
		cmocka_unit_test(test_no_keys_are_no_command),
		cmocka_unit_test(test_options_of_the_call_cut_the_chunks),
		cmocka_unit_test(test_extreme_options_still_read_all),
		cmocka_unit_test(test_sizes_of_values_are_remembered),
		cmocka_unit_test(test_a_result_outlives_its_client),
		cmocka_unit_test(
			test_bad_arguments_are_named_and_nothing_is_sent),
		cmocka_unit_test(
			test_no_client_or_no_place_for_the_result_is_refused),
		cmocka_unit_test(test_a_busy_context_is_left_to_its_owner),
		cmocka_unit_test(test_a_broken_context_is_refused),
		cmocka_unit_test(
			test_without_memory_for_a_result_there_is_none),
		cmocka_unit_test(test_some_failed_entries_are_partial),
		cmocka_unit_test(test_the_first_chunk_that_failed_is_named),
		cmocka_unit_test(test_a_lost_connection_has_a_result),
		cmocka_unit_test(
			test_a_connection_that_had_ended_has_a_result_too),
		cmocka_unit_test(
			test_a_refusal_that_stops_the_batch_is_the_answer),
		cmocka_unit_test(
			test_the_timeout_of_the_context_is_the_deadline),
		cmocka_unit_test(test_the_timeout_of_the_call_comes_first),
		cmocka_unit_test(test_an_error_is_forgotten_by_the_next_call),
		cmocka_unit_test(test_calls_follow_each_other_in_step),
	};

	return cmocka_run_group_tests_name("redisbatch", tests, NULL, NULL);
}

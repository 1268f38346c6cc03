/*
 * What a stream wants from its caller before anything is sent.
 */
#include "verbs.h"

static verbs v;

static int no_key(void *arg, rb_slice *key)
{
	(void)arg;
	(void)key;
	return 0;
}

static int no_pair(void *arg, rb_slice *key, rb_slice *value)
{
	(void)value;
	return no_key(arg, key);
}

static int no_command(void *arg, rb_command *command)
{
	(void)arg;
	(void)command;
	return 0;
}

static int never_take(void *arg, size_t first, const rb_slice *k,
		      const rb_slice *values, const rb_status *statuses,
		      size_t n)
{
	(void)arg;
	(void)first;
	(void)k;
	(void)values;
	(void)statuses;
	(void)n;
	fail_msg("there is nothing to take");
	return 0;
}

static int never_reply(void *arg, size_t first,
		       const struct redisReply *const *replies,
		       const rb_status *statuses, size_t n)
{
	(void)replies;
	return never_take(arg, first, NULL, NULL, statuses, n);
}

static rb_status read_keys(rb_client *client, rb_source *next, rb_sink *take)
{
	return rb_mget_stream(client, next, NULL, take, NULL, NULL, NULL);
}

static rb_status run_commands(rb_client *client, rb_command_source *next,
			      rb_reply_sink *take)
{
	return rb_pipeline_stream(client, next, NULL, take, NULL, NULL, NULL);
}

static void test_missing_callbacks_are_named(void **state)
{
	(void)state;
	verbs_begin(&v);
	assert_status(read_keys(v.client, NULL, never_take), RB_ERR_INVALID);
	verbs_check_error(&v, "next");
	assert_status(read_keys(v.client, no_key, NULL), RB_ERR_INVALID);
	verbs_check_error(&v, "take");
	assert_status(run_commands(v.client, NULL, never_reply),
		      RB_ERR_INVALID);
	verbs_check_error(&v, "next");
	assert_status(run_commands(v.client, no_command, NULL), RB_ERR_INVALID);
	verbs_check_error(&v, "take");
	assert_status(rb_mset_stream(v.client, NULL, NULL, NULL, NULL),
		      RB_ERR_INVALID);
	verbs_check_error(&v, "next");
	assert_int_equal(v.rig.nsent, 0);
	verbs_end(&v);
}

static void test_no_client_is_refused(void **state)
{
	(void)state;
	assert_status(read_keys(NULL, no_key, never_take), RB_ERR_INVALID);
	assert_status(run_commands(NULL, no_command, never_reply),
		      RB_ERR_INVALID);
	assert_status(rb_mset_stream(NULL, no_pair, NULL, NULL, NULL),
		      RB_ERR_INVALID);
}

static void test_bad_options_are_refused_before_the_source_is_asked(
	void **state)
{
	rb_options o;

	(void)state;
	verbs_begin(&v);
	rb_options_init(&o);
	o.flags = RB_IF_ABSENT | RB_IF_PRESENT;
	assert_status(rb_mset_stream(v.client, no_pair, NULL, &o, NULL),
		      RB_ERR_INVALID);
	verbs_check_error(&v, "RB_IF_ABSENT");
	assert_int_equal(v.rig.nsent, 0);
	verbs_end(&v);
}

static void test_an_empty_stream_is_fine_and_sends_nothing(void **state)
{
	(void)state;
	verbs_begin(&v);
	assert_status(read_keys(v.client, no_key, never_take), RB_OK);
	assert_status(run_commands(v.client, no_command, never_reply), RB_OK);
	assert_status(rb_mset_stream(v.client, no_pair, NULL, NULL, NULL),
		      RB_OK);
	assert_int_equal(v.rig.nsent, 0);
	verbs_end(&v);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_callbacks_are_named),
		cmocka_unit_test(test_no_client_is_refused),
		cmocka_unit_test(
			test_bad_options_are_refused_before_the_source_is_asked),
		cmocka_unit_test(
			test_an_empty_stream_is_fine_and_sends_nothing),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}

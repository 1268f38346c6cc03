/*
 * How pairs with conditions and expiries are sent, and what is asked first.
 */
#include "verbs.h"

static verbs v;

static const char *ab[] = { "a", "b" };
static const char *values[] = { "1", "" };

static rb_status mset(const rb_options *o)
{
	return rb_mset_chunked(v.client, ab, NULL, values, NULL, 2, o, &v.res);
}

static rb_options expiring(uint64_t ms)
{
	rb_options o;

	rb_options_init(&o);
	o.expire_ms = ms;
	return o;
}

#define QUESTION "*3\r\n$7\r\nCOMMAND\r\n$4\r\nINFO\r\n$6\r\nMSETEX\r\n"
#define SETS                                                            \
	"*5\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n$2\r\nPX\r\n$2\r\n50" \
	"\r\n"                                                          \
	"*5\r\n$3\r\nSET\r\n$1\r\nb\r\n$0\r\n\r\n$2\r\nPX\r\n$2\r\n50"  \
	"\r\n"
#define MSETEX                                                           \
	"*8\r\n$6\r\nMSETEX\r\n$1\r\n2\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb" \
	"\r\n$0\r\n\r\n$2\r\nPX\r\n$2\r\n50\r\n"
#define ASKED (sizeof(QUESTION) - 1)

static void test_no_client_or_no_place_for_the_result_is_refused(void **state)
{
	(void)state;
	verbs_begin(&v);
	assert_status(
		rb_mset_chunked(NULL, ab, NULL, values, NULL, 2, NULL, &v.res),
		RB_ERR_INVALID);
	assert_null(v.res);
	assert_status(rb_mset_chunked(v.client, ab, NULL, values, NULL, 2, NULL,
				      NULL),
		      RB_ERR_INVALID);
	assert_status(rb_hset_chunked(v.client, "h", 1, ab, NULL, values, NULL,
				      2, NULL, NULL),
		      RB_ERR_INVALID);
	assert_status(rb_unlink_chunked(v.client, ab, NULL, 2, NULL, NULL),
		      RB_ERR_INVALID);
	verbs_check_error(&v, "out");
	assert_int_equal(v.rig.nsent, 0);
	verbs_end(&v);
}

static void test_missing_values_are_named_unless_there_are_no_pairs(
	void **state)
{
	(void)state;
	verbs_begin(&v);
	assert_status(rb_mset_chunked(v.client, ab, NULL, NULL, NULL, 2, NULL,
				      &v.res),
		      RB_ERR_INVALID);
	verbs_check_error(&v, "values is NULL");
	assert_status(rb_hset_chunked(v.client, "h", 1, ab, NULL, NULL, NULL, 2,
				      NULL, &v.res),
		      RB_ERR_INVALID);
	verbs_check_error(&v, "values is NULL");
	assert_status(rb_mset_chunked(v.client, NULL, NULL, NULL, NULL, 0, NULL,
				      &v.res),
		      RB_OK);
	rb_result_free(v.res);
	assert_status(rb_hset_chunked(v.client, "h", 1, NULL, NULL, NULL, NULL,
				      0, NULL, &v.res),
		      RB_OK);
	assert_int_equal(v.rig.nsent, 0);
	verbs_end(&v);
}

static void test_options_that_exclude_each_other_are_refused(void **state)
{
	rb_options o = expiring(0);

	(void)state;
	verbs_begin(&v);
	o.flags = RB_IF_ABSENT | RB_IF_PRESENT;
	assert_status(mset(&o), RB_ERR_INVALID);
	verbs_check_error(&v, "RB_IF_ABSENT");
	o = expiring((uint64_t)INT64_MAX + 1);
	assert_status(mset(&o), RB_ERR_INVALID);
	verbs_check_error(&v, "expire_ms");
	assert_int_equal(v.rig.nsent, 0);
	verbs_end(&v);
}

/* What the server says to the question, and what is sent then. */
static void check_asked(const char *answer, const char *then, const char *done)
{
	rb_options o = expiring(50);
	char want[600];

	verbs_begin(&v);
	snprintf(want, sizeof(want), "%s%s", QUESTION, then);
	rig_say(&v.rig, ASKED, answer);
	rig_say(&v.rig, strlen(want), done);
	assert_status(mset(&o), RB_OK);
	assert_string_equal(rb_client_error(v.client), "");
	verbs_check_sent(&v, want);
	/* It is not asked again. */
	rb_result_free(v.res);
	v.rig.nsent = 0;
	rig_say(&v.rig, strlen(then), done);
	assert_status(mset(&o), RB_OK);
	verbs_check_sent(&v, then);
	verbs_end(&v);
}

static void test_a_server_is_asked_once_for_msetex(void **state)
{
	(void)state;
	check_asked("*1\r\n*1\r\n$6\r\nmsetex\r\n", MSETEX, ":1\r\n");
	check_asked("*1\r\n*-1\r\n", SETS, "+OK\r\n+OK\r\n");
	check_asked("*0\r\n", SETS, "+OK\r\n+OK\r\n");
}

static void test_a_server_that_refuses_to_say_gets_single_sets(void **state)
{
	(void)state;
	/* An error of that command alone, and one that stops a batch. */
	check_asked("-ERR unknown command\r\n", SETS, "+OK\r\n+OK\r\n");
	check_asked("-NOAUTH at first\r\n", SETS, "+OK\r\n+OK\r\n");
}

static void test_the_question_is_within_the_calls_time(void **state)
{
	rb_options o = expiring(50);

	(void)state;
	verbs_begin(&v);
	o.timeout_ms = 30;
	/* 20 ms for the question leave 10. */
	rig_say(&v.rig, ASKED, "*1\r\n*-1\r\n")->at_us = RIG_BEGIN_US + 20000;
	assert_status(mset(&o), RB_ERR_TIMEOUT);
	assert_int_equal(v.rig.now_us, RIG_BEGIN_US + 30000);
	verbs_end(&v);
}

static void test_a_question_without_an_answer_ends_the_call(void **state)
{
	rb_options o = expiring(50);

	(void)state;
	verbs_begin(&v);
	o.timeout_ms = 30;
	assert_status(mset(&o), RB_ERR_TIMEOUT);
	assert_null(v.res);
	verbs_check_sent(&v, QUESTION);
	assert_true(rig_is_broken(&v.rig));
	verbs_end(&v);
}

static void test_a_condition_is_sent_with_each_key(void **state)
{
	rb_options o = expiring(0);

	(void)state;
	verbs_begin(&v);
	o.flags = RB_IF_PRESENT;
	rig_say(&v.rig, 1, "+OK\r\n$-1\r\n");
	assert_status(mset(&o), RB_OK);
	verbs_check_sent(
		&v, "*4\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n$2\r\nXX\r\n"
		    "*4\r\n$3\r\nSET\r\n$1\r\nb\r\n$0\r\n\r\n$2\r\nXX\r\n");
	assert_outcome(rb_result_outcome(v.res, 0), RB_ANSWERED);
	assert_outcome(rb_result_outcome(v.res, 1), RB_REJECTED);
	verbs_end(&v);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_no_client_or_no_place_for_the_result_is_refused),
		cmocka_unit_test(
			test_missing_values_are_named_unless_there_are_no_pairs),
		cmocka_unit_test(
			test_options_that_exclude_each_other_are_refused),
		cmocka_unit_test(test_a_server_is_asked_once_for_msetex),
		cmocka_unit_test(
			test_a_server_that_refuses_to_say_gets_single_sets),
		cmocka_unit_test(test_the_question_is_within_the_calls_time),
		cmocka_unit_test(
			test_a_question_without_an_answer_ends_the_call),
		cmocka_unit_test(test_a_condition_is_sent_with_each_key),
	};

	return cmocka_run_group_tests_name("write", tests, NULL, NULL);
}

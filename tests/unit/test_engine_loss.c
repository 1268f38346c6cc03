/*
 * What becomes of each chunk when the connection fails or time runs out.
 */
#include "rig.h"
#include "unit.h"

static rig r;

static void begin(size_t nkeys, size_t window)
{
	rig_init(&r, nkeys, 1);
	r.options.window = window;
}

static void check_lost(rb_status status, const char *words)
{
	assert_status(r.engine.status, status);
	if (strstr(r.engine.why, words) == NULL)
		fail_msg("\"%s\" is not in: %s", words, r.engine.why);
	rig_check_sums(&r);
	assert_true(rig_is_broken(&r));
	assert_true(strlen(r.pair.ctx->errstr) > 0);
}

/* ------------------------------------------------------------- the end -- */

static void test_an_end_leaves_sent_chunks_unknown(void **state)
{
	(void)state;
	begin(5, 2);
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n");
	rig_fail(&r, 1, RIG_END);
	rig_run(&r);
	check_lost(RB_ERR_IO, "closed the connection");
	rig_check_chunk(&r, 0, RB_OK, RB_ANSWERED, "");
	rig_check_chunk(&r, 1, RB_ERR_IO, RB_UNKNOWN, "closed");
	rig_check_chunk(&r, 4, RB_ERR_SKIPPED, RB_NOT_SENT, "closed");
	assert_string_equal(rb_result_value(r.res, 0).data, "a");
	rig_fini(&r);
}

static void test_an_end_at_once_answers_nothing_with_nil(void **state)
{
	size_t i;

	(void)state;
	begin(6, 6);
	rig_fail(&r, 1, RIG_END);
	rig_run(&r);
	check_lost(RB_ERR_IO, "closed the connection");
	for (i = 0; i < 6; i++)
		rig_check_chunk(&r, i, RB_ERR_IO, RB_UNKNOWN, "closed");
	assert_int_equal(rb_result_failed(r.res), 6);
	rig_fini(&r);
}

static void test_entries_that_had_arrived_are_kept(void **state)
{
	(void)state;
	begin(4, 1);
	r.options.chunk_keys = 4;
	rig_say(&r, 1, "*4\r\n$1\r\na\r\n$-1\r\n$5\r\nab");
	rig_fail(&r, 1, RIG_END);
	rig_run(&r);
	check_lost(RB_ERR_IO, "closed the connection");
	rig_check_chunk(&r, 0, RB_ERR_IO, RB_UNKNOWN, "closed");
	assert_status(rb_result_status(r.res, 0), RB_OK);
	assert_string_equal(rb_result_value(r.res, 0).data, "a");
	assert_status(rb_result_status(r.res, 1), RB_OK);
	assert_outcome(rb_result_outcome(r.res, 1), RB_ANSWERED);
	assert_status(rb_result_status(r.res, 2), RB_ERR_IO);
	assert_outcome(rb_result_outcome(r.res, 3), RB_UNKNOWN);
	assert_int_equal(rb_result_failed(r.res), 2);
	rig_fini(&r);
}

static void test_a_reset_has_the_systems_words(void **state)
{
	(void)state;
	begin(3, 2);
	rig_fail(&r, 1, ECONNRESET);
	rig_run(&r);
	check_lost(RB_ERR_IO, strerror(ECONNRESET));
	rig_check_chunk(&r, 0, RB_ERR_IO, RB_UNKNOWN, strerror(ECONNRESET));
	rig_check_chunk(&r, 2, RB_ERR_SKIPPED, RB_NOT_SENT, "reset");
	rig_fini(&r);
}

static void test_a_chunk_that_left_in_part_was_not_sent(void **state)
{
	static const int sends[] = { 25, -EAGAIN, -EAGAIN, -EAGAIN };

	(void)state;
	begin(5, 3);
	r.sends = sends;
	r.nsends = N_OF(sends);
	assert_int_equal(rig_size(&r, 0), 21);
	rig_fail(&r, 25, ECONNRESET);
	rig_run(&r);
	check_lost(RB_ERR_IO, strerror(ECONNRESET));
	rig_check_chunk(&r, 0, RB_ERR_IO, RB_UNKNOWN, "reset");
	rig_check_chunk(&r, 1, RB_ERR_IO, RB_NOT_SENT, "reset");
	assert_int_equal(rb_result_chunk(r.res, 1)->attempts, 1);
	rig_check_chunk(&r, 2, RB_ERR_SKIPPED, RB_NOT_SENT, "reset");
	assert_int_equal(rb_result_chunk(r.res, 2)->attempts, 0);
	rig_check_chunk(&r, 3, RB_ERR_SKIPPED, RB_NOT_SENT, "reset");
	assert_int_equal(r.res->stats.commands, 1);
	rig_fini(&r);
}

static void test_the_last_byte_decides_whether_a_chunk_was_sent(void **state)
{
	size_t part;

	(void)state;
	for (part = 1; part <= 21; part++) {
		int sends[] = { (int)part, -EAGAIN, -EAGAIN };

		begin(1, 1);
		r.sends = sends;
		r.nsends = N_OF(sends);
		rig_fail(&r, part, RIG_END);
		rig_run(&r);
		check_lost(RB_ERR_IO, "closed");
		rig_check_chunk(&r, 0, RB_ERR_IO,
				part < 21 ? RB_NOT_SENT : RB_UNKNOWN, "closed");
		rig_fini(&r);
	}
}

static void test_a_connection_that_had_ended_before_sends_nothing(void **state)
{
	(void)state;
	begin(3, 2);
	assert_true(rig_begin(&r));
	rbi_engine_lost(&r.engine, ECONNRESET, r.now_us);
	assert_true(rbi_engine_step(&r.engine, r.now_us));
	check_lost(RB_ERR_IO, strerror(ECONNRESET));
	assert_int_equal(rig_count_outcome(&r, RB_NOT_SENT), 3);
	assert_int_equal(r.nsent, 0);
	rig_fini(&r);
}

/* ------------------------------------------------------------ last words -- */

static void test_last_words_are_read_after_a_failed_write(void **state)
{
	static const int errors[] = { EPIPE, ECONNRESET };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(errors); i++) {
		int sends[] = { 10, -errors[i] };

		begin(3, 2);
		r.sends = sends;
		r.nsends = N_OF(sends);
		rig_say(&r, 10, "-ERR Protocol error: invalid bulk length\r\n")
			->at_us = RIG_BEGIN_US + 4000;
		rig_fail(&r, 10, RIG_END);
		rig_run(&r);
		check_lost(RB_ERR_SERVER, "invalid bulk length");
		rig_check_chunk(&r, 0, RB_ERR_SERVER, RB_REJECTED,
				"invalid bulk length");
		assert_outcome(rb_result_outcome(r.res, 1), RB_NOT_SENT);
		assert_outcome(rb_result_outcome(r.res, 2), RB_NOT_SENT);
		assert_int_equal(rb_result_failed(r.res), 3);
		rig_fini(&r);
	}
}

static void test_answers_before_the_last_words_count(void **state)
{
	static const int sends[] = { 0, 10, -EPIPE };

	(void)state;
	begin(4, 3);
	r.sends = sends;
	r.nsends = N_OF(sends);
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n");
	rig_say(&r, 1, "-ERR Protocol error: invalid bulk length\r\n");
	rig_fail(&r, 1, RIG_END);
	rig_run(&r);
	check_lost(RB_ERR_SERVER, "invalid bulk length");
	rig_check_chunk(&r, 0, RB_OK, RB_ANSWERED, "");
	rig_check_chunk(&r, 1, RB_ERR_SERVER, RB_REJECTED, "invalid bulk");
	rig_check_chunk(&r, 2, RB_ERR_IO, RB_UNKNOWN, "invalid bulk length");
	rig_check_chunk(&r, 3, RB_ERR_IO, RB_NOT_SENT, "invalid bulk length");
	rig_fini(&r);
}

static void test_without_last_words_the_write_error_is_told(void **state)
{
	static const int sends[] = { 10, -EPIPE };

	(void)state;
	begin(2, 1);
	r.sends = sends;
	r.nsends = N_OF(sends);
	rig_fail(&r, 10, RIG_END);
	rig_run(&r);
	check_lost(RB_ERR_IO, strerror(EPIPE));
	rig_check_chunk(&r, 0, RB_ERR_IO, RB_NOT_SENT, strerror(EPIPE));
	rig_fini(&r);
}

static void test_last_words_are_not_waited_for_for_ever(void **state)
{
	static const int sends[] = { 10, -EPIPE };

	(void)state;
	begin(2, 1);
	r.sends = sends;
	r.nsends = N_OF(sends);
	rig_run(&r);
	check_lost(RB_ERR_IO, strerror(EPIPE));
	assert_in_range(r.now_us, RIG_BEGIN_US + 1, RIG_BEGIN_US + 5000000);
	rig_fini(&r);
}

static void test_a_refused_client_is_told_so(void **state)
{
	(void)state;
	begin(3, 2);
	rig_say(&r, 1, "-ERR max number of clients reached\r\n");
	rig_fail(&r, 1, RIG_END);
	rig_run(&r);
	check_lost(RB_ERR_SERVER, "max number of clients");
	rig_check_chunk(&r, 0, RB_ERR_SERVER, RB_REJECTED, "max number");
	rig_check_chunk(&r, 1, RB_ERR_IO, RB_UNKNOWN, "max number");
	rig_check_chunk(&r, 2, RB_ERR_SKIPPED, RB_NOT_SENT, "max number");
	rig_fini(&r);
}

static void test_a_server_that_gave_up_is_not_used_further(void **state)
{
	(void)state;
	begin(1, 1);
	rig_say(&r, 1, "-ERR Protocol error: invalid multibulk length\r\n");
	rig_run(&r);
	check_lost(RB_ERR_SERVER, "invalid multibulk length");
	rig_check_chunk(&r, 0, RB_ERR_SERVER, RB_REJECTED, "multibulk");
	rig_fini(&r);
}

/* ---------------------------------------------------------- the deadline -- */

static void test_a_silent_server_meets_the_deadline(void **state)
{
	(void)state;
	begin(1000, 5);
	r.engine.deadline_us = RIG_BEGIN_US + 1000000;
	rig_run(&r);
	check_lost(RB_ERR_TIMEOUT, "deadline");
	assert_int_equal(r.now_us, RIG_BEGIN_US + 1000000);
	assert_int_equal(r.commands, 5);
	assert_int_equal(rig_count_outcome(&r, RB_UNKNOWN), 5);
	assert_int_equal(rig_count_outcome(&r, RB_NOT_SENT), 995);
	rig_check_chunk(&r, 0, RB_ERR_TIMEOUT, RB_UNKNOWN, "deadline");
	rig_check_chunk(&r, 999, RB_ERR_SKIPPED, RB_NOT_SENT, "deadline");
	rig_fini(&r);
}

static void test_bytes_that_trickle_in_do_not_move_the_deadline(void **state)
{
	size_t i;

	(void)state;
	begin(1, 1);
	r.engine.deadline_us = RIG_BEGIN_US + 100000;
	rig_say(&r, 1, "*1\r\n$1000\r\n");
	for (i = 1; i < 1000; i++)
		rig_say(&r, 1, "x")->at_us = RIG_BEGIN_US + i * 7000;
	rig_run(&r);
	check_lost(RB_ERR_TIMEOUT, "deadline");
	assert_int_equal(r.now_us, RIG_BEGIN_US + 100000);
	rig_fini(&r);
}

static void test_a_socket_that_takes_nothing_meets_the_deadline(void **state)
{
	(void)state;
	begin(3, 2);
	r.deaf = true;
	r.engine.deadline_us = RIG_BEGIN_US + 50000;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_TIMEOUT);
	rig_check_sums(&r);
	/* Nothing was sent, so the connection is as it was. */
	assert_false(rig_is_broken(&r));
	assert_int_equal(r.now_us, RIG_BEGIN_US + 50000);
	assert_int_equal(rig_count_outcome(&r, RB_NOT_SENT), 3);
	assert_int_equal(r.nsent, 0);
	rig_fini(&r);
}

static void test_answers_in_time_are_kept_at_the_deadline(void **state)
{
	(void)state;
	begin(10, 2);
	rig_serve(&r, LIT("v"), 10000, 10000);
	r.engine.deadline_us = RIG_BEGIN_US + 35000;
	rig_run(&r);
	check_lost(RB_ERR_TIMEOUT, "deadline");
	rig_check_chunk(&r, 0, RB_OK, RB_ANSWERED, "");
	rig_check_chunk(&r, 2, RB_OK, RB_ANSWERED, "");
	rig_check_chunk(&r, 3, RB_ERR_TIMEOUT, RB_UNKNOWN, "deadline");
	assert_int_equal(rb_result_failed(r.res), 7);
	rig_fini(&r);
}

static void test_an_answer_at_the_last_moment_counts(void **state)
{
	(void)state;
	begin(1, 1);
	r.engine.deadline_us = RIG_BEGIN_US + 50000;
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n")->at_us = RIG_BEGIN_US + 50000;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_one_reply_too_few_meets_the_deadline(void **state)
{
	(void)state;
	begin(5, 5);
	r.engine.deadline_us = RIG_BEGIN_US + 50000;
	rig_say(&r, 1,
		"*1\r\n$1\r\na\r\n*1\r\n$1\r\nc\r\n*1\r\n$1\r\nd\r\n"
		"*1\r\n$1\r\ne\r\n");
	rig_run(&r);
	check_lost(RB_ERR_TIMEOUT, "deadline");
	rig_check_chunk(&r, 4, RB_ERR_TIMEOUT, RB_UNKNOWN, "deadline");
	rig_fini(&r);
}

/* ----------------------------------------------------------------- steps -- */

static void test_a_step_says_what_it_waits_for(void **state)
{
	static const int sends[] = { 5, -EAGAIN };
	rbi_wants wants;

	(void)state;
	begin(1, 1);
	r.sends = sends;
	r.nsends = N_OF(sends);
	r.engine.deadline_us = RIG_BEGIN_US + 50000;
	rig_say(&r, 21, "*1\r\n$1\r\na\r\n");
	assert_true(rig_begin(&r));
	assert_false(rbi_engine_step(&r.engine, r.now_us));
	wants = rbi_engine_wants(&r.engine);
	assert_true(wants.write);
	assert_int_equal(wants.until_us, RIG_BEGIN_US + 50000);
	assert_false(rbi_engine_step(&r.engine, r.now_us));
	assert_false(rbi_engine_wants(&r.engine).write);
	assert_true(rbi_engine_step(&r.engine, r.now_us));
	assert_true(rbi_engine_step(&r.engine, r.now_us));
	assert_status(r.engine.status, RB_OK);
	rig_fini(&r);
}

static void test_without_a_deadline_it_waits_without_an_end(void **state)
{
	rbi_wants wants;

	(void)state;
	begin(1, 1);
	assert_true(rig_begin(&r));
	assert_false(rbi_engine_step(&r.engine, r.now_us));
	wants = rbi_engine_wants(&r.engine);
	assert_false(wants.write);
	assert_true(wants.until_us == RBI_NEVER);
	rbi_engine_lost(&r.engine, 0, r.now_us);
	rig_fini(&r);
}

/* ---------------------------------------------------------------- memory -- */

/* Twenty chunks with the n-th allocation failing; false: none failed. */
static bool run_without(size_t fail_at, int fail_on)
{
	bool failed;

	rig_init(&r, 60, 200);
	rig_serve(&r, LIT("0123456789012345678901234567890123456789"), 1000,
		  10);
	r.options.chunk_keys = 3;
	r.options.window = 12;
	r.recv_max = 500;
	r.count.fail_at = fail_at;
	r.count.fail_on = fail_on;
	if (!rig_begin(&r)) {
		rig_fini(&r);
		return true;
	}
	rbi_engine_run(&r.engine, &r.clock);
	failed = r.count.asked >= fail_at;
	rig_check_sums(&r);
	if (!failed)
		assert_status(r.engine.status, RB_OK);
	else if (r.engine.status != RB_OK)
		assert_status(r.engine.status, RB_ERR_NOMEM);
	if (r.engine.status == RB_OK)
		assert_int_equal(rb_result_failed(r.res), 0);
	rig_is_broken(&r);
	rig_fini(&r);
	return failed;
}

static void test_any_lack_of_memory_is_told_and_loses_nothing(void **state)
{
	int fail_on;

	(void)state;
	for (fail_on = 0; fail_on < 2; fail_on++) {
		size_t fail_at = 1;

		while (run_without(fail_at, fail_on)) {
			fail_at++;
			assert_true(fail_at < 200);
		}
		assert_true(fail_at > 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_end_leaves_sent_chunks_unknown),
		cmocka_unit_test(test_an_end_at_once_answers_nothing_with_nil),
		cmocka_unit_test(test_entries_that_had_arrived_are_kept),
		cmocka_unit_test(test_a_reset_has_the_systems_words),
		cmocka_unit_test(test_a_chunk_that_left_in_part_was_not_sent),
		cmocka_unit_test(
			test_the_last_byte_decides_whether_a_chunk_was_sent),
		cmocka_unit_test(
			test_a_connection_that_had_ended_before_sends_nothing),
		cmocka_unit_test(test_last_words_are_read_after_a_failed_write),
		cmocka_unit_test(test_answers_before_the_last_words_count),
		cmocka_unit_test(
			test_without_last_words_the_write_error_is_told),
		cmocka_unit_test(test_last_words_are_not_waited_for_for_ever),
		cmocka_unit_test(test_a_refused_client_is_told_so),
		cmocka_unit_test(
			test_a_server_that_gave_up_is_not_used_further),
		cmocka_unit_test(test_a_silent_server_meets_the_deadline),
		cmocka_unit_test(
			test_bytes_that_trickle_in_do_not_move_the_deadline),
		cmocka_unit_test(
			test_a_socket_that_takes_nothing_meets_the_deadline),
		cmocka_unit_test(test_answers_in_time_are_kept_at_the_deadline),
		cmocka_unit_test(test_an_answer_at_the_last_moment_counts),
		cmocka_unit_test(test_one_reply_too_few_meets_the_deadline),
		cmocka_unit_test(test_a_step_says_what_it_waits_for),
		cmocka_unit_test(
			test_without_a_deadline_it_waits_without_an_end),
		cmocka_unit_test(
			test_any_lack_of_memory_is_told_and_loses_nothing),
	};

	return cmocka_run_group_tests_name("engine_loss", tests, NULL, NULL);
}

#include "learn.h"
#include "unit.h"

static const rbi_bounds asked = {
	.keys = 1000,
	.args = 1000000,
	.request_bytes = 524288,
	.reply_bytes = 4194304,
};

/* --------------------------------------------------------------- answers -- */

static void test_the_first_answer_is_believed(void **state)
{
	rbi_learned l = { 0, 0 };

	(void)state;
	rbi_learn(&l, 10, 1000, 300);
	assert_int_equal(l.entry_reply, 101);
	assert_int_equal(l.largest, 300);
}

static void test_it_goes_up_at_once_and_comes_down_by_quarters(void **state)
{
	rbi_learned l = { 0, 0 };

	(void)state;
	rbi_learn(&l, 1, 99, 80);
	rbi_learn(&l, 1, 9999, 8000);
	assert_int_equal(l.entry_reply, 10000);
	assert_int_equal(l.largest, 8000);
	rbi_learn(&l, 1, 1999, 0);
	assert_int_equal(l.entry_reply, 8000);
	assert_int_equal(l.largest, 7000);
	rbi_learn(&l, 1, 3, 7000);
	assert_int_equal(l.entry_reply, 6001);
	assert_int_equal(l.largest, 7000);
}

static void test_it_comes_down_to_what_is_true(void **state)
{
	rbi_learned l = { 0, 0 };
	int i;

	(void)state;
	rbi_learn(&l, 1, 1000000, 1000000);
	for (i = 0; i < 200; i++)
		rbi_learn(&l, 100, 1000, 10);
	/* As near as whole numbers get by quarters and eighths. */
	assert_in_range(l.entry_reply, 11, 15);
	assert_in_range(l.largest, 10, 18);
}

static void test_answers_of_nothing_are_known_too(void **state)
{
	rbi_learned l = { 0, 0 };

	(void)state;
	rbi_learn(&l, 1000, 5, 0);
	assert_int_equal(l.entry_reply, 1);
}

/* ---------------------------------------------------------------- limits -- */

static void test_only_a_lower_limit_counts(void **state)
{
	rbi_limits l = { .args = 0 };

	(void)state;
	rbi_limits_bytes(&l, 1000);
	assert_int_equal(l.bytes, 1000);
	rbi_limits_bytes(&l, 2000);
	assert_int_equal(l.bytes, 1000);
	rbi_limits_bytes(&l, 10);
	assert_int_equal(l.bytes, 10);
	assert_int_equal(l.args, 0);
}

static void test_a_limit_of_nothing_is_none_of_sense(void **state)
{
	rbi_limits l = { .args = 0 };

	(void)state;
	rbi_limits_bytes(&l, 0);
	assert_int_equal(l.bytes, 1);
	rbi_limits_args(&l, 0);
	assert_int_equal(l.args, 1);
}

static void test_refused_arguments_halve_until_they_are_taken(void **state)
{
	rbi_limits l = { .args = 0 };
	size_t args = 1001;
	int refusals = 0;

	(void)state;
	/* A server that takes 100: halving ends within its limit, and not
	 * below half of it. */
	while (args > 100) {
		rbi_limits_args(&l, args);
		assert_true(l.args < args);
		args = l.args;
		refusals++;
	}
	assert_in_range(args, 50, 100);
	assert_int_equal(refusals, 4);
}

/* ------------------------------------------------------------------ ramp -- */

/* Cuts as the engine does; what the next chunk may have. */
static size_t ramp_keys(const rbi_ramp *r, size_t keys)
{
	rbi_learned learned = { 0, 0 };
	rbi_limits limits = { .args = 0 };
	rbi_bounds bounds = asked;

	bounds.keys = keys;
	rbi_learn_narrow(&bounds, &learned, &limits, r);
	return bounds.keys;
}

static void test_a_plain_ramp_bounds_nothing(void **state)
{
	rbi_ramp r;
	int i;

	(void)state;
	rbi_ramp_init(&r, false);
	for (i = 0; i < 100; i++) {
		assert_int_equal(ramp_keys(&r, 1000), 1000);
		rbi_ramp_cut(&r, 1000, 1000);
	}
}

static void test_a_small_beginning_doubles_and_catches_up(void **state)
{
	static const size_t want[] = { 16, 32, 64, 128, 256, 512, 1024, 1125 };
	size_t sent = 0;
	rbi_ramp r;
	size_t i;

	(void)state;
	rbi_ramp_init(&r, true);
	for (i = 0; i < 100; i++) {
		size_t keys = ramp_keys(&r, 1000);

		if (i < N_OF(want))
			assert_int_equal(keys, want[i]);
		assert_in_range(keys, 1, 1125);
		sent += keys;
		rbi_ramp_cut(&r, keys, 1000);
	}
	/* A hundred chunks carry what they would have without it. */
	assert_int_equal(sent, 100000);
	assert_int_equal(ramp_keys(&r, 1000), 1000);
}

static void test_chunks_asked_for_below_the_ramp_stay(void **state)
{
	size_t sent = 0;
	rbi_ramp r;
	int i;

	(void)state;
	rbi_ramp_init(&r, true);
	for (i = 0; i < 20; i++) {
		size_t keys = ramp_keys(&r, 10);

		assert_int_equal(keys, 10);
		sent += keys;
		rbi_ramp_cut(&r, keys, 10);
	}
	assert_int_equal(sent, 200);
}

static void test_after_a_loss_one_entry_doubles_up_to_half(void **state)
{
	static const size_t want[] = { 1, 2, 4, 8, 16, 32, 50, 50, 50 };
	rbi_ramp r;
	size_t i;

	(void)state;
	rbi_ramp_init(&r, false);
	rbi_ramp_lost(&r, 100);
	for (i = 0; i < N_OF(want); i++) {
		size_t keys = ramp_keys(&r, 1000);

		assert_int_equal(keys, want[i]);
		rbi_ramp_cut(&r, keys, 1000);
	}
}

static void test_each_loss_halves_the_most(void **state)
{
	size_t count = 1000;
	rbi_ramp r;
	int i;

	(void)state;
	rbi_ramp_init(&r, true);
	for (i = 0; i < 12; i++) {
		rbi_ramp_lost(&r, count);
		count = count / 2 > 0 ? count / 2 : 1;
		assert_int_equal(r.cap, count);
	}
	assert_int_equal(ramp_keys(&r, 1000), 1);
	rbi_ramp_cut(&r, 1, 1000);
	assert_int_equal(ramp_keys(&r, 1000), 1);
	/* A larger one that is lost later does not raise it. */
	rbi_ramp_lost(&r, 1000);
	assert_int_equal(r.cap, 1);
}

static void test_after_a_loss_the_window_is_one_until_calm(void **state)
{
	rbi_ramp r;
	int i;

	(void)state;
	rbi_ramp_init(&r, false);
	assert_int_equal(rbi_ramp_window(&r, 4), 4);
	rbi_ramp_lost(&r, 100);
	for (i = 0; i < 8; i++) {
		assert_int_equal(rbi_ramp_window(&r, 4), 1);
		rbi_ramp_answered(&r);
	}
	assert_int_equal(rbi_ramp_window(&r, 4), 4);
	/* A second loss is not forgiven. */
	rbi_ramp_lost(&r, 100);
	for (i = 0; i < 100; i++)
		rbi_ramp_answered(&r);
	assert_int_equal(rbi_ramp_window(&r, 4), 1);
}

/* ---------------------------------------------------------------- bounds -- */

static void test_what_is_known_narrows_the_bounds(void **state)
{
	rbi_learned learned = { 50, 700 };
	rbi_limits limits = { .args = 0 };
	rbi_bounds bounds = asked;
	rbi_ramp r;

	(void)state;
	rbi_ramp_init(&r, false);
	rbi_learn_narrow(&bounds, &learned, &limits, &r);
	assert_int_equal(bounds.keys, asked.keys);
	assert_int_equal(bounds.args, asked.args);
	assert_int_equal(bounds.request_bytes, asked.request_bytes);
	assert_int_equal(bounds.reply_bytes, asked.reply_bytes);
	assert_int_equal(bounds.entry_reply, 50);
	assert_int_equal(bounds.largest, 700);

	limits.args = 65536;
	limits.bytes = 100000;
	rbi_learn_narrow(&bounds, &learned, &limits, &r);
	assert_int_equal(bounds.args, 65536);
	assert_int_equal(bounds.request_bytes, 100000);
	assert_int_equal(bounds.reply_bytes, 100000);

	/* What the caller wants is not made wider. */
	limits.args = 2000000;
	limits.bytes = 99999999;
	bounds = asked;
	rbi_learn_narrow(&bounds, &learned, &limits, &r);
	assert_int_equal(bounds.args, asked.args);
	assert_int_equal(bounds.request_bytes, asked.request_bytes);
	assert_int_equal(bounds.reply_bytes, asked.reply_bytes);
}

static void test_bounds_without_end_do_not_wrap(void **state)
{
	rbi_learned learned = { 0, 0 };
	rbi_limits limits = { .args = 0 };
	rbi_bounds bounds = asked;
	rbi_ramp r;

	(void)state;
	rbi_ramp_init(&r, true);
	rbi_ramp_cut(&r, 16, SIZE_MAX);
	rbi_ramp_cut(&r, 32, SIZE_MAX);
	bounds.keys = SIZE_MAX;
	rbi_learn_narrow(&bounds, &learned, &limits, &r);
	assert_int_equal(bounds.keys, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_answer_is_believed),
		cmocka_unit_test(
			test_it_goes_up_at_once_and_comes_down_by_quarters),
		cmocka_unit_test(test_it_comes_down_to_what_is_true),
		cmocka_unit_test(test_answers_of_nothing_are_known_too),
		cmocka_unit_test(test_only_a_lower_limit_counts),
		cmocka_unit_test(test_a_limit_of_nothing_is_none_of_sense),
		cmocka_unit_test(
			test_refused_arguments_halve_until_they_are_taken),
		cmocka_unit_test(test_a_plain_ramp_bounds_nothing),
		cmocka_unit_test(test_a_small_beginning_doubles_and_catches_up),
		cmocka_unit_test(test_chunks_asked_for_below_the_ramp_stay),
		cmocka_unit_test(
			test_after_a_loss_one_entry_doubles_up_to_half),
		cmocka_unit_test(test_each_loss_halves_the_most),
		cmocka_unit_test(
			test_after_a_loss_the_window_is_one_until_calm),
		cmocka_unit_test(test_what_is_known_narrows_the_bounds),
		cmocka_unit_test(test_bounds_without_end_do_not_wrap),
	};

	return cmocka_run_group_tests_name("learn", tests, NULL, NULL);
}

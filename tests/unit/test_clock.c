#include "clock.h"
#include "unit.h"

static uint64_t read_hand(void *arg)
{
	uint64_t *hand = arg;

	return (*hand)++;
}

static void test_a_clock_is_asked_each_time_with_its_argument(void **state)
{
	uint64_t hand = 41;
	rbi_clock clock = { read_hand, &hand };

	(void)state;
	assert_int_equal(rbi_clock_now(&clock), 41);
	assert_int_equal(rbi_clock_now(&clock), 42);
}

static void test_zero_milliseconds_is_never(void **state)
{
	(void)state;
	assert_true(rbi_clock_after(0, 0) == RBI_NEVER);
	assert_true(rbi_clock_after(123456, 0) == RBI_NEVER);
}

static void test_milliseconds_are_added_as_microseconds(void **state)
{
	(void)state;
	assert_int_equal(rbi_clock_after(5, 1), 1005);
	assert_int_equal(rbi_clock_after(0, 250), 250000);
}

static void test_the_longest_timeout_does_not_wrap(void **state)
{
	uint64_t late = rbi_clock_after(1000, UINT32_MAX);

	(void)state;
	assert_int_equal(late, 1000 + (uint64_t)UINT32_MAX * 1000);
	assert_true(late < RBI_NEVER);
}

static void test_monotonic_time_goes_on_and_never_back(void **state)
{
	uint64_t begin = rbi_clock_now(&rbi_clock_monotonic);
	uint64_t last = begin;

	(void)state;
	assert_true(begin > 0);
	while (last == begin) {
		uint64_t now = rbi_clock_now(&rbi_clock_monotonic);

		assert_true(now >= last);
		last = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_clock_is_asked_each_time_with_its_argument),
		cmocka_unit_test(test_zero_milliseconds_is_never),
		cmocka_unit_test(test_milliseconds_are_added_as_microseconds),
		cmocka_unit_test(test_the_longest_timeout_does_not_wrap),
		cmocka_unit_test(test_monotonic_time_goes_on_and_never_back),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}

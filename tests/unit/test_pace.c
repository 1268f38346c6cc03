#include "pace.h"
#include "unit.h"

static void test_without_a_rate_the_next_may_always_go(void **state)
{
	rbi_pace pace;

	(void)state;
	rbi_pace_init(&pace, 0);
	rbi_pace_spend(&pace, 1000, 5000000);
	assert_int_equal(rbi_pace_next(&pace), 0);
}

static void test_the_first_may_go_at_once(void **state)
{
	rbi_pace pace;

	(void)state;
	rbi_pace_init(&pace, 1);
	assert_int_equal(rbi_pace_next(&pace), 0);
}

static void test_the_next_waits_its_share_of_a_second(void **state)
{
	static const struct {
		uint32_t rate;
		uint64_t commands;
		uint64_t wait_us;
	} cases[] = {
		{ 1, 1, 1000000 },    { 10, 1, 100000 },
		{ 10, 3, 300000 },    { 3, 1, 333333 },
		{ 1000000, 1, 1 },    { 1000, 1000, 1000000 },
		{ UINT32_MAX, 1, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_pace pace;

		rbi_pace_init(&pace, cases[i].rate);
		rbi_pace_spend(&pace, cases[i].commands, 7000);
		assert_int_equal(rbi_pace_next(&pace), 7000 + cases[i].wait_us);
	}
}

static void test_idle_time_is_not_saved_up(void **state)
{
	rbi_pace pace;

	(void)state;
	rbi_pace_init(&pace, 10);
	rbi_pace_spend(&pace, 1, 1000);
	rbi_pace_spend(&pace, 1, 60000000);
	assert_int_equal(rbi_pace_next(&pace), 60100000);
}

static void test_haste_is_made_up_for(void **state)
{
	rbi_pace pace;

	(void)state;
	rbi_pace_init(&pace, 10);
	rbi_pace_spend(&pace, 1, 1000);
	rbi_pace_spend(&pace, 1, 1000);
	assert_int_equal(rbi_pace_next(&pace), 201000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_rate_the_next_may_always_go),
		cmocka_unit_test(test_the_first_may_go_at_once),
		cmocka_unit_test(test_the_next_waits_its_share_of_a_second),
		cmocka_unit_test(test_idle_time_is_not_saved_up),
		cmocka_unit_test(test_haste_is_made_up_for),
	};

	return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}

#include "backoff.h"
#include "unit.h"

/* What the n-th wait is at most. */
static uint64_t longest(unsigned n)
{
	uint64_t us = RBI_BACKOFF_FIRST_US;

	while (n-- > 0 && us < RBI_BACKOFF_LONGEST_US)
		us *= 2;
	return us < RBI_BACKOFF_LONGEST_US ? us : RBI_BACKOFF_LONGEST_US;
}

static void check_waits(rbi_backoff *b, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		assert_in_range(rbi_backoff_next(b), longest(i) / 2,
				longest(i));
	assert_int_equal(b->tries, n);
}

static void test_waits_double_up_to_the_longest(void **state)
{
	uint64_t seed;

	(void)state;
	assert_int_equal(longest(0), 100000);
	assert_int_equal(longest(4), 1600000);
	assert_int_equal(longest(5), 2000000);
	for (seed = 0; seed < 200; seed++) {
		rbi_backoff b;

		rbi_backoff_init(&b, seed * seed * 7919);
		check_waits(&b, 12);
	}
}

static void test_any_seed_gives_chance(void **state)
{
	/* The last is what makes seed * 0x9e3779b97f4a7c15 | 1 equal 1. */
	static const uint64_t seeds[] = { 0, 1, 2, UINT64_MAX,
					  (uint64_t)1 << 63 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(seeds); i++) {
		uint64_t least = UINT64_MAX;
		uint64_t most = 0;
		rbi_backoff b;
		int n;

		rbi_backoff_init(&b, seeds[i]);
		for (n = 0; n < 1000; n++) {
			uint64_t us = rbi_backoff_next(&b);

			if (n < 10)
				continue;
			least = us < least ? us : least;
			most = us > most ? us : most;
		}
		/* A thousand draws reach both ends of their range. */
		assert_in_range(least, 1000000, 1020000);
		assert_in_range(most, 1980000, 2000000);
	}
}

static void test_the_same_seed_gives_the_same_waits(void **state)
{
	rbi_backoff a;
	rbi_backoff b;
	int i;

	(void)state;
	rbi_backoff_init(&a, 17);
	rbi_backoff_init(&b, 17);
	for (i = 0; i < 20; i++)
		assert_int_equal(rbi_backoff_next(&a), rbi_backoff_next(&b));
}

static void test_other_seeds_give_other_waits(void **state)
{
	uint64_t first[50];
	size_t same = 0;
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < N_OF(first); i++) {
		rbi_backoff b;

		/* As of clients that begin microseconds from each other. */
		rbi_backoff_init(&b, 1000000 + i);
		first[i] = rbi_backoff_next(&b);
		for (k = 0; k < i; k++)
			same += first[k] == first[i];
	}
	assert_true(same < 3);
}

static void test_it_begins_anew_once_it_went_well(void **state)
{
	rbi_backoff b;

	(void)state;
	rbi_backoff_init(&b, 5);
	check_waits(&b, 9);
	rbi_backoff_reset(&b);
	check_waits(&b, 9);
}

static void test_many_waits_stay_the_longest(void **state)
{
	rbi_backoff b;

	(void)state;
	rbi_backoff_init(&b, 5);
	/* Far more than a shift could take. */
	check_waits(&b, 500);
	b.tries = 4000000000u;
	assert_in_range(rbi_backoff_next(&b), RBI_BACKOFF_LONGEST_US / 2,
			RBI_BACKOFF_LONGEST_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_double_up_to_the_longest),
		cmocka_unit_test(test_any_seed_gives_chance),
		cmocka_unit_test(test_the_same_seed_gives_the_same_waits),
		cmocka_unit_test(test_other_seeds_give_other_waits),
		cmocka_unit_test(test_it_begins_anew_once_it_went_well),
		cmocka_unit_test(test_many_waits_stay_the_longest),
	};

	return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}

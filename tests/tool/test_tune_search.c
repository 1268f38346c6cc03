/*
 * Which setting is tried next and which one wins, on curves that are made up.
 */
#include "tune_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MS = 1000000, ENDLESS = 1000 };

/* A server: what a setting gives. look counts from 0 over all settings. */
typedef void curve(tune_setting t, unsigned look, uint64_t *rate,
		   uint64_t *p99_ns);

/* Goes through all of it; how many looks that took. */
static unsigned search_with(tune_search *s, curve *at)
{
	tune_setting t;
	unsigned looks = 0;

	while (tune_search_next(s, &t)) {
		uint64_t rate;
		uint64_t p99;

		assert_true(looks < ENDLESS);
		at(t, looks++, &rate, &p99);
		tune_search_tell(s, t, rate, p99);
	}
	return looks;
}

static const tune_seen *find(const tune_search *s, size_t chunk, size_t window)
{
	for (size_t i = 0; i < s->nseen; i++) {
		if (s->seen[i].setting.chunk == chunk &&
		    s->seen[i].setting.window == window)
			return &s->seen[i];
	}
	return NULL;
}

/* The best is 500 keys and 4 in flight; others wait a microsecond a key. */
static void hill(tune_setting t, unsigned look, uint64_t *rate,
		 uint64_t *p99_ns)
{
	size_t times = t.chunk < 500 ? 500 / t.chunk : t.chunk / 500;
	size_t window = t.window < 4 ? 4 - t.window : t.window - 4;

	(void)look;
	*rate = 1000000 - (times - 1) * 50000 - window * 40000;
	*p99_ns = t.chunk * t.window * 1000;
}

static void test_the_top_of_a_hill_is_found(void **state)
{
	tune_search s;
	const tune_seen *best;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1000 * MS);
	search_with(&s, hill);
	best = tune_search_best(&s);
	assert_non_null(best);
	assert_int_equal(best->setting.chunk, 500);
	assert_int_equal(best->setting.window, 4);
	assert_int_equal(best->looks, TUNE_LOOKS);
}

static void test_not_every_setting_is_tried(void **state)
{
	tune_search s;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1000 * MS);
	assert_true(search_with(&s, hill) < TUNE_CHUNKS * TUNE_WINDOWS);
	assert_true(s.nseen >= TUNE_CHUNKS + TUNE_WINDOWS - 1);
}

static void test_the_winner_keeps_to_the_bound(void **state)
{
	tune_search s;
	const tune_seen *best;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1 * MS);
	search_with(&s, hill);
	best = tune_search_best(&s);
	assert_non_null(best);
	assert_true(best->p99_ns <= 1 * MS);
	assert_int_equal(best->setting.chunk, 200);
	assert_int_equal(best->setting.window, 4);
}

static void test_what_is_larger_than_a_bad_setting_is_not_tried(void **state)
{
	tune_search s;
	const tune_seen *bad;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1 * MS);
	search_with(&s, hill);
	bad = find(&s, 1000, 2);
	assert_non_null(bad);
	assert_int_equal(bad->looks, 2);
	assert_null(find(&s, 2000, 2));
	assert_null(find(&s, 5000, 2));
}

/* Others wait for 9 ms whatever is done, as on a machine that is busy. */
static void busy(tune_setting t, unsigned look, uint64_t *rate,
		 uint64_t *p99_ns)
{
	hill(t, look, rate, p99_ns);
	*p99_ns = 9 * MS + t.chunk;
}

static void test_where_nothing_keeps_to_the_bound_all_sizes_are_seen(
	void **state)
{
	tune_search s;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1 * MS);
	search_with(&s, busy);
	assert_null(tune_search_best(&s));
	assert_non_null(find(&s, 5000, 1));
	assert_int_equal(tune_search_gentlest(&s)->setting.chunk, 50);
}

/* One look in the beginning had bad luck. */
static void unlucky(tune_setting t, unsigned look, uint64_t *rate,
		    uint64_t *p99_ns)
{
	hill(t, look, rate, p99_ns);
	*p99_ns = look == 1 ? 50 * MS : 1000;
}

static void test_one_bad_look_is_doubted(void **state)
{
	tune_search s;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1 * MS);
	search_with(&s, unlucky);
	assert_int_equal(tune_search_best(&s)->setting.chunk, 500);
	assert_int_equal(tune_search_best(&s)->setting.window, 4);
}

static void failing(tune_setting t, unsigned look, uint64_t *rate,
		    uint64_t *p99_ns)
{
	(void)t;
	(void)look;
	*rate = 0;
	*p99_ns = 1000;
}

static void test_what_reads_nothing_never_wins(void **state)
{
	tune_search s;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1 * MS);
	assert_true(search_with(&s, failing) < 10);
	assert_null(tune_search_best(&s));
	assert_null(tune_search_gentlest(&s));
}

/* All are as fast, but for a hundredth. */
static void flat(tune_setting t, unsigned look, uint64_t *rate,
		 uint64_t *p99_ns)
{
	(void)look;
	*rate = 1000000 + t.chunk;
	*p99_ns = 1000;
}

static void test_of_those_as_fast_the_one_with_the_least_in_flight_wins(
	void **state)
{
	tune_search s;

	(void)state;
	tune_search_init(&s, 5000, 100000, 1 * MS);
	search_with(&s, flat);
	assert_int_equal(tune_search_best(&s)->setting.chunk, 50);
	assert_int_equal(tune_search_best(&s)->setting.window, 1);
}

static void test_bounds_on_bytes_are_kept(void **state)
{
	static const struct {
		size_t chunk;
		size_t flight;
	} cases[] = { { 0, 0 }, { 1, 1 }, { 7, 14 }, { 5000, 5000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t most = cases[i].chunk > 0 ? cases[i].chunk : 1;
		tune_search s;

		tune_search_init(&s, cases[i].chunk, cases[i].flight, 1 * MS);
		search_with(&s, flat);
		assert_true(s.nseen > 0);
		for (size_t k = 0; k < s.nseen; k++) {
			tune_setting t = s.seen[k].setting;

			assert_true(t.chunk <= most);
			assert_true(t.window == 1 ||
				    t.chunk * t.window <= cases[i].flight);
		}
	}
}

static void test_several_looks_count_by_their_middle(void **state)
{
	tune_search s;
	tune_setting t = { 50, 2 };

	(void)state;
	tune_search_init(&s, 5000, 100000, 1 * MS);
	tune_search_tell(&s, t, 30, 300);
	tune_search_tell(&s, t, 10, 900);
	assert_int_equal(s.seen[0].rate, 10);
	assert_int_equal(s.seen[0].p99_ns, 300);
	tune_search_tell(&s, t, 20, 600);
	assert_int_equal(s.seen[0].rate, 20);
	assert_int_equal(s.seen[0].p99_ns, 600);
	/* There is room for no more. */
	tune_search_tell(&s, t, 99, 999);
	assert_int_equal(s.seen[0].rate, 20);
	assert_int_equal(s.nseen, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_top_of_a_hill_is_found),
		cmocka_unit_test(test_not_every_setting_is_tried),
		cmocka_unit_test(test_the_winner_keeps_to_the_bound),
		cmocka_unit_test(
			test_what_is_larger_than_a_bad_setting_is_not_tried),
		cmocka_unit_test(
			test_where_nothing_keeps_to_the_bound_all_sizes_are_seen),
		cmocka_unit_test(test_one_bad_look_is_doubted),
		cmocka_unit_test(test_what_reads_nothing_never_wins),
		cmocka_unit_test(
			test_of_those_as_fast_the_one_with_the_least_in_flight_wins),
		cmocka_unit_test(test_bounds_on_bytes_are_kept),
		cmocka_unit_test(test_several_looks_count_by_their_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

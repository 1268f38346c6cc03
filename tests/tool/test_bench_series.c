/*
 * What bench is made of and needs no server: numbers of many, names of keys,
 * lists of methods.
 */
#include "bench_keys.h"
#include "bench_method.h"
#include "bench_run.h"
#include "bench_series.h"
#include "bench_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bench_series series_of(const uint64_t *values, size_t n)
{
	bench_series s = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		assert_true(bench_series_add(&s, values[i]));
	bench_series_sort(&s);
	return s;
}

static void test_a_series_of_none_is_nothing_but_zeros(void **state)
{
	bench_series s = { .n = 0 };

	(void)state;
	bench_series_sort(&s);
	assert_int_equal(bench_series_median(&s), 0);
	assert_int_equal(bench_series_at(&s, 0), 0);
	assert_int_equal(bench_series_at(&s, 1000), 0);
	bench_series_fini(&s);
}

static void test_the_median_is_in_the_middle(void **state)
{
	static const struct {
		uint64_t values[5];
		size_t n;
		uint64_t median;
	} cases[] = {
		{ { 7 }, 1, 7 },
		{ { 9, 1 }, 2, 5 },
		{ { 9, 1, 2 }, 3, 2 },
		{ { 4, 3, 2, 1 }, 4, 2 },
		{ { 5, 5, 1, 9, 7 }, 5, 5 },
		{ { UINT64_MAX, UINT64_MAX }, 2, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		bench_series s = series_of(cases[i].values, cases[i].n);

		assert_int_equal(bench_series_median(&s), cases[i].median);
		bench_series_fini(&s);
	}
}

static void test_a_percentile_is_what_so_many_do_not_pass(void **state)
{
	static const struct {
		size_t n; /* the numbers from 1 to n */
		unsigned permille;
		uint64_t want;
	} cases[] = {
		{ 1, 990, 1 },	   { 1, 0, 1 },		 { 1, 1000, 1 },
		{ 10, 500, 5 },	   { 10, 990, 10 },	 { 100, 990, 99 },
		{ 101, 990, 100 }, { 1000, 999, 999 },	 { 1000, 1000, 1000 },
		{ 1000, 0, 1 },	   { 12345, 500, 6173 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		bench_series s = { .n = 0 };

		for (size_t v = cases[i].n; v > 0; v--)
			assert_true(bench_series_add(&s, v));
		bench_series_sort(&s);
		assert_int_equal(bench_series_at(&s, cases[i].permille),
				 cases[i].want);
		bench_series_fini(&s);
	}
}

static void test_room_that_cannot_be_had_is_refused(void **state)
{
	bench_series s = { .n = 0 };

	(void)state;
	assert_true(bench_series_add(&s, 1));
	assert_null(bench_series_room(&s, SIZE_MAX - 1));
	assert_int_equal(s.n, 1);
	assert_non_null(bench_series_room(&s, 0));
	bench_series_fini(&s);
}

static void test_keys_are_a_prefix_and_a_number(void **state)
{
	bench_keys keys;

	(void)state;
	assert_true(bench_keys_init(&keys, "a:", 12));
	assert_int_equal(keys.n, 12);
	assert_string_equal(keys.names[0], "a:0");
	assert_string_equal(keys.names[11], "a:11");
	assert_int_equal(keys.lens[11], 4);
	bench_keys_fini(&keys);
	assert_false(bench_keys_init(&keys, "a:", 0));
	assert_false(bench_keys_init(&keys, "a:", SIZE_MAX / 2));
	bench_keys_fini(&keys);
}

static void test_a_pattern_takes_the_prefix_as_it_is(void **state)
{
	static const struct {
		const char *prefix;
		const char *pattern;
	} cases[] = {
		{ "a:", "a:*" },
		{ "a*b?", "a\\*b\\?*" },
		{ "[x]\\", "\\[x\\]\\\\*" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *pattern = bench_keys_pattern(cases[i].prefix);

		assert_string_equal(pattern, cases[i].pattern);
		free(pattern);
	}
}

static void test_methods_are_chosen_by_their_names(void **state)
{
	static const struct {
		const char *list;
		unsigned set;
	} cases[] = {
		{ "get", 1u },	    { "get,get", 1u }, { "stream", 64u },
		{ "get,mget", 9u }, { "", 0 },	       { "get,", 0 },
		{ ",get", 0 },	    { "gets", 0 },     { "mge", 0 },
		{ "get,foo", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(bench_method_set(cases[i].list), cases[i].set);
}

static void test_every_key_has_its_get(void **state)
{
	bench_keys keys;
	rb_command *gets;

	(void)state;
	assert_true(bench_keys_init(&keys, "k", 3));
	gets = bench_method_gets(&keys, 3);
	assert_non_null(gets);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(gets[i].argc, 2);
		assert_string_equal(gets[i].argv[0], "GET");
		assert_int_equal(gets[i].argvlen[0], 3);
		assert_ptr_equal(gets[i].argv[1], keys.names[i]);
		assert_int_equal(gets[i].argvlen[1], keys.lens[i]);
	}
	free(gets);
	bench_keys_fini(&keys);
	assert_null(bench_method_gets(&keys, 0));
}

static void test_a_row_without_a_run_has_no_rate_and_no_cost(void **state)
{
	const bench_row none = { .nkeys = 0 };

	(void)state;
	assert_false(bench_row_tried(&none));
	assert_true(bench_row_rate(&none) == 0);
	assert_true(bench_row_cost(&none, 1) == 0);
}

static void test_a_rate_counts_what_was_answered_only(void **state)
{
	static const uint64_t times[] = { 500000000, 500000000 };
	bench_row row = { .nkeys = 100, .right = 150, .wrong = 50 };

	(void)state;
	row.times = series_of(times, 2);
	/* 75 keys a run, in half a second. */
	assert_true(bench_row_rate(&row) == 150);
	row.commands = 10;
	assert_true(bench_row_cost(&row, 0.5) == 0.05);
	bench_series_fini(&row.times);
}

static void test_thousands_are_set_apart(void **state)
{
	static const struct {
		uint64_t n;
		const char *want;
	} cases[] = { { 0, "0" },
		      { 999, "999" },
		      { 1000, "1,000" },
		      { 1234567, "1,234,567" },
		      { UINT64_MAX, "18,446,744,073,709,551,615" } };
	char text[32];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(
			bench_table_grouped(cases[i].n, text, sizeof(text)),
			cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_series_of_none_is_nothing_but_zeros),
		cmocka_unit_test(test_the_median_is_in_the_middle),
		cmocka_unit_test(test_a_percentile_is_what_so_many_do_not_pass),
		cmocka_unit_test(test_room_that_cannot_be_had_is_refused),
		cmocka_unit_test(test_keys_are_a_prefix_and_a_number),
		cmocka_unit_test(test_a_pattern_takes_the_prefix_as_it_is),
		cmocka_unit_test(test_methods_are_chosen_by_their_names),
		cmocka_unit_test(test_every_key_has_its_get),
		cmocka_unit_test(
			test_a_row_without_a_run_has_no_rate_and_no_cost),
		cmocka_unit_test(test_a_rate_counts_what_was_answered_only),
		cmocka_unit_test(test_thousands_are_set_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

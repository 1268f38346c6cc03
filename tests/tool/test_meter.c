/*
 * What is said of a run while it goes on, and how bytes are shown.
 */
#include "listing.h"
#include "meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_bytes_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *want;
	} cases[] = {
		{ 0, "0 B" },	       { 999, "999 B" },
		{ 1000, "1.00 kB" },   { 9994, "9.99 kB" },
		{ 9995, "10.0 kB" },   { 99949, "99.9 kB" },
		{ 99951, "100 kB" },   { 999499, "999 kB" },
		{ 999501, "1.00 MB" }, { 2147483648u, "2.15 GB" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[32];

		meter_put_bytes(cases[i].bytes, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
}

static void test_times_are_as_long_as_one_wants_to_know(void **state)
{
	static const struct {
		uint64_t us;
		const char *want;
	} cases[] = {
		{ 0, "0 ms" },
		{ 999999, "999 ms" },
		{ 1000000, "1.0 s" },
		{ 59940000, "59.9 s" },
		{ 60000000, "1m00s" },
		{ 125000000, "2m05s" },
		{ 3600000000u, "1h00m" },
		{ 7380000000u, "2h03m" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[32];

		meter_put_time(cases[i].us, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
}

static void test_a_bar_goes_by_entries_or_else_by_input(void **state)
{
	meter m = { .what = "keys",
		    .elapsed_us = 1000000,
		    .done = 250,
		    .bytes = 5000,
		    .expected = 1000 };
	char text[128];

	(void)state;
	meter_bar(&m, 120, text, sizeof(text));
	assert_string_equal(text, "[#####---------------]  25% 250 keys, "
				  "250 keys/s, 5.00 kB/s, 3.0 s left");
	m.expected = 0;
	m.input_size = 200;
	m.input_taken = 100;
	m.failed = 1;
	meter_bar(&m, 120, text, sizeof(text));
	assert_string_equal(text, "[##########----------]  50% 250 keys, 250 "
				  "keys/s, 5.00 kB/s, 1 failed, 1.0 s left");
}

static void test_nothing_is_divided_by_nothing(void **state)
{
	meter m = { .what = "keys" };
	char text[128];

	(void)state;
	meter_bar(&m, 120, text, sizeof(text));
	assert_string_equal(text, "0 keys, 0 keys/s, 0 B/s");
	m.expected = 10;
	meter_bar(&m, 120, text, sizeof(text));
	assert_string_equal(text, "[--------------------]   0% 0 keys, 0 "
				  "keys/s, 0 B/s");
	/* More than was expected is all of it. */
	m.done = 20;
	assert_int_equal(meter_permille(&m), 1000);
	assert_int_equal(meter_left_us(&m), 0);
}

static void test_a_bar_is_no_wider_than_the_terminal(void **state)
{
	meter m = { .what = "keys", .done = 5, .expected = 10 };
	char text[128];

	(void)state;
	for (size_t columns = 20; columns < 60; columns++) {
		meter_bar(&m, columns, text, sizeof(text));
		assert_true(strlen(text) <= columns);
	}
}

static void test_a_plain_line_tells_the_part_as_a_number(void **state)
{
	meter m = { .what = "commands",
		    .elapsed_us = 10000000,
		    .done = 100,
		    .expected = 1000 };
	char text[256];

	(void)state;
	meter_plain(&m, text, sizeof(text));
	assert_string_equal(text, "10.0 s: 100 commands, 10 commands/s, 0 B/s, "
				  "10%");
}

static void test_bytes_are_listed_so_that_a_terminal_is_safe(void **state)
{
	static const struct {
		rb_slice bytes;
		const char *want;
	} cases[] = {
		{ { "plain key", 9 }, "plain key" },
		{ { "", 0 }, "" },
		{ { "a\0b", 3 }, "a\\x00b" },
		{ { "\x1b[2J\r\n\t", 7 }, "\\x1b[2J\\x0d\\x0a\\x09" },
		{ { "back\\slash", 10 }, "back\\\\slash" },
		{ { "\xc3\xa9\xe2\x82\xac", 5 }, "\xc3\xa9\xe2\x82\xac" },
		{ { "\xf0\x9f\x98\x80", 4 }, "\xf0\x9f\x98\x80" },
		/* Cut, lone, and a control character of two bytes. */
		{ { "\xe2\x82", 2 }, "\\xe2\\x82" },
		{ { "\x80\xff", 2 }, "\\x80\\xff" },
		{ { "\xc2\x9b", 2 }, "\\xc2\\x9b" },
		{ { "0123456789012345678901234567890", 31 },
		  "0123456789012345678901234567..." },
		{ { "012345678901234567890123456\xc3\xa9\xc3\xa9", 31 },
		  "012345678901234567890123456..." },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[32];

		listing_put(cases[i].bytes, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_have_three_digits_and_a_unit),
		cmocka_unit_test(test_times_are_as_long_as_one_wants_to_know),
		cmocka_unit_test(test_a_bar_goes_by_entries_or_else_by_input),
		cmocka_unit_test(test_nothing_is_divided_by_nothing),
		cmocka_unit_test(test_a_bar_is_no_wider_than_the_terminal),
		cmocka_unit_test(test_a_plain_line_tells_the_part_as_a_number),
		cmocka_unit_test(
			test_bytes_are_listed_so_that_a_terminal_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "internal.h"
#include "unit.h"

static void test_print_ends_with_a_nul_and_cuts(void **state)
{
	char buf[8];

	(void)state;
	memset(buf, 'x', sizeof(buf));
	rbi_print(buf, 5, "%s", "abcdefgh");
	assert_string_equal(buf, "abcd");
	assert_int_equal(buf[5], 'x');
}

static void test_print_into_one_byte_is_empty(void **state)
{
	char buf[2] = { 'x', 'y' };

	(void)state;
	rbi_print(buf, 1, "%d", 12345);
	assert_int_equal(buf[0], '\0');
	assert_int_equal(buf[1], 'y');
}

static void test_print_into_nothing_writes_nothing(void **state)
{
	char byte = 'x';

	(void)state;
	rbi_print(&byte, 0, "%s", "abc");
	rbi_print(NULL, 0, "%s", "abc");
	assert_int_equal(byte, 'x');
}

static void test_print_formats(void **state)
{
	char buf[32];

	(void)state;
	rbi_print(buf, sizeof(buf), "%s[%zu] is %d", "keys", (size_t)3, -1);
	assert_string_equal(buf, "keys[3] is -1");
}

static void test_least_and_greatest(void **state)
{
	(void)state;
	assert_int_equal(rbi_min(1, 2), 1);
	assert_int_equal(rbi_min(2, 1), 1);
	assert_int_equal(rbi_max(0, SIZE_MAX), SIZE_MAX);
	assert_int_equal(rbi_max(SIZE_MAX, 0), SIZE_MAX);
}

static void test_sums_saturate(void **state)
{
	(void)state;
	assert_int_equal(rbi_add_sat(1, 2), 3);
	assert_int_equal(rbi_add_sat(SIZE_MAX - 1, 1), SIZE_MAX);
	assert_int_equal(rbi_add_sat(SIZE_MAX, 1), SIZE_MAX);
	assert_int_equal(rbi_add_sat(1, SIZE_MAX), SIZE_MAX);
	assert_int_equal(rbi_add_sat(SIZE_MAX, SIZE_MAX), SIZE_MAX);
}

static void test_what_cannot_be_printed_is_an_empty_text(void **state)
{
	/* No character of the C locale. */
	static const wchar_t odd[] = { 0x20ac, 0 };
	char buf[16] = "before";

	(void)state;
	rbi_print(buf, sizeof(buf), "%ls", odd);
	assert_string_equal(buf, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print_ends_with_a_nul_and_cuts),
		cmocka_unit_test(test_print_into_one_byte_is_empty),
		cmocka_unit_test(test_print_into_nothing_writes_nothing),
		cmocka_unit_test(test_print_formats),
		cmocka_unit_test(test_least_and_greatest),
		cmocka_unit_test(test_sums_saturate),
		cmocka_unit_test(test_what_cannot_be_printed_is_an_empty_text),
	};

	return cmocka_run_group_tests_name("internal", tests, NULL, NULL);
}

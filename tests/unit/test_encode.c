#include "encode.h"
#include "unit.h"

#include <stdio.h>

static const size_t lengths[] = { 0,	 1,	9,     10,     11,     99,
				  100,	 101,	999,   1000,   9999,   10000,
				  16384, 65535, 99999, 100000, 1000000 };

static void test_digits_are_counted(void **state)
{
	static const size_t numbers[] = {
		0, 1, 9, 10, 99, 100, 999, 1000, 4294967295u, SIZE_MAX
	};
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(numbers); i++) {
		snprintf(text, sizeof(text), "%zu", numbers[i]);
		assert_int_equal(rbi_encode_digits(numbers[i]), strlen(text));
	}
}

static void test_an_argument_takes_exactly_its_size(void **state)
{
	char head[32];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(lengths); i++) {
		size_t len = lengths[i];
		size_t size = rbi_encode_arg_size(len);
		char *data = malloc(len + 1);
		char *buf = malloc(size);
		int n = snprintf(head, sizeof(head), "$%zu\r\n", len);

		assert_non_null(data);
		assert_non_null(buf);
		memset(data, 'v', len);
		assert_ptr_equal(rbi_encode_arg(buf, data, len), buf + size);
		assert_memory_equal(buf, head, (size_t)n);
		assert_memory_equal(buf + n, data, len);
		assert_memory_equal(buf + (size_t)n + len, "\r\n", 2);
		assert_int_equal(size, (size_t)n + len + 2);
		free(data);
		free(buf);
	}
}

static void test_an_empty_argument_needs_no_data(void **state)
{
	char buf[6];

	(void)state;
	assert_ptr_equal(rbi_encode_arg(buf, NULL, 0), buf + sizeof(buf));
	assert_memory_equal(buf, "$0\r\n\r\n", 6);
}

static void test_bytes_of_all_kinds_stay_as_they_are(void **state)
{
	char data[256];
	char buf[300];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (char)i;
	rbi_encode_arg(buf, data, sizeof(data));
	assert_memory_equal(buf, "$256\r\n", 6);
	assert_memory_equal(buf + 6, data, sizeof(data));
}

static void test_sizes_saturate(void **state)
{
	(void)state;
	assert_int_equal(rbi_encode_arg_size(SIZE_MAX), SIZE_MAX);
	assert_int_equal(rbi_encode_arg_size(SIZE_MAX - 2), SIZE_MAX);
	assert_int_equal(rbi_encode_arg_size(SIZE_MAX - 25), SIZE_MAX);
	assert_int_equal(rbi_encode_arg_size(SIZE_MAX - 26), SIZE_MAX - 1);
}

static void test_headers_take_exactly_their_size(void **state)
{
	static const size_t counts[] = { 0,   1,   9,	 10,	  99,
					 100, 101, 1000, 1048576, SIZE_MAX };
	char want[32];
	char buf[32];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(counts); i++) {
		int n = snprintf(want, sizeof(want), "*%zu\r\n", counts[i]);
		char *end = rbi_encode_header(buf, counts[i]);

		assert_int_equal(end - buf, n);
		assert_memory_equal(buf, want, (size_t)n);
		assert_int_equal(rbi_encode_header_size(counts[i]), n);
	}
}

static void test_a_number_can_be_of_any_type(void **state)
{
	char buf[8];
	char *end = rbi_encode_number(buf, '$', 1234);

	(void)state;
	assert_int_equal(end - buf, 7);
	assert_memory_equal(buf, "$1234\r\n", 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digits_are_counted),
		cmocka_unit_test(test_an_argument_takes_exactly_its_size),
		cmocka_unit_test(test_an_empty_argument_needs_no_data),
		cmocka_unit_test(test_bytes_of_all_kinds_stay_as_they_are),
		cmocka_unit_test(test_sizes_saturate),
		cmocka_unit_test(test_headers_take_exactly_their_size),
		cmocka_unit_test(test_a_number_can_be_of_any_type),
	};

	return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}

#include "alloc.h"
#include "count.h"
#include "unit.h"

/* An allocator whose memory is never zero by chance. */
static void *dirty_alloc(void *arg, size_t size)
{
	void *ptr = malloc(size);

	(void)arg;
	if (ptr != NULL)
		memset(ptr, 0xa5, size);
	return ptr;
}

static void *dirty_realloc(void *arg, void *ptr, size_t size)
{
	(void)arg;
	return realloc(ptr, size);
}

static void dirty_free(void *arg, void *ptr)
{
	(void)arg;
	free(ptr);
}

static const rb_allocator dirty = { dirty_alloc, dirty_realloc, dirty_free,
				    NULL };

static void test_default_allocates_and_frees(void **state)
{
	char *ptr = rbi_alloc(&rbi_alloc_default, 100);

	(void)state;
	assert_non_null(ptr);
	memset(ptr, 'x', 100);
	rbi_free(&rbi_alloc_default, ptr);
}

static void test_zeroed_memory_is_zero(void **state)
{
	unsigned char *ptr = rbi_alloc_zero(&dirty, 64);
	size_t i;

	(void)state;
	assert_non_null(ptr);
	for (i = 0; i < 64; i++)
		assert_int_equal(ptr[i], 0);
	rbi_free(&dirty, ptr);
}

static void test_array_without_one_is_new(void **state)
{
	rbt_count count;
	int *array;

	(void)state;
	rbt_count_init(&count);
	array = rbi_alloc_array(&count.allocator, NULL, 10, sizeof(*array));
	assert_non_null(array);
	assert_int_equal(count.live_bytes, 10 * sizeof(*array));
	rbi_free(&count.allocator, array);
	assert_int_equal(count.live_blocks, 0);
}

static void test_array_grows_with_its_members(void **state)
{
	int *array = rbi_alloc_array(&dirty, NULL, 2, sizeof(*array));
	int *grown;

	(void)state;
	assert_non_null(array);
	array[0] = 17;
	array[1] = 18;
	grown = rbi_alloc_array(&dirty, array, 5000, sizeof(*array));
	assert_non_null(grown);
	assert_int_equal(grown[0], 17);
	assert_int_equal(grown[1], 18);
	rbi_free(&dirty, grown);
}

static void test_array_whose_size_overflows_is_refused(void **state)
{
	static const struct {
		size_t n;
		size_t size;
	} cases[] = {
		{ SIZE_MAX, 2 },
		{ SIZE_MAX / 16 + 1, 16 },
		{ 2, SIZE_MAX },
	};
	rbt_count count;
	int *array;
	size_t i;

	(void)state;
	rbt_count_init(&count);
	array = rbi_alloc_array(&count.allocator, NULL, 1, sizeof(*array));
	assert_non_null(array);
	array[0] = 4;
	for (i = 0; i < N_OF(cases); i++) {
		assert_null(rbi_alloc_array(&count.allocator, array, cases[i].n,
					    cases[i].size));
		assert_null(rbi_alloc_array(&count.allocator, NULL, cases[i].n,
					    cases[i].size));
	}
	assert_int_equal(count.asked, 1);
	assert_int_equal(array[0], 4);
	rbi_free(&count.allocator, array);
}

static void test_array_without_memory_leaves_the_old_one(void **state)
{
	rbt_count count;
	int *array;

	(void)state;
	rbt_count_init(&count);
	count.fail_at = 2;
	array = rbi_alloc_array(&count.allocator, NULL, 1, sizeof(*array));
	assert_non_null(array);
	array[0] = 4;
	assert_null(
		rbi_alloc_array(&count.allocator, array, 100, sizeof(*array)));
	assert_int_equal(array[0], 4);
	rbi_free(&count.allocator, array);
	assert_int_equal(count.live_blocks, 0);
}

static void test_copy_has_all_bytes_and_a_nul(void **state)
{
	static const char bytes[] = { 'a', '\0', '\r', '\n', '\xff' };
	char *copy = rbi_alloc_copy(&dirty, bytes, sizeof(bytes));

	(void)state;
	assert_non_null(copy);
	assert_memory_equal(copy, bytes, sizeof(bytes));
	assert_int_equal(copy[sizeof(bytes)], '\0');
	rbi_free(&dirty, copy);
}

static void test_copy_of_nothing_is_an_empty_string(void **state)
{
	char *copy = rbi_alloc_copy(&dirty, NULL, 0);

	(void)state;
	assert_non_null(copy);
	assert_string_equal(copy, "");
	rbi_free(&dirty, copy);
}

static void test_copy_too_long_for_its_nul_is_refused(void **state)
{
	rbt_count count;

	(void)state;
	rbt_count_init(&count);
	assert_null(rbi_alloc_copy(&count.allocator, "", SIZE_MAX));
	assert_int_equal(count.asked, 0);
}

static void test_without_memory_everything_is_null(void **state)
{
	rbt_count count;

	(void)state;
	rbt_count_init(&count);
	count.fail_at = 1;
	count.fail_on = 1;
	assert_null(rbi_alloc(&count.allocator, 1));
	assert_null(rbi_alloc_zero(&count.allocator, 1));
	assert_null(rbi_alloc_array(&count.allocator, NULL, 1, 1));
	assert_null(rbi_alloc_copy(&count.allocator, "a", 1));
	assert_int_equal(count.asked, 4);
}

static void never_free(void *arg, void *ptr)
{
	(void)arg;
	fail_msg("freed %p", ptr);
}

static void test_freeing_null_does_not_reach_the_allocator(void **state)
{
	const rb_allocator a = { dirty_alloc, dirty_realloc, never_free, NULL };

	(void)state;
	rbi_free(&a, NULL);
}

static void test_wiping_leaves_zeros_and_stops_at_the_end(void **state)
{
	char secret[] = "password!";
	size_t i;

	(void)state;
	rbi_alloc_wipe(secret, 8);
	for (i = 0; i < 8; i++)
		assert_int_equal(secret[i], 0);
	assert_int_equal(secret[8], '!');
	rbi_alloc_wipe(NULL, 0);
}

static void test_an_array_of_nothing_does_not_overflow(void **state)
{
	rbt_count count;
	void *ptr;

	(void)state;
	rbt_count_init(&count);
	ptr = rbi_alloc_array(&count.allocator, NULL, SIZE_MAX, 0);
	assert_int_equal(count.asked, 1);
	assert_int_equal(count.live_bytes, 0);
	rbi_free(&count.allocator, ptr);
	assert_int_equal(count.live_blocks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_allocates_and_frees),
		cmocka_unit_test(test_zeroed_memory_is_zero),
		cmocka_unit_test(test_array_without_one_is_new),
		cmocka_unit_test(test_array_grows_with_its_members),
		cmocka_unit_test(test_array_whose_size_overflows_is_refused),
		cmocka_unit_test(test_array_without_memory_leaves_the_old_one),
		cmocka_unit_test(test_copy_has_all_bytes_and_a_nul),
		cmocka_unit_test(test_copy_of_nothing_is_an_empty_string),
		cmocka_unit_test(test_copy_too_long_for_its_nul_is_refused),
		cmocka_unit_test(test_without_memory_everything_is_null),
		cmocka_unit_test(
			test_freeing_null_does_not_reach_the_allocator),
		cmocka_unit_test(test_wiping_leaves_zeros_and_stops_at_the_end),
		cmocka_unit_test(test_an_array_of_nothing_does_not_overflow),
	};

	return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}

#include "batch.h"
#include "unit.h"

static const char *keys[] = { "a", "", "ccc" };
static const size_t lens[] = { 1, 0, 3 };

static rbi_batch mget(const char **k, const size_t *l, size_t n)
{
	rbi_batch b = {
		.command = { "MGET", 4 },
		.keys = k,
		.keylens = l,
		.n = n,
		.keys_name = "keys",
		.keylens_name = "keylens",
	};

	return b;
}

static rbi_batch hmget(const char *key, size_t len)
{
	rbi_batch b = mget(keys, lens, 3);

	b.fixed.data = key;
	b.fixed.len = len;
	b.fixed_name = "key";
	b.fixedlen_name = "keylen";
	b.keys_name = "fields";
	b.keylens_name = "fieldlens";
	return b;
}

static void check_refused(const rbi_batch *b, const char *want)
{
	char why[128] = "";

	assert_status(rbi_batch_check(b, SIZE_MAX, why, sizeof(why)),
		      RB_ERR_INVALID);
	assert_string_equal(why, want);
}

static void check_taken(const rbi_batch *b)
{
	char why[128] = "";

	assert_status(rbi_batch_check(b, SIZE_MAX, why, sizeof(why)), RB_OK);
}

static void test_good_arguments_are_taken(void **state)
{
	rbi_batch b = mget(keys, lens, 3);

	(void)state;
	check_taken(&b);
	b = mget(keys, NULL, 3);
	check_taken(&b);
	b = hmget("h", 1);
	check_taken(&b);
	b = hmget("", 0);
	check_taken(&b);
}

static void test_an_empty_batch_needs_no_arrays(void **state)
{
	rbi_batch b = mget(NULL, NULL, 0);

	(void)state;
	check_taken(&b);
}

static void test_lengths_come_from_the_array_or_the_nul(void **state)
{
	static const char *with_nul[] = { "a\0b" };
	static const size_t three[] = { 3 };
	rbi_batch b = mget(with_nul, three, 1);

	(void)state;
	assert_int_equal(rbi_batch_keylen(&b, 0), 3);
	b = mget(with_nul, NULL, 1);
	assert_int_equal(rbi_batch_keylen(&b, 0), 1);
}

static void test_the_name_and_the_key_count_as_arguments(void **state)
{
	rbi_batch b = mget(keys, lens, 3);

	(void)state;
	assert_int_equal(rbi_batch_fixed_args(&b), 1);
	b = hmget("h", 1);
	assert_int_equal(rbi_batch_fixed_args(&b), 2);
}

static void test_missing_arrays_are_named(void **state)
{
	rbi_batch b = mget(NULL, lens, 3);

	(void)state;
	check_refused(&b, "keys is NULL");
	b = hmget("h", 1);
	b.keys = NULL;
	check_refused(&b, "fields is NULL");
}

static void test_a_missing_entry_is_named_by_its_index(void **state)
{
	static const char *holed[] = { "a", "b", "c", NULL };
	static const size_t five[] = { 1, 1, 1, 5 };
	rbi_batch b = mget(holed, five, 4);

	(void)state;
	check_refused(&b, "keys[3] is NULL but keylens[3] is 5");
	b = mget(holed, NULL, 4);
	check_refused(&b, "keys[3] is NULL");
	b = hmget("h", 1);
	b.keys = holed;
	b.keylens = five;
	b.n = 4;
	check_refused(&b, "fields[3] is NULL but fieldlens[3] is 5");
}

static void test_a_missing_entry_of_length_zero_is_an_empty_one(void **state)
{
	static const char *holed[] = { NULL, "b" };
	static const size_t zero[] = { 0, 1 };
	rbi_batch b = mget(holed, zero, 2);

	(void)state;
	check_taken(&b);
	assert_int_equal(rbi_batch_keylen(&b, 0), 0);
}

static void test_lengths_that_no_server_takes_are_refused_unread(void **state)
{
	/* Nobody may look at these bytes. */
	static const char *far[] = { "a", (const char *)(uintptr_t)8 };
	static const size_t wanted[] = { SIZE_MAX, SIZE_MAX - 2,
					 SIZE_MAX / 2 + 1, 536870913 };
	char want[128];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(wanted); i++) {
		size_t two[] = { 1, wanted[i] };
		rbi_batch b = mget(far, two, 2);

		rbi_print(want, sizeof(want),
			  "keylens[1] is %zu, above 512 MiB", wanted[i]);
		check_refused(&b, want);
	}
}

static void test_the_longest_key_is_taken(void **state)
{
	static const char *far[] = { (const char *)(uintptr_t)8 };
	static const size_t longest[] = { 536870912 };
	rbi_batch b = mget(far, longest, 1);

	(void)state;
	check_taken(&b);
}

static void test_a_bad_hash_key_is_named(void **state)
{
	rbi_batch b = hmget(NULL, 3);

	(void)state;
	check_refused(&b, "key is NULL");
	b = hmget("h", 536870913);
	check_refused(&b, "keylen is 536870913, above 512 MiB");
}

static void test_the_first_bad_entry_is_the_one_that_is_told(void **state)
{
	static const char *holed[] = { "a", NULL, NULL };
	rbi_batch b = mget(holed, NULL, 3);

	(void)state;
	check_refused(&b, "keys[1] is NULL");
}

static void test_a_command_of_too_many_arguments_is_refused_unread(void **state)
{
	const char *argv[] = { "DEL" };
	rb_command command = { 1048577, argv, NULL };
	rbi_batch b = { .form = RBI_FORM_COMMANDS,
			.shape = RBI_SHAPE_REPLIES,
			.commands = &command,
			.n = 1 };

	(void)state;
	check_refused(&b, "commands[0] has more than 1,048,576 arguments");
	command.argc = 1;
	check_taken(&b);
}

static void test_the_long_way_to_a_keys_size_is_the_short_one(void **state)
{
	rbi_batch b = mget(keys, lens, 3);
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(rbi_batch_whole_entry_size(&b, i),
				 rbi_batch_entry_size(&b, i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_arguments_are_taken),
		cmocka_unit_test(test_an_empty_batch_needs_no_arrays),
		cmocka_unit_test(test_lengths_come_from_the_array_or_the_nul),
		cmocka_unit_test(test_the_name_and_the_key_count_as_arguments),
		cmocka_unit_test(test_missing_arrays_are_named),
		cmocka_unit_test(test_a_missing_entry_is_named_by_its_index),
		cmocka_unit_test(
			test_a_missing_entry_of_length_zero_is_an_empty_one),
		cmocka_unit_test(
			test_lengths_that_no_server_takes_are_refused_unread),
		cmocka_unit_test(test_the_longest_key_is_taken),
		cmocka_unit_test(test_a_bad_hash_key_is_named),
		cmocka_unit_test(
			test_the_first_bad_entry_is_the_one_that_is_told),
		cmocka_unit_test(
			test_a_command_of_too_many_arguments_is_refused_unread),
		cmocka_unit_test(
			test_the_long_way_to_a_keys_size_is_the_short_one),
	};

	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}

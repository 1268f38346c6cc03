#include "alloc.h"
#include "count.h"
#include "overlap.h"
#include "unit.h"

#include <stdio.h>

#define MOST 4000

static const char *keys[MOST];
static const char *values[MOST];
static char names[MOST][24];

/* MSET of so many pairs, whose keys are all different. */
static rbi_batch pairs(size_t n)
{
	rbi_batch b = {
		.form = RBI_FORM_GATHER,
		.command = { "MSET", 4 },
		.keys = keys,
		.values = values,
		.n = n,
	};
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "%zu", i);
		keys[i] = names[i];
		values[i] = "v";
	}
	return b;
}

static rbi_cut cut_of(const rbi_batch *b, size_t first, size_t count)
{
	rbi_cut cut = { .batch = b, .first = first, .count = count };

	return cut;
}

/* Both ways round, which must be the same, and nothing may be kept. */
static bool overlap(const rbi_batch *b, size_t first, size_t count,
		    size_t other, size_t other_count)
{
	rbi_cut one = cut_of(b, first, count);
	rbi_cut two = cut_of(b, other, other_count);
	rbt_count memory;
	bool found;

	rbt_count_init(&memory);
	found = rbi_overlap(&memory.allocator, &one, &two);
	assert_int_equal(rbi_overlap(&memory.allocator, &two, &one), found);
	assert_int_equal(memory.live_blocks, 0);
	return found;
}

static void test_other_keys_do_not_overlap(void **state)
{
	static const size_t counts[] = { 1, 2, 7, 8, 9, 100, 2000 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(counts); i++) {
		rbi_batch b = pairs(2 * counts[i]);

		assert_false(overlap(&b, 0, counts[i], counts[i], counts[i]));
		assert_false(overlap(&b, 0, 1, counts[i], counts[i]));
	}
}

static void test_one_key_in_common_is_found_wherever_it_stands(void **state)
{
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < 20; i++) {
		for (k = 20; k < 40; k++) {
			rbi_batch b = pairs(40);

			keys[k] = "9";
			keys[9] = names[k];
			keys[i] = "9";
			assert_true(overlap(&b, 0, 20, 20, 20));
		}
	}
}

static void test_a_chunk_overlaps_with_itself(void **state)
{
	rbi_batch b = pairs(10);

	(void)state;
	assert_true(overlap(&b, 0, 10, 0, 10));
	assert_true(overlap(&b, 3, 1, 3, 1));
}

static void test_keys_are_compared_whole(void **state)
{
	static const char *const twins[][2] = {
		{ "key", "key2" },
		{ "", "k" },
		{ "a", "b" },
		{ "k1", "k2" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(twins); i++) {
		rbi_batch b = pairs(2);

		keys[0] = twins[i][0];
		keys[1] = twins[i][1];
		assert_false(overlap(&b, 0, 1, 1, 1));
		keys[1] = twins[i][0];
		assert_true(overlap(&b, 0, 1, 1, 1));
	}
}

static void test_a_nul_in_a_key_is_a_byte_like_others(void **state)
{
	static const size_t lens[] = { 3, 3, 3, 1 };
	rbi_batch b = pairs(4);

	(void)state;
	b.keylens = lens;
	keys[0] = "a\0b";
	keys[1] = "a\0c";
	keys[2] = "a\0b";
	keys[3] = "a";
	assert_false(overlap(&b, 0, 1, 1, 1));
	assert_true(overlap(&b, 0, 1, 2, 1));
	assert_false(overlap(&b, 0, 1, 3, 1));
}

static void test_an_empty_key_may_have_no_address(void **state)
{
	static const size_t lens[] = { 0, 0, 1 };
	rbi_batch b = pairs(3);

	(void)state;
	b.keylens = lens;
	keys[0] = NULL;
	keys[1] = "";
	assert_true(overlap(&b, 0, 1, 1, 1));
	assert_false(overlap(&b, 0, 1, 2, 1));
}

static void test_reads_and_removals_may_go_in_any_order(void **state)
{
	rbi_batch b = pairs(4);

	(void)state;
	b.values = NULL;
	assert_false(overlap(&b, 0, 2, 0, 2));
	b.form = RBI_FORM_EACH;
	assert_false(overlap(&b, 0, 2, 0, 2));
}

static void test_each_of_many_commands_is_looked_at(void **state)
{
	rbi_batch b = pairs(4);

	(void)state;
	b.form = RBI_FORM_EACH;
	assert_false(overlap(&b, 0, 2, 2, 2));
	keys[3] = keys[0];
	assert_true(overlap(&b, 0, 2, 2, 2));
}

static void test_commands_of_any_kind_always_overlap(void **state)
{
	rbi_batch b = { .form = RBI_FORM_COMMANDS, .n = 4 };

	(void)state;
	assert_true(overlap(&b, 0, 1, 3, 1));
}

/* ---------------------------------------------- commands in a cluster -- */

/* Commands of which each may go another way than the others. */
static rbi_batch clustered(const rb_command *commands, size_t n)
{
	rbi_batch b = {
		.form = RBI_FORM_COMMANDS,
		.clustered = true,
		.commands = commands,
		.n = n,
	};

	return b;
}

#define WORDS(...)          \
	(const char *[])    \
	{                   \
		__VA_ARGS__ \
	}
#define COMMAND(n, ...)                                 \
	{                                               \
		.argc = (n), .argv = WORDS(__VA_ARGS__) \
	}

static void test_in_a_cluster_commands_are_compared_by_their_keys(void **state)
{
	const rb_command set = COMMAND(3, "SET", "a", "1");
	const struct {
		rb_command other;
		bool overlaps;
	} rows[] = {
		{ COMMAND(2, "INCR", "a"), true },
		{ COMMAND(2, "INCR", "b"), false },
		{ COMMAND(2, "INCR", "aa"), false },
		{ COMMAND(3, "RENAME", "b", "a"), true },
		{ COMMAND(4, "EVAL", "a", "1", "b"), true },
		{ COMMAND(4, "EVAL", "return", "1", "a"), true },
		/* What is no key may look like one. */
		{ COMMAND(3, "SET", "b", "a"), true },
		/* A value of the first is a key of the second. */
		{ COMMAND(2, "INCR", "1"), true },
		{ COMMAND(1, "PING"), false },
		{ COMMAND(2, "ECHO", "a"), false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rb_command two[] = { set, rows[i].other };
		rbi_batch b = clustered(two, 2);

		assert_int_equal(overlap(&b, 0, 1, 1, 1), rows[i].overlaps);
	}
}

static void test_each_command_is_compared_with_each_other(void **state)
{
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < 3; i++) {
		for (k = 3; k < 6; k++) {
			rb_command six[] = {
				COMMAND(2, "INCR", "a"),
				COMMAND(2, "INCR", "b"),
				COMMAND(2, "INCR", "c"),
				COMMAND(2, "INCR", "d"),
				COMMAND(2, "INCR", "e"),
				COMMAND(2, "INCR", "f"),
			};
			rbi_batch b = clustered(six, 6);

			assert_false(overlap(&b, 0, 3, 3, 3));
			six[k].argv = six[i].argv;
			assert_true(overlap(&b, 0, 3, 3, 3));
			assert_int_equal(overlap(&b, 0, 2, 3, 3), i < 2);
		}
	}
}

static void test_an_empty_key_of_a_command_is_one_as_well(void **state)
{
	const rb_command two[] = { COMMAND(2, "INCR", ""),
				   COMMAND(3, "SET", "", "1") };
	const rb_command other[] = { COMMAND(2, "INCR", ""),
				     COMMAND(2, "INCR", "a") };
	rbi_batch same = clustered(two, 2);
	rbi_batch differs = clustered(other, 2);

	(void)state;
	assert_true(overlap(&same, 0, 1, 1, 1));
	assert_false(overlap(&differs, 0, 1, 1, 1));
}

static void test_without_memory_they_overlap(void **state)
{
	rbi_batch b = pairs(2);
	rbi_cut one = cut_of(&b, 0, 1);
	rbi_cut two = cut_of(&b, 1, 1);
	rbt_count memory;

	(void)state;
	rbt_count_init(&memory);
	memory.fail_at = 1;
	assert_true(rbi_overlap(&memory.allocator, &one, &two));
	/* And with it again they do not. */
	assert_false(rbi_overlap(&memory.allocator, &one, &two));
}

static void test_it_agrees_with_looking_at_every_pair(void **state)
{
	uint64_t seed = 11;
	size_t found = 0;
	int round;

	(void)state;
	for (round = 0; round < 2000; round++) {
		size_t n = 1 + random_below(&seed, 12);
		size_t m = 1 + random_below(&seed, 12);
		rbi_batch b = pairs(n + m);
		bool want = false;
		size_t i;
		size_t k;

		for (i = 0; i < n + m; i++)
			keys[i] = names[random_below(&seed, n + m)];
		for (i = 0; i < n; i++) {
			for (k = n; k < n + m; k++)
				want = want || strcmp(keys[i], keys[k]) == 0;
		}
		assert_int_equal(overlap(&b, 0, n, n, m), want);
		found += want;
	}
	/* Both happened often. */
	assert_in_range(found, 200, 1900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_keys_do_not_overlap),
		cmocka_unit_test(
			test_one_key_in_common_is_found_wherever_it_stands),
		cmocka_unit_test(test_a_chunk_overlaps_with_itself),
		cmocka_unit_test(test_keys_are_compared_whole),
		cmocka_unit_test(test_a_nul_in_a_key_is_a_byte_like_others),
		cmocka_unit_test(test_an_empty_key_may_have_no_address),
		cmocka_unit_test(test_reads_and_removals_may_go_in_any_order),
		cmocka_unit_test(test_each_of_many_commands_is_looked_at),
		cmocka_unit_test(test_commands_of_any_kind_always_overlap),
		cmocka_unit_test(
			test_in_a_cluster_commands_are_compared_by_their_keys),
		cmocka_unit_test(test_each_command_is_compared_with_each_other),
		cmocka_unit_test(test_an_empty_key_of_a_command_is_one_as_well),
		cmocka_unit_test(test_without_memory_they_overlap),
		cmocka_unit_test(test_it_agrees_with_looking_at_every_pair),
	};

	return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}

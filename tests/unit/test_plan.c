#include "keys.h"
#include "plan.h"
#include "unit.h"

static const rbi_bounds wide = {
	.keys = SIZE_MAX,
	.args = 1048576,
	.request_bytes = SIZE_MAX / 4,
	.reply_bytes = SIZE_MAX / 4,
	.entry_reply = 0,
};

static size_t command_size(const rbi_batch *b, size_t first, size_t count)
{
	size_t size;

	free(print_command(b, first, count, &size));
	return size;
}

/* Cuts it all: no entry lost, none twice, sizes exact. The number of cuts. */
static size_t cut_all(const rbi_batch *b, const rbi_bounds *bounds)
{
	size_t next = 0;
	size_t ncuts = 0;

	while (next < b->n) {
		rbi_cut cut = rbi_plan_cut(b, next, bounds);

		assert_int_equal(cut.first, next);
		assert_in_range(cut.count, 1, b->n - next);
		assert_int_equal(cut.request_bytes,
				 command_size(b, next, cut.count));
		next += cut.count;
		ncuts++;
	}
	return ncuts;
}

static void test_chunks_are_bounded_by_count(void **state)
{
	static const size_t want[] = { 0, 1, 1, 1, 2, 2, 2, 3 };
	rbi_bounds bounds = wide;
	size_t n;

	(void)state;
	bounds.keys = 3;
	for (n = 0; n < N_OF(want); n++) {
		rbi_batch b;
		keys k;

		keys_init(&k, n, NULL, 4);
		b = keys_mget(&k);
		assert_int_equal(cut_all(&b, &bounds), want[n]);
		keys_fini(&k);
	}
}

static void test_one_key_a_chunk(void **state)
{
	rbi_bounds bounds = wide;
	rbi_batch b;
	keys k;

	(void)state;
	bounds.keys = 1;
	keys_init(&k, 20, NULL, 4);
	b = keys_mget(&k);
	assert_int_equal(cut_all(&b, &bounds), 20);
	keys_fini(&k);
}

static void test_the_name_counts_as_an_argument(void **state)
{
	rbi_bounds bounds = wide;
	rbi_batch b;
	keys k;

	(void)state;
	bounds.args = 5;
	keys_init(&k, 12, NULL, 1);
	b = keys_mget(&k);
	assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count, 4);
	assert_int_equal(cut_all(&b, &bounds), 3);
	b = keys_hmget(&k, "h", 1);
	assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count, 3);
	assert_int_equal(cut_all(&b, &bounds), 4);
	keys_fini(&k);
}

static void test_too_few_arguments_still_let_one_entry_through(void **state)
{
	rbi_bounds bounds = wide;
	rbi_batch b;
	keys k;

	(void)state;
	keys_init(&k, 3, NULL, 1);
	b = keys_hmget(&k, "h", 1);
	for (bounds.args = 0; bounds.args <= 3; bounds.args++)
		assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count, 1);
	keys_fini(&k);
}

static void test_no_command_passes_a_servers_most_arguments(void **state)
{
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	keys_init(&k, 1048577, NULL, 1);
	b = keys_mget(&k);
	cut = rbi_plan_cut(&b, 0, &wide);
	assert_int_equal(cut.count, 1048575);
	cut = rbi_plan_cut(&b, cut.count, &wide);
	assert_int_equal(cut.count, 2);
	keys_fini(&k);
}

static void test_bytes_bound_a_chunk_exactly(void **state)
{
	rbi_bounds bounds = wide;
	size_t n;

	(void)state;
	/* Around each count at which the header gets longer. */
	for (n = 1; n < 120; n++) {
		rbi_batch b;
		keys k;

		keys_init(&k, 130, NULL, n % 12);
		b = keys_mget(&k);
		bounds.request_bytes = command_size(&b, 0, n);
		assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count, n);
		bounds.request_bytes--;
		assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count,
				 n > 1 ? n - 1 : 1);
		cut_all(&b, &bounds);
		keys_fini(&k);
	}
}

static void test_no_chunk_of_many_entries_passes_the_bytes(void **state)
{
	rbi_bounds bounds = wide;
	uint64_t seed = 7;
	size_t lens[300];
	size_t next = 0;
	size_t i;
	rbi_batch b;
	keys k;

	(void)state;
	for (i = 0; i < N_OF(lens); i++)
		lens[i] = random_below(&seed, 120);
	keys_init(&k, N_OF(lens), lens, 0);
	b = keys_hmget(&k, "some hash", 9);
	bounds.request_bytes = 500;
	while (next < b.n) {
		rbi_cut cut = rbi_plan_cut(&b, next, &bounds);
		size_t more = next + cut.count < b.n ? cut.count + 1 : 0;

		assert_true(cut.request_bytes <= 500);
		if (more > 0)
			assert_true(command_size(&b, next, more) > 500);
		next += cut.count;
	}
	keys_fini(&k);
}

static void test_an_entry_too_large_travels_alone(void **state)
{
	static const size_t lens[] = { 1, 1, 1000, 1, 1, 1000, 1000 };
	static const size_t want[] = { 2, 1, 2, 1, 1 };
	rbi_bounds bounds = wide;
	size_t next = 0;
	size_t i;
	rbi_batch b;
	keys k;

	(void)state;
	keys_init(&k, N_OF(lens), lens, 0);
	b = keys_mget(&k);
	bounds.request_bytes = 100;
	for (i = 0; i < N_OF(want); i++) {
		rbi_cut cut = rbi_plan_cut(&b, next, &bounds);

		assert_int_equal(cut.count, want[i]);
		assert_int_equal(cut.request_bytes,
				 command_size(&b, next, cut.count));
		next += cut.count;
	}
	assert_int_equal(next, b.n);
	keys_fini(&k);
}

static void test_a_long_hash_key_leaves_one_field_a_chunk(void **state)
{
	static const char hash[200] = "h";
	rbi_bounds bounds = wide;
	rbi_batch b;
	keys k;

	(void)state;
	keys_init(&k, 5, NULL, 3);
	b = keys_hmget(&k, hash, sizeof(hash));
	bounds.request_bytes = 100;
	assert_int_equal(cut_all(&b, &bounds), 5);
	bounds.request_bytes = 1;
	assert_int_equal(cut_all(&b, &bounds), 5);
	bounds.request_bytes = 0;
	assert_int_equal(cut_all(&b, &bounds), 5);
	keys_fini(&k);
}

static void test_predicted_answers_bound_a_chunk(void **state)
{
	static const struct {
		size_t reply_bytes;
		size_t entry_reply;
		size_t want;
	} cases[] = {
		{ 1000, 100, 10 },     { 1000, 101, 9 },    { 1000, 1001, 1 },
		{ 1000, SIZE_MAX, 1 }, { 1000, 0, 50 },	    { 0, 5, 1 },
		{ 1000, 1, 50 },       { SIZE_MAX, 1, 50 },
	};
	rbi_bounds bounds = wide;
	size_t i;
	rbi_batch b;
	keys k;

	(void)state;
	keys_init(&k, 50, NULL, 3);
	b = keys_mget(&k);
	for (i = 0; i < N_OF(cases); i++) {
		bounds.reply_bytes = cases[i].reply_bytes;
		bounds.entry_reply = cases[i].entry_reply;
		assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count,
				 cases[i].want);
	}
	keys_fini(&k);
}

static void test_keys_that_end_with_a_nul_are_measured(void **state)
{
	static const char *with_nul[] = { "a", "bb", "", "cccccccccccc" };
	rbi_batch b = { .command = { "MGET", 4 }, .keys = with_nul, .n = 4 };

	(void)state;
	assert_int_equal(cut_all(&b, &wide), 1);
}

static void test_sizes_of_impossible_keys_saturate(void **state)
{
	static const char *far[] = { "", "", "" };
	static const size_t lens[] = { SIZE_MAX, SIZE_MAX - 2, SIZE_MAX / 2 };
	rbi_batch b = {
		.command = { "MGET", 4 }, .keys = far, .keylens = lens, .n = 3
	};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		rbi_cut cut = rbi_plan_cut(&b, i, &wide);

		assert_int_equal(cut.count, 1);
		assert_true(cut.request_bytes >= lens[i]);
	}
}

static void test_any_bounds_account_for_every_entry(void **state)
{
	uint64_t seed = 3;
	int i;

	(void)state;
	for (i = 0; i < 300; i++) {
		rbi_bounds bounds = wide;
		rbi_batch b;
		keys k;

		bounds.keys = 1 + random_below(&seed, 40);
		bounds.args = random_below(&seed, 60);
		bounds.request_bytes = random_below(&seed, 2000);
		bounds.reply_bytes = random_below(&seed, 2000);
		bounds.entry_reply = random_below(&seed, 100);
		keys_init(&k, random_below(&seed, 100), NULL,
			  random_below(&seed, 50));
		b = keys_mget(&k);
		cut_all(&b, &bounds);
		b = keys_hmget(&k, "hash", 4);
		cut_all(&b, &bounds);
		keys_fini(&k);
	}
}

/* -------------------------------------------------------- cut once more -- */

static void test_a_cut_is_cut_again_within_itself(void **state)
{
	rbi_bounds bounds = wide;
	rbi_batch b;
	rbi_cut cut;
	rbi_cut again;
	size_t most;
	keys k;

	(void)state;
	keys_init(&k, 60, NULL, 7);
	b = keys_mget(&k);
	bounds.keys = 20;
	cut = rbi_plan_cut(&b, 10, &bounds);
	/* Wider bounds do not make it larger. */
	again = rbi_plan_cut_again(&cut, &wide);
	assert_int_equal(again.first, 10);
	assert_int_equal(again.count, 20);
	assert_int_equal(again.request_bytes, cut.request_bytes);
	for (most = 1; most <= 25; most++) {
		bounds.keys = most;
		again = rbi_plan_cut_again(&cut, &bounds);
		assert_ptr_equal(again.batch, &b);
		assert_int_equal(again.first, 10);
		assert_int_equal(again.count, most < 20 ? most : 20);
		assert_int_equal(again.request_bytes,
				 command_size(&b, 10, again.count));
	}
	assert_int_equal(b.n, 60);
	keys_fini(&k);
}

static void test_one_entry_is_always_cut_again(void **state)
{
	rbi_bounds none = { 1, 0, 0, 0, 1000, 1000 };
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	keys_init(&k, 5, NULL, 7);
	b = keys_mget(&k);
	cut = rbi_plan_cut(&b, 1, &wide);
	assert_int_equal(cut.count, 4);
	assert_int_equal(rbi_plan_cut_again(&cut, &none).count, 1);
	keys_fini(&k);
}

static void test_a_part_of_a_cut_knows_its_bytes(void **state)
{
	rbi_batch batches[2];
	uint64_t seed = 21;
	int round;

	(void)state;
	for (round = 0; round < 500; round++) {
		size_t n = 1 + random_below(&seed, 40);
		size_t lens[40];
		size_t i;
		keys k;

		for (i = 0; i < n; i++)
			lens[i] = random_below(&seed, 300);
		keys_init(&k, n, lens, 0);
		batches[0] = keys_mget(&k);
		batches[1] = keys_hmget(&k, "hash", 4);
		for (i = 0; i < 2; i++) {
			const rbi_batch *b = &batches[i];
			size_t first = random_below(&seed, n);
			rbi_cut cut = rbi_plan_cut(b, first, &wide);
			size_t skip = random_below(&seed, cut.count);
			size_t count =
				1 + random_below(&seed, cut.count - skip);
			rbi_cut part = rbi_plan_part(&cut, skip, count);

			assert_ptr_equal(part.batch, b);
			assert_int_equal(part.first, first + skip);
			assert_int_equal(part.count, count);
			assert_int_equal(part.request_bytes,
					 command_size(b, first + skip, count));
		}
		keys_fini(&k);
	}
}

/* ----------------------------------------------------------- known sizes -- */

/* Cuts it all; no answer of many passes the bound, and none could have taken
 * the next entry too. */
static void check_sized(const rbi_batch *b, const rbi_bounds *bounds)
{
	size_t next = 0;

	while (next < b->n) {
		rbi_cut cut = rbi_plan_cut(b, next, bounds);
		size_t reply = rbi_plan_reply(&cut, 12345);
		size_t sum = 0;
		size_t i;

		assert_in_range(cut.count, 1, b->n - next);
		for (i = next; i < next + cut.count; i++)
			sum += b->sizes[i] + RBI_PLAN_REPLY_FRAME;
		assert_int_equal(reply, sum);
		if (cut.count > 1)
			assert_true(reply <= bounds->reply_bytes);
		next += cut.count;
		if (next < b->n && cut.count < bounds->keys)
			assert_true(sum + b->sizes[next] +
					    RBI_PLAN_REPLY_FRAME >
				    bounds->reply_bytes);
		assert_int_equal(cut.request_bytes,
				 command_size(b, cut.first, cut.count));
	}
}

static void test_known_sizes_bound_answers_exactly(void **state)
{
	uint64_t seed = 22;
	int round;

	(void)state;
	for (round = 0; round < 300; round++) {
		rbi_bounds bounds = wide;
		size_t sizes[60];
		rbi_batch b;
		size_t i;
		keys k;

		keys_init(&k, 60, NULL, 4);
		b = keys_mget(&k);
		for (i = 0; i < 60; i++)
			sizes[i] = random_below(&seed, i % 7 == 0 ? 3000 : 100);
		b.sizes = sizes;
		bounds.keys = 1 + random_below(&seed, 60);
		bounds.reply_bytes = random_below(&seed, 2000);
		/* What was learned says nothing where the sizes are known. */
		bounds.entry_reply = random_below(&seed, 5000);
		bounds.largest = random_below(&seed, 5000);
		check_sized(&b, &bounds);
		keys_fini(&k);
	}
}

static void test_sizes_that_no_memory_holds_travel_alone(void **state)
{
	static const size_t sizes[] = { SIZE_MAX, 0, SIZE_MAX - 3, 1, 1 };
	rbi_bounds bounds = wide;
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	keys_init(&k, 5, NULL, 4);
	b = keys_mget(&k);
	b.sizes = sizes;
	bounds.reply_bytes = 1000;
	cut = rbi_plan_cut(&b, 0, &bounds);
	assert_int_equal(cut.count, 1);
	assert_int_equal(rbi_plan_reply(&cut, 0), SIZE_MAX);
	assert_int_equal(rbi_plan_cut(&b, 1, &bounds).count, 1);
	assert_int_equal(rbi_plan_cut(&b, 2, &bounds).count, 1);
	assert_int_equal(rbi_plan_cut(&b, 3, &bounds).count, 2);
	cut = rbi_plan_part(&cut, 0, 1);
	assert_int_equal(rbi_plan_reply(&cut, 0), SIZE_MAX);
	keys_fini(&k);
}

static void test_without_sizes_an_answer_is_predicted(void **state)
{
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	keys_init(&k, 5, NULL, 4);
	b = keys_mget(&k);
	cut = rbi_plan_cut(&b, 0, &wide);
	assert_int_equal(rbi_plan_reply(&cut, 0), 0);
	assert_int_equal(rbi_plan_reply(&cut, 30), 150);
	keys_fini(&k);
}

static void test_room_is_left_for_one_as_large_as_the_largest(void **state)
{
	static const struct {
		size_t reply_bytes;
		size_t entry_reply;
		size_t largest;
		size_t want;
	} cases[] = {
		{ 1000, 100, 0, 10 },	    { 1000, 100, 500, 5 },
		{ 1000, 100, 901, 1 },	    { 1000, 100, 1000, 1 },
		{ 1000, 100, SIZE_MAX, 1 }, { 1000, 0, 500, 50 },
	};
	rbi_bounds bounds = wide;
	rbi_batch b;
	size_t i;
	keys k;

	(void)state;
	keys_init(&k, 50, NULL, 3);
	b = keys_mget(&k);
	for (i = 0; i < N_OF(cases); i++) {
		bounds.reply_bytes = cases[i].reply_bytes;
		bounds.entry_reply = cases[i].entry_reply;
		bounds.largest = cases[i].largest;
		assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count,
				 cases[i].want);
	}
	keys_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks_are_bounded_by_count),
		cmocka_unit_test(test_one_key_a_chunk),
		cmocka_unit_test(test_the_name_counts_as_an_argument),
		cmocka_unit_test(
			test_too_few_arguments_still_let_one_entry_through),
		cmocka_unit_test(
			test_no_command_passes_a_servers_most_arguments),
		cmocka_unit_test(test_bytes_bound_a_chunk_exactly),
		cmocka_unit_test(
			test_no_chunk_of_many_entries_passes_the_bytes),
		cmocka_unit_test(test_an_entry_too_large_travels_alone),
		cmocka_unit_test(test_a_long_hash_key_leaves_one_field_a_chunk),
		cmocka_unit_test(test_predicted_answers_bound_a_chunk),
		cmocka_unit_test(test_keys_that_end_with_a_nul_are_measured),
		cmocka_unit_test(test_sizes_of_impossible_keys_saturate),
		cmocka_unit_test(test_any_bounds_account_for_every_entry),
		cmocka_unit_test(test_a_cut_is_cut_again_within_itself),
		cmocka_unit_test(test_one_entry_is_always_cut_again),
		cmocka_unit_test(test_a_part_of_a_cut_knows_its_bytes),
		cmocka_unit_test(test_known_sizes_bound_answers_exactly),
		cmocka_unit_test(test_sizes_that_no_memory_holds_travel_alone),
		cmocka_unit_test(test_without_sizes_an_answer_is_predicted),
		cmocka_unit_test(
			test_room_is_left_for_one_as_large_as_the_largest),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}

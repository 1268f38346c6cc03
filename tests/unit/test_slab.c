#include "alloc.h"
#include "count.h"
#include "slab.h"
#include "unit.h"

#include <stdalign.h>

typedef struct fixture {
	rbt_count count;
	rbi_slabs slabs;
} fixture;

static void begin(fixture *f)
{
	rbt_count_init(&f->count);
	rbi_slabs_init(&f->slabs, &f->count.allocator);
}

static void end(fixture *f)
{
	rbi_slabs_fini(&f->slabs);
	assert_int_equal(f->count.live_blocks, 0);
}

/* Uses n bytes of the newest slab, as a receive does; where they are. */
static char *use(fixture *f, const char *bytes, size_t n)
{
	rbi_slab *slab = f->slabs.newest;
	char *at = slab->bytes + slab->len;

	assert_true(slab->cap - slab->len >= n);
	memcpy(at, bytes, n);
	slab->len += n;
	return at;
}

static size_t room(const fixture *f)
{
	return f->slabs.newest->cap - f->slabs.newest->len;
}

static void test_nothing_is_taken_before_the_first_use(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	assert_null(f.slabs.newest);
	assert_int_equal(f.count.asked, 0);
	end(&f);
}

static void test_extending_makes_the_room_that_is_needed(void **state)
{
	static const size_t needs[] = { 1, 100, 8192, 8193, 100000, 10000000 };
	fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(needs); i++) {
		begin(&f);
		assert_status(rbi_slabs_extend(&f.slabs, 0, needs[i]), RB_OK);
		assert_true(room(&f) >= needs[i]);
		memset(f.slabs.newest->bytes, 'x', needs[i]);
		end(&f);
	}
}

static void test_a_slab_with_room_is_used_further(void **state)
{
	fixture f;
	rbi_slab *first;

	(void)state;
	begin(&f);
	assert_status(rbi_slabs_extend(&f.slabs, 0, 10), RB_OK);
	first = f.slabs.newest;
	use(&f, "0123456789", 10);
	assert_status(rbi_slabs_extend(&f.slabs, 10, room(&f)), RB_OK);
	assert_ptr_equal(f.slabs.newest, first);
	assert_int_equal(f.count.allocs, 1);
	end(&f);
}

static void test_used_bytes_stay_and_the_tail_moves(void **state)
{
	fixture f;
	char *kept;

	(void)state;
	begin(&f);
	assert_status(rbi_slabs_extend(&f.slabs, 0, 10), RB_OK);
	kept = use(&f, "kept, tail", 10);
	assert_status(rbi_slabs_extend(&f.slabs, 4, room(&f) + 1), RB_OK);
	assert_memory_equal(kept, "kept, ", 6);
	assert_int_equal(f.slabs.newest->len, 4);
	assert_memory_equal(f.slabs.newest->bytes, "tail", 4);
	assert_int_equal(f.slabs.newest->next->len, 6);
	end(&f);
}

static void test_without_memory_nothing_changes(void **state)
{
	fixture f;
	rbi_slab *first;

	(void)state;
	begin(&f);
	assert_status(rbi_slabs_extend(&f.slabs, 0, 10), RB_OK);
	use(&f, "0123456789", 10);
	first = f.slabs.newest;
	f.count.fail_at = 2;
	f.count.fail_on = 1;
	assert_status(rbi_slabs_extend(&f.slabs, 4, room(&f) + 1),
		      RB_ERR_NOMEM);
	assert_ptr_equal(f.slabs.newest, first);
	assert_int_equal(first->len, 10);
	assert_memory_equal(first->bytes, "0123456789", 10);
	assert_null(rbi_slabs_take(&f.slabs, room(&f)));
	assert_null(rbi_slabs_copy(&f.slabs, first->bytes, room(&f)));
	assert_int_equal(first->len, 10);
	end(&f);
}

static void test_impossible_sizes_are_refused(void **state)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 8,
					SIZE_MAX - 16, SIZE_MAX - 32 };
	fixture f;
	size_t i;

	(void)state;
	begin(&f);
	for (i = 0; i < N_OF(sizes); i++) {
		assert_status(rbi_slabs_extend(&f.slabs, 0, sizes[i]),
			      RB_ERR_NOMEM);
		assert_null(rbi_slabs_take(&f.slabs, sizes[i]));
	}
	assert_null(rbi_slabs_copy(&f.slabs, "", SIZE_MAX));
	assert_null(f.slabs.newest);
	end(&f);
}

static void test_a_small_batch_takes_little(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	assert_status(rbi_slabs_extend(&f.slabs, 0, 1), RB_OK);
	assert_true(f.count.live_bytes <= 16 * 1024);
	end(&f);
}

static void test_slabs_grow_with_what_was_taken(void **state)
{
	fixture f;
	size_t taken = 0;
	size_t cap = 0;

	(void)state;
	begin(&f);
	while (taken < (size_t)4 * 1024 * 1024) {
		assert_status(rbi_slabs_extend(&f.slabs, 0, 1), RB_OK);
		assert_true(f.slabs.newest->cap >= cap);
		cap = f.slabs.newest->cap;
		taken += room(&f);
		f.slabs.newest->len = cap;
	}
	assert_in_range(f.count.allocs, 2, 12);
	assert_true(f.count.live_bytes < 2 * taken);
	end(&f);
}

static void test_objects_are_aligned_and_apart(void **state)
{
	fixture f;
	char *last = NULL;
	size_t size;

	(void)state;
	begin(&f);
	for (size = 1; size < 200; size++) {
		char *ptr = rbi_slabs_take(&f.slabs, size);

		assert_non_null(ptr);
		assert_int_equal((uintptr_t)ptr % alignof(max_align_t), 0);
		memset(ptr, (int)size, size);
		if (last != NULL)
			assert_int_equal((unsigned char)last[size - 2],
					 size - 1);
		last = ptr;
	}
	end(&f);
}

static void test_copies_live_until_the_end(void **state)
{
	fixture f;
	const char *copies[3000];
	size_t i;

	(void)state;
	begin(&f);
	for (i = 0; i < N_OF(copies); i++) {
		copies[i] = rbi_slabs_copy(&f.slabs, "a\0b", 3);
		assert_non_null(copies[i]);
	}
	for (i = 0; i < N_OF(copies); i++)
		assert_memory_equal(copies[i], "a\0b", 4);
	assert_string_equal(rbi_slabs_copy(&f.slabs, NULL, 0), "");
	end(&f);
}

static void test_slabs_can_be_used_again_after_the_end(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	assert_non_null(rbi_slabs_copy(&f.slabs, "a", 1));
	rbi_slabs_fini(&f.slabs);
	assert_int_equal(f.count.live_blocks, 0);
	assert_string_equal(rbi_slabs_copy(&f.slabs, "b", 1), "b");
	end(&f);
}

static void test_without_a_slab_there_is_none_to_keep(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	rbi_slabs_keep_newest(&f.slabs);
	rbi_slabs_reset(&f.slabs);
	assert_null(f.slabs.newest);
	assert_false(rbi_slabs_warm(&f.slabs, 1000000));
	assert_int_equal(f.count.asked, 0);
	end(&f);
}

static void test_resetting_keeps_the_newest_slab_alone_and_empty(void **state)
{
	fixture f;
	rbi_slab *newest;

	(void)state;
	begin(&f);
	assert_status(rbi_slabs_extend(&f.slabs, 0, 10), RB_OK);
	use(&f, "0123456789", 10);
	assert_status(rbi_slabs_extend(&f.slabs, 0, room(&f) + 1), RB_OK);
	use(&f, "0123456789", 10);
	newest = f.slabs.newest;
	assert_int_equal(f.count.live_blocks, 2);
	rbi_slabs_reset(&f.slabs);
	assert_ptr_equal(f.slabs.newest, newest);
	assert_int_equal(newest->len, 0);
	assert_int_equal(f.count.live_blocks, 1);
	end(&f);
}

/* Warms until nothing is left to do. */
static void warm(fixture *f, size_t ahead)
{
	size_t steps = 0;

	while (rbi_slabs_warm(&f->slabs, ahead))
		assert_true(++steps < 1000);
}

static void test_a_spare_slab_is_used_if_it_is_large_enough(void **state)
{
	fixture f;
	rbi_slab *spare;

	(void)state;
	begin(&f);
	assert_status(rbi_slabs_extend(&f.slabs, 0, 10), RB_OK);
	warm(&f, room(&f) + 100);
	spare = f.slabs.spare;
	assert_non_null(spare);
	assert_status(rbi_slabs_extend(&f.slabs, 0, spare->cap + 1), RB_OK);
	assert_ptr_equal(f.slabs.spare, spare);
	assert_ptr_not_equal(f.slabs.newest, spare);
	use(&f, "x", 1);
	assert_status(rbi_slabs_extend(&f.slabs, 0, room(&f) + 1), RB_OK);
	end(&f);
}

static void test_without_memory_for_a_spare_slab_nothing_is_warmed(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	assert_status(rbi_slabs_extend(&f.slabs, 0, 10), RB_OK);
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	warm(&f, room(&f) + 100);
	assert_null(f.slabs.spare);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_taken_before_the_first_use),
		cmocka_unit_test(test_extending_makes_the_room_that_is_needed),
		cmocka_unit_test(test_a_slab_with_room_is_used_further),
		cmocka_unit_test(test_used_bytes_stay_and_the_tail_moves),
		cmocka_unit_test(test_without_memory_nothing_changes),
		cmocka_unit_test(test_impossible_sizes_are_refused),
		cmocka_unit_test(test_a_small_batch_takes_little),
		cmocka_unit_test(test_slabs_grow_with_what_was_taken),
		cmocka_unit_test(test_objects_are_aligned_and_apart),
		cmocka_unit_test(test_copies_live_until_the_end),
		cmocka_unit_test(test_slabs_can_be_used_again_after_the_end),
		cmocka_unit_test(test_without_a_slab_there_is_none_to_keep),
		cmocka_unit_test(
			test_resetting_keeps_the_newest_slab_alone_and_empty),
		cmocka_unit_test(
			test_a_spare_slab_is_used_if_it_is_large_enough),
		cmocka_unit_test(
			test_without_memory_for_a_spare_slab_nothing_is_warmed),
	};

	return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}

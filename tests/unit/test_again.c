#include "again.h"
#include "alloc.h"
#include "count.h"
#include "unit.h"

typedef struct fixture {
	rbt_count count;
	rbi_again again;
} fixture;

static void begin(fixture *f)
{
	rbt_count_init(&f->count);
	rbi_again_init(&f->again, &f->count.allocator);
}

static void end(fixture *f)
{
	rbi_again_fini(&f->again);
	assert_int_equal(f->count.live_blocks, 0);
}

static rbi_parcel parcel_at(size_t position)
{
	rbi_parcel p = { .position = position, .tag = position + 1000 };

	return p;
}

static void add(fixture *f, size_t position, const char *message)
{
	rbi_fate fate = { RB_ERR_SERVER, RB_REJECTED, message };
	rbi_parcel p = parcel_at(position);

	assert_true(rbi_again_reserve(&f->again, 1));
	rbi_again_add(&f->again, &p, &fate);
}

static void check_order(const fixture *f, const size_t *want, size_t n)
{
	size_t i;

	assert_int_equal(f->again.count, n);
	for (i = 0; i < n; i++) {
		const rbi_parcel *p = &f->again.items[i].parcel;

		assert_int_equal(p->position, want[i]);
		assert_int_equal(p->tag, want[i] + 1000);
	}
}

static void test_chunks_wait_in_the_order_of_their_entries(void **state)
{
	static const size_t orders[][4] = {
		{ 1, 2, 3, 4 }, { 4, 3, 2, 1 }, { 2, 1, 4, 3 }, { 3, 4, 1, 2 },
		{ 1, 3, 2, 4 }, { 4, 1, 2, 3 }, { 2, 3, 4, 1 },
	};
	static const size_t want[] = { 1, 2, 3, 4 };
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < N_OF(orders); i++) {
		fixture f;

		begin(&f);
		for (k = 0; k < 4; k++)
			add(&f, orders[i][k], "");
		check_order(&f, want, 4);
		end(&f);
	}
}

static void test_what_is_taken_out_leaves_the_others_in_order(void **state)
{
	static const size_t without_middle[] = { 1, 3 };
	static const size_t last[] = { 3 };
	rbi_waiting w;
	fixture f;

	(void)state;
	begin(&f);
	add(&f, 1, "one");
	add(&f, 2, "two");
	add(&f, 3, "three");
	w = rbi_again_take(&f.again, 1);
	assert_int_equal(w.parcel.position, 2);
	assert_string_equal(w.fate.message, "two");
	check_order(&f, without_middle, 2);
	w = rbi_again_take(&f.again, 0);
	assert_string_equal(w.fate.message, "one");
	check_order(&f, last, 1);
	w = rbi_again_take(&f.again, 0);
	assert_string_equal(w.fate.message, "three");
	assert_status(w.fate.status, RB_ERR_SERVER);
	assert_outcome(w.fate.outcome, RB_REJECTED);
	check_order(&f, NULL, 0);
	end(&f);
}

static void test_adding_what_was_reserved_for_asks_for_no_memory(void **state)
{
	rbi_fate fate = { RB_ERR_IO, RB_NOT_SENT, "" };
	size_t want[100];
	fixture f;
	size_t i;

	(void)state;
	begin(&f);
	assert_true(rbi_again_reserve(&f.again, N_OF(want)));
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	for (i = 0; i < N_OF(want); i++) {
		rbi_parcel p = parcel_at(i);

		assert_true(rbi_again_reserve(&f.again, 1));
		rbi_again_add(&f.again, &p, &fate);
		want[i] = i;
	}
	check_order(&f, want, N_OF(want));
	end(&f);
}

static void test_without_memory_what_waits_still_waits(void **state)
{
	static const size_t want[] = { 1, 2 };
	fixture f;

	(void)state;
	begin(&f);
	add(&f, 2, "");
	add(&f, 1, "");
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	assert_false(rbi_again_reserve(&f.again, 1000));
	assert_false(rbi_again_reserve(&f.again, SIZE_MAX));
	check_order(&f, want, 2);
	end(&f);
}

static void test_many_grow_by_doubling(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f);
	for (i = 0; i < 10000; i++)
		add(&f, i, "");
	assert_true(f.count.allocs + f.count.reallocs < 20);
	for (i = 0; i < 10000; i++)
		assert_int_equal(f.again.items[i].parcel.position, i);
	end(&f);
}

static void test_it_can_be_used_after_its_end(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	add(&f, 7, "");
	rbi_again_fini(&f.again);
	assert_int_equal(f.again.count, 0);
	add(&f, 8, "");
	assert_int_equal(f.again.items[0].parcel.position, 8);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_chunks_wait_in_the_order_of_their_entries),
		cmocka_unit_test(
			test_what_is_taken_out_leaves_the_others_in_order),
		cmocka_unit_test(
			test_adding_what_was_reserved_for_asks_for_no_memory),
		cmocka_unit_test(test_without_memory_what_waits_still_waits),
		cmocka_unit_test(test_many_grow_by_doubling),
		cmocka_unit_test(test_it_can_be_used_after_its_end),
	};

	return cmocka_run_group_tests_name("again", tests, NULL, NULL);
}

/*
 * An array of entries that somebody else cuts up: all of it comes out as one,
 * and reports come back in any order.
 */
#include "alloc.h"
#include "array.h"

#define N 10

/* The parcel as somebody has sorted it: with entries of its own. */
static rbi_parcel moved(const rbi_parcel *p, size_t skip, size_t count,
			rbi_entry *entries, const size_t *numbers)
{
	rbi_parcel part = rbi_parcel_part(p, skip, count);

	memset(entries, 0, count * sizeof(*entries));
	part.entries = entries;
	part.numbers = numbers;
	return part;
}

static void deliver(array *f, const rbi_parcel *p, const char *words)
{
	rb_chunk *chunk = f->feed->ops->report(f->feed, p);

	chunk->message = words;
	assert_status(f->feed->ops->delivered(f->feed, p, chunk), RB_OK);
}

static void test_all_that_is_left_comes_out_as_one(void **state)
{
	array f;
	rbi_parcel p;

	(void)state;
	array_begin(&f, N, 0, 3);
	rbi_array_feed_loosen(&f.array);
	p = array_next(&f);
	assert_int_equal(p.cut.first, 0);
	assert_int_equal(p.cut.count, N);
	assert_ptr_equal(p.cut.batch, &f.batch);
	assert_ptr_equal(p.entries, f.res->entries);
	assert_int_equal(p.position, 0);
	assert_true(f.feed->ended);
	assert_int_equal(array_next(&f).cut.count, 0);
	array_end(&f);
}

static void test_what_was_given_out_is_not_given_again(void **state)
{
	array f;
	rbi_parcel p;

	(void)state;
	array_begin(&f, N, 0, 3);
	(void)array_next(&f);
	rbi_array_feed_loosen(&f.array);
	p = array_next(&f);
	assert_int_equal(p.cut.first, 3);
	assert_int_equal(p.cut.count, N - 3);
	assert_ptr_equal(p.entries, f.res->entries + 3);
	assert_int_equal(p.position, 3);
	array_end(&f);
}

static void test_entries_find_their_way_back(void **state)
{
	static const size_t numbers[2][5] = { { 1, 3, 5, 7, 9 },
					      { 8, 6, 4, 2, 0 } };
	rbi_entry entries[2][5];
	rbi_parcel parts[2];
	rbi_parcel p;
	array f;
	size_t i;

	(void)state;
	array_begin(&f, N, 0, N);
	rbi_array_feed_loosen(&f.array);
	p = array_next(&f);
	assert_true(f.feed->ops->divide(f.feed, &p, 5));
	for (i = 0; i < 2; i++)
		parts[i] = moved(&p, 5 * i, 5, entries[i], numbers[i]);
	rbi_entry_set(&entries[1][2], RBI_STATE_VALUE, "four", 4);
	deliver(&f, &parts[1], "second");
	deliver(&f, &parts[0], "first");
	assert_int_equal(rb_result_chunk(f.res, 0)->first, 8);
	assert_ptr_equal(rb_result_chunk(f.res, 0)->entries, numbers[1]);
	assert_int_equal(rb_result_chunk(f.res, 1)->first, 1);
	for (i = 0; i < N; i++) {
		if (i != 4)
			assert_string_equal(rb_result_message(f.res, i),
					    i % 2 == 0 ? "second" : "first");
	}
	assert_string_equal(rb_result_value(f.res, 4).data, "four");
	array_end(&f);
}

/* Where the order was theirs already, entries were never moved. */
static void test_parts_without_numbers_are_reported_where_they_are(void **state)
{
	rbi_parcel head;
	rbi_parcel tail;
	rbi_parcel p;
	array f;

	(void)state;
	array_begin(&f, N, 0, N);
	rbi_array_feed_loosen(&f.array);
	p = array_next(&f);
	assert_true(f.feed->ops->divide(f.feed, &p, 4));
	head = rbi_parcel_part(&p, 0, 4);
	tail = rbi_parcel_part(&p, 4, N - 4);
	deliver(&f, &tail, "tail");
	deliver(&f, &head, "head");
	assert_int_equal(rb_result_chunk(f.res, 0)->first, 4);
	assert_null(rb_result_chunk(f.res, 0)->entries);
	assert_string_equal(rb_result_message(f.res, 3), "head");
	assert_string_equal(rb_result_message(f.res, 4), "tail");
	array_end(&f);
}

static void test_a_part_keeps_the_numbers_and_slots_of_its_entries(void **state)
{
	static const size_t numbers[N] = { 0 };
	static const uint16_t slots[N] = { 0 };
	rbi_parcel part;
	rbi_parcel p;
	array f;

	(void)state;
	array_begin(&f, N, 0, N);
	rbi_array_feed_loosen(&f.array);
	p = array_next(&f);
	p.numbers = numbers;
	p.slots = slots;
	part = rbi_parcel_part(&p, 3, 2);
	assert_ptr_equal(part.numbers, numbers + 3);
	assert_ptr_equal(part.slots, slots + 3);
	assert_ptr_equal(part.entries, p.entries + 3);
	assert_int_equal(part.position, 3);
	assert_int_equal(part.cut.count, 2);
	array_end(&f);
}

static void test_what_was_begun_by_other_rules_goes_on(void **state)
{
	rbi_parcel given[2];
	rbi_parcel rest;
	array f;

	(void)state;
	array_begin(&f, N, 0, 3);
	given[0] = array_next(&f);
	given[1] = array_next(&f);
	f.feed->ops->report(f.feed, &given[0])->message = "as before";
	rbi_array_feed_reopen(&f.array, &given[1]);
	rbi_array_feed_loosen(&f.array);
	rest = array_next(&f);
	deliver(&f, &rest, "the rest");
	deliver(&f, &given[1], "anew");
	assert_int_equal(rb_result_chunks(f.res), 3);
	assert_string_equal(rb_result_message(f.res, 0), "as before");
	assert_string_equal(rb_result_message(f.res, 3), "anew");
	assert_string_equal(rb_result_message(f.res, 6), "the rest");
	array_end(&f);
}

/* ------------------------------------------------------------------ rest -- */

static void test_what_was_never_given_out_is_told_why(void **state)
{
	rbi_parcel given;
	array f;
	size_t i;

	(void)state;
	array_begin(&f, N, 0, 3);
	given = array_next(&f);
	rbi_array_feed_loosen(&f.array);
	f.feed->ops->rest(f.feed, &f.bounds, "because");
	assert_true(f.feed->ended);
	assert_int_equal(array_next(&f).cut.count, 0);
	for (i = 3; i < N; i++) {
		assert_string_equal(rb_result_message(f.res, i), "because");
		assert_status(rb_result_status(f.res, i), RB_ERR_SKIPPED);
	}
	assert_int_equal(given.cut.count, 3);
	assert_string_equal(rb_result_message(f.res, 0), "");
	array_end(&f);
}

static void test_there_may_be_no_rest(void **state)
{
	array f;

	(void)state;
	array_begin(&f, N, 0, 3);
	rbi_array_feed_loosen(&f.array);
	(void)array_next(&f);
	f.feed->ops->rest(f.feed, &f.bounds, "because");
	assert_int_equal(rb_result_chunks(f.res), 0);
	array_end(&f);
}

/* ---------------------------------------------------------------- memory -- */

static void test_without_memory_nothing_is_given_out(void **state)
{
	rbi_parcel p;
	array f;

	(void)state;
	array_begin(&f, N, 0, 3);
	rbi_array_feed_loosen(&f.array);
	f.count.fail_at = f.count.asked + 1;
	assert_status(f.feed->ops->next(f.feed, &f.bounds, &p), RB_ERR_NOMEM);
	assert_string_equal(f.feed->problem, "out of memory");
	assert_int_equal(p.cut.count, 0);
	assert_false(f.feed->ended);
	/* It can be had later. */
	assert_int_equal(array_next(&f).cut.count, N);
	array_end(&f);
}

static void test_without_memory_nothing_is_divided(void **state)
{
	rbi_parcel p;
	array f;
	size_t n = 1;

	(void)state;
	array_begin(&f, N, 0, N);
	rbi_array_feed_loosen(&f.array);
	p = array_next(&f);
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	while (n < N && f.feed->ops->divide(f.feed, &p, 1)) {
		rbi_parcel head = rbi_parcel_part(&p, 0, 1);

		p = rbi_parcel_part(&p, 1, p.cut.count - 1);
		deliver(&f, &head, "head");
		n++;
	}
	assert_true(n < N);
	/* What is left is still reported, as one. */
	deliver(&f, &p, "tail");
	assert_int_equal(rb_result_chunks(f.res), n);
	assert_string_equal(rb_result_message(f.res, N - 1), "tail");
	array_end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_that_is_left_comes_out_as_one),
		cmocka_unit_test(test_what_was_given_out_is_not_given_again),
		cmocka_unit_test(test_entries_find_their_way_back),
		cmocka_unit_test(
			test_parts_without_numbers_are_reported_where_they_are),
		cmocka_unit_test(
			test_a_part_keeps_the_numbers_and_slots_of_its_entries),
		cmocka_unit_test(test_what_was_begun_by_other_rules_goes_on),
		cmocka_unit_test(test_what_was_never_given_out_is_told_why),
		cmocka_unit_test(test_there_may_be_no_rest),
		cmocka_unit_test(test_without_memory_nothing_is_given_out),
		cmocka_unit_test(test_without_memory_nothing_is_divided),
	};

	return cmocka_run_group_tests_name("feed_loose", tests, NULL, NULL);
}

/*
 * An array of entries as a feed: chunks out in order, reports in order.
 */
#include "alloc.h"
#include "array.h"

/* The reports cover all entries once. */
static void check_reports(const array *f, const size_t *counts, size_t n)
{
	size_t at = 0;
	size_t i;

	assert_int_equal(rb_result_chunks(f->res), n);
	for (i = 0; i < n; i++) {
		const rb_chunk *chunk = rb_result_chunk(f->res, i);

		assert_int_equal(chunk->first, at);
		assert_int_equal(chunk->count, counts[i]);
		at += counts[i];
	}
	assert_int_equal(at, f->batch.n);
}

static void test_chunks_come_out_in_order(void **state)
{
	static const size_t counts[] = { 4, 4, 2 };
	array f;
	size_t i;

	(void)state;
	array_begin(&f, 10, 1, 4);
	for (i = 0; i < 3; i++) {
		rbi_parcel parcel;

		assert_false(f.feed->ended);
		parcel = array_next(&f);
		assert_int_equal(parcel.cut.first, 4 * i);
		assert_int_equal(parcel.cut.count, counts[i]);
		assert_ptr_equal(parcel.entries, f.res->entries + 4 * i);
		assert_ptr_equal(f.feed->ops->report(f.feed, &parcel),
				 &f.res->chunks[i]);
	}
	assert_true(f.feed->ended);
	assert_int_equal(array_next(&f).cut.count, 0);
	check_reports(&f, counts, 3);
	array_end(&f);
}

static void test_an_array_of_nothing_has_ended(void **state)
{
	array f;

	(void)state;
	array_begin(&f, 0, 1, 4);
	assert_true(f.feed->ended);
	assert_int_equal(array_next(&f).cut.count, 0);
	array_end(&f);
}

static void test_reports_are_found_after_splits_before_them(void **state)
{
	static const size_t counts[] = { 1, 3, 2, 2, 2 };
	rbi_parcel parcels[3];
	rb_chunk *report;
	array f;
	size_t i;

	(void)state;
	array_begin(&f, 10, 1, 4);
	for (i = 0; i < 3; i++)
		parcels[i] = array_next(&f);
	for (i = 0; i < 2; i++) {
		rbi_parcel head = rbi_parcel_part(&parcels[i], 0, i + 1);
		rbi_parcel tail = rbi_parcel_part(&parcels[i], i + 1, 3 - i);

		assert_true(f.feed->ops->divide(f.feed, &parcels[i], i + 1));
		assert_int_equal(head.position, parcels[i].position);
		assert_int_equal(tail.position, parcels[i].position + i + 1);
		report = f.feed->ops->report(f.feed, &head);
		assert_int_equal(report->first, head.position);
		assert_int_equal(report->count, i + 1);
		report = f.feed->ops->report(f.feed, &tail);
		assert_int_equal(report->first, tail.position);
		assert_int_equal(report->count, 3 - i);
	}
	report = f.feed->ops->report(f.feed, &parcels[2]);
	assert_int_equal(report->first, 8);
	check_reports(&f, counts, 5);
	array_end(&f);
}

static void test_the_rest_is_cut_and_told_why(void **state)
{
	static const size_t counts[] = { 4, 4, 2 };
	array f;
	size_t i;

	(void)state;
	array_begin(&f, 10, 1, 4);
	(void)array_next(&f);
	f.feed->ops->rest(f.feed, &f.bounds, "because");
	assert_true(f.feed->ended);
	check_reports(&f, counts, 3);
	for (i = 1; i < 3; i++) {
		const rb_chunk *chunk = rb_result_chunk(f.res, i);

		assert_string_equal(chunk->message, "because");
		assert_status(chunk->status, RB_ERR_SKIPPED);
		assert_outcome(chunk->outcome, RB_NOT_SENT);
		assert_int_equal(
			chunk->request_bytes,
			chunk_size(&f.batch, chunk->first, chunk->count));
	}
	assert_int_equal(array_next(&f).cut.count, 0);
	array_end(&f);
}

static void test_without_memory_the_rest_is_one_report(void **state)
{
	array f;
	rbi_parcel parcel;
	size_t total = 0;
	size_t i;

	(void)state;
	array_begin(&f, 1000, 1, 1);
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	while (f.feed->ops->next(f.feed, &f.bounds, &parcel) == RB_OK)
		total += parcel.cut.count;
	assert_true(total < 1000);
	assert_non_null(f.feed->problem);
	f.feed->ops->rest(f.feed, &f.bounds, "no memory");
	total = 0;
	for (i = 0; i < rb_result_chunks(f.res); i++) {
		assert_int_equal(rb_result_chunk(f.res, i)->first, total);
		total += rb_result_chunk(f.res, i)->count;
	}
	assert_int_equal(total, 1000);
	array_end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks_come_out_in_order),
		cmocka_unit_test(test_an_array_of_nothing_has_ended),
		cmocka_unit_test(
			test_reports_are_found_after_splits_before_them),
		cmocka_unit_test(test_the_rest_is_cut_and_told_why),
		cmocka_unit_test(test_without_memory_the_rest_is_one_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A result whose reports stand in any order, and of any entries.
 */
#include "alloc.h"
#include "count.h"
#include "result.h"
#include "unit.h"

typedef struct fixture {
	rbt_count count;
	rb_result *res;
} fixture;

static void begin(fixture *f, size_t n, size_t chunks)
{
	rbt_count_init(&f->count);
	f->res = rbi_result_new(&f->count.allocator, n, chunks, "node");
	assert_non_null(f->res);
}

static void end(fixture *f)
{
	rb_result_free(f->res);
	assert_int_equal(f->count.live_blocks, 0);
}

/* A report of these entries, in these words. */
static rb_chunk *report(fixture *f, const size_t *numbers, size_t n,
			const char *words)
{
	rb_chunk *chunk;

	assert_true(rbi_result_promise(f->res));
	chunk = rbi_result_append(f->res, numbers[0], n, numbers);
	chunk->message = words;
	return chunk;
}

static const size_t evens[] = { 4, 0, 2 };
static const size_t odds[] = { 1, 5, 3 };

static void test_each_entry_knows_its_report(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f, 7, 0);
	rbi_result_loosen(f.res);
	rbi_result_label(f.res, report(&f, evens, 3, "even"));
	rbi_result_label(f.res, report(&f, odds, 3, "odd"));
	for (i = 0; i < 6; i++)
		assert_string_equal(rb_result_message(f.res, i),
				    i % 2 == 0 ? "even" : "odd");
	assert_int_equal(rb_result_chunk(f.res, 0)->first, 4);
	assert_ptr_equal(rb_result_chunk(f.res, 1)->entries, odds);
	/* One that nothing was said of. */
	assert_string_equal(rb_result_message(f.res, 6), "");
	assert_status(rb_result_status(f.res, 6), RB_ERR_SKIPPED);
	assert_outcome(rb_result_outcome(f.res, 6), RB_NOT_SENT);
	end(&f);
}

static void test_what_was_answered_is_not_overwritten(void **state)
{
	fixture f;
	rb_chunk *chunk;

	(void)state;
	begin(&f, 6, 0);
	rbi_result_loosen(f.res);
	rbi_entry_set(&f.res->entries[2], RBI_STATE_VALUE, "v", 1);
	chunk = report(&f, evens, 3, "lost");
	chunk->status = RB_ERR_IO;
	chunk->outcome = RB_UNKNOWN;
	rbi_result_label(f.res, chunk);
	rbi_result_label(f.res, report(&f, odds, 3, "skipped"));
	assert_status(rb_result_status(f.res, 2), RB_OK);
	assert_string_equal(rb_result_value(f.res, 2).data, "v");
	assert_status(rb_result_status(f.res, 4), RB_ERR_IO);
	assert_outcome(rb_result_outcome(f.res, 0), RB_UNKNOWN);
	rbi_result_seal(f.res);
	assert_int_equal(rb_result_failed(f.res), 5);
	end(&f);
}

static void test_numbers_of_loose_reports_add_up(void **state)
{
	fixture f;

	(void)state;
	begin(&f, 6, 0);
	rbi_result_loosen(f.res);
	report(&f, evens, 3, "")->number = 2;
	report(&f, odds, 3, "")->number = 3;
	rbi_result_seal(f.res);
	assert_int_equal(rb_result_total(f.res), 5);
	end(&f);
}

static void test_reports_that_stand_are_labelled(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f, 5, 2);
	f.res->chunks[rbi_result_add(f.res, 0, 2)].message = "one";
	f.res->chunks[rbi_result_add(f.res, 2, 3)].message = "two";
	rbi_result_loosen(f.res);
	for (i = 0; i < 5; i++)
		assert_string_equal(rb_result_message(f.res, i),
				    i < 2 ? "one" : "two");
	end(&f);
}

static void test_a_report_that_is_reopened_can_be_given_anew(void **state)
{
	static const size_t one[] = { 2 };
	static const size_t other[] = { 1 };
	fixture f;
	size_t asked;

	(void)state;
	begin(&f, 4, 3);
	f.res->chunks[rbi_result_add(f.res, 0, 1)].message = "before";
	(void)rbi_result_add(f.res, 1, 2);
	f.res->chunks[rbi_result_add(f.res, 3, 1)].message = "behind";
	rbi_result_reopen(f.res, rbi_result_find(f.res, 2));
	assert_int_equal(rb_result_chunks(f.res), 2);
	rbi_result_loosen(f.res);
	assert_string_equal(rb_result_message(f.res, 0), "before");
	assert_string_equal(rb_result_message(f.res, 1), "");
	assert_string_equal(rb_result_message(f.res, 3), "behind");
	/* There is room for it without any more memory. */
	asked = f.count.asked;
	rbi_result_append(f.res, 2, 1, one)->message = "anew";
	assert_int_equal(f.count.asked, asked);
	rbi_result_label(f.res, rb_result_chunk(f.res, 2));
	rbi_result_label(f.res, report(&f, other, 1, "alone"));
	assert_string_equal(rb_result_message(f.res, 1), "alone");
	assert_string_equal(rb_result_message(f.res, 2), "anew");
	assert_string_equal(rb_result_message(f.res, 3), "behind");
	end(&f);
}

static void test_what_is_unset_is_labelled_again(void **state)
{
	fixture f;

	(void)state;
	begin(&f, 6, 0);
	rbi_result_loosen(f.res);
	rbi_entry_set(&f.res->entries[2], RBI_STATE_VALUE, "v", 1);
	rbi_result_label(f.res, report(&f, odds, 3, "odd"));
	rbi_result_label(f.res, report(&f, evens, 3, "even"));
	rbi_result_unset(f.res);
	assert_null(rb_result_value(f.res, 2).data);
	assert_string_equal(rb_result_message(f.res, 2), "even");
	assert_string_equal(rb_result_message(f.res, 5), "odd");
	end(&f);
}

/* ---------------------------------------------------------------- memory -- */

static void test_what_was_promised_has_room(void **state)
{
	fixture f;
	size_t n;
	size_t i;

	(void)state;
	begin(&f, 100, 0);
	rbi_result_loosen(f.res);
	for (n = 0; n < 40; n++)
		assert_true(rbi_result_promise(f.res));
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	while (rbi_result_promise(f.res))
		assert_true(++n < 100);
	/* All of these, and one more for the rest. */
	for (i = 0; i <= n; i++)
		rbi_result_label(
			f.res,
			rbi_result_append(f.res, i, i < n ? 1 : 100 - n, NULL));
	assert_int_equal(rb_result_chunks(f.res), n + 1);
	assert_true(f.res->nchunks <= f.res->chunk_cap);
	for (i = 0; i < 100; i++)
		assert_status(rb_result_status(f.res, i), RB_ERR_SKIPPED);
	assert_int_equal(f.res->promised, 0);
	end(&f);
}

/* ----------------------------------------------------------------- parts -- */

static rb_result *part_of(fixture *f, uint64_t each)
{
	rb_result *part = rbi_result_new(&f->count.allocator, 0, 0, "part");

	assert_non_null(part);
	part->stats.commands = each;
	part->stats.keys = 10 * each;
	part->stats.request_bytes = 100 * each;
	part->stats.reply_bytes = 1000 * each;
	part->stats.round_trips = each;
	part->stats.retries = 2 * each;
	part->stats.splits = 3 * each;
	part->stats.redirects = 4 * each;
	part->stats.reconnects = 5 * each;
	return part;
}

static void test_what_parts_cost_is_added_up(void **state)
{
	fixture f;
	const rb_stats *s;

	(void)state;
	begin(&f, 0, 0);
	s = &f.res->stats;
	rbi_result_adopt(f.res, part_of(&f, 1));
	rbi_result_adopt(f.res, part_of(&f, 4));
	rbi_result_adopt(f.res, part_of(&f, 2));
	assert_int_equal(s->commands, 7);
	assert_int_equal(s->keys, 70);
	assert_int_equal(s->request_bytes, 700);
	assert_int_equal(s->reply_bytes, 7000);
	/* They were made side by side. */
	assert_int_equal(s->round_trips, 4);
	assert_int_equal(s->retries, 14);
	assert_int_equal(s->splits, 21);
	assert_int_equal(s->redirects, 28);
	assert_int_equal(s->reconnects, 35);
	end(&f);
}

static void test_entries_may_point_into_parts(void **state)
{
	rb_result *part;
	const char *text;
	fixture f;

	(void)state;
	begin(&f, 1, 1);
	part = part_of(&f, 1);
	text = rbi_result_note(part, RB_ERR_IO, "kept in a part");
	rbi_result_adopt(f.res, part);
	rbi_result_adopt(f.res, part_of(&f, 1));
	rbi_entry_set(&f.res->entries[0], RBI_STATE_VALUE, text, strlen(text));
	assert_string_equal(rb_result_value(f.res, 0).data, "kept in a part");
	end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_entry_knows_its_report),
		cmocka_unit_test(test_what_was_answered_is_not_overwritten),
		cmocka_unit_test(test_numbers_of_loose_reports_add_up),
		cmocka_unit_test(test_reports_that_stand_are_labelled),
		cmocka_unit_test(
			test_a_report_that_is_reopened_can_be_given_anew),
		cmocka_unit_test(test_what_is_unset_is_labelled_again),
		cmocka_unit_test(test_what_was_promised_has_room),
		cmocka_unit_test(test_what_parts_cost_is_added_up),
		cmocka_unit_test(test_entries_may_point_into_parts),
	};

	return cmocka_run_group_tests_name("result_loose", tests, NULL, NULL);
}

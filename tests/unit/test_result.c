#include "alloc.h"
#include "count.h"
#include "result.h"
#include "unit.h"

#include <stdio.h>

static rb_result *new_result(size_t n, size_t chunks)
{
	rb_result *res =
		rbi_result_new(&rbi_alloc_default, n, chunks, "node:1");

	assert_non_null(res);
	return res;
}

static rb_chunk *add(rb_result *res, size_t first, size_t count)
{
	assert_true(rbi_result_reserve(res));
	return &res->chunks[rbi_result_add(res, first, count)];
}

static void answer(rb_chunk *chunk, rb_status status)
{
	chunk->status = status;
	chunk->outcome = RB_ANSWERED;
}

/* -------------------------------------------------------------- entries -- */

static void test_a_new_result_has_entries_that_were_not_tried(void **state)
{
	rb_result *res = new_result(3, 1);
	size_t i;

	(void)state;
	assert_int_equal(rb_result_count(res), 3);
	assert_int_equal(rb_result_chunks(res), 0);
	for (i = 0; i < 3; i++) {
		assert_null(rb_result_value(res, i).data);
		assert_int_equal(rb_result_value(res, i).len, 0);
		assert_status(rb_result_status(res, i), RB_ERR_SKIPPED);
		assert_outcome(rb_result_outcome(res, i), RB_NOT_SENT);
	}
	rb_result_free(res);
}

static void test_values_nil_and_empty_are_three_things(void **state)
{
	rb_result *res = new_result(3, 1);

	(void)state;
	answer(add(res, 0, 3), RB_OK);
	rbi_entry_set(&res->entries[0], RBI_STATE_VALUE, "a\0b", 3);
	rbi_entry_set(&res->entries[1], RBI_STATE_NIL, NULL, 0);
	rbi_entry_set(&res->entries[2], RBI_STATE_VALUE, "", 0);
	rbi_result_seal(res);
	assert_int_equal(rb_result_value(res, 0).len, 3);
	assert_memory_equal(rb_result_value(res, 0).data, "a\0b", 3);
	assert_null(rb_result_value(res, 1).data);
	assert_non_null(rb_result_value(res, 2).data);
	assert_int_equal(rb_result_value(res, 2).len, 0);
	assert_status(rb_result_status(res, 1), RB_OK);
	assert_outcome(rb_result_outcome(res, 1), RB_ANSWERED);
	assert_string_equal(rb_result_message(res, 1), "");
	assert_int_equal(rb_result_failed(res), 0);
	rb_result_free(res);
}

static void test_lengths_up_to_the_largest_value_fit(void **state)
{
	rb_result *res = new_result(1, 1);
	size_t len = (size_t)512 * 1024 * 1024;

	(void)state;
	rbi_entry_set(&res->entries[0], RBI_STATE_VALUE, "x", len);
	assert_int_equal(rb_result_value(res, 0).len, len);
	assert_int_equal(rbi_entry_state(&res->entries[0]), RBI_STATE_VALUE);
	rb_result_free(res);
}

static void test_an_entry_that_failed_alone_says_why(void **state)
{
	static const struct {
		rbi_state state;
		const char *words;
		rb_status want;
		rb_outcome outcome;
	} cases[] = {
		{ RBI_STATE_ERROR, "upstream failure", RB_ERR_SERVER,
		  RB_REJECTED },
		{ RBI_STATE_SHAPE, "answered by an integer", RB_ERR_PROTOCOL,
		  RB_ANSWERED },
	};
	rb_result *res = new_result(N_OF(cases) + 1, 1);
	size_t i;

	(void)state;
	answer(add(res, 0, N_OF(cases) + 1), RB_ERR_PARTIAL);
	for (i = 0; i < N_OF(cases); i++) {
		rbi_entry_set(&res->entries[i], cases[i].state, cases[i].words,
			      0);
		assert_status(rb_result_status(res, i), cases[i].want);
		assert_outcome(rb_result_outcome(res, i), cases[i].outcome);
		assert_string_equal(rb_result_message(res, i), cases[i].words);
		assert_null(rb_result_value(res, i).data);
	}
	rbi_entry_set(&res->entries[i], RBI_STATE_NIL, NULL, 0);
	rbi_result_seal(res);
	assert_int_equal(rb_result_failed(res), N_OF(cases));
	rb_result_free(res);
}

static void test_a_long_value_fails_by_its_limit(void **state)
{
	rb_result *res = new_result(1, 1);

	(void)state;
	answer(add(res, 0, 1), RB_ERR_PARTIAL);
	rbi_entry_set(&res->entries[0], RBI_STATE_LONG, "too long", 0);
	assert_status(rb_result_status(res, 0), RB_ERR_LIMIT);
	assert_null(rb_result_value(res, 0).data);
	assert_string_equal(rb_result_message(res, 0), "too long");
	rb_result_free(res);
}

static void test_an_unset_entry_fared_as_its_chunk(void **state)
{
	rb_result *res = new_result(6, 3);
	rb_chunk *chunk;

	(void)state;
	answer(add(res, 0, 2), RB_OK);
	rbi_entry_set(&res->entries[0], RBI_STATE_VALUE, "a", 1);
	rbi_entry_set(&res->entries[1], RBI_STATE_NIL, NULL, 0);
	chunk = add(res, 2, 3);
	chunk->status = RB_ERR_IO;
	chunk->outcome = RB_UNKNOWN;
	chunk->message = "gone";
	rbi_entry_set(&res->entries[2], RBI_STATE_VALUE, "c", 1);
	add(res, 5, 1)->message = "why not";
	rbi_result_seal(res);

	assert_status(rb_result_status(res, 2), RB_OK);
	assert_status(rb_result_status(res, 3), RB_ERR_IO);
	assert_outcome(rb_result_outcome(res, 4), RB_UNKNOWN);
	assert_string_equal(rb_result_message(res, 4), "gone");
	assert_status(rb_result_status(res, 5), RB_ERR_SKIPPED);
	assert_outcome(rb_result_outcome(res, 5), RB_NOT_SENT);
	assert_string_equal(rb_result_message(res, 5), "why not");
	assert_int_equal(rb_result_failed(res), 3);
	rb_result_free(res);
}

static void test_each_entry_finds_its_chunk(void **state)
{
	rb_result *res = new_result(1000, 1);
	char words[32][8];
	size_t first = 0;
	size_t c;
	size_t i;

	(void)state;
	for (c = 0; c < 32; c++) {
		size_t count = c < 31 ? 1 + c * 2 : 1000 - first;

		snprintf(words[c], sizeof(words[c]), "c%zu", c);
		add(res, first, count)->message = words[c];
		first += count;
	}
	for (c = 0; c < 32; c++) {
		const rb_chunk *chunk = rb_result_chunk(res, c);

		for (i = chunk->first; i < chunk->first + chunk->count; i++)
			assert_string_equal(rb_result_message(res, i),
					    words[c]);
	}
	rb_result_free(res);
}

static void test_out_of_range_is_harmless(void **state)
{
	static const size_t outside[] = { 2, 3, SIZE_MAX };
	rb_result *res = new_result(2, 1);
	size_t i;

	(void)state;
	answer(add(res, 0, 2), RB_OK);
	for (i = 0; i < N_OF(outside); i++) {
		assert_null(rb_result_value(res, outside[i]).data);
		assert_status(rb_result_status(res, outside[i]),
			      RB_ERR_INVALID);
		assert_outcome(rb_result_outcome(res, outside[i]), RB_NOT_SENT);
		assert_string_equal(rb_result_message(res, outside[i]), "");
		assert_null(rb_result_chunk(res, outside[i]));
	}
	assert_null(rb_result_chunk(res, 1));
	rb_result_free(res);
}

static void test_no_result_is_harmless(void **state)
{
	rb_stats stats;

	(void)state;
	memset(&stats, 0, sizeof(stats));
	assert_int_equal(rb_result_count(NULL), 0);
	assert_int_equal(rb_result_failed(NULL), 0);
	assert_int_equal(rb_result_chunks(NULL), 0);
	assert_null(rb_result_chunk(NULL, 0));
	assert_null(rb_result_value(NULL, 0).data);
	assert_status(rb_result_status(NULL, 0), RB_ERR_INVALID);
	assert_outcome(rb_result_outcome(NULL, 0), RB_NOT_SENT);
	assert_string_equal(rb_result_message(NULL, 0), "");
	assert_status(rb_result_stats(NULL, &stats), RB_ERR_INVALID);
	rb_result_free(NULL);
}

static void test_an_empty_result_has_nothing(void **state)
{
	rb_result *res = new_result(0, 0);

	(void)state;
	rbi_result_seal(res);
	assert_int_equal(rb_result_count(res), 0);
	assert_int_equal(rb_result_chunks(res), 0);
	assert_status(rb_result_status(res, 0), RB_ERR_INVALID);
	rb_result_free(res);
}

/* -------------------------------------------------------------- reports -- */

static void test_a_new_report_is_of_a_chunk_not_sent(void **state)
{
	rb_result *res = new_result(5, 1);
	const rb_chunk *chunk = add(res, 2, 3);

	(void)state;
	assert_int_equal(chunk->first, 2);
	assert_int_equal(chunk->count, 3);
	assert_null(chunk->entries);
	assert_status(chunk->status, RB_ERR_SKIPPED);
	assert_outcome(chunk->outcome, RB_NOT_SENT);
	assert_string_equal(chunk->message, "");
	assert_string_equal(chunk->node, "node:1");
	assert_int_equal(chunk->attempts, 0);
	assert_int_equal(chunk->request_bytes, 0);
	assert_int_equal(chunk->elapsed_us, 0);
	rb_result_free(res);
}

static void test_more_reports_than_expected_fit(void **state)
{
	rb_result *res = new_result(5000, 1);
	size_t i;

	(void)state;
	for (i = 0; i < 5000; i++)
		add(res, i, 1);
	assert_int_equal(rb_result_chunks(res), 5000);
	for (i = 0; i < 5000; i++)
		assert_int_equal(rb_result_chunk(res, i)->first, i);
	rb_result_free(res);
}

static void test_without_memory_one_last_report_fits(void **state)
{
	rbt_count count;
	rb_result *res;
	size_t added = 0;

	(void)state;
	rbt_count_init(&count);
	res = rbi_result_new(&count.allocator, 100, 3, "n");
	assert_non_null(res);
	count.fail_at = count.asked + 1;
	count.fail_on = 1;
	while (rbi_result_reserve(res)) {
		rbi_result_add(res, added++, 1);
		assert_true(added < 100);
	}
	assert_true(added >= 1);
	assert_true(rb_result_chunks(res) < res->chunk_cap);
	rbi_result_add(res, added, 100 - added);
	assert_status(rb_result_status(res, 99), RB_ERR_SKIPPED);
	assert_int_equal(rb_result_chunks(res), added + 1);
	rb_result_free(res);
	assert_int_equal(count.live_blocks, 0);
}

static void test_notes_are_copies(void **state)
{
	rb_result *res = new_result(1, 1);
	char words[] = "some words";
	const char *note = rbi_result_note(res, RB_ERR_IO, words);

	(void)state;
	memset(words, 'x', sizeof(words) - 1);
	assert_string_equal(note, "some words");
	rb_result_free(res);
}

static void test_without_memory_a_note_is_that_of_its_status(void **state)
{
	char words[20000];
	rbt_count count;
	rb_result *res;

	(void)state;
	memset(words, 'w', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	rbt_count_init(&count);
	res = rbi_result_new(&count.allocator, 1, 1, "n");
	assert_non_null(res);
	count.fail_at = count.asked + 1;
	assert_string_equal(rbi_result_note(res, RB_ERR_IO, words),
			    rb_status_text(RB_ERR_IO));
	rb_result_free(res);
}

static void test_without_memory_there_is_no_result_and_no_leak(void **state)
{
	size_t fail_at;

	(void)state;
	for (fail_at = 1; fail_at <= 4; fail_at++) {
		rbt_count count;

		rbt_count_init(&count);
		count.fail_at = fail_at;
		assert_null(rbi_result_new(&count.allocator, 10, 1, "n"));
		assert_int_equal(count.live_blocks, 0);
	}
}

static void test_a_result_too_large_to_be_is_refused(void **state)
{
	(void)state;
	assert_null(rbi_result_new(&rbi_alloc_default, SIZE_MAX / 8, 1, "n"));
}

/* ---------------------------------------------------------------- stats -- */

static void test_stats_are_copied(void **state)
{
	rb_result *res = new_result(1, 1);
	rb_stats stats = { .struct_size = sizeof(stats) };

	(void)state;
	res->stats.commands = 3;
	res->stats.reconnects = 9;
	assert_status(rb_result_stats(res, &stats), RB_OK);
	assert_int_equal(stats.commands, 3);
	assert_int_equal(stats.reconnects, 9);
	assert_int_equal(stats.struct_size, sizeof(stats));
	memset(&stats, 0, sizeof(stats));
	assert_status(rb_result_stats(res, &stats), RB_OK);
	assert_int_equal(stats.commands, 3);
	rb_result_free(res);
}

static void test_stats_of_other_sizes_are_judged(void **state)
{
	struct {
		rb_stats stats;
		uint64_t more;
	} newer;
	rb_result *res = new_result(1, 1);

	(void)state;
	memset(&newer, 0xff, sizeof(newer));
	newer.stats.struct_size = sizeof(newer);
	assert_status(rb_result_stats(res, &newer.stats), RB_OK);
	assert_int_equal(newer.stats.struct_size, sizeof(newer));
	assert_int_equal(newer.stats.commands, 0);
	newer.stats.struct_size = sizeof(rb_stats) - 1;
	assert_status(rb_result_stats(res, &newer.stats), RB_ERR_INVALID);
	assert_status(rb_result_stats(res, NULL), RB_ERR_INVALID);
	rb_result_free(res);
}

static void test_freeing_gives_back_everything(void **state)
{
	rbt_count count;
	rb_result *res;

	(void)state;
	rbt_count_init(&count);
	res = rbi_result_new(&count.allocator, 10, 1, "n");
	assert_non_null(res);
	assert_status(rbi_slabs_extend(&res->bytes, 0, 100000), RB_OK);
	rbi_result_note(res, RB_ERR_IO, "words");
	rb_result_free(res);
	assert_int_equal(count.live_blocks, 0);
}

static void test_an_entry_without_a_report_has_no_message(void **state)
{
	rb_result *res = new_result(2, 1);

	(void)state;
	add(res, 0, 1)->message = "lost";
	assert_string_equal(rb_result_message(res, 0), "lost");
	assert_string_equal(rb_result_message(res, 1), "");
	rb_result_free(res);
}

/* What a stream tells its sink, and a result its reader. */
static void test_each_state_of_an_entry_has_a_status_and_an_outcome(
	void **state)
{
	static const struct {
		rbi_state state;
		rb_status status;
		rb_outcome outcome;
	} rows[] = {
		{ RBI_STATE_UNSET, RB_ERR_IO, RB_UNKNOWN },
		{ RBI_STATE_VALUE, RB_OK, RB_ANSWERED },
		{ RBI_STATE_NIL, RB_OK, RB_ANSWERED },
		{ RBI_STATE_DONE, RB_OK, RB_ANSWERED },
		{ RBI_STATE_UNMET, RB_OK, RB_REJECTED },
		{ RBI_STATE_ERROR, RB_ERR_SERVER, RB_REJECTED },
		{ RBI_STATE_DOUBT, RB_ERR_SERVER, RB_UNKNOWN },
		{ RBI_STATE_SHAPE, RB_ERR_PROTOCOL, RB_ANSWERED },
		{ RBI_STATE_LONG, RB_ERR_LIMIT, RB_ANSWERED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rbi_entry e = { NULL, 0 };

		rbi_entry_set(&e, rows[i].state, "text", 4);
		assert_status(rbi_entry_status(&e, RB_ERR_IO), rows[i].status);
		assert_outcome(rbi_entry_outcome(&e, RB_UNKNOWN),
			       rows[i].outcome);
		assert_null(rbi_entry_reply(&e));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_new_result_has_entries_that_were_not_tried),
		cmocka_unit_test(test_values_nil_and_empty_are_three_things),
		cmocka_unit_test(test_lengths_up_to_the_largest_value_fit),
		cmocka_unit_test(test_an_entry_that_failed_alone_says_why),
		cmocka_unit_test(test_a_long_value_fails_by_its_limit),
		cmocka_unit_test(test_an_unset_entry_fared_as_its_chunk),
		cmocka_unit_test(test_each_entry_finds_its_chunk),
		cmocka_unit_test(test_out_of_range_is_harmless),
		cmocka_unit_test(test_no_result_is_harmless),
		cmocka_unit_test(test_an_empty_result_has_nothing),
		cmocka_unit_test(test_a_new_report_is_of_a_chunk_not_sent),
		cmocka_unit_test(test_more_reports_than_expected_fit),
		cmocka_unit_test(test_without_memory_one_last_report_fits),
		cmocka_unit_test(test_notes_are_copies),
		cmocka_unit_test(
			test_without_memory_a_note_is_that_of_its_status),
		cmocka_unit_test(
			test_without_memory_there_is_no_result_and_no_leak),
		cmocka_unit_test(test_a_result_too_large_to_be_is_refused),
		cmocka_unit_test(test_stats_are_copied),
		cmocka_unit_test(test_stats_of_other_sizes_are_judged),
		cmocka_unit_test(test_freeing_gives_back_everything),
		cmocka_unit_test(test_an_entry_without_a_report_has_no_message),
		cmocka_unit_test(
			test_each_state_of_an_entry_has_a_status_and_an_outcome),
	};

	return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}

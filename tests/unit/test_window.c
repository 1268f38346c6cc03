#include "options.h"
#include "unit.h"
#include "window.h"

static void test_a_given_window_stays(void **state)
{
	rbi_window w;
	int i;

	(void)state;
	rbi_window_init(&w, 5, 1000);
	assert_int_equal(w.chunks, 5);
	for (i = 1; i < 100; i++)
		rbi_window_answered(&w, (uint64_t)i, (uint64_t)i * 1000);
	assert_int_equal(w.chunks, 5);
}

static void test_it_begins_with_about_a_thousand_entries(void **state)
{
	static const struct {
		size_t chunk_keys;
		size_t want;
	} cases[] = {
		{ 1000, 1 }, { 500, 2 }, { 100, 10 },	 { 10, 64 },
		{ 1, 64 },   { 0, 1 },	 { 1000000, 1 }, { SIZE_MAX, 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_window w;

		rbi_window_init(&w, 0, cases[i].chunk_keys);
		assert_int_equal(w.chunks, cases[i].want);
	}
}

/*
 * A line of rtt_us, whose other end takes service_us for a chunk: keeps the
 * window full for n answers, as an engine does. The widest of the last 100.
 */
static size_t follow(rbi_window *w, uint64_t rtt_us, uint64_t service_us, int n)
{
	size_t widest = 0;
	uint64_t sent[RBI_OPTIONS_WINDOW_MAX + 1];
	uint64_t begin = 1000000;
	uint64_t answered = begin;
	size_t flying = 0;
	size_t i;

	while (n-- > 0) {
		uint64_t free_at = answered;

		while (flying < w->chunks)
			sent[flying++] = answered;
		answered = sent[0] + rtt_us;
		if (answered < free_at + service_us)
			answered = free_at + service_us;
		rbi_window_answered(w, sent[0], answered);
		assert_in_range(w->chunks, 1, RBI_OPTIONS_WINDOW_MAX);
		if (n < 100 && w->chunks > widest)
			widest = w->chunks;
		flying--;
		for (i = 0; i < flying; i++)
			sent[i] = sent[i + 1];
	}
	return widest;
}

static void test_it_covers_the_distance_and_two_more(void **state)
{
	rbi_window w;

	(void)state;
	rbi_window_init(&w, 0, 1000);
	assert_in_range(follow(&w, 20000, 1000, 500), 20, 24);
}

static void test_it_ends_at_its_maximum(void **state)
{
	rbi_window w;

	(void)state;
	rbi_window_init(&w, 0, 1000);
	assert_int_equal(follow(&w, 1000000, 10, 500), RBI_OPTIONS_WINDOW_MAX);
}

static void test_it_stays_small_where_there_is_no_distance(void **state)
{
	rbi_window w;

	(void)state;
	rbi_window_init(&w, 0, 1000);
	assert_in_range(follow(&w, 1000, 1000, 500), 2, 4);
}

static void test_it_shrinks_to_what_is_needed(void **state)
{
	rbi_window w;

	(void)state;
	rbi_window_init(&w, 0, 1);
	assert_int_equal(w.chunks, RBI_OPTIONS_WINDOW_MAX);
	assert_in_range(follow(&w, 3000, 1000, 500), 3, 6);
}

static void test_it_moves_one_step_at_an_answer(void **state)
{
	rbi_window w;
	size_t before;
	uint64_t now;

	(void)state;
	rbi_window_init(&w, 0, 1000);
	for (now = 1000; now < 100000; now += 1000) {
		before = w.chunks;
		rbi_window_answered(&w, 1, now);
		assert_in_range(w.chunks, before - 1, before + 1);
	}
	assert_true(w.chunks > 1);
}

static void test_it_grows_while_nothing_is_known(void **state)
{
	rbi_window w;
	uint64_t now = 1000;
	int i;

	(void)state;
	rbi_window_init(&w, 0, 1000);
	/* Each sent only after the answer before: no two at the server. */
	for (i = 0; i < 3; i++) {
		rbi_window_answered(&w, now + 1, now + 500);
		now += 1000;
	}
	assert_int_equal(w.chunks, 4);
	assert_int_equal(w.service_us, 0);
}

static void test_a_chunk_sent_upon_an_answer_tells_no_service(void **state)
{
	rbi_window w;

	(void)state;
	rbi_window_init(&w, 0, 1000);
	rbi_window_answered(&w, 1000, 21000);
	/* Sent in the same step: the server never had both. */
	rbi_window_answered(&w, 21000, 41000);
	assert_int_equal(w.shortest_us, 20000);
	assert_int_equal(w.service_us, 0);
}

static void test_answers_within_one_tick_do_not_divide_by_zero(void **state)
{
	rbi_window w;
	int i;

	(void)state;
	rbi_window_init(&w, 0, 1000);
	for (i = 0; i < 10; i++)
		rbi_window_answered(&w, 5000, 5000);
	assert_in_range(w.chunks, 1, RBI_OPTIONS_WINDOW_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_given_window_stays),
		cmocka_unit_test(test_it_begins_with_about_a_thousand_entries),
		cmocka_unit_test(test_it_covers_the_distance_and_two_more),
		cmocka_unit_test(test_it_ends_at_its_maximum),
		cmocka_unit_test(
			test_it_stays_small_where_there_is_no_distance),
		cmocka_unit_test(test_it_shrinks_to_what_is_needed),
		cmocka_unit_test(test_it_moves_one_step_at_an_answer),
		cmocka_unit_test(test_it_grows_while_nothing_is_known),
		cmocka_unit_test(
			test_a_chunk_sent_upon_an_answer_tells_no_service),
		cmocka_unit_test(
			test_answers_within_one_tick_do_not_divide_by_zero),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}

/*
 * Chunks of writes: whole, within their bounds, as large as can be.
 */
#include "writes.h"

static rbi_bounds random_bounds(uint64_t *seed)
{
	static const size_t counts[] = { 1, 2, 3, 9, 10, 11, 99, 100, 1000 };
	static const size_t args[] = { 1, 4, 7, 21, 22, 200, SIZE_MAX };
	rbi_bounds bounds = {
		.keys = counts[random_below(seed, N_OF(counts))],
		.args = args[random_below(seed, N_OF(args))],
		.request_bytes = 1 + random_below(seed, 6000),
		.reply_bytes = SIZE_MAX,
	};

	if (random_below(seed, 4) == 0)
		bounds.request_bytes = SIZE_MAX / 2;
	return bounds;
}

static size_t args_of(const rbi_batch *b, size_t count)
{
	return rbi_batch_fixed_args(b) + count * rbi_batch_entry_args(b);
}

/* Whether a chunk of so many keeps to the bounds. */
static bool fits(const rbi_batch *b, const rbi_bounds *bounds, size_t first,
		 size_t count)
{
	if (count > bounds->keys ||
	    chunk_size(b, first, count) > bounds->request_bytes)
		return false;
	return b->form != RBI_FORM_GATHER || args_of(b, count) <= bounds->args;
}

static void check_cut(const rbi_batch *b, const rbi_bounds *bounds,
		      const rbi_cut *cut, const char *name)
{
	size_t unit = rbi_batch_unit(b, cut->first);
	size_t end = cut->first + cut->count;

	assert_true(cut->count >= unit);
	assert_int_equal(cut->request_bytes,
			 chunk_size(b, cut->first, cut->count));
	if (cut->count > unit && !fits(b, bounds, cut->first, cut->count))
		fail_msg("%s: %zu from %zu on pass a bound", name, cut->count,
			 cut->first);
	/* A count among the arguments may leave a byte or two unused. */
	if (end == b->n || b->counted)
		return;
	unit = rbi_batch_unit(b, end);
	if (fits(b, bounds, cut->first, cut->count + unit))
		fail_msg("%s: %zu from %zu on, and more would have fitted",
			 name, cut->count, cut->first);
}

static void check_batch(const rbi_batch *b, const rbi_bounds *bounds,
			const char *name)
{
	size_t first = 0;

	while (first < b->n) {
		rbi_cut cut = rbi_plan_cut(b, first, bounds);

		assert_int_equal(cut.first, first);
		check_cut(b, bounds, &cut, name);
		first += cut.count;
	}
	assert_int_equal(first, b->n);
}

static void test_chunks_of_writes_keep_to_their_bounds_and_fill_them(
	void **state)
{
	uint64_t seed = 20260;
	int round;

	(void)state;
	for (round = 0; round < 300; round++) {
		kind kinds[WRITES_KINDS];
		rbi_bounds bounds = random_bounds(&seed);
		writes w;
		size_t i;

		writes_init(&w, 150, 1 + random_below(&seed, 200), &seed);
		writes_kinds(&w, kinds);
		for (i = 0; i < WRITES_KINDS; i++)
			check_batch(&kinds[i].batch, &bounds, kinds[i].name);
		writes_fini(&w);
	}
}

static void test_a_counted_chunk_wastes_only_the_digits_of_its_count(
	void **state)
{
	uint64_t seed = 77;
	size_t bound;

	(void)state;
	for (bound = 60; bound < 1500; bound += 7) {
		rbi_bounds bounds = { .keys = 1000,
				      .args = SIZE_MAX,
				      .request_bytes = bound,
				      .reply_bytes = SIZE_MAX };
		kind kinds[WRITES_KINDS];
		rbi_cut cut;
		writes w;

		writes_init(&w, 100, 20, &seed);
		writes_kinds(&w, kinds);
		cut = rbi_plan_cut(&kinds[2].batch, 0, &bounds);
		if (cut.count < 100)
			assert_true(
				chunk_size(&kinds[2].batch, 0, cut.count + 1) +
					3 >
				bound);
		writes_fini(&w);
	}
}

/* MULTI .. EXEC here and there, some of them longer than the bounds. */
static void add_units(writes *w, uint64_t *seed)
{
	size_t i = random_below(seed, 10);

	while (i + 20 < w->keys.n) {
		size_t end = i + 1 + random_below(seed, 15);

		writes_word(w, i, random_below(seed, 2) ? "MULTI" : "multi");
		writes_word(w, end, random_below(seed, 2) ? "EXEC" : "Discard");
		i = end + 1 + random_below(seed, 6);
	}
}

static void test_a_unit_is_never_cut_and_passes_bounds_only_alone(void **state)
{
	uint64_t seed = 31;
	int round;

	(void)state;
	for (round = 0; round < 300; round++) {
		rbi_bounds bounds = random_bounds(&seed);
		rbi_batch b;
		writes w;

		writes_init(&w, 120, 60, &seed);
		add_units(&w, &seed);
		b = writes_commands(&w);
		check_batch(&b, &bounds, "units");
		writes_fini(&w);
	}
}

static void test_a_unit_ends_with_its_exec_or_discard_or_the_batch(void **state)
{
	uint64_t seed = 5;
	rbi_batch b;
	writes w;

	(void)state;
	writes_init(&w, 10, 5, &seed);
	writes_word(&w, 1, "MULTI");
	writes_word(&w, 2, "EXEC");
	writes_word(&w, 3, "mUlTi");
	writes_word(&w, 6, "discard");
	writes_word(&w, 8, "MULTI");
	b = writes_commands(&w);
	assert_int_equal(rbi_batch_unit(&b, 0), 1);
	assert_int_equal(rbi_batch_unit(&b, 1), 2);
	assert_int_equal(rbi_batch_unit(&b, 3), 4);
	assert_int_equal(rbi_batch_unit(&b, 4), 1);
	assert_int_equal(rbi_batch_unit(&b, 7), 1);
	assert_int_equal(rbi_batch_unit(&b, 8), 2);
	writes_fini(&w);
}

/* ---------------------------------------------------------- what has left -- */

static size_t whole_within(const rbi_batch *b, const rbi_cut *cut, size_t sent)
{
	size_t n = 0;

	while (n < cut->count) {
		size_t unit = rbi_batch_unit(b, cut->first + n);

		if (chunk_size(b, cut->first, n + unit) > sent)
			break;
		n += unit;
	}
	return n;
}

static void test_what_had_left_is_told_at_every_byte(void **state)
{
	uint64_t seed = 99;
	rbi_bounds bounds = { .keys = 12,
			      .args = SIZE_MAX,
			      .request_bytes = SIZE_MAX / 2,
			      .reply_bytes = SIZE_MAX };
	kind kinds[WRITES_KINDS];
	size_t i;
	writes w;

	(void)state;
	writes_init(&w, 40, 30, &seed);
	writes_word(&w, 4, "MULTI");
	writes_word(&w, 7, "EXEC");
	writes_kinds(&w, kinds);
	for (i = 3; i <= 5; i += 2) {
		rbi_cut cut = rbi_plan_cut(&kinds[i].batch, 1, &bounds);
		size_t sent;

		for (sent = 0; sent <= cut.request_bytes; sent++) {
			size_t n = whole_within(&kinds[i].batch, &cut, sent);
			size_t bytes = SIZE_MAX;

			assert_int_equal(rbi_plan_sent(&cut, sent, &bytes), n);
			assert_int_equal(
				bytes,
				n == 0 ? 0 :
					 chunk_size(cut.batch, cut.first, n));
		}
		assert_int_equal(whole_within(cut.batch, &cut, sent - 1),
				 cut.count);
	}
	writes_fini(&w);
}

static void test_predicted_answers_bound_commands_too(void **state)
{
	rbi_bounds bounds = { .keys = 100,
			      .args = SIZE_MAX,
			      .request_bytes = SIZE_MAX / 2,
			      .reply_bytes = 1000,
			      .entry_reply = 300 };
	uint64_t seed = 3;
	rbi_batch b;
	writes w;

	(void)state;
	writes_init(&w, 40, 30, &seed);
	b = writes_commands(&w);
	assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count, 3);
	bounds.entry_reply = 5000;
	assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count, 1);
	writes_fini(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_chunks_of_writes_keep_to_their_bounds_and_fill_them),
		cmocka_unit_test(
			test_a_counted_chunk_wastes_only_the_digits_of_its_count),
		cmocka_unit_test(
			test_a_unit_is_never_cut_and_passes_bounds_only_alone),
		cmocka_unit_test(
			test_a_unit_ends_with_its_exec_or_discard_or_the_batch),
		cmocka_unit_test(test_what_had_left_is_told_at_every_byte),
		cmocka_unit_test(test_predicted_answers_bound_commands_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

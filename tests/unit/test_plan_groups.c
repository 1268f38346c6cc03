/*
 * Chunks of which each command may only have keys of one slot: where their
 * commands end, how they are bounded, and what of them has left.
 */
#include "groups.h"

static const rbi_bounds wide = {
	.keys = SIZE_MAX,
	.args = SIZE_MAX,
	.request_bytes = SIZE_MAX / 4,
	.reply_bytes = SIZE_MAX / 4,
};

/* --------------------------------------------------------------- groups -- */

typedef struct group_case {
	const char *name;
	const char *slots; /* a letter for each entry; "": none */
	rbi_form form;
	bool alone;
	size_t args; /* the most of a command */
	const char *want;
} group_case;

static void print_groups(const rbi_cut *cut, char *out, size_t size)
{
	size_t skip = 0;
	size_t at = 0;

	while (skip < cut->count) {
		size_t n = rbi_plan_group(cut, skip);

		at += (size_t)snprintf(out + at, size - at, "%s%zu",
				       skip > 0 ? " " : "", n);
		skip += n;
	}
	assert_int_equal(skip, cut->count);
}

static void check_groups(const group_case *c)
{
	uint16_t slots[GROUPS_MOST];
	rbi_bounds bounds = wide;
	uint64_t seed = 1;
	char got[200] = "";
	rbi_batch b;
	rbi_cut cut;
	writes w;
	size_t i;

	writes_init(&w, 9, 20, &seed);
	writes_word(&w, 2, "MULTI");
	writes_word(&w, 5, "EXEC");
	b = c->form == RBI_FORM_COMMANDS ? writes_commands(&w) :
					   writes_pairs(&w, c->form, "MSET");
	for (i = 0; c->slots[i] != '\0'; i++)
		slots[i] = (uint16_t)c->slots[i];
	b.slots = i > 0 ? slots : NULL;
	bounds.args = c->args;
	cut = groups_whole(&b, 0, c->alone, false);
	cut = rbi_plan_cut_again(&cut, &bounds);
	print_groups(&cut, got, sizeof(got));
	if (strcmp(got, c->want) != 0)
		fail_msg("%s: %s", c->name, got);
	writes_fini(&w);
}

static void test_a_command_ends_with_its_slot(void **state)
{
	static const group_case cases[] = {
		{ "sorted", "aaabbcddd", RBI_FORM_GATHER, false, SIZE_MAX,
		  "3 2 1 3" },
		{ "unsorted", "ababbaaaa", RBI_FORM_GATHER, false, SIZE_MAX,
		  "1 1 1 2 4" },
		{ "one slot", "aaaaaaaaa", RBI_FORM_GATHER, false, SIZE_MAX,
		  "9" },
		{ "each its own", "abcdefghi", RBI_FORM_GATHER, false, SIZE_MAX,
		  "1 1 1 1 1 1 1 1 1" },
		{ "no slots", "", RBI_FORM_GATHER, false, SIZE_MAX, "9" },
		{ "at most four arguments", "aaabbcddd", RBI_FORM_GATHER, false,
		  4, "1 1 1 1 1 1 1 1 1" },
		{ "at most five arguments", "aaabbcddd", RBI_FORM_GATHER, false,
		  5, "2 1 2 1 2 1" },
		{ "too few arguments for one", "aaabbcddd", RBI_FORM_GATHER,
		  false, 1, "1 1 1 1 1 1 1 1 1" },
		{ "alone", "aaabbcddd", RBI_FORM_GATHER, true, SIZE_MAX,
		  "1 1 1 1 1 1 1 1 1" },
		{ "alone without slots", "", RBI_FORM_GATHER, true, SIZE_MAX,
		  "1 1 1 1 1 1 1 1 1" },
		{ "a command each", "aaabbcddd", RBI_FORM_EACH, false, SIZE_MAX,
		  "1 1 1 1 1 1 1 1 1" },
		{ "commands with a MULTI", "aaabbcddd", RBI_FORM_COMMANDS,
		  false, SIZE_MAX, "1 1 4 1 1 1" },
		{ "commands alone", "", RBI_FORM_COMMANDS, true, SIZE_MAX,
		  "1 1 4 1 1 1" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_groups(&cases[i]);
}

static void test_a_part_has_the_groups_that_it_begins_with(void **state)
{
	static const uint16_t slots[] = { 1, 1, 1, 1, 1, 2, 2, 3, 3 };
	rbi_bounds bounds = wide;
	uint64_t seed = 1;
	char got[100] = "";
	rbi_batch b;
	rbi_cut cut;
	rbi_cut part;
	writes w;

	(void)state;
	writes_init(&w, 9, 20, &seed);
	b = writes_pairs(&w, RBI_FORM_GATHER, "MSET");
	b.slots = slots;
	bounds.args = 5;
	cut = rbi_plan_cut(&b, 0, &bounds);
	print_groups(&cut, got, sizeof(got));
	assert_string_equal(got, "2 2 1 2 2");
	part = rbi_plan_part(&cut, 4, 4);
	print_groups(&part, got, sizeof(got));
	assert_string_equal(got, "1 2 1");
	assert_int_equal(part.request_bytes, cut_size(&part));
	/* Not where one begins: others. */
	part = rbi_plan_part(&cut, 1, 8);
	print_groups(&part, got, sizeof(got));
	assert_string_equal(got, "2 2 2 2");
	assert_int_equal(part.request_bytes, cut_size(&part));
	writes_fini(&w);
}

/* --------------------------------------------------------------- bounds -- */

static rbi_bounds random_bounds(uint64_t *seed)
{
	static const size_t counts[] = { 1, 2, 3, 9, 10, 11, 20, 1000 };
	static const size_t args[] = { 1, 4, 7, 9, 10, 21, SIZE_MAX };
	rbi_bounds bounds = wide;

	bounds.keys = counts[random_below(seed, N_OF(counts))];
	bounds.args = args[random_below(seed, N_OF(args))];
	if (random_below(seed, 4) > 0)
		bounds.request_bytes = 1 + random_below(seed, 1500);
	if (random_below(seed, 3) == 0)
		bounds.reply_bytes = random_below(seed, 800);
	return bounds;
}

static bool args_fit(const rbi_cut *cut, size_t args)
{
	const rbi_batch *b = cut->batch;
	size_t done = 0;

	if (b->form != RBI_FORM_GATHER)
		return true;
	while (done < cut->count) {
		size_t n = groups_together(cut, cut->first + done,
					   cut->count - done);

		if (n > 1 &&
		    rbi_batch_fixed_args(b) + n * rbi_batch_entry_args(b) >
			    args)
			return false;
		done += n;
	}
	return true;
}

static bool is_one_transaction(const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	size_t i;

	if (!b->transaction)
		return true;
	for (i = cut->first; b->slots != NULL && i < cut->first + cut->count;
	     i++) {
		if (b->slots[i] != b->slots[cut->first])
			return false;
	}
	return b->form != RBI_FORM_GATHER || cut->alone ||
	       groups_together(cut, cut->first, cut->count) == cut->count;
}

static bool fits(const rbi_cut *cut, const rbi_bounds *bounds)
{
	const rbi_batch *b = cut->batch;
	size_t reply = 0;
	size_t i;

	for (i = cut->first; b->sizes != NULL && i < cut->first + cut->count;
	     i++)
		reply += b->sizes[i] + RBI_PLAN_REPLY_FRAME;
	return cut->count <= bounds->keys && reply <= bounds->reply_bytes &&
	       cut_size(cut) <= bounds->request_bytes &&
	       args_fit(cut, bounds->args) && is_one_transaction(cut);
}

static void check_cut(const rbi_cut *cut, const rbi_bounds *bounds,
		      const char *name)
{
	const rbi_batch *b = cut->batch;
	size_t unit = rbi_batch_unit(b, cut->first);
	size_t end = cut->first + cut->count;
	rbi_cut more = *cut;

	assert_true(cut->count >= unit);
	assert_int_equal(cut->request_bytes, cut_size(cut));
	if (cut->count > unit && !fits(cut, bounds))
		fail_msg("%s: %zu from %zu on pass a bound", name, cut->count,
			 cut->first);
	/* The sizer may leave a byte or two unused for a count. */
	if (end == b->n || (b->counted && b->slots == NULL))
		return;
	more.count += rbi_batch_unit(b, end);
	if (fits(&more, bounds))
		fail_msg("%s: %zu from %zu on, and more would have fitted",
			 name, cut->count, cut->first);
}

static void check_kind(const kind *k, const rbi_bounds *bounds, bool alone,
		       bool asking)
{
	rbi_cut left = groups_whole(&k->batch, 0, alone, asking);
	rbi_cut cut;

	for (;;) {
		cut = rbi_plan_cut_again(&left, bounds);
		assert_ptr_equal(cut.batch, &k->batch);
		assert_int_equal(cut.first, left.first);
		assert_int_equal(cut.alone, alone);
		assert_int_equal(cut.asking, asking);
		check_cut(&cut, bounds, k->name);
		if (cut.count == left.count)
			return;
		left = rbi_plan_part(&left, cut.count, left.count - cut.count);
	}
}

/* Some batch of n entries, of all kinds. */
static void vary(groups *g, kind *kinds, size_t *sizes, uint64_t *seed)
{
	static const char *const singles[] = { NULL, "GET", "A LONG NAME" };
	const char *single = singles[random_below(seed, N_OF(singles))];
	size_t i;

	groups_init(g, 1 + random_below(seed, 40),
		    random_below(seed, 4) == 0 ? 300 : 12, seed);
	groups_kinds(g, kinds);
	for (i = 0; i < g->w.keys.n; i++)
		sizes[i] = random_below(seed, 100);
	for (i = 0; i < GROUPS_KINDS; i++) {
		if (single != NULL)
			kinds[i].batch.single =
				(rb_slice){ single, strlen(single) };
		if (random_below(seed, 5) == 0)
			kinds[i].batch.slots = NULL;
		if (random_below(seed, 3) == 0 &&
		    kinds[i].batch.form != RBI_FORM_COMMANDS)
			kinds[i].batch.sizes = sizes;
	}
}

static void test_cuts_keep_to_their_bounds_and_fill_them(void **state)
{
	size_t sizes[GROUPS_MOST];
	kind kinds[GROUPS_KINDS];
	uint64_t seed = 71;
	int round;

	(void)state;
	for (round = 0; round < 400; round++) {
		rbi_bounds bounds = random_bounds(&seed);
		bool alone = random_below(&seed, 3) == 0;
		bool asking = random_below(&seed, 2) == 0;
		groups g;
		size_t i;

		vary(&g, kinds, sizes, &seed);
		for (i = 0; i < GROUPS_KINDS; i++)
			check_kind(&kinds[i], &bounds, alone, asking);
		groups_words(&g, &seed);
		check_kind(&kinds[5], &bounds, alone, asking);
		groups_fini(&g);
	}
}

static void test_a_cut_without_a_predecessor_asks_nobody(void **state)
{
	kind kinds[GROUPS_KINDS];
	uint64_t seed = 5;
	groups g;
	size_t i;

	(void)state;
	groups_init(&g, 20, 30, &seed);
	groups_kinds(&g, kinds);
	for (i = 0; i < GROUPS_KINDS; i++) {
		rbi_cut cut = rbi_plan_cut(&kinds[i].batch, 3, &wide);

		assert_false(cut.alone);
		assert_false(cut.asking);
		check_cut(&cut, &wide, kinds[i].name);
	}
	groups_fini(&g);
}

static void test_the_answer_is_bounded_for_the_chunk(void **state)
{
	rbi_bounds bounds = wide;
	uint64_t seed = 5;
	rbi_batch b;
	groups g;

	(void)state;
	groups_init(&g, 30, 30, &seed);
	b = keys_mget(&g.w.keys);
	b.slots = g.slots;
	bounds.reply_bytes = 1000;
	bounds.entry_reply = 100;
	bounds.args = 3;
	assert_int_equal(rbi_plan_cut(&b, 0, &bounds).count, 10);
	assert_int_equal(rbi_plan_most_reply(&b, &bounds), 1000);
	groups_fini(&g);
}

/* ----------------------------------------------------------- what it has -- */

static void check_billed(const rbi_cut *cut)
{
	size_t size;
	char *bytes = print_cut(cut, &size, NULL);
	size_t around = cut->batch->transaction ? 2 + (size_t)cut->asking : 0;
	size_t asked = 0;
	size_t done = 0;

	assert_int_equal(rbi_plan_commands(cut), count_commands(bytes, size));
	while (done < cut->count) {
		done += groups_together(cut, cut->first + done,
					cut->count - done);
		asked += cut->asking && !cut->batch->transaction;
	}
	assert_int_equal(rbi_plan_own_commands(cut),
			 count_commands(bytes, size) - around - asked);
	free(bytes);
}

static void check_sent(const rbi_cut *cut)
{
	size_t ends[GROUPS_MOST];
	size_t size;
	size_t sent;
	size_t n = 0;

	free(print_cut(cut, &size, ends));
	for (sent = 0; sent <= size; sent++) {
		size_t bytes;

		while (n < cut->count && ends[n] <= sent)
			n++;
		assert_int_equal(rbi_plan_sent(cut, sent, &bytes), n);
		assert_int_equal(bytes, n > 0 ? ends[n - 1] : 0);
	}
	assert_int_equal(n, cut->count);
}

static void check_units(const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	bool whole =
		b->form == RBI_FORM_COMMANDS ||
		(b->form == RBI_FORM_GATHER &&
		 (b->slots != NULL || cut->alone) &&
		 (b->shape == RBI_SHAPE_OK || b->shape == RBI_SHAPE_INTEGER));
	size_t want = 0;
	size_t count;

	for (count = 0; count <= cut->count; count++) {
		if (!whole)
			want = count;
		else if (count > want &&
			 count == want + groups_together(cut, cut->first + want,
							 cut->count - want))
			want = count;
		assert_int_equal(rbi_plan_units(cut, count), want);
	}
}

static void check_all(const kind *k, bool alone, bool asking, uint64_t *seed)
{
	rbi_cut cut = groups_whole(&k->batch, 0, alone, asking);
	rbi_bounds bounds = wide;

	bounds.args = 2 + random_below(seed, 10);
	cut = rbi_plan_cut_again(&cut, &bounds);
	check_billed(&cut);
	check_units(&cut);
	if (!k->batch.transaction)
		check_sent(&cut);
}

static void test_a_cut_knows_its_commands_and_what_of_it_has_left(void **state)
{
	size_t sizes[GROUPS_MOST];
	kind kinds[GROUPS_KINDS];
	uint64_t seed = 91;
	int round;

	(void)state;
	for (round = 0; round < 60; round++) {
		bool alone = random_below(&seed, 3) == 0;
		bool asking = random_below(&seed, 2) == 0;
		groups g;
		size_t i;

		vary(&g, kinds, sizes, &seed);
		for (i = 0; i < GROUPS_KINDS; i++)
			check_all(&kinds[i], alone, asking, &seed);
		groups_words(&g, &seed);
		check_all(&kinds[5], alone, asking, &seed);
		groups_fini(&g);
	}
}

/* ------------------------------------------------------------- no wrapping -- */

static void test_sizes_that_do_not_fit_in_memory_fill_a_chunk(void **state)
{
	static const char *words[] = { "a", "b", "c" };
	static const size_t lens[] = { 1, SIZE_MAX - 5, SIZE_MAX - 1 };
	static const uint16_t slots[] = { 1, 1, 2 };
	const rbi_batch b = { .command = { "MGET", 4 },
			      .keys = words,
			      .keylens = lens,
			      .n = 3,
			      .slots = slots };
	rbi_cut whole = groups_whole(&b, 0, false, true);
	rbi_cut cut;

	(void)state;
	assert_int_equal(whole.request_bytes, SIZE_MAX);
	cut = rbi_plan_cut_again(&whole, &wide);
	assert_int_equal(cut.count, 1);
	whole = rbi_plan_part(&whole, 1, 2);
	cut = rbi_plan_cut_again(&whole, &wide);
	assert_int_equal(cut.count, 1);
	assert_int_equal(cut.request_bytes, SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_command_ends_with_its_slot),
		cmocka_unit_test(
			test_a_part_has_the_groups_that_it_begins_with),
		cmocka_unit_test(test_cuts_keep_to_their_bounds_and_fill_them),
		cmocka_unit_test(test_a_cut_without_a_predecessor_asks_nobody),
		cmocka_unit_test(test_the_answer_is_bounded_for_the_chunk),
		cmocka_unit_test(
			test_a_cut_knows_its_commands_and_what_of_it_has_left),
		cmocka_unit_test(
			test_sizes_that_do_not_fit_in_memory_fill_a_chunk),
	};

	return cmocka_run_group_tests_name("plan: groups", tests, NULL, NULL);
}

/*
 * Entries sorted by rank and slot, compared with a sort that looks at each
 * pair.
 */
#include "alloc.h"
#include "count.h"
#include "sorted.h"
#include "writes.h"

#define MOST 600
#define POSITION 1000
#define TAG 7

typedef struct fixture {
	rbt_count count;
	writes writes;
	size_t sizes[MOST];
	rbi_entry entries[MOST];
	rbi_batch batch;
	rbi_parcel parcel; /* all but the first skip entries */
	size_t skip;
	uint16_t ranks[RBI_SLOTS];
	rbi_sorted sorted;
} fixture;

/* The keys of n pairs, of which the first skip are not in the parcel. */
static void begin(fixture *f, size_t n, size_t skip)
{
	uint64_t seed = 3 + n;
	size_t i;

	memset(f, 0, sizeof(*f));
	rbt_count_init(&f->count);
	writes_init(&f->writes, n, 12, &seed);
	f->batch = keys_mget(&f->writes.keys);
	f->skip = skip;
	for (i = 0; i < n; i++)
		f->sizes[i] = i;
	for (i = 0; i < RBI_SLOTS; i++)
		f->ranks[i] = (uint16_t)(RBI_SLOTS - 1 - i);
}

static void take_parcel(fixture *f)
{
	f->parcel.cut.batch = &f->batch;
	f->parcel.cut.first = f->skip;
	f->parcel.cut.count = f->batch.n - f->skip;
	f->parcel.entries = f->entries + f->skip;
	f->parcel.position = POSITION;
	f->parcel.tag = TAG;
}

static void end(fixture *f)
{
	rbi_sorted_fini(&f->sorted);
	assert_int_equal(f->count.live_blocks, 0);
	writes_fini(&f->writes);
}

static void sort(fixture *f, bool grouped)
{
	take_parcel(f);
	assert_status(rbi_sorted_make(&f->sorted, &f->count.allocator,
				      &f->parcel, f->ranks, grouped, NULL),
		      RB_OK);
}

static uint16_t slot_of_key(const fixture *f, size_t i)
{
	return rbi_keyslot(f->batch.keys[i], rbi_batch_keylen(&f->batch, i));
}

/* Entry i of what was sorted, among all that were there before. */
static size_t old(const fixture *f, size_t i)
{
	size_t number = f->sorted.numbers[i];

	assert_in_range(number, POSITION, POSITION + f->sorted.n - 1);
	return number - POSITION + f->skip;
}

/* All are there once, by rank, and by their numbers where that is equal. */
static void check_order(const fixture *f)
{
	const rbi_sorted *l = &f->sorted;
	bool seen[MOST] = { false };
	size_t i;

	assert_int_equal(l->n, f->batch.n - f->skip);
	assert_int_equal(l->batch.n, l->n);
	for (i = 0; i < l->n; i++) {
		uint16_t rank = f->ranks[l->slots[i]];
		uint16_t before = i > 0 ? f->ranks[l->slots[i - 1]] : 0;

		assert_false(seen[old(f, i)]);
		seen[old(f, i)] = true;
		assert_int_equal(rbi_entry_state(&l->entries[i]),
				 RBI_STATE_UNSET);
		if (i > 0)
			assert_true(before < rank ||
				    (before == rank &&
				     l->numbers[i - 1] < l->numbers[i]));
	}
}

/* And each has the key and the value that it had. */
static void check_strings(const fixture *f)
{
	const rbi_batch *b = &f->sorted.batch;
	size_t i;

	for (i = 0; i < b->n; i++) {
		size_t at = old(f, i);

		assert_int_equal(f->sorted.slots[i], slot_of_key(f, at));
		assert_ptr_equal(b->keys[i], f->batch.keys[at]);
		assert_int_equal(rbi_batch_keylen(b, i),
				 rbi_batch_keylen(&f->batch, at));
		if (b->sizes != NULL)
			assert_int_equal(b->sizes[i], at);
		if (b->values == NULL)
			continue;
		assert_ptr_equal(b->values[i], f->batch.values[at]);
		assert_int_equal(rbi_batch_valuelen(b, i),
				 rbi_batch_valuelen(&f->batch, at));
	}
}

/* ------------------------------------------------------------------ keys -- */

static void test_keys_are_sorted_by_the_rank_of_their_slots(void **state)
{
	static const size_t counts[] = { 1, 2, 3, 100, MOST };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(counts); i++) {
		fixture f;

		begin(&f, counts[i], 0);
		sort(&f, true);
		check_order(&f);
		check_strings(&f);
		assert_ptr_equal(f.sorted.batch.slots, f.sorted.slots);
		end(&f);
	}
}

static void test_ranks_of_any_kind_are_followed(void **state)
{
	uint64_t seed = 5;
	int round;

	(void)state;
	for (round = 0; round < 20; round++) {
		fixture f;
		size_t i;

		begin(&f, 200, 0);
		for (i = RBI_SLOTS - 1; i > 0; i--) {
			size_t k = random_below(&seed, i + 1);
			uint16_t rank = f.ranks[i];

			f.ranks[i] = f.ranks[k];
			f.ranks[k] = rank;
		}
		sort(&f, true);
		check_order(&f);
		check_strings(&f);
		end(&f);
	}
}

static void test_what_comes_before_the_parcel_is_left_out(void **state)
{
	fixture f;

	(void)state;
	begin(&f, 300, 100);
	f.batch.values = f.writes.values.keys;
	f.batch.valuelens = f.writes.values.lens;
	f.batch.sizes = f.sizes;
	sort(&f, true);
	check_order(&f);
	check_strings(&f);
	assert_int_equal(f.sorted.tag, TAG);
	assert_int_equal(f.sorted.position, POSITION);
	end(&f);
}

/* What is not cut by slots is none the less kept to one connection. */
static void test_commands_are_cut_by_slots_only_if_grouped(void **state)
{
	fixture f;

	(void)state;
	begin(&f, 50, 0);
	sort(&f, false);
	check_order(&f);
	check_strings(&f);
	assert_null(f.sorted.batch.slots);
	end(&f);
}

static void test_strings_may_come_without_lengths(void **state)
{
	static const char *words[] = { "c", "bb", "a", "", "eeeee", "d" };
	static const char *values[] = { "1", "", "333", "4", "55", "6" };
	fixture f;

	(void)state;
	begin(&f, 6, 0);
	f.batch.keys = words;
	f.batch.keylens = NULL;
	f.batch.values = values;
	sort(&f, true);
	check_order(&f);
	check_strings(&f);
	rbi_sorted_fini(&f.sorted);
	f.skip = 2;
	sort(&f, true);
	check_order(&f);
	check_strings(&f);
	end(&f);
}

/* ----------------------------------------------------------------- ends -- */

static void rank_by_number(fixture *f)
{
	size_t i;

	for (i = 0; i < RBI_SLOTS; i++)
		f->ranks[i] = (uint16_t)i;
}

static void test_what_is_in_order_stays_where_it_is(void **state)
{
	static const char *twins[] = { "{t}1", "{t}2", "{t}3", "{t}1" };
	fixture f;
	size_t i;

	(void)state;
	begin(&f, 4, 1);
	f.batch.keys = twins;
	f.batch.keylens = NULL;
	sort(&f, true);
	assert_ptr_equal(f.sorted.entries, f.parcel.entries);
	assert_ptr_equal(f.sorted.batch.keys, twins + 1);
	for (i = 0; i < 3; i++) {
		assert_int_equal(f.sorted.numbers[i], POSITION + i);
		assert_int_equal(f.sorted.slots[i], rbi_keyslot("t", 1));
	}
	end(&f);
}

/* For each slot a number that has it. */
static void name_slots(char names[RBI_SLOTS][24])
{
	size_t found = 0;
	size_t i;

	for (i = 0; found < RBI_SLOTS; i++) {
		char name[24];
		uint16_t slot;

		snprintf(name, sizeof(name), "%zu", i);
		slot = rbi_keyslot(name, strlen(name));
		if (names[slot][0] != '\0')
			continue;
		strcpy(names[slot], name);
		found++;
	}
}

static void shuffle(const char **strings, size_t n)
{
	uint64_t seed = 9;

	for (; n > 1; n--) {
		size_t k = random_below(&seed, n);
		const char *last = strings[n - 1];

		strings[n - 1] = strings[k];
		strings[k] = last;
	}
}

static void test_each_slot_may_be_there_once(void **state)
{
	static char names[RBI_SLOTS][24];
	static const char *words[RBI_SLOTS];
	static rbi_entry entries[RBI_SLOTS];
	size_t i;
	fixture f;

	(void)state;
	begin(&f, 0, 0);
	name_slots(names);
	for (i = 0; i < RBI_SLOTS; i++)
		words[i] = names[i];
	shuffle(words, RBI_SLOTS);
	rank_by_number(&f);
	f.batch.keys = words;
	f.batch.keylens = NULL;
	f.batch.n = RBI_SLOTS;
	take_parcel(&f);
	f.parcel.entries = entries;
	assert_status(rbi_sorted_make(&f.sorted, &f.count.allocator, &f.parcel,
				      f.ranks, true, NULL),
		      RB_OK);
	for (i = 0; i < RBI_SLOTS; i++) {
		assert_int_equal(f.sorted.slots[i], i);
		assert_string_equal(f.sorted.batch.keys[i], names[i]);
		assert_ptr_equal(words[f.sorted.numbers[i] - POSITION],
				 names[i]);
	}
	end(&f);
}

static void test_the_fields_of_one_key_have_its_slot(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f, 20, 0);
	f.batch = keys_hmget(&f.writes.keys, "hash", 4);
	sort(&f, true);
	for (i = 0; i < 20; i++) {
		assert_int_equal(f.sorted.slots[i], rbi_keyslot("hash", 4));
		assert_int_equal(f.sorted.numbers[i], POSITION + i);
	}
	end(&f);
}

/* -------------------------------------------------------------- commands -- */

static uint16_t slot_of_command(const fixture *f, size_t i)
{
	const rb_command *c = &f->batch.commands[i];

	assert_true(c->argc > 1);
	return rbi_keyslot(c->argv[1], c->argvlen[1]);
}

static void begin_commands(fixture *f, size_t n, size_t skip)
{
	begin(f, n, skip);
	f->batch = writes_commands(&f->writes);
}

static void test_commands_are_sorted_by_their_first_keys(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin_commands(&f, 300, 50);
	sort(&f, true);
	check_order(&f);
	for (i = 0; i < 250; i++) {
		const rb_command *c = &f.sorted.batch.commands[i];

		assert_memory_equal(c, &f.batch.commands[old(&f, i)],
				    sizeof(*c));
		assert_int_equal(f.sorted.slots[i],
				 slot_of_command(&f, old(&f, i)));
	}
	end(&f);
}

/* Where the entries of the batch have gone, by what they were before. */
static size_t find(const fixture *f, size_t i)
{
	size_t k = 0;

	while (old(f, k) != i)
		k++;
	return k;
}

static void test_a_transaction_stays_together(void **state)
{
	fixture f;
	size_t first;
	size_t i;

	(void)state;
	begin_commands(&f, 60, 0);
	writes_word(&f.writes, 20, "MULTI");
	writes_word(&f.writes, 24, "EXEC");
	sort(&f, true);
	check_order(&f);
	first = find(&f, 20);
	for (i = 0; i < 5; i++) {
		assert_int_equal(old(&f, first + i), 20 + i);
		assert_int_equal(f.sorted.slots[first + i],
				 slot_of_command(&f, 21));
	}
	end(&f);
}

static void test_commands_without_a_key_go_with_those_before(void **state)
{
	static const struct {
		size_t i;
		size_t like;
	} rows[] = { { 0, 2 }, { 1, 2 }, { 5, 4 }, { 9, 8 } };
	fixture f;
	size_t k;

	(void)state;
	begin_commands(&f, 10, 0);
	for (k = 0; k < N_OF(rows); k++)
		writes_word(&f.writes, rows[k].i, "PING");
	sort(&f, true);
	check_order(&f);
	for (k = 0; k < N_OF(rows); k++)
		assert_int_equal(f.sorted.slots[find(&f, rows[k].i)],
				 slot_of_command(&f, rows[k].like));
	end(&f);
}

static void test_where_no_command_has_a_key_all_go_one_way(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin_commands(&f, 5, 0);
	for (i = 0; i < 5; i++)
		writes_word(&f.writes, i, "PING");
	sort(&f, true);
	for (i = 0; i < 5; i++) {
		assert_int_equal(f.sorted.slots[i], 0);
		assert_int_equal(f.sorted.numbers[i], POSITION + i);
	}
	end(&f);
}

/* --------------------------------------------------------------- parcels -- */

static void test_a_cut_of_what_is_sorted_is_a_parcel(void **state)
{
	rbi_parcel p;
	fixture f;

	(void)state;
	begin(&f, 40, 0);
	sort(&f, true);
	p = rbi_sorted_parcel(&f.sorted, &(rbi_cut){ .batch = &f.sorted.batch,
						     .first = 10,
						     .count = 5 });
	assert_int_equal(p.cut.first, 10);
	assert_int_equal(p.cut.count, 5);
	assert_ptr_equal(p.entries, f.sorted.entries + 10);
	assert_ptr_equal(p.numbers, f.sorted.numbers + 10);
	assert_ptr_equal(p.slots, f.sorted.slots + 10);
	assert_int_equal(p.position, POSITION + 10);
	assert_int_equal(p.tag, TAG);
	assert_int_equal(p.trip.to, RBI_ANYWHERE);
	assert_int_equal(p.attempts, 0);
	assert_false(p.trip.away);
	end(&f);
}

/* ---------------------------------------------------------------- memory -- */

static void test_numbers_may_live_longer_than_the_rest(void **state)
{
	const size_t *numbers;
	rbi_slabs keep;
	bool seen[100] = { false };
	fixture f;
	size_t i;

	(void)state;
	begin(&f, 100, 0);
	rbi_slabs_init(&keep, &f.count.allocator);
	take_parcel(&f);
	assert_status(rbi_sorted_make(&f.sorted, &f.count.allocator, &f.parcel,
				      f.ranks, true, &keep),
		      RB_OK);
	check_order(&f);
	numbers = f.sorted.numbers;
	rbi_sorted_fini(&f.sorted);
	for (i = 0; i < 100; i++)
		seen[numbers[i] - POSITION] = true;
	for (i = 0; i < 100; i++)
		assert_true(seen[i]);
	rbi_slabs_fini(&keep);
	end(&f);
}

/* Each allocation fails once, of keys, pairs or commands. */
static void check_memory(bool commands, bool sorted, bool kept)
{
	size_t fail_at;

	for (fail_at = 1;; fail_at++) {
		rb_status status;
		rbi_slabs keep;
		fixture f;

		begin(&f, 50, 0);
		f.batch.values = f.writes.values.keys;
		f.batch.valuelens = f.writes.values.lens;
		f.batch.sizes = f.sizes;
		if (commands)
			f.batch = writes_commands(&f.writes);
		if (sorted)
			memset(f.ranks, 0, sizeof(f.ranks));
		rbi_slabs_init(&keep, &f.count.allocator);
		take_parcel(&f);
		f.count.fail_at = fail_at;
		status = rbi_sorted_make(&f.sorted, &f.count.allocator,
					 &f.parcel, f.ranks, true,
					 kept ? &keep : NULL);
		if (status == RB_OK)
			rbi_sorted_fini(&f.sorted);
		rbi_slabs_fini(&keep);
		/* On failure there is nothing to be freed. */
		assert_int_equal(f.count.live_blocks, 0);
		end(&f);
		if (status == RB_OK)
			break;
		assert_status(status, RB_ERR_NOMEM);
	}
	assert_int_equal(fail_at - 1, sorted ? 2 : commands ? 6 : 10);
}

static void test_without_memory_nothing_is_to_be_freed(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 8; i++)
		check_memory((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_keys_are_sorted_by_the_rank_of_their_slots),
		cmocka_unit_test(test_ranks_of_any_kind_are_followed),
		cmocka_unit_test(test_what_comes_before_the_parcel_is_left_out),
		cmocka_unit_test(
			test_commands_are_cut_by_slots_only_if_grouped),
		cmocka_unit_test(test_strings_may_come_without_lengths),
		cmocka_unit_test(test_what_is_in_order_stays_where_it_is),
		cmocka_unit_test(test_each_slot_may_be_there_once),
		cmocka_unit_test(test_the_fields_of_one_key_have_its_slot),
		cmocka_unit_test(test_commands_are_sorted_by_their_first_keys),
		cmocka_unit_test(test_a_transaction_stays_together),
		cmocka_unit_test(
			test_commands_without_a_key_go_with_those_before),
		cmocka_unit_test(
			test_where_no_command_has_a_key_all_go_one_way),
		cmocka_unit_test(test_a_cut_of_what_is_sorted_is_a_parcel),
		cmocka_unit_test(test_numbers_may_live_longer_than_the_rest),
		cmocka_unit_test(test_without_memory_nothing_is_to_be_freed),
	};

	return cmocka_run_group_tests_name("sorted", tests, NULL, NULL);
}

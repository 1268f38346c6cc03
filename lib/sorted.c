#include "sorted.h"

#include "alloc.h"
#include "firstkey.h"

/* ---------------------------------------------------------------- memory -- */

/* n members of size bytes, which live as long as the load. */
static void *take(rbi_sorted *l, size_t n, size_t size)
{
	void *array = rbi_alloc_array(l->allocator, NULL, n, size);

	if (array != NULL)
		l->arrays[l->narrays++] = array;
	return array;
}

void rbi_sorted_fini(rbi_sorted *l)
{
	while (l->narrays > 0)
		rbi_free(l->allocator, l->arrays[--l->narrays]);
}

/* ----------------------------------------------------------------- slots -- */

/* The slot of the first command from i on that has a key, among n. */
static uint16_t slot_of_unit(const rb_command *c, size_t n, uint16_t otherwise)
{
	rb_slice key;
	size_t i;

	for (i = 0; i < n; i++) {
		if (rbi_first_key(&c[i], &key))
			return rbi_keyslot(key.data, key.len);
	}
	return otherwise;
}

/* One without a key goes where the one before it went, or else the first with
 * one will go: anybody may answer, and does where that node is not there. */
static void find_command_slots(rbi_sorted *l)
{
	uint16_t slot = slot_of_unit(l->batch.commands, l->n, 0);
	size_t i = 0;
	size_t k;

	while (i < l->n) {
		size_t unit = rbi_batch_unit(&l->batch, i);

		slot = slot_of_unit(&l->batch.commands[i], unit, slot);
		for (k = 0; k < unit; k++)
			l->slots[i++] = slot;
	}
}

static void find_slots(rbi_sorted *l)
{
	const rbi_batch *b = &l->batch;
	bool one = b->fixed.data != NULL;
	uint16_t slot = one ? rbi_keyslot(b->fixed.data, b->fixed.len) : 0;
	size_t i;

	if (b->form == RBI_FORM_COMMANDS) {
		find_command_slots(l);
		return;
	}
	for (i = 0; i < l->n; i++)
		l->slots[i] =
			one ? slot :
			      rbi_keyslot(b->keys[i], rbi_batch_keylen(b, i));
}

/* --------------------------------------------------------------- sorting -- */

#define DIGIT_BITS 7
#define DIGITS (1u << DIGIT_BITS)

static bool is_sorted(const rbi_sorted *l, const uint16_t *ranks)
{
	size_t i;

	for (i = 1; i < l->n; i++) {
		if (ranks[l->slots[i]] < ranks[l->slots[i - 1]])
			return false;
	}
	return true;
}

/* Where the entries of each digit begin. */
static void count_digits(const rbi_sorted *l, const uint16_t *ranks,
			 size_t low[DIGITS], size_t high[DIGITS])
{
	size_t below[2] = { 0, 0 };
	size_t i;

	memset(low, 0, DIGITS * sizeof(*low));
	memset(high, 0, DIGITS * sizeof(*high));
	for (i = 0; i < l->n; i++) {
		uint16_t rank = ranks[l->slots[i]];

		low[rank % DIGITS]++;
		high[rank / DIGITS]++;
	}
	for (i = 0; i < DIGITS; i++) {
		size_t n = low[i];

		low[i] = below[0];
		below[0] += n;
		n = high[i];
		high[i] = below[1];
		below[1] += n;
	}
}

static size_t *take_numbers(rbi_sorted *l, rbi_slabs *keep)
{
	if (keep == NULL)
		return take(l, l->n, sizeof(*l->numbers));
	if (l->n > SIZE_MAX / sizeof(*l->numbers))
		return NULL;
	return rbi_slabs_take(keep, l->n * sizeof(*l->numbers));
}

/* They are in order as they came. */
static rb_status number(rbi_sorted *l, rbi_slabs *keep)
{
	size_t i;

	l->numbers = take_numbers(l, keep);
	if (l->numbers == NULL)
		return RB_ERR_NOMEM;
	for (i = 0; i < l->n; i++)
		l->numbers[i] = l->position + i;
	return RB_OK;
}

/* l->numbers: which entry stands where. */
static rb_status sort(rbi_sorted *l, const uint16_t *ranks, rbi_slabs *keep)
{
	size_t low[DIGITS];
	size_t high[DIGITS];
	size_t *half = rbi_alloc_array(l->allocator, NULL, l->n, sizeof(*half));
	size_t i;

	l->numbers = take_numbers(l, keep);
	if (half == NULL || l->numbers == NULL) {
		rbi_free(l->allocator, half);
		return RB_ERR_NOMEM;
	}
	count_digits(l, ranks, low, high);
	for (i = 0; i < l->n; i++)
		half[low[ranks[l->slots[i]] % DIGITS]++] = i;
	for (i = 0; i < l->n; i++) {
		size_t at = half[i];

		l->numbers[high[ranks[l->slots[at]] / DIGITS]++] = at;
	}
	rbi_free(l->allocator, half);
	return RB_OK;
}

/* ------------------------------------------------------------- reordered -- */

static bool move_slots(rbi_sorted *l)
{
	uint16_t *slots = take(l, l->n, sizeof(*slots));
	size_t i;

	for (i = 0; slots != NULL && i < l->n; i++)
		slots[i] = l->slots[l->numbers[i]];
	l->slots = slots;
	return slots != NULL;
}

static bool move_commands(rbi_sorted *l)
{
	rb_command *commands = take(l, l->n, sizeof(*commands));
	size_t i;

	for (i = 0; commands != NULL && i < l->n; i++)
		commands[i] = l->batch.commands[l->numbers[i]];
	l->batch.commands = commands;
	return commands != NULL;
}

static bool move_strings(rbi_sorted *l, const char ***strings,
			 const size_t **lens)
{
	const char **moved = take(l, l->n, sizeof(*moved));
	size_t *moved_lens = take(l, l->n, sizeof(*moved_lens));
	size_t i;

	if (moved == NULL || moved_lens == NULL)
		return false;
	for (i = 0; i < l->n; i++) {
		size_t at = l->numbers[i];

		moved[i] = (*strings)[at];
		moved_lens[i] = *lens != NULL ? (*lens)[at] : strlen(moved[i]);
	}
	*strings = moved;
	*lens = moved_lens;
	return true;
}

static bool move_sizes(rbi_sorted *l)
{
	size_t *sizes = take(l, l->n, sizeof(*sizes));
	size_t i;

	for (i = 0; sizes != NULL && i < l->n; i++)
		sizes[i] = l->batch.sizes[l->numbers[i]];
	l->batch.sizes = sizes;
	return sizes != NULL;
}

static bool move_entries(rbi_sorted *l)
{
	rbi_batch *b = &l->batch;

	l->entries = take(l, l->n, sizeof(*l->entries));
	if (l->entries == NULL || !move_slots(l))
		return false;
	memset(l->entries, 0, l->n * sizeof(*l->entries));
	if (b->form == RBI_FORM_COMMANDS)
		return move_commands(l);
	return move_strings(l, &b->keys, &b->keylens) &&
	       (b->values == NULL ||
		move_strings(l, &b->values, &b->valuelens)) &&
	       (b->sizes == NULL || move_sizes(l));
}

/* ------------------------------------------------------------------ load -- */

/* The entries of a cut as a batch of their own. */
static rbi_batch batch_of(const rbi_cut *cut)
{
	rbi_batch b = *cut->batch;

	b.n = cut->count;
	if (b.form == RBI_FORM_COMMANDS) {
		b.commands += cut->first;
		return b;
	}
	b.keys += cut->first;
	if (b.keylens != NULL)
		b.keylens += cut->first;
	if (b.values != NULL)
		b.values += cut->first;
	if (b.values != NULL && b.valuelens != NULL)
		b.valuelens += cut->first;
	if (b.sizes != NULL)
		b.sizes += cut->first;
	return b;
}

static rb_status make(rbi_sorted *l, const uint16_t *ranks, rbi_slabs *keep)
{
	size_t i;

	l->slots = take(l, l->n, sizeof(*l->slots));
	if (l->slots == NULL)
		return RB_ERR_NOMEM;
	find_slots(l);
	if (is_sorted(l, ranks))
		return number(l, keep);
	if (sort(l, ranks, keep) != RB_OK || !move_entries(l))
		return RB_ERR_NOMEM;
	for (i = 0; i < l->n; i++)
		l->numbers[i] += l->position;
	return RB_OK;
}

rb_status rbi_sorted_make(rbi_sorted *l, const rb_allocator *a,
			  const rbi_parcel *p, const uint16_t *ranks,
			  bool grouped, rbi_slabs *keep)
{
	rb_status status;

	memset(l, 0, sizeof(*l));
	l->allocator = a;
	l->batch = batch_of(&p->cut);
	l->entries = p->entries;
	l->n = p->cut.count;
	l->position = p->position;
	l->tag = p->tag;
	status = make(l, ranks, keep);
	if (status != RB_OK) {
		rbi_sorted_fini(l);
		return status;
	}
	if (grouped)
		l->batch.slots = l->slots;
	return RB_OK;
}

rbi_parcel rbi_sorted_parcel(const rbi_sorted *l, const rbi_cut *cut)
{
	rbi_parcel p;

	memset(&p, 0, sizeof(p));
	p.cut = *cut;
	p.entries = l->entries + cut->first;
	p.numbers = l->numbers + cut->first;
	p.slots = l->slots + cut->first;
	p.position = l->position + cut->first;
	p.tag = l->tag;
	p.trip.to = RBI_ANYWHERE;
	return p;
}

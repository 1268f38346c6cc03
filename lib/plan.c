#include "plan.h"

#include "keyslot.h"

/* "*1 $6 ASKING", with its CRLFs. */
#define ASKING_SIZE 16

/* The most entries of a gathered command. */
static size_t args_count(const rbi_batch *b, const rbi_bounds *bounds)
{
	size_t fixed = rbi_batch_fixed_args(b);

	if (bounds->args <= fixed)
		return 1;
	return rbi_max((bounds->args - fixed) / rbi_batch_entry_args(b), 1);
}

/* The most entries of a chunk, by all bounds but the request's bytes. */
static size_t max_count(const rbi_batch *b, const rbi_bounds *bounds,
			bool grouped)
{
	size_t max = bounds->keys;

	if (b->form == RBI_FORM_GATHER && !grouped)
		max = rbi_min(max, args_count(b, bounds));
	if (bounds->entry_reply > 0 && b->sizes == NULL)
		max = rbi_min(max,
			      (bounds->reply_bytes -
			       rbi_min(bounds->reply_bytes, bounds->largest)) /
				      bounds->entry_reply);
	return rbi_max(max, 1);
}

/* The bytes of count entries from i on. */
static size_t unit_size(const rbi_batch *b, size_t i, size_t count)
{
	size_t size = 0;

	while (count-- > 0)
		size = rbi_add_sat(size, rbi_batch_entry_size(b, i++));
	return size;
}

/* -------------------------------------------------------------- commands -- */

/* Whether entry i goes into the command that has the count before it. */
static inline bool goes_on(const rbi_cut *cut, size_t i, size_t count)
{
	const uint16_t *slots = cut->batch->slots;

	if (cut->alone || cut->batch->form != RBI_FORM_GATHER)
		return false;
	if (slots == NULL)
		return true;
	return slots[i] == slots[i - 1] &&
	       (cut->group_max == 0 || count < cut->group_max);
}

/* How many of the first n slots, of which there is one, are the same. */
static size_t same_slots(const uint16_t *slots, size_t n)
{
	size_t i = 1;

	while (i < n && slots[i] == slots[0])
		i++;
	return i;
}

size_t rbi_plan_group(const rbi_cut *cut, size_t skip)
{
	const rbi_batch *b = cut->batch;
	size_t i = cut->first + skip;
	size_t left = cut->count - skip;

	if (b->form == RBI_FORM_COMMANDS)
		return rbi_min(rbi_batch_unit(b, i), left);
	if (b->form == RBI_FORM_EACH || cut->alone)
		return 1;
	if (b->slots == NULL)
		return left;
	if (cut->group_max > 0)
		left = rbi_min(left, cut->group_max);
	return same_slots(b->slots + i, left);
}

static size_t count_groups(const rbi_cut *cut)
{
	size_t skip = 0;
	size_t n = 0;

	if (cut->ngroups > 0)
		return cut->ngroups;
	for (; skip < cut->count; n++)
		skip += rbi_plan_group(cut, skip);
	return n;
}

size_t rbi_plan_own_commands(const rbi_cut *cut)
{
	if (cut->batch->form != RBI_FORM_GATHER)
		return cut->count;
	return rbi_plan_is_grouped(cut) ? count_groups(cut) : 1;
}

size_t rbi_plan_commands(const rbi_cut *cut)
{
	size_t n = rbi_plan_own_commands(cut);

	if (cut->batch->transaction)
		return n + 2 + cut->asking;
	return cut->asking ? n + count_groups(cut) : n;
}

/* ----------------------------------------------------------------- bytes -- */

/* What stands around all commands of a cut. */
static size_t outer_size(const rbi_cut *cut)
{
	size_t size = rbi_batch_transaction_size(cut->batch);

	return size > 0 && cut->asking ? size + ASKING_SIZE : size;
}

/* What a command, or a unit, has besides its count entries. */
static size_t inner_size(const rbi_cut *cut, size_t count)
{
	const rbi_batch *b = cut->batch;
	size_t size = 0;

	if (b->form == RBI_FORM_GATHER)
		size = rbi_batch_command_size(b, rbi_plan_name(cut, count),
					      count);
	return cut->asking && !b->transaction ? size + ASKING_SIZE : size;
}

static size_t command_size(const rbi_cut *cut, size_t skip, size_t count)
{
	return rbi_add_sat(inner_size(cut, count),
			   unit_size(cut->batch, cut->first + skip, count));
}

/* Finds out anew what follows from the entries of a cut. */
static void measure(rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	size_t size = outer_size(cut);
	size_t skip = 0;

	cut->ngroups = 0;
	if (!cut->asking && !rbi_plan_is_grouped(cut)) {
		cut->request_bytes =
			rbi_add_sat(rbi_batch_frame_size(b, cut->count),
				    unit_size(b, cut->first, cut->count));
		return;
	}
	while (skip < cut->count) {
		size_t n = rbi_plan_group(cut, skip);

		size = rbi_add_sat(size, command_size(cut, skip, n));
		skip += n;
		cut->ngroups++;
	}
	cut->request_bytes = size;
}

/* --------------------------------------------------------------- filling -- */

rbi_sizer rbi_sizer_make(const rbi_batch *b, const rbi_bounds *bounds)
{
	rbi_sizer s = { .max_count = max_count(b, bounds, false),
			.longer = SIZE_MAX };
	size_t frame = rbi_batch_frame_size(b, 1);

	/* With a count among the arguments, its longest. */
	if (b->counted)
		frame += rbi_encode_digits(s.max_count) - 1;
	s.room = bounds->request_bytes - rbi_min(bounds->request_bytes, frame);
	if (b->form != RBI_FORM_GATHER)
		return s;
	s.argc = rbi_batch_fixed_args(b);
	s.entry_args = rbi_batch_entry_args(b);
	s.longer = 10;
	while (s.argc + s.entry_args >= s.longer)
		s.longer *= 10;
	return s;
}

static rbi_sizer take_units(const rbi_batch *b, size_t i, rbi_sizer s)
{
	while (i < b->n) {
		size_t unit = rbi_batch_unit(b, i);
		size_t size = RBI_LIKELY(unit == 1) ?
				      rbi_batch_entry_size(b, i) :
				      unit_size(b, i, unit);

		if (!rbi_sizer_add(&s, unit, size))
			break;
		i += unit;
	}
	return s;
}

/* Entries whose answers have a known size. */
static rbi_sizer take_sized(const rbi_batch *b, size_t i, rbi_sizer s,
			    size_t room)
{
	while (i < b->n) {
		size_t reply = rbi_add_sat(b->sizes[i], RBI_PLAN_REPLY_FRAME);

		if (s.count > 0 && reply > room)
			break;
		if (!rbi_sizer_add(&s, 1, rbi_batch_entry_size(b, i++)))
			break;
		room -= rbi_min(room, reply);
	}
	return s;
}

/* How many keys, each an entry, fit before something else has to be looked at:
 * the header that grows by a digit, or a bound. Nearly all of every batch. */
static size_t take_keys(const rbi_batch *b, size_t i, rbi_sizer *s)
{
	size_t most = rbi_min(s->max_count - s->count, s->longer - 1 - s->argc);
	size_t room = s->room;
	size_t n;

	most = rbi_min(most, b->n - i);
	for (n = 0; n < most; n++) {
		size_t size = rbi_encode_arg_size(rbi_batch_keylen(b, i + n));

		if (size > room)
			break;
		room -= size;
	}
	s->argc += n;
	s->count += n;
	s->body += s->room - room;
	s->room = room;
	return n;
}

static rbi_sizer take_entries(const rbi_batch *b, size_t i, rbi_sizer s)
{
	bool keys = b->form == RBI_FORM_GATHER && b->values == NULL;

	while (i < b->n) {
		if (keys)
			i += take_keys(b, i, &s);
		if (i == b->n ||
		    !rbi_sizer_add(&s, 1, rbi_batch_entry_size(b, i)))
			break;
		i++;
	}
	return s;
}

/* The last command of a cut that is being filled. */
typedef struct filling {
	size_t before; /* bytes of the cut without it */
	size_t body;   /* of its entries */
	size_t count;  /* of them */
} filling;

/* Takes in the next unit, unless it does not fit and is not the first. */
static bool take_unit(rbi_cut *cut, filling *last, size_t most_bytes)
{
	size_t i = cut->first + cut->count;
	size_t unit = rbi_batch_unit(cut->batch, i);
	filling f = { cut->request_bytes, unit_size(cut->batch, i, unit),
		      unit };
	size_t whole;

	if (last->count > 0 && goes_on(cut, i, last->count)) {
		f.before = last->before;
		f.body = rbi_add_sat(f.body, last->body);
		f.count += last->count;
	}
	whole = rbi_add_sat(f.before,
			    rbi_add_sat(inner_size(cut, f.count), f.body));
	if (cut->count > 0 && whole > most_bytes)
		return false;
	if (f.count == unit)
		cut->ngroups++;
	cut->count += unit;
	cut->request_bytes = whole;
	*last = f;
	return true;
}

/* What is not applied as a whole by one node cannot be a transaction. */
static bool must_end_before(const rbi_cut *cut, size_t i)
{
	const rbi_batch *b = cut->batch;

	return b->transaction && b->slots != NULL && i > cut->first &&
	       b->slots[i] != b->slots[i - 1];
}

/* Groups that are within the bounds whole. */
static void take_groups(rbi_cut *cut, const rbi_bounds *bounds)
{
	const rbi_batch *b = cut->batch;
	rbi_cut most = *cut;

	most.count = rbi_min(max_count(b, bounds, true), b->n - cut->first);
	while (cut->count < most.count) {
		size_t n = rbi_plan_group(&most, cut->count);
		size_t whole = rbi_add_sat(cut->request_bytes,
					   command_size(&most, cut->count, n));

		if (whole > bounds->request_bytes)
			return;
		cut->count += n;
		cut->request_bytes = whole;
		cut->ngroups++;
	}
}

/* Unit by unit: for what the sizer does not know. A cut that has entries
 * already ends with a whole group. */
static void take_commands(rbi_cut *cut, const rbi_bounds *bounds)
{
	const rbi_batch *b = cut->batch;
	size_t most = max_count(b, bounds, rbi_plan_is_grouped(cut));
	size_t room = bounds->reply_bytes;
	filling last = { .count = 0 };
	size_t i;

	if (b->transaction && cut->group_max > 0 && !cut->alone)
		most = rbi_min(most, cut->group_max);
	for (i = cut->first + cut->count; i < b->n;
	     i = cut->first + cut->count) {
		size_t reply =
			b->sizes == NULL ?
				0 :
				rbi_add_sat(b->sizes[i], RBI_PLAN_REPLY_FRAME);

		if (cut->count > 0 &&
		    (must_end_before(cut, i) || reply > room ||
		     rbi_batch_unit(b, i) > most - rbi_min(most, cut->count)))
			return;
		if (!take_unit(cut, &last, bounds->request_bytes))
			return;
		room -= rbi_min(room, reply);
	}
}

static void take_all(rbi_cut *cut, const rbi_bounds *bounds)
{
	const rbi_batch *b = cut->batch;
	rbi_sizer s = rbi_sizer_make(b, bounds);

	if (b->form == RBI_FORM_COMMANDS)
		s = take_units(b, cut->first, s);
	else if (b->sizes != NULL)
		s = take_sized(b, cut->first, s, bounds->reply_bytes);
	else
		s = take_entries(b, cut->first, s);
	cut->count = s.count;
	cut->request_bytes =
		rbi_add_sat(rbi_batch_frame_size(b, s.count), s.body);
}

/* Fills a cut of which all is set but its end. */
static void fill(rbi_cut *cut, const rbi_bounds *bounds)
{
	const rbi_batch *b = cut->batch;

	cut->count = 0;
	cut->ngroups = 0;
	cut->request_bytes = outer_size(cut);
	cut->group_max = rbi_plan_is_grouped(cut) ? args_count(b, bounds) : 0;
	if (cut->group_max > 0 && !b->transaction && b->sizes == NULL)
		take_groups(cut, bounds);
	if (cut->asking || cut->group_max > 0 ||
	    (b->transaction && b->slots != NULL))
		take_commands(cut, bounds);
	else
		take_all(cut, bounds);
}

rbi_cut rbi_plan_cut(const rbi_batch *b, size_t first, const rbi_bounds *bounds)
{
	rbi_cut cut = { .batch = b, .first = first };

	fill(&cut, bounds);
	return cut;
}

rbi_cut rbi_plan_cut_again(const rbi_cut *cut, const rbi_bounds *bounds)
{
	rbi_batch upto = *cut->batch;
	rbi_cut first = *cut;

	upto.n = cut->first + cut->count;
	first.batch = &upto;
	fill(&first, bounds);
	first.batch = cut->batch;
	return first;
}

rbi_cut rbi_plan_part(const rbi_cut *cut, size_t skip, size_t count)
{
	rbi_cut part = *cut;

	part.first += skip;
	part.count = count;
	measure(&part);
	return part;
}

/* --------------------------------------------------------------- answers -- */

size_t rbi_plan_most_reply(const rbi_batch *b, const rbi_bounds *bounds)
{
	if (b->sizes != NULL)
		return bounds->reply_bytes;
	return max_count(b, bounds, b->slots != NULL) * bounds->entry_reply;
}

size_t rbi_plan_reply(const rbi_cut *cut, size_t entry_reply)
{
	const size_t *sizes = cut->batch->sizes;
	size_t sum = 0;
	size_t i;

	if (sizes == NULL)
		return cut->count * entry_reply;
	for (i = cut->first; i < cut->first + cut->count; i++)
		sum = rbi_add_sat(sum,
				  rbi_add_sat(sizes[i], RBI_PLAN_REPLY_FRAME));
	return sum;
}

size_t rbi_plan_units(const rbi_cut *cut, size_t count)
{
	rbi_shape shape = cut->batch->shape;
	bool by_entry = shape != RBI_SHAPE_OK && shape != RBI_SHAPE_INTEGER;
	size_t i = 0;

	while (i < count) {
		size_t unit =
			rbi_plan_is_grouped(cut) && !by_entry ?
				rbi_plan_group(cut, i) :
				rbi_batch_unit(cut->batch, cut->first + i);

		if (unit > count - i)
			break;
		i += unit;
	}
	return i;
}

size_t rbi_plan_sent(const rbi_cut *cut, uint64_t sent, size_t *bytes)
{
	size_t skip = 0;

	*bytes = 0;
	while (skip < cut->count) {
		size_t n = rbi_plan_group(cut, skip);
		size_t size = command_size(cut, skip, n);

		if (size > sent - *bytes)
			break;
		*bytes += size;
		skip += n;
	}
	return skip;
}

static uint16_t slot_of(const rbi_batch *b, size_t i)
{
	return rbi_keyslot(b->keys[i], rbi_batch_keylen(b, i));
}

bool rbi_plan_mixes_slots(const rbi_cut *cut)
{
	size_t i;

	if (cut->batch->form != RBI_FORM_GATHER || cut->batch->fixed.data ||
	    rbi_plan_is_grouped(cut))
		return false;
	for (i = 1; i < cut->count; i++) {
		if (slot_of(cut->batch, cut->first + i) !=
		    slot_of(cut->batch, cut->first))
			return true;
	}
	return false;
}

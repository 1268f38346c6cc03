#include "plan.h"

/* The most entries, by all bounds but the request's bytes. */
static size_t max_count(const rbi_batch *b, const rbi_bounds *bounds)
{
	size_t max = bounds->keys;
	size_t fixed;

	if (b->form == RBI_FORM_GATHER) {
		fixed = rbi_batch_fixed_args(b);
		max = rbi_min(max, bounds->args > fixed ?
					   (bounds->args - fixed) /
						   rbi_batch_entry_args(b) :
					   1);
	}
	if (bounds->entry_reply > 0 && b->sizes == NULL)
		max = rbi_min(max,
			      (bounds->reply_bytes -
			       rbi_min(bounds->reply_bytes, bounds->largest)) /
				      bounds->entry_reply);
	return rbi_max(max, 1);
}

rbi_sizer rbi_sizer_make(const rbi_batch *b, const rbi_bounds *bounds)
{
	rbi_sizer s = { .max_count = max_count(b, bounds), .longer = SIZE_MAX };
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

/* The bytes of count entries from i on. */
static size_t unit_size(const rbi_batch *b, size_t i, size_t count)
{
	size_t size = 0;

	while (count-- > 0)
		size = rbi_add_sat(size, rbi_batch_entry_size(b, i++));
	return size;
}

static rbi_sizer take_units(const rbi_batch *b, size_t i, rbi_sizer s)
{
	while (i < b->n) {
		size_t unit = rbi_batch_unit(b, i);

		if (!rbi_sizer_add(&s, unit, unit_size(b, i, unit)))
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

static rbi_sizer take_entries(const rbi_batch *b, size_t i, rbi_sizer s)
{
	while (i < b->n && rbi_sizer_add(&s, 1, rbi_batch_entry_size(b, i)))
		i++;
	return s;
}

rbi_cut rbi_plan_cut(const rbi_batch *b, size_t first, const rbi_bounds *bounds)
{
	rbi_cut cut = { .batch = b, .first = first };
	rbi_sizer s = rbi_sizer_make(b, bounds);

	if (b->form == RBI_FORM_COMMANDS)
		s = take_units(b, first, s);
	else if (b->sizes != NULL)
		s = take_sized(b, first, s, bounds->reply_bytes);
	else
		s = take_entries(b, first, s);
	cut.count = s.count;
	cut.request_bytes =
		rbi_add_sat(rbi_batch_frame_size(b, s.count), s.body);
	return cut;
}

rbi_cut rbi_plan_cut_again(const rbi_cut *cut, const rbi_bounds *bounds)
{
	rbi_batch upto = *cut->batch;
	rbi_cut first;

	upto.n = cut->first + cut->count;
	first = rbi_plan_cut(&upto, cut->first, bounds);
	first.batch = cut->batch;
	return first;
}

rbi_cut rbi_plan_part(const rbi_cut *cut, size_t skip, size_t count)
{
	const rbi_batch *b = cut->batch;
	rbi_cut part = { .batch = b,
			 .first = cut->first + skip,
			 .count = count };

	part.request_bytes = rbi_add_sat(rbi_batch_frame_size(b, count),
					 unit_size(b, part.first, count));
	return part;
}

size_t rbi_plan_most_reply(const rbi_batch *b, const rbi_bounds *bounds)
{
	if (b->sizes != NULL)
		return bounds->reply_bytes;
	return max_count(b, bounds) * bounds->entry_reply;
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
	size_t i = 0;

	while (i < count) {
		size_t unit = rbi_batch_unit(cut->batch, cut->first + i);

		if (unit > count - i)
			break;
		i += unit;
	}
	return i;
}

size_t rbi_plan_sent(const rbi_cut *cut, uint64_t sent, size_t *bytes)
{
	size_t end = cut->first + cut->count;
	size_t i = cut->first;

	*bytes = 0;
	while (i < end) {
		size_t unit = rbi_batch_unit(cut->batch, i);
		size_t size = unit_size(cut->batch, i, unit);

		if (size > sent - *bytes)
			break;
		*bytes += size;
		i += unit;
	}
	return i - cut->first;
}

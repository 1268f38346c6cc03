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
	if (bounds->entry_reply > 0)
		max = rbi_min(max, bounds->reply_bytes / bounds->entry_reply);
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

	s = b->form == RBI_FORM_COMMANDS ? take_units(b, first, s) :
					   take_entries(b, first, s);
	cut.count = s.count;
	cut.request_bytes =
		rbi_add_sat(rbi_batch_frame_size(b, s.count), s.body);
	return cut;
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

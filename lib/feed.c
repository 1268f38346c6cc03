#include "feed.h"

rbi_parcel rbi_parcel_part(const rbi_parcel *p, size_t skip, size_t count)
{
	rbi_parcel part = *p;

	part.cut = rbi_plan_part(&p->cut, skip, count);
	part.entries += skip;
	part.position += skip;
	if (part.numbers != NULL)
		part.numbers += skip;
	if (part.slots != NULL)
		part.slots += skip;
	return part;
}

void rbi_parcel_clear(const rbi_parcel *p)
{
	memset(p->entries, 0, p->cut.count * sizeof(*p->entries));
}

void rbi_parcel_doubt(const rbi_parcel *p)
{
	size_t i;

	for (i = 0; i < p->cut.count; i++)
		rbi_entry_doubt(&p->entries[i]);
}

void rbi_parcel_distrust(const rbi_parcel *p)
{
	size_t i;

	for (i = 0; i < p->cut.count; i++) {
		if (rbi_entry_status(&p->entries[i], RB_OK) != RB_ERR_SERVER)
			rbi_entry_set(&p->entries[i], RBI_STATE_UNSET, NULL, 0);
	}
}

/* ---------------------------------------------------------------- array -- */

static rbi_array_feed *array_of(rbi_feed *feed)
{
	return (rbi_array_feed *)feed;
}

/* As one, for somebody who cuts it up by other rules. */
static rb_status all_the_rest(rbi_array_feed *f, rbi_parcel *out)
{
	if (!rbi_result_promise(f->result)) {
		f->feed.problem = "out of memory";
		return RB_ERR_NOMEM;
	}
	out->cut.batch = f->batch;
	out->cut.first = f->next;
	out->cut.count = f->batch->n - f->next;
	out->entries = f->result->entries + f->next;
	out->position = f->next;
	f->next = f->batch->n;
	f->feed.ended = true;
	return RB_OK;
}

static rb_status array_next(rbi_feed *feed, const rbi_bounds *bounds,
			    rbi_parcel *out)
{
	rbi_array_feed *f = array_of(feed);

	memset(out, 0, sizeof(*out));
	if (f->next == f->batch->n)
		return RB_OK;
	if (f->loose)
		return all_the_rest(f, out);
	if (!rbi_result_reserve(f->result)) {
		feed->problem = "out of memory";
		return RB_ERR_NOMEM;
	}
	out->cut = rbi_plan_cut(f->batch, f->next, bounds);
	out->entries = f->result->entries + f->next;
	out->position = f->next;
	(void)rbi_result_add(f->result, out->cut.first, out->cut.count);
	f->next += out->cut.count;
	feed->ended = f->next == f->batch->n;
	return RB_OK;
}

static rb_chunk *array_report(rbi_feed *feed, const rbi_parcel *parcel)
{
	rbi_array_feed *f = array_of(feed);

	if (!f->loose)
		return rbi_result_find(f->result, parcel->position);
	return rbi_result_append(f->result,
				 parcel->numbers != NULL ? parcel->numbers[0] :
							   parcel->position,
				 parcel->cut.count, parcel->numbers);
}

static bool array_divide(rbi_feed *feed, const rbi_parcel *parcel, size_t count)
{
	rb_result *res = array_of(feed)->result;

	if (array_of(feed)->loose)
		return rbi_result_promise(res);
	if (!rbi_result_reserve(res))
		return false;
	rbi_result_split(res, rbi_result_find(res, parcel->position), count);
	return true;
}

static rb_status array_delivered(rbi_feed *feed, const rbi_parcel *parcel,
				 const rb_chunk *report)
{
	rbi_array_feed *f = array_of(feed);
	size_t i;

	if (!f->loose)
		return RB_OK;
	for (i = 0; parcel->numbers != NULL && i < parcel->cut.count; i++)
		f->result->entries[parcel->numbers[i]] = parcel->entries[i];
	rbi_result_label(f->result, report);
	return RB_OK;
}

static void loose_rest(rbi_array_feed *f, const char *message)
{
	rbi_parcel p = { .numbers = NULL };
	rb_chunk *chunk;

	if (f->next < f->batch->n && all_the_rest(f, &p) == RB_OK) {
		chunk = array_report(&f->feed, &p);
		chunk->message = message;
		rbi_result_label(f->result, chunk);
	}
	f->feed.ended = true;
}

static void array_rest(rbi_feed *feed, const rbi_bounds *bounds,
		       const char *message)
{
	rbi_array_feed *f = array_of(feed);

	if (f->loose) {
		loose_rest(f, message);
		return;
	}
	while (f->next < f->batch->n) {
		rbi_cut cut = rbi_plan_cut(f->batch, f->next, bounds);
		rb_chunk *chunk;

		/* The last report there is room for covers all the rest. */
		if (!rbi_result_reserve(f->result))
			cut.count = f->batch->n - f->next;
		chunk = &f->result->chunks[rbi_result_add(f->result, cut.first,
							  cut.count)];
		chunk->message = message;
		chunk->request_bytes = cut.request_bytes;
		f->next += cut.count;
	}
	feed->ended = true;
}

static const rbi_feed_ops array_ops = {
	.next = array_next,
	.report = array_report,
	.divide = array_divide,
	.delivered = array_delivered,
	.rest = array_rest,
};

void rbi_array_feed_init(rbi_array_feed *f, const rbi_batch *batch,
			 rb_result *result)
{
	f->feed.ops = &array_ops;
	f->feed.ended = batch->n == 0;
	f->feed.dry = false;
	f->feed.recycles = false;
	f->feed.held = 0;
	f->feed.problem = NULL;
	f->batch = batch;
	f->result = result;
	f->next = 0;
	f->loose = false;
}

void rbi_array_feed_loosen(rbi_array_feed *f)
{
	f->loose = true;
	rbi_result_loosen(f->result);
}

void rbi_array_feed_reopen(rbi_array_feed *f, const rbi_parcel *parcel)
{
	rbi_result_reopen(f->result,
			  rbi_result_find(f->result, parcel->position));
}

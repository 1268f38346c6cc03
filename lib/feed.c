#include "feed.h"

static rbi_array_feed *array_of(rbi_feed *feed)
{
	return (rbi_array_feed *)feed;
}

static rb_status array_next(rbi_feed *feed, const rbi_bounds *bounds,
			    rbi_parcel *out)
{
	rbi_array_feed *f = array_of(feed);

	out->cut.count = 0;
	if (f->next == f->batch->n)
		return RB_OK;
	if (!rbi_result_reserve(f->result)) {
		feed->problem = "out of memory";
		return RB_ERR_NOMEM;
	}
	out->cut = rbi_plan_cut(f->batch, f->next, bounds);
	out->entries = f->result->entries + f->next;
	out->tag = rbi_result_add(f->result, out->cut.first, out->cut.count);
	out->tag -= f->shift;
	f->next += out->cut.count;
	feed->ended = f->next == f->batch->n;
	return RB_OK;
}

static rb_chunk *array_report(rbi_feed *feed, const rbi_parcel *parcel)
{
	rbi_array_feed *f = array_of(feed);

	return &f->result->chunks[parcel->tag + f->shift];
}

static rb_chunk *array_split(rbi_feed *feed, rb_chunk *report, size_t count)
{
	rbi_array_feed *f = array_of(feed);
	size_t i = (size_t)(report - f->result->chunks);

	if (!rbi_result_reserve(f->result))
		return NULL;
	rbi_result_split(f->result, i, count);
	f->shift++;
	return &f->result->chunks[i];
}

static rb_status array_delivered(rbi_feed *feed, const rbi_parcel *parcel,
				 const rb_chunk *report)
{
	(void)feed;
	(void)parcel;
	(void)report;
	return RB_OK;
}

static void array_put_back(rbi_feed *feed, const rbi_parcel *parcel)
{
	rbi_array_feed *f = array_of(feed);

	f->result->nchunks--;
	f->next = parcel->cut.first;
	feed->ended = false;
}

static void array_rest(rbi_feed *feed, const rbi_bounds *bounds,
		       const char *message)
{
	rbi_array_feed *f = array_of(feed);

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
	.split = array_split,
	.delivered = array_delivered,
	.put_back = array_put_back,
	.rest = array_rest,
};

void rbi_array_feed_init(rbi_array_feed *f, const rbi_batch *batch,
			 rb_result *result)
{
	f->feed.ops = &array_ops;
	f->feed.ended = batch->n == 0;
	f->feed.recycles = false;
	f->feed.problem = NULL;
	f->batch = batch;
	f->result = result;
	f->next = 0;
	f->shift = 0;
}

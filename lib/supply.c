#include "supply.h"

#include "alloc.h"

/* A crate of a stream has so many chunks for each connection. */
#define CHUNKS_EACH 4

/* The bounds of a crate that keeps all connections at work. */
static rbi_bounds load_bounds(const rbi_fleet *f)
{
	const rb_options *o = f->options;
	size_t legs = rbi_max(f->nlegs, f->connections) * CHUNKS_EACH;
	rbi_bounds bounds = {
		.keys = o->chunk_keys < SIZE_MAX / legs ? o->chunk_keys * legs :
							  o->chunk_keys,
		.args = SIZE_MAX,
		.request_bytes = o->chunk_request_bytes < SIZE_MAX / legs ?
					 o->chunk_request_bytes * legs :
					 o->chunk_request_bytes,
		.reply_bytes = o->window_reply_bytes,
	};
	const rbi_learned *l = &f->client->learned[f->form.shape];

	bounds.entry_reply = l->entry_reply;
	bounds.largest = l->largest;
	return bounds;
}

static rbi_sorted *make_load(rbi_fleet *f, const rbi_parcel *p)
{
	const rb_allocator *a = f->client->allocator;
	/* The reports of an array name entries by their numbers. */
	rbi_slabs *keep = f->inner->recycles ? NULL : &f->result->notes;
	rbi_sorted **loads =
		rbi_alloc_array(a, f->loads, f->nloads + 1, sizeof(*loads));
	rbi_sorted *l;

	if (loads == NULL)
		return NULL;
	f->loads = loads;
	l = rbi_alloc(a, sizeof(*l));
	if (l == NULL)
		return NULL;
	if (rbi_sorted_make(l, a, p, rbi_pool_ranks(f->pool, f->connections),
			    f->grouped, keep) != RB_OK) {
		rbi_free(a, l);
		return NULL;
	}
	l->batch.clustered = true;
	loads[f->nloads++] = l;
	return l;
}

void rbi_supply_drop(rbi_fleet *f)
{
	while (f->nloads > 0) {
		rbi_sorted *l = f->loads[--f->nloads];

		rbi_sorted_fini(l);
		rbi_free(f->client->allocator, l);
	}
}

void rbi_supply_strand(rbi_fleet *f, const rbi_parcel *p)
{
	rb_chunk *chunk = f->inner->ops->report(f->inner, p);

	chunk->message = rbi_result_note(f->result, RB_ERR_SKIPPED, f->why);
	(void)f->inner->ops->delivered(f->inner, p, chunk);
}

void rbi_supply_take(rbi_fleet *f, const rbi_parcel *p)
{
	rbi_sorted *l = make_load(f, p);
	rbi_parcel rest;
	rbi_span span;

	if (l == NULL) {
		rbi_fleet_stop(f, RB_ERR_NOMEM, "out of memory");
		rbi_supply_strand(f, p);
		return;
	}
	span = (rbi_span){ .load = l, .first = 0, .count = l->n };
	f->left += l->n;
	if (rbi_share_out(f, &span))
		return;
	rbi_fleet_stop(f, RB_ERR_NOMEM, "out of memory");
	rest = rbi_sorted_parcel(l, &(rbi_cut){ .batch = &l->batch,
						.first = span.first,
						.count = span.count });
	f->left -= span.count;
	rbi_supply_strand(f, &rest);
}

/* Nothing is under way: what was received is known to whom it concerns. */
static void forget_loads(rbi_fleet *f)
{
	size_t i;

	if (!f->inner->recycles || f->nloads == 0)
		return;
	rbi_supply_drop(f);
	for (i = 0; i < f->nlegs; i++) {
		if (f->legs[i]->state == RBI_LEG_UP)
			rbi_lane_forget(f->legs[i]->lane);
	}
}

void rbi_supply_next(rbi_fleet *f)
{
	rbi_bounds bounds;
	rbi_parcel p;
	rb_status status;

	if (f->left > 0 || f->stopped || f->inner->ended)
		return;
	forget_loads(f);
	bounds = load_bounds(f);
	status = f->inner->ops->next(f->inner, &bounds, &p);
	if (status != RB_OK)
		rbi_fleet_stop(f, status, f->inner->problem);
	if (p.cut.count == 0)
		return;
	if (status == RB_OK)
		rbi_supply_take(f, &p);
	else
		rbi_supply_strand(f, &p);
}

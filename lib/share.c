#include "share.h"

#include "alloc.h"
#include "firstkey.h"

static rbi_leg *leg_of(rbi_feed *feed)
{
	return (rbi_leg *)feed;
}

/* ----------------------------------------------------------------- spans -- */

bool rbi_share_add(rbi_leg *leg, const rbi_span *span)
{
	const rb_allocator *a = leg->fleet->client->allocator;
	size_t cap = rbi_max(4, 2 * leg->spans_cap);
	rbi_span *spans;

	if (leg->nspans == leg->spans_cap) {
		spans = rbi_alloc_array(a, leg->spans, cap, sizeof(*spans));
		if (spans == NULL)
			return false;
		leg->spans = spans;
		leg->spans_cap = cap;
	}
	/* The next one is the last. */
	memmove(leg->spans + 1, leg->spans, leg->nspans * sizeof(*leg->spans));
	leg->spans[0] = *span;
	leg->nspans++;
	leg->feed.dry = false;
	leg->ready = true;
	return true;
}

static rbi_span *next_span(rbi_leg *leg)
{
	return leg->nspans > 0 ? &leg->spans[leg->nspans - 1] : NULL;
}

/* The first n entries of a span have found their way. */
static void shorten(rbi_leg *leg, size_t n)
{
	rbi_span *span = next_span(leg);

	span->first += n;
	span->count -= n;
	if (span->count == 0)
		leg->nspans--;
}

/* The first count entries of a span, as one parcel that was never sent. */
static rbi_parcel as_parcel(const rbi_span *span, size_t count)
{
	const rbi_cut cut = { .batch = &span->load->batch,
			      .first = span->first,
			      .count = count };

	return rbi_sorted_parcel(span->load, &cut);
}

/* Makes room for the report of the first n entries besides that of the rest. */
static bool divide(rbi_fleet *f, const rbi_span *span, size_t n)
{
	const rbi_parcel p = as_parcel(span, span->count);

	return n == span->count || f->inner->ops->divide(f->inner, &p, n);
}

/* How many entries, at most n, have the slot of the first. */
static size_t same_slot(const rbi_span *span, size_t n)
{
	const uint16_t *slots = span->load->slots + span->first;
	size_t i = 1;

	while (i < n && slots[i] == slots[0])
		i++;
	return i;
}

/* How many entries, at most n, the leg serves. */
static size_t served(const rbi_leg *leg, const rbi_span *span, size_t n)
{
	const uint16_t *slots = span->load->slots + span->first;
	size_t i = 0;

	while (i < n && ((i > 0 && slots[i] == slots[i - 1]) ||
			 rbi_leg_serves(leg, slots[i])))
		i++;
	return i;
}

bool rbi_share_out(rbi_fleet *f, rbi_span *rest)
{
	while (rest->count > 0) {
		uint16_t slot = rest->load->slots[rest->first];
		rbi_leg *leg = rbi_leg_for(f, slot, false);
		rbi_span part = *rest;

		if (leg == NULL)
			return false;
		part.count = rbi_max(1, served(leg, rest, rest->count));
		if (!divide(f, rest, part.count) || !rbi_share_add(leg, &part))
			return false;
		rest->first += part.count;
		rest->count -= part.count;
	}
	return true;
}

void rbi_share_again(rbi_leg *leg)
{
	size_t n = leg->nspans;

	while (n-- > 0) {
		rbi_span rest = *next_span(leg);
		bool done = rbi_share_out(leg->fleet, &rest);

		/* Its place is kept meanwhile, since the leg may have got parts
		 * of it back. Without memory the others stay there. */
		*next_span(leg) = rest;
		if (!done)
			return;
		leg->nspans--;
	}
}

void rbi_share_fail(rbi_leg *leg, const rbi_fate *fate)
{
	while (leg->nspans > 0) {
		rbi_span *span = next_span(leg);
		rbi_parcel p = as_parcel(span, span->count);

		p.cut = rbi_plan_part(&p.cut, 0, p.cut.count);
		leg->nspans--;
		rbi_settle_parcel(&leg->engine, &p, fate);
	}
	leg->feed.dry = true;
}

/* ----------------------------------------------------- without a key -- */

/* A slot of a primary that nothing is known against. */
static bool find_well_slot(const rbi_fleet *f, uint16_t *slot)
{
	const uint16_t *owner = f->pool->map.owner;
	size_t bad = RBI_NO_NODE;
	size_t i;

	for (i = 0; i < RBI_SLOTS; i++) {
		if (owner[i] == RBI_NO_NODE || owner[i] == bad)
			continue;
		if (rbi_leg_is_well(f, owner[i])) {
			*slot = (uint16_t)i;
			return true;
		}
		bad = owner[i];
	}
	return false;
}

static bool has_key(const rbi_batch *b, size_t first, size_t n)
{
	rb_slice key;
	size_t i;

	for (i = first; i < first + n; i++) {
		if (rbi_first_key(&b->commands[i], &key))
			return true;
	}
	return false;
}

/* How many entries at the beginning of a span have a key, or have none, as the
 * first unit of it has. */
static size_t of_a_kind(const rbi_span *span, bool *keyed)
{
	const rbi_batch *b = &span->load->batch;
	size_t n = rbi_batch_unit(b, span->first);
	size_t unit;

	*keyed = has_key(b, span->first, n);
	while (n < span->count) {
		unit = rbi_batch_unit(b, span->first + n);
		if (has_key(b, span->first + n, unit) != *keyed)
			break;
		n += unit;
	}
	return n;
}

/* Parts a span between the leg and who has the slot. False: no memory; what was
 * not given is in *rest. */
static bool release(rbi_leg *leg, uint16_t slot, rbi_span *rest)
{
	rbi_leg *other = rbi_leg_for(leg->fleet, slot, true);
	size_t i;

	while (other != NULL && rest->count > 0) {
		rbi_span part = *rest;
		bool keyed;

		part.count = of_a_kind(rest, &keyed);
		if (!divide(leg->fleet, rest, part.count) ||
		    !rbi_share_add(keyed ? leg : other, &part))
			return false;
		for (i = 0; !keyed && i < part.count; i++)
			part.load->slots[part.first + i] = slot;
		rest->first += part.count;
		rest->count -= part.count;
	}
	return rest->count == 0;
}

bool rbi_share_release(rbi_leg *leg)
{
	size_t n = leg->nspans;
	uint16_t slot;

	if (leg->fleet->form.form != RBI_FORM_COMMANDS ||
	    leg->fleet->pool->fixed)
		return true;
	if (n == 0 || !find_well_slot(leg->fleet, &slot))
		return false;
	while (n-- > 0) {
		rbi_span span = leg->spans[leg->nspans - 1];

		leg->nspans--;
		if (!release(leg, slot, &span)) {
			leg->spans[leg->nspans++] = span;
			return false;
		}
	}
	return true;
}

/* ---------------------------------------------------------------- chunks -- */

/* The entries of a slot at the beginning of the span are not for now: they
 * wait for others, or are not sent since nobody knows what those did. */
static bool put_aside(rbi_leg *leg, size_t n, bool doubted)
{
	rbi_fate fate = { RB_ERR_SKIPPED, RB_NOT_SENT,
			  "an earlier write was still waited for" };
	rbi_span *span = next_span(leg);
	rbi_parcel p;

	if (!divide(leg->fleet, span, n))
		return false;
	p = as_parcel(span, n);
	p.cut = rbi_plan_part(&p.cut, 0, n);
	shorten(leg, n);
	if (!doubted && rbi_yard_put(leg, &p, &fate))
		return true;
	fate.message = doubted ? "nobody knows what an earlier write did" :
				 "out of memory";
	rbi_settle_parcel(&leg->engine, &p, &fate);
	return true;
}

/* Entries of the span that may be sent now, at most n; 0: the first one may
 * not. */
static size_t free_to_go(const rbi_fleet *f, const rbi_span *span, size_t n)
{
	const uint16_t *slots = span->load->slots + span->first;
	size_t i = 0;

	if (f->order == NULL)
		return n;
	while (i < n && !rbi_yard_holds(f, slots[i]) &&
	       !rbi_yard_doubts(f, slots[i]))
		i++;
	return i;
}

/* Gives away the first entries, which another leg serves by now. */
static bool give_away(rbi_leg *leg)
{
	rbi_span *span = next_span(leg);
	rbi_span part = *span;
	uint16_t slot = span->load->slots[span->first];
	rbi_leg *other = rbi_leg_for(leg->fleet, slot, false);

	if (other == NULL)
		return false;
	part.count = rbi_max(served(other, span, span->count), 1);
	/* Nobody else serves it, so it is asked here. */
	if (other == leg || !divide(leg->fleet, span, part.count) ||
	    !rbi_share_add(other, &part))
		return false;
	shorten(leg, part.count);
	return true;
}

/* As many entries, or a few more, so that no unit is broken. */
static size_t whole_units(const rbi_span *span, size_t n)
{
	const rbi_batch *b = &span->load->batch;
	size_t i = 0;

	if (b->form != RBI_FORM_COMMANDS)
		return n;
	while (i < n)
		i += rbi_batch_unit(b, span->first + i);
	return i;
}

/* The next chunk from the first span. False: no memory. */
static bool cut_chunk(rbi_leg *leg, const rbi_bounds *bounds, rbi_parcel *out)
{
	rbi_fleet *f = leg->fleet;
	rbi_span *span = next_span(leg);
	size_t n = served(leg, span, rbi_min(span->count, bounds->keys));
	rbi_parcel p;

	if (n == 0)
		return give_away(leg);
	n = free_to_go(f, span, n);
	if (n == 0) {
		uint16_t slot = span->load->slots[span->first];

		return put_aside(leg, same_slot(span, span->count),
				 rbi_yard_doubts(f, slot));
	}
	p = as_parcel(span, whole_units(span, n));
	p.cut = rbi_plan_cut_again(&p.cut, bounds);
	if (!divide(f, span, p.cut.count))
		return false;
	shorten(leg, p.cut.count);
	*out = p;
	return true;
}

static rb_status share_next(rbi_feed *feed, const rbi_bounds *bounds,
			    rbi_parcel *out)
{
	rbi_leg *leg = leg_of(feed);

	memset(out, 0, sizeof(*out));
	while (leg->nspans > 0 && out->cut.count == 0) {
		if (cut_chunk(leg, bounds, out))
			continue;
		feed->problem = "out of memory";
		return RB_ERR_NOMEM;
	}
	feed->dry = leg->nspans == 0;
	return RB_OK;
}

/* --------------------------------------------------------------- reports -- */

static rb_chunk *share_report(rbi_feed *feed, const rbi_parcel *parcel)
{
	rbi_feed *inner = leg_of(feed)->fleet->inner;

	return inner->ops->report(inner, parcel);
}

static bool share_divide(rbi_feed *feed, const rbi_parcel *parcel, size_t count)
{
	rbi_feed *inner = leg_of(feed)->fleet->inner;

	return inner->ops->divide(inner, parcel, count);
}

static rb_status share_delivered(rbi_feed *feed, const rbi_parcel *parcel,
				 const rb_chunk *report)
{
	rbi_fleet *f = leg_of(feed)->fleet;
	rb_outcome outcome = report->outcome;
	rb_status status;

	f->left -= parcel->cut.count;
	f->answered = f->answered || report->status == RB_OK ||
		      report->status == RB_ERR_PARTIAL;
	rbi_yard_done(f, parcel);
	status = f->inner->ops->delivered(f->inner, parcel, report);
	if (outcome == RB_ANSWERED || outcome == RB_PARTLY)
		rbi_yard_applied(f, parcel);
	return status;
}

static void share_rest(rbi_feed *feed, const rbi_bounds *bounds,
		       const char *message)
{
	const rbi_fate fate = { RB_ERR_SKIPPED, RB_NOT_SENT, message };

	(void)bounds;
	rbi_share_fail(leg_of(feed), &fate);
	feed->ended = true;
}

const rbi_feed_ops rbi_share_ops = {
	.next = share_next,
	.report = share_report,
	.divide = share_divide,
	.delivered = share_delivered,
	.rest = share_rest,
};

#include "yard.h"

#include "alloc.h"
#include "overlap.h"

/* ----------------------------------------------------------------- order -- */

/* It is large, and most calls never need it. False: no memory. */
static bool have_order(rbi_fleet *f)
{
	if (!f->ordered || f->order != NULL)
		return true;
	f->order = rbi_alloc_zero(f->client->allocator, sizeof(*f->order));
	return f->order != NULL;
}

static void count_away(rbi_fleet *f, const rbi_parcel *p, uint32_t more)
{
	size_t i;

	for (i = 0; f->order != NULL && i < p->cut.count; i++)
		f->order->held[p->slots[i]] += more;
}

static void count_out(rbi_fleet *f, const rbi_parcel *p, uint32_t more)
{
	size_t i;

	for (i = 0; f->order != NULL && i < p->cut.count; i++)
		f->order->out[p->slots[i]] += more;
}

#define LESS UINT32_MAX /* adding it takes one away */

bool rbi_yard_holds(const rbi_fleet *f, uint16_t slot)
{
	return f->order != NULL && f->order->held[slot] > 0;
}

bool rbi_yard_doubts(const rbi_fleet *f, uint16_t slot)
{
	return f->order != NULL && f->order->doubted[slot];
}

void rbi_yard_doubt(rbi_fleet *f, const rbi_parcel *parcel)
{
	size_t i;

	/* Where it cannot be told what must not be sent, nothing is. */
	if (!have_order(f))
		rbi_fleet_stop(f, RB_ERR_NOMEM, "out of memory");
	for (i = 0; f->order != NULL && i < parcel->cut.count; i++)
		f->order->doubted[parcel->slots[i]] = true;
}

void rbi_yard_done(rbi_fleet *f, const rbi_parcel *parcel)
{
	if (parcel->trip.out)
		count_out(f, parcel, LESS);
	if (parcel->trip.away)
		count_away(f, parcel, LESS);
}

/* Whether what comes before the chunk has been answered. */
static bool is_next(const rbi_fleet *f, const rbi_parcel *p)
{
	const rbi_lane *lane = f->legs[p->trip.from]->lane;
	const rbi_order *order = f->order;
	size_t i;

	if (order == NULL)
		return true;
	if (lane->pushed - lane->count < p->trip.barrier)
		return false;
	for (i = 0; i < p->cut.count; i++) {
		uint16_t slot = p->slots[i];

		if (order->out[slot] > 0 || order->seen[slot] == order->round)
			return false;
	}
	return true;
}

/* What comes behind the chunk waits for it. */
static void note_seen(rbi_fleet *f, const rbi_parcel *p)
{
	size_t i;

	for (i = 0; f->order != NULL && i < p->cut.count; i++)
		f->order->seen[p->slots[i]] = f->order->round;
}

static bool share_a_slot(const rbi_parcel *one, const rbi_parcel *two)
{
	size_t i;
	size_t k;

	for (i = 0; i < one->cut.count; i++) {
		for (k = 0; k < two->cut.count; k++) {
			if (one->slots[i] == two->slots[k])
				return true;
		}
	}
	return false;
}

/* Whether anything that is away has a slot of the chunk. */
static bool meets_away(const rbi_fleet *f, const rbi_parcel *p)
{
	size_t i;

	for (i = 0; i < p->cut.count; i++) {
		if (f->order->held[p->slots[i]] > 0)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------- taking in -- */

bool rbi_yard_put(rbi_leg *from, const rbi_parcel *parcel, const rbi_fate *fate)
{
	rbi_fleet *f = from->fleet;
	rbi_parcel p = *parcel;

	if (!have_order(f) || !rbi_again_reserve(&f->yard, 1))
		return false;
	if (p.trip.out)
		count_out(f, &p, LESS);
	if (!p.trip.away)
		count_away(f, &p, 1);
	p.trip.out = false;
	p.trip.away = true;
	p.trip.from = from->number;
	p.trip.barrier = from->lane->pushed;
	if (p.trip.since_us == 0)
		p.trip.since_us = f->now_us;
	rbi_again_add(&f->yard, &p, fate);
	return true;
}

/* Reports a chunk that is not going to be sent. */
static void settle(rbi_fleet *f, const rbi_waiting *w)
{
	rbi_engine *e = &f->legs[w->parcel.trip.from]->engine;

	if (w->parcel.attempts > 0)
		rbi_parcel_clear(&w->parcel);
	rbi_settle_parcel(e, &w->parcel, &w->fate);
}

/* It will never be sent, and where it was sent to before does not matter any
 * more. */
static void come_too_late(rbi_fleet *f, rbi_waiting *w, const char *why)
{
	w->fate.status = RB_ERR_SKIPPED;
	w->fate.message = why;
	settle(f, w);
}

void rbi_yard_collect(rbi_leg *leg)
{
	rbi_again *again = &leg->engine.again;

	while (again->count > 0) {
		rbi_waiting w = rbi_again_take(again, 0);

		if (!rbi_yard_put(leg, &w.parcel, &w.fate))
			rbi_settle_parcel(&leg->engine, &w.parcel, &w.fate);
	}
}

void rbi_yard_report(rbi_fleet *f)
{
	while (f->yard.count > 0) {
		rbi_waiting w = rbi_again_take(&f->yard, 0);

		settle(f, &w);
	}
}

void rbi_yard_applied(rbi_fleet *f, const rbi_parcel *parcel)
{
	rbi_waiting w;
	size_t i = 0;

	if (f->order == NULL || f->yard.count == 0 || !meets_away(f, parcel))
		return;
	while (i < f->yard.count) {
		const rbi_parcel *p = &f->yard.items[i].parcel;

		if (p->position > parcel->position ||
		    !share_a_slot(p, parcel) ||
		    !rbi_overlap(f->client->allocator, &p->cut, &parcel->cut)) {
			i++;
			continue;
		}
		w = rbi_again_take(&f->yard, i);
		come_too_late(f, &w,
			      "a later write of the same key was applied");
	}
}

/* ------------------------------------------------------------ sending on -- */

bool rbi_yard_may_wait(const rbi_fleet *f, uint64_t since_us, uint64_t until_us)
{
	return until_us < f->deadline_us &&
	       until_us - rbi_clock_earlier(since_us, until_us) < f->budget_us;
}

bool rbi_yard_is_lost(const rbi_fleet *f, const rbi_leg *leg, uint64_t since_us)
{
	if (leg->state == RBI_LEG_OVER)
		return true;
	if (leg->state == RBI_LEG_RESTING)
		return !rbi_yard_may_wait(f, since_us, leg->resume_us);
	return leg->down_us != 0 && !rbi_yard_may_wait(f, since_us, f->now_us);
}

/* Forgets that the chunk was to be asked of one node and no other. */
static void go_by_map(rbi_parcel *p)
{
	p->trip.to = RBI_ANYWHERE;
	p->cut.asking = false;
	p->cut = rbi_plan_part(&p->cut, 0, p->cut.count);
}

static bool is_reachable(const rbi_leg *leg)
{
	return leg->state != RBI_LEG_OVER && leg->down_us == 0;
}

/* Who is to be asked; NULL: no memory. */
static rbi_leg *destination(rbi_fleet *f, rbi_parcel *p)
{
	uint16_t slot = p->slots[0];
	rbi_leg *leg;

	if (p->trip.to != RBI_ANYWHERE) {
		leg = rbi_leg_of(f, p->trip.to, slot);
		if (leg == NULL || is_reachable(leg))
			return leg;
		go_by_map(p);
	}
	return rbi_leg_for(f, slot, p->trip.primary);
}

/* How many of its entries go the same way as the first. */
static size_t same_way(const rbi_leg *leg, const rbi_parcel *p)
{
	size_t i = 0;

	if (p->trip.to != RBI_ANYWHERE)
		return p->cut.count;
	while (i < p->cut.count && (i == 0 || p->slots[i] == p->slots[i - 1] ||
				    rbi_leg_serves(leg, p->slots[i])))
		i++;
	return i;
}

/* How many of its entries are as the first one is, of a slot where it is known
 * what writes did, or not. */
static size_t same_doubt(const rbi_fleet *f, const rbi_parcel *p)
{
	bool first = rbi_yard_doubts(f, p->slots[0]);
	size_t i = 1;

	if (f->order == NULL)
		return p->cut.count;
	while (i < p->cut.count && rbi_yard_doubts(f, p->slots[i]) == first)
		i++;
	return i;
}

/* Takes the first n entries out of what waits at i. False: no memory. */
static bool take_head(rbi_fleet *f, size_t i, size_t n, rbi_waiting *head)
{
	rbi_waiting *w = &f->yard.items[i];
	size_t count = w->parcel.cut.count;

	if (n == count) {
		*head = rbi_again_take(&f->yard, i);
		return true;
	}
	if (!f->inner->ops->divide(f->inner, &w->parcel, n))
		return false;
	*head = *w;
	head->parcel = rbi_parcel_part(&w->parcel, 0, n);
	w->parcel = rbi_parcel_part(&w->parcel, n, count - n);
	return true;
}

/* Sends the chunk on, or the part of it that goes the same way. */
static bool send_on(rbi_fleet *f, size_t i, rbi_leg *leg)
{
	const rbi_parcel *p = &f->yard.items[i].parcel;
	size_t n = rbi_min(same_way(leg, p), same_doubt(f, p));
	rbi_waiting head;

	if (!rbi_again_reserve(&leg->engine.again, 1) ||
	    !take_head(f, i, n, &head))
		return false;
	head.parcel.trip.out = true;
	count_out(f, &head.parcel, 1);
	rbi_again_add(&leg->engine.again, &head.parcel, &head.fate);
	leg->ready = true;
	return true;
}

/* The first entries of what waits at i are of slots in doubt. */
static void drop_doubted(rbi_fleet *f, size_t i)
{
	size_t n = same_doubt(f, &f->yard.items[i].parcel);
	rbi_waiting w;

	/* Without memory the others share their fate. */
	if (!take_head(f, i, n, &w))
		w = rbi_again_take(&f->yard, i);
	come_too_late(f, &w, "nobody knows what an earlier write did");
}

static void give_up(rbi_fleet *f, size_t i, const rbi_leg *leg)
{
	rbi_waiting w = rbi_again_take(&f->yard, i);

	/* What was lost has words of its own; by whom it was sent here does
	 * not matter any more. */
	if (w.parcel.attempts == 0 || w.fate.status == RB_ERR_SERVER) {
		w.fate.status =
			leg->engine.over ? RB_ERR_SKIPPED : RB_ERR_CONNECT;
		w.fate.message =
			rbi_result_note(leg->part, RB_ERR_CONNECT, leg->why);
	}
	settle(f, &w);
}

typedef enum verdict { WAITS, WENT, GONE } verdict;

/* Nothing would wake up a call that waited for memory. */
static verdict no_memory(rbi_fleet *f)
{
	rbi_fleet_stop(f, RB_ERR_NOMEM, "out of memory");
	return WAITS;
}

static verdict see_to(rbi_fleet *f, size_t i)
{
	rbi_parcel *p = &f->yard.items[i].parcel;
	rbi_leg *leg;

	if (rbi_yard_doubts(f, p->slots[0])) {
		drop_doubted(f, i);
		return GONE;
	}
	if (f->now_us < p->trip.resume_us || !is_next(f, p))
		return WAITS;
	leg = destination(f, p);
	if (leg == NULL)
		return no_memory(f);
	if (rbi_yard_is_lost(f, leg, p->trip.since_us)) {
		give_up(f, i, leg);
		return GONE;
	}
	if (leg->state == RBI_LEG_ASLEEP)
		rbi_leg_start(leg);
	if (leg->state != RBI_LEG_UP || leg->renewing)
		return WAITS;
	return send_on(f, i, leg) ? WENT : no_memory(f);
}

void rbi_yard_run(rbi_fleet *f)
{
	size_t i = 0;

	if (f->order != NULL)
		f->order->round++;
	while (i < f->yard.count) {
		const rbi_parcel p = f->yard.items[i].parcel;

		if (see_to(f, i) == WAITS) {
			note_seen(f, &p);
			i++;
		}
	}
}

uint64_t rbi_yard_until(const rbi_fleet *f)
{
	uint64_t until = RBI_NEVER;
	size_t i;

	for (i = 0; i < f->yard.count; i++) {
		const rbi_trip *t = &f->yard.items[i].parcel.trip;

		if (t->resume_us > f->now_us && t->resume_us < until)
			until = t->resume_us;
	}
	return until;
}

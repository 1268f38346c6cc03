#include "detour.h"

#include "redirect.h"

/* Nodes that send a chunk to each other are believed so many times: at first at
 * once, and then after 0.1, 0.2, 0.3 seconds and so on, since a cluster takes
 * its time to agree. */
#define REDIRECTS_MAX 8
#define REDIRECTS_AT_ONCE 3
#define REDIRECT_PAUSE_US 100000

/* The longest wait before a node that is not ready is asked again. */
#define LONGEST_WAIT_US 500000

static bool put(rbi_leg *leg, const rbi_parcel *p, const rbi_fate *fate)
{
	return rbi_yard_put(leg, p, fate);
}

/* As it was cut, but sent in another way. */
static void cut_anew(rbi_parcel *p)
{
	p->cut = rbi_plan_part(&p->cut, 0, p->cut.count);
}

/* ------------------------------------------------------------ redirected -- */

static bool fail_redirect(rbi_leg *leg, rbi_fate *fate, const char *words)
{
	char text[256];

	rbi_print(text, sizeof(text), "%.120s (%s)", fate->message, words);
	fate->message = rbi_result_note(leg->part, RB_ERR_SERVER, text);
	return false;
}

/* The node of a redirect, which may be named by the one who answered. */
static size_t named_node(const rbi_leg *leg, const rbi_redirect *r)
{
	rbi_slotmap *map = &leg->fleet->pool->map;
	const rbi_node *here = &map->nodes[leg->node];

	if (r->host_len == 0)
		return rbi_slotmap_node(map, here->host, here->host_len,
					r->port);
	return rbi_slotmap_node(map, r->host, r->host_len, r->port);
}

/* Who sends us to itself may know better over a new connection: it may be
 * behind something that chooses a server for each. */
static void renew_once(rbi_leg *leg)
{
	if (!leg->renewed)
		leg->renewing = true;
}

static void note_moved(rbi_leg *leg, const rbi_parcel *p, size_t node)
{
	rbi_fleet *f = leg->fleet;
	size_t i;

	/* Of a replica it only says that it does not read for us. */
	for (i = 0; i < p->cut.count; i++) {
		if (i == 0 || p->slots[i] != p->slots[i - 1])
			rbi_pool_moved(f->pool, p->slots[i], node);
	}
	f->wants_map = true;
}

static void slow_down(const rbi_fleet *f, rbi_parcel *p)
{
	uint32_t late = 0;

	if (p->trip.redirects > REDIRECTS_AT_ONCE)
		late = p->trip.redirects - REDIRECTS_AT_ONCE;
	p->trip.resume_us = f->now_us + (uint64_t)late * REDIRECT_PAUSE_US;
}

static bool redirected(rbi_leg *leg, const rbi_parcel *parcel, rbi_fate *fate)
{
	rbi_fleet *f = leg->fleet;
	rbi_parcel p = *parcel;
	rbi_redirect r;
	size_t node;

	if (f->pool->fixed)
		return false;
	if (!rbi_redirect_parse(fate->message, strlen(fate->message), &r))
		return fail_redirect(leg, fate, "to nowhere");
	if (p.trip.redirects >= REDIRECTS_MAX)
		return fail_redirect(leg, fate, "redirected too often");
	node = named_node(leg, &r);
	if (node == RBI_NO_NODE)
		return fail_redirect(leg, fate, "too many nodes");
	p.trip.redirects++;
	slow_down(f, &p);
	p.trip.primary = true;
	p.trip.to = r.ask ? node : RBI_ANYWHERE;
	p.cut.asking = r.ask;
	cut_anew(&p);
	if (!r.ask)
		note_moved(leg, &p, node);
	if (!r.ask && node == leg->node)
		renew_once(leg);
	leg->part->stats.redirects++;
	return put(leg, &p, fate);
}

/* ------------------------------------------------------------------ waits -- */

static bool wait(rbi_leg *leg, const rbi_parcel *parcel, const rbi_fate *fate)
{
	rbi_fleet *f = leg->fleet;
	rbi_parcel p = *parcel;
	uint64_t wait_us;

	if (p.trip.since_us == 0)
		p.trip.since_us = f->now_us;
	f->backoff.tries = p.trip.waits++;
	wait_us = rbi_backoff_next(&f->backoff) / 2;
	if (wait_us > LONGEST_WAIT_US)
		wait_us = LONGEST_WAIT_US / 2 + wait_us % (LONGEST_WAIT_US / 2);
	p.trip.resume_us = f->now_us + wait_us;
	if (!rbi_yard_may_wait(f, p.trip.since_us, p.trip.resume_us))
		return false;
	f->wants_map = true;
	return put(leg, &p, fate);
}

/* Nobody serves the slot: that is how it is, and not for the time of a
 * failover. */
static bool wait_for_cluster(rbi_leg *leg, const rbi_parcel *p,
			     const rbi_refusal *r, const rbi_fate *fate)
{
	rbi_hints hints = rbi_route_hints(r->message, strlen(r->message));
	uint32_t attempts = leg->fleet->options->attempts;

	if (attempts < 2 ||
	    ((hints.uncovered || hints.upstream) && p->attempts >= attempts))
		return false;
	return wait(leg, p, fate);
}

/* Keys of one slot on two nodes: each by itself is on one of them. A command
 * that has several keys by nature can only wait. */
static bool go_alone(rbi_leg *leg, const rbi_parcel *parcel,
		     const rbi_fate *fate)
{
	const rbi_batch *b = parcel->cut.batch;
	rbi_parcel p = *parcel;

	if (b->form != RBI_FORM_GATHER || b->transaction || p.cut.alone)
		return leg->fleet->options->attempts > 1 &&
		       wait(leg, parcel, fate);
	p.cut.alone = true;
	cut_anew(&p);
	leg->part->stats.splits++;
	return put(leg, &p, fate);
}

static bool ask_primary(rbi_leg *leg, const rbi_parcel *parcel,
			const rbi_fate *fate)
{
	rbi_parcel p = *parcel;

	if (!leg->replica || p.trip.primary)
		return false;
	p.trip.primary = true;
	return put(leg, &p, fate);
}

static bool detour_take(void *arg, const rbi_parcel *parcel,
			const rbi_refusal *refusal, rbi_fate *fate,
			uint64_t now_us)
{
	rbi_leg *leg = arg;

	(void)now_us;
	if (leg->fleet->stopped)
		return false;
	switch (refusal->route) {
	case RBI_ROUTE_REDIRECT:
		return redirected(leg, parcel, fate);
	case RBI_ROUTE_ALONE:
		return go_alone(leg, parcel, fate);
	case RBI_ROUTE_AGAIN:
		return wait_for_cluster(leg, parcel, refusal, fate);
	case RBI_ROUTE_LATER:
		return ask_primary(leg, parcel, fate);
	case RBI_ROUTE_ANSWER:
	case RBI_ROUTE_FAIL:
	case RBI_ROUTE_REGROUP:
	case RBI_ROUTE_ISOLATE:
	case RBI_ROUTE_SPLIT:
	case RBI_ROUTE_SHRINK:
	case RBI_ROUTE_STOP:
	case RBI_ROUTE_CLOSE:
		break;
	}
	return false;
}

static void detour_doubt(void *arg, const rbi_parcel *parcel)
{
	rbi_leg *leg = arg;

	rbi_yard_doubt(leg->fleet, parcel);
}

const rbi_elsewhere rbi_detour_ops = {
	.take = detour_take,
	.doubt = detour_doubt,
};

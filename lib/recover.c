#include "recover.h"

#include "clock.h"
#include "overlap.h"
#include "revive.h"

/* Below this share of its bound an answer is not looked through for its
 * largest value: it may count as one. */
#define SMALL_SHARE 16

/* -------------------------------------------------------- what to learn -- */

/* The largest value of the oldest flight's answer, or a bound of it. */
static size_t largest_value(const rbi_engine *e, const rbi_parcel *p,
			    size_t reply_bytes)
{
	size_t largest = 0;
	size_t i;

	if (reply_bytes < e->options->chunk_reply_bytes / SMALL_SHARE)
		return reply_bytes;
	for (i = 0; i < p->cut.count; i++)
		largest = rbi_max(largest, rbi_entry_value(&p->entries[i]).len);
	return largest;
}

static void learn(rbi_engine *e, uint64_t now_us)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	const rbi_parcel *p = &flight->parcel;
	size_t bytes = rbi_lane_reply_bytes(e->lane);

	rbi_backoff_reset(&e->refusals);
	rbi_backoff_reset(&e->losses);
	e->probing = false;
	rbi_ramp_answered(&e->ramp);
	if (e->lane->answer.status != RB_OK &&
	    e->lane->answer.status != RB_ERR_PARTIAL)
		return;
	if (e->batch->shape == RBI_SHAPE_VALUES)
		rbi_learn(e->learned, p->cut.count, bytes,
			  largest_value(e, p, bytes));
	else
		rbi_learn(e->learned, p->cut.count, bytes, 0);
	rbi_window_answered(&e->window, flight->last_sent_us, now_us);
}

/* ------------------------------------------------------- refused chunks -- */

/* Lets a part of the chunk wait, and makes the rest the chunk. */
static bool wait_head(rbi_engine *e, rbi_parcel *p, size_t count,
		      const rbi_fate *fate)
{
	rbi_parcel head = rbi_parcel_part(p, 0, count);

	if (!rbi_again_reserve(&e->again, 2) ||
	    !e->feed->ops->divide(e->feed, p, count))
		return false;
	rbi_again_add(&e->again, &head, fate);
	*p = rbi_parcel_part(p, count, p->cut.count - count);
	return true;
}

/* Entries of a chunk that is one command, and not to be applied as a whole,
 * may go by themselves. */
static bool can_divide(const rbi_engine *e, const rbi_parcel *p)
{
	return p->cut.count > 1 && e->batch->form == RBI_FORM_GATHER &&
	       !e->batch->transaction;
}

static bool wait_in_halves(rbi_engine *e, rbi_parcel *p, const rbi_fate *fate)
{
	if (!can_divide(e, p) || !wait_head(e, p, p->cut.count / 2, fate))
		return false;
	rbi_again_add(&e->again, p, fate);
	e->result->stats.splits++;
	return true;
}

/* Nobody waits longer than to the deadline, nor for ever without one. What
 * concerns some keys only must not take the time of all. */
static bool is_worth_waiting(const rbi_engine *e, const rbi_parcel *p,
			     rbi_route route, uint64_t until_us)
{
	if (e->options->attempts < 2 || until_us >= e->deadline_us)
		return false;
	if (route == RBI_ROUTE_AGAIN || route == RBI_ROUTE_ALONE)
		return p->attempts < e->options->attempts;
	return e->refusals.tries < e->options->attempts ||
	       e->deadline_us != RBI_NEVER;
}

static bool wait_for_server(rbi_engine *e, const rbi_parcel *p,
			    const rbi_fate *fate, rbi_route route,
			    uint64_t now_us)
{
	uint64_t until_us;

	/* Others in flight with it were refused in the same moment. */
	if (e->waiting)
		return rbi_again_keep(&e->again, p, fate);
	until_us = now_us + rbi_backoff_next(&e->refusals);
	if (!is_worth_waiting(e, p, route, until_us) ||
	    !rbi_again_keep(&e->again, p, fate)) {
		rbi_backoff_reset(&e->refusals);
		return false;
	}
	e->waiting = e->probing = true;
	e->resume_us = until_us;
	return true;
}

/* The server lacks memory: half of the chunk may still fit, once. */
static bool wait_shrunk(rbi_engine *e, rbi_parcel *p, const rbi_fate *fate)
{
	if (e->shrunk)
		return e->again.count > 0 && p->attempts == 1 &&
		       rbi_again_keep(&e->again, p, fate);
	if (!wait_in_halves(e, p, fate))
		return false;
	e->shrunk = e->probing = true;
	return true;
}

static bool wait_split(rbi_engine *e, rbi_parcel *p, const rbi_fate *fate,
		       const rbi_hints *hints)
{
	size_t args = rbi_batch_fixed_args(p->cut.batch) +
		      p->cut.count * rbi_batch_entry_args(p->cut.batch);

	if (hints->limit > 0)
		rbi_limits_bytes(e->limits, hints->limit);
	if (hints->arguments && p->cut.count > 1)
		rbi_limits_args(e->limits, args);
	return wait_in_halves(e, p, fate);
}

static size_t longest_entry(const rbi_cut *cut)
{
	size_t longest = cut->first;
	size_t i;

	for (i = cut->first + 1; i < cut->first + cut->count; i++) {
		if (rbi_batch_entry_size(cut->batch, i) >
		    rbi_batch_entry_size(cut->batch, longest))
			longest = i;
	}
	return longest - cut->first;
}

/* One of the arguments is too long, so the longest is: it fails by itself, and
 * the others wait. What is one whole fails as such. */
static bool fail_longest(rbi_engine *e, rbi_parcel *p, const rbi_fate *fate)
{
	size_t longest = longest_entry(&p->cut);
	size_t behind = p->cut.count - longest - 1;
	rbi_parcel tail;

	if (!can_divide(e, p)) {
		rbi_settle_parcel(e, p, fate);
		return true;
	}
	if (longest > 0 && !wait_head(e, p, longest, fate))
		return false;
	if (behind > 0 && rbi_again_reserve(&e->again, 1) &&
	    e->feed->ops->divide(e->feed, p, 1)) {
		tail = rbi_parcel_part(p, 1, behind);
		rbi_again_add(&e->again, &tail, fate);
		*p = rbi_parcel_part(p, 0, 1);
	}
	rbi_settle_parcel(e, p, fate);
	e->result->stats.splits++;
	return true;
}

/* The server closes the connection behind this answer. */
static bool wait_for_connection(rbi_engine *e, rbi_parcel *p,
				const rbi_fate *fate, const rbi_hints *hints)
{
	if (!rbi_revive_possible(e) || hints->login)
		return false;
	/* What makes the chunk smaller gets on, so it may lose as many
	 * connections as it takes. */
	if (hints->long_one || hints->arguments)
		rbi_backoff_reset(&e->losses);
	if (hints->long_one)
		return fail_longest(e, p, fate);
	if (hints->arguments)
		return wait_split(e, p, fate, hints);
	return p->attempts < e->options->attempts &&
	       rbi_again_keep(&e->again, p, fate);
}

/* The keys of a command must have something in common for this server: chunks
 * are to be made by other rules, which is not for here. */
static bool wait_for_rules(rbi_engine *e, rbi_parcel *p, const rbi_fate *fate)
{
	if (!e->may_regroup)
		return false;
	p->attempts = 0;
	if (!rbi_again_keep(&e->again, p, fate))
		return false;
	e->regroup = true;
	return true;
}

bool rbi_recover_refused(rbi_engine *e, rbi_parcel *p, const rbi_refusal *r,
			 uint64_t now_us)
{
	rbi_hints hints = rbi_route_hints(r->message, strlen(r->message));
	/* While something waits, what was received stays where it is. */
	const rbi_fate fate = { r->status,
				p->attempts > 0 ? r->outcome : RB_NOT_SENT,
				r->message };

	switch (r->route) {
	case RBI_ROUTE_ANSWER:
	case RBI_ROUTE_FAIL:
	case RBI_ROUTE_REDIRECT:
	case RBI_ROUTE_STOP:
		break;
	case RBI_ROUTE_REGROUP:
		return wait_for_rules(e, p, &fate);
	case RBI_ROUTE_ISOLATE:
		return wait_in_halves(e, p, &fate);
	case RBI_ROUTE_SPLIT:
		return wait_split(e, p, &fate, &hints);
	case RBI_ROUTE_SHRINK:
		return wait_shrunk(e, p, &fate);
	case RBI_ROUTE_ALONE:
	case RBI_ROUTE_AGAIN:
	case RBI_ROUTE_LATER:
		return wait_for_server(e, p, &fate, r->route, now_us);
	case RBI_ROUTE_CLOSE:
		return wait_for_connection(e, p, &fate, &hints);
	}
	return false;
}

/* A later chunk was applied: what waits and touches the same keys came too
 * late. */
static void give_up_overtaken(rbi_engine *e, const rbi_parcel *applied)
{
	size_t i = 0;

	while (i < e->again.count) {
		const rbi_parcel *p = &e->again.items[i].parcel;
		rbi_waiting w;

		if (p->position > applied->position ||
		    !rbi_overlap(e->again.allocator, &p->cut, &applied->cut)) {
			i++;
			continue;
		}
		w = rbi_again_take(&e->again, i);
		rbi_settle_parcel(e, &w.parcel, &w.fate);
	}
}

void rbi_recover_learn(rbi_engine *e, uint64_t now_us)
{
	const rbi_answer *a = &e->lane->answer;

	if (a->status == RB_OK && e->may_regroup && !e->limits->mixes)
		e->limits->mixes = rbi_plan_mixes_slots(
			&rbi_lane_oldest(e->lane)->parcel.cut);
	if (a->route != RBI_ROUTE_LATER && a->route != RBI_ROUTE_AGAIN &&
	    a->route != RBI_ROUTE_ALONE)
		learn(e, now_us);
}

void rbi_recover_answered(rbi_engine *e, uint64_t now_us)
{
	const rbi_answer *a = &e->lane->answer;
	const rbi_refusal r = { a->route, a->status, a->outcome, a->message };
	rbi_parcel parcel = rbi_settle_oldest(e);

	/* Words that came before any of it had left are about no entry. */
	if (e->lane->sent <= rbi_lane_oldest(e->lane)->begin)
		rbi_parcel_clear(&parcel);
	if (a->status == RB_ERR_SERVER && a->outcome == RB_REJECTED &&
	    !e->stopped && rbi_recover_refused(e, &parcel, &r, now_us)) {
		char why[160];

		rbi_print(why, sizeof(why), "%s", r.message);
		rbi_print(e->words, sizeof(e->words), "%s", why);
		rbi_settle_count(e);
		rbi_lane_pop(e->lane);
		if (r.route == RBI_ROUTE_CLOSE)
			rbi_revive_lose(e, why, true, now_us);
		return;
	}
	if (!e->batch->reads && e->again.count > 0 && a->outcome != RB_REJECTED)
		give_up_overtaken(e, &parcel);
	rbi_recover_learn(e, now_us);
	rbi_settle_answered(e, now_us);
}

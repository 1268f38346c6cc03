#include "revive.h"

#include "clock.h"
#include "refusal.h"

/* An answer of so many bytes may be why the connection ended: servers bound
 * what they hold for a client that is slow to read. */
#define LARGE_REPLY ((size_t)64 * 1024)

bool rbi_revive_possible(const rbi_engine *e)
{
	if (e->elsewhere != NULL)
		return !e->stopped;
	return e->redial != NULL && !e->stopped &&
	       e->losses.tries + 1 < e->options->attempts;
}

static bool may_repeat(const rbi_engine *e)
{
	return e->batch->reads || (e->options->flags & RB_RETRY_WRITES) != 0;
}

/* Whether a write has left of which nobody knows what it did. */
static bool is_in_doubt(const rbi_engine *e)
{
	const rbi_flight *oldest = rbi_lane_oldest(e->lane);
	size_t bytes;

	if (e->lane->count == 0)
		return false;
	if (e->lane->sent >= oldest->end)
		return true;
	return e->lane->sent > oldest->begin &&
	       rbi_plan_is_divisible(&oldest->parcel.cut) &&
	       rbi_plan_sent(&oldest->parcel.cut, e->lane->sent - oldest->begin,
			     &bytes) > 0;
}

/* How the first entries of a chunk fared that were answered, one by one. */
static rbi_fate fate_of_head(const rbi_parcel *head, const rbi_answer *a)
{
	rbi_fate fate = { RB_OK, RB_ANSWERED, "" };
	size_t rejected = 0;
	size_t i;

	for (i = 0; i < head->cut.count; i++) {
		const rbi_entry *entry = &head->entries[i];

		if (rbi_entry_status(entry, RB_OK) != RB_OK) {
			fate.status = RB_ERR_PARTIAL;
			fate.message = a->message;
		}
		rejected +=
			rbi_entry_outcome(entry, RB_ANSWERED) == RB_REJECTED;
	}
	if (rejected > 0 && a->batch->shape != RBI_SHAPE_VALUES)
		fate.outcome =
			rejected == head->cut.count ? RB_REJECTED : RB_PARTLY;
	return fate;
}

/* How many entries of the oldest flight were answered by themselves. */
static size_t answered_entries(const rbi_engine *e, const rbi_parcel *p)
{
	const rbi_answer *a = &e->lane->answer;

	if (e->lane->sent < rbi_lane_oldest(e->lane)->end ||
	    !e->lane->answering || e->batch->transaction ||
	    a->batch->shape == RBI_SHAPE_INTEGER ||
	    (a->batch->shape == RBI_SHAPE_OK && !a->grouped))
		return 0;
	return rbi_plan_units(&p->cut, a->seen);
}

/* Whether the parcel is not sent again, having been sent too often. */
static bool is_exhausted(const rbi_engine *e, const rbi_parcel *p)
{
	uint32_t most = e->options->attempts;

	/* With several nodes it is a matter of time. */
	if (e->elsewhere != NULL && most > 1)
		return false;
	return p->attempts >= most;
}

/* The new connection may be to a server that knows no better: where a refusal
 * has sent us counts, though it came with the connection's end. */
static void heed(rbi_engine *e, rbi_parcel *p, const rbi_refusal *r,
		 uint64_t now_us)
{
	rbi_fate fate = { r->status, r->outcome, r->message };

	if (e->elsewhere->take(e->elsewhere->arg, p, r, &fate, now_us)) {
		rbi_parcel_clear(p);
		return;
	}
	if (!rbi_refusal_is_of_nodes(r) && !is_exhausted(e, p) &&
	    rbi_again_keep(&e->again, p, &fate))
		return;
	if (fate.message != r->message)
		rbi_parcel_clear(p);
	rbi_settle_parcel(e, p, &fate);
}

/* What had arrived of the oldest flight's answer is kept, and not asked for
 * again, unless it sends us elsewhere. */
static void keep_head(rbi_engine *e, rbi_parcel *p, uint64_t now_us)
{
	size_t seen = answered_entries(e, p);
	rbi_parcel head;
	rbi_fate fate;

	if (seen == 0 || seen == p->cut.count ||
	    !e->feed->ops->divide(e->feed, p, seen))
		return;
	head = rbi_parcel_part(p, 0, seen);
	fate = fate_of_head(&head, &e->lane->answer);
	*p = rbi_parcel_part(p, seen, p->cut.count - seen);
	if (e->elsewhere != NULL)
		rbi_refusal_sift(e, head, (rbi_account){ 0 }, heed, now_us);
	else
		rbi_settle_parcel(e, &head, &fate);
	rbi_backoff_reset(&e->losses);
}

static bool is_one_command(const rbi_cut *cut)
{
	return cut->batch->transaction ||
	       (cut->batch->form == RBI_FORM_GATHER &&
		!rbi_plan_is_grouped(cut));
}

/* Of a write that has left nobody knows what it did, as far as it has left:
 * that part is reported, and taken out of the parcel. */
static void report_doubt(rbi_engine *e, rbi_parcel *p, uint64_t sent,
			 const char *message)
{
	const rbi_fate fate = { RB_ERR_IO, RB_UNKNOWN, message };
	rbi_parcel head = *p;
	size_t n = p->cut.count;
	size_t bytes = 0;

	if (sent < p->cut.request_bytes)
		n = is_one_command(&p->cut) ?
			    0 :
			    rbi_plan_sent(&p->cut, sent, &bytes);
	if (n == 0)
		return;
	if (n < p->cut.count && e->feed->ops->divide(e->feed, p, n))
		head = rbi_parcel_part(p, 0, n);
	if (head.cut.count < p->cut.count) {
		*p = rbi_parcel_part(p, n, p->cut.count - n);
		p->attempts -= sent == bytes;
	} else {
		p->cut.count = 0;
	}
	e->elsewhere->doubt(e->elsewhere->arg, &head);
	rbi_settle_parcel(e, &head, &fate);
}

/* What is in flight when its connection ends: how it fares if it is never
 * sent again. */
static void take_back(rbi_engine *e, const char *message, bool not_run,
		      uint64_t now_us)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	uint64_t sent = e->lane->sent > flight->begin ?
				e->lane->sent - flight->begin :
				0;
	bool whole = e->lane->sent >= flight->end;
	rbi_fate fate = { RB_ERR_IO, RB_NOT_SENT, message };
	rbi_parcel p = rbi_settle_oldest(e);

	rbi_settle_count(e);
	if (whole)
		keep_head(e, &p, now_us);
	else
		rbi_parcel_distrust(&p);
	rbi_lane_pop(e->lane);
	if (e->elsewhere != NULL && !not_run && !may_repeat(e))
		report_doubt(e, &p, whole ? p.cut.request_bytes : sent,
			     message);
	else if (whole && !not_run)
		fate.outcome = RB_UNKNOWN;
	if (p.cut.count == 0)
		return;
	if (p.attempts == 0)
		fate.status = RB_ERR_SKIPPED;
	p.unknown =
		p.unknown || (fate.outcome == RB_UNKNOWN && !e->batch->reads);
	if (is_exhausted(e, &p) || !rbi_again_keep(&e->again, &p, &fate))
		rbi_settle_parcel(e, &p, &fate);
}

/* The answer that was to come next, or all of them, may have been too large. */
static void suspect_size(rbi_engine *e)
{
	size_t count;

	if (e->lane->count == 0 || e->batch->shape != RBI_SHAPE_VALUES ||
	    e->lane->sent < rbi_lane_oldest(e->lane)->end)
		return;
	count = rbi_lane_oldest(e->lane)->parcel.cut.count;
	if (e->learned->entry_reply == 0 || e->lane->reply_guess >= LARGE_REPLY)
		rbi_ramp_lost(&e->ramp, count);
}

void rbi_revive_lose(rbi_engine *e, const char *why, bool not_run,
		     uint64_t now_us)
{
	const char *message = rbi_result_note(e->result, RB_ERR_IO, why);
	uint64_t wait_us = 0;

	if (!not_run)
		suspect_size(e);
	while (e->lane->count > 0)
		take_back(e, message, not_run, now_us);
	rbi_transport_break(e->transport, RB_ERR_IO, why);
	rbi_lane_restart(e->lane);
	/* The first time there is nothing to wait for. */
	if (e->losses.tries > 0)
		wait_us = rbi_backoff_next(&e->losses);
	else
		e->losses.tries = 1;
	e->down = e->probing = true;
	e->waiting = false;
	e->unwritable = false;
	e->words_until_us = RBI_NEVER;
	e->words[0] = '\0';
	e->resume_us = now_us + wait_us;
}

static void print_end(const rbi_engine *e, int error, char *why, size_t size)
{
	char system[96];

	if (error != 0)
		rbi_transport_words(e->transport, error, system,
				    sizeof(system));
	else
		rbi_print(system, sizeof(system),
			  "the server closed the connection");
	if (e->words[0] != '\0')
		rbi_print(why, size, "%.90s (its last words: %.140s)", system,
			  e->words);
	else
		rbi_print(why, size, "%s", system);
}

void rbi_revive_lost(rbi_engine *e, int error, uint64_t now_us)
{
	char why[256];

	print_end(e, error, why, sizeof(why));
	if (rbi_revive_possible(e) && !e->closing &&
	    (e->elsewhere != NULL || may_repeat(e) || !is_in_doubt(e)))
		rbi_revive_lose(e, why, false, now_us);
	else
		rbi_settle_lost(e, RB_ERR_IO, why);
}

void rbi_revive_failed(rbi_engine *e, rb_status status, const char *why,
		       uint64_t now_us)
{
	bool ends = status == RB_ERR_CANCELLED || status == RB_ERR_TIMEOUT ||
		    status == RB_ERR_NOMEM;
	char line[256];

	if (!ends && status != RB_ERR_SKIPPED && rbi_revive_possible(e)) {
		e->resume_us = now_us + rbi_backoff_next(&e->losses);
		return;
	}
	rbi_print(line, sizeof(line),
		  "the connection was lost; no new one: %.200s", why);
	rbi_settle_lost(e, ends ? status : RB_ERR_IO, line);
}

void rbi_revive_done(rbi_engine *e)
{
	e->down = false;
	e->resume_us = 0;
	e->result->stats.reconnects++;
}

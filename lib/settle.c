#include "settle.h"

/* ----------------------------------------------------------------- stop -- */

void rbi_settle_stop(rbi_engine *e, rb_status status, const char *why)
{
	e->stopped = true;
	if (e->status != RB_OK)
		return;
	e->status = status;
	rbi_print(e->why, sizeof(e->why), "%s", why);
}

rbi_bounds rbi_settle_bounds(const rbi_engine *e)
{
	const rb_options *o = e->options;
	rbi_bounds bounds = {
		.keys = o->chunk_keys,
		.args = o->chunk_args,
		.request_bytes = o->chunk_request_bytes,
		.reply_bytes = o->chunk_reply_bytes,
	};

	rbi_learn_narrow(&bounds, e->learned, e->limits, &e->ramp);
	/* A chunk is sent at once, so it may hold no more than a second's. */
	if (o->commands_per_second != 0 &&
	    (e->batch->form != RBI_FORM_GATHER || e->batch->slots != NULL))
		bounds.keys = rbi_min(bounds.keys, o->commands_per_second);
	return bounds;
}

static void report_waiting(rbi_engine *e)
{
	while (e->again.count > 0) {
		rbi_waiting w = rbi_again_take(&e->again, 0);

		/* It only let others go first. */
		if (w.fate.message[0] == '\0')
			w.fate.message = rbi_result_note(
				e->result, RB_ERR_SKIPPED, e->why);
		rbi_settle_parcel(e, &w.parcel, &w.fate);
	}
}

static void sum_up(rbi_engine *e)
{
	e->result->stats.request_bytes = e->lane->sent;
	e->result->stats.reply_bytes = e->lane->received;
	e->result->stats.round_trips = e->lane->round_trips;
	e->over = true;
}

void rbi_settle_pause(rbi_engine *e)
{
	sum_up(e);
}

void rbi_settle_finish(rbi_engine *e)
{
	rbi_bounds bounds;

	report_waiting(e);
	/* What was never tried is cut without regard to what was learned. */
	e->ramp.keys = SIZE_MAX;
	bounds = rbi_settle_bounds(e);
	bounds.entry_reply = 0;
	if (!e->feed->ended)
		e->feed->ops->rest(
			e->feed, &bounds,
			rbi_result_note(e->result, RB_ERR_SKIPPED, e->why));
	rbi_result_seal(e->result);
	rbi_again_fini(&e->again);
	sum_up(e);
}

/* --------------------------------------------------------------- report -- */

static void tell(rbi_engine *e, const rb_chunk *chunk)
{
	if (e->options->on_chunk == NULL || chunk->attempts == 0 ||
	    e->status == RB_ERR_CANCELLED)
		return;
	if (e->options->on_chunk(e->options->on_chunk_arg, chunk) < 0)
		rbi_settle_stop(e, RB_ERR_CANCELLED, "cancelled by on_chunk");
}

static rb_chunk *begin_report(rbi_engine *e, const rbi_parcel *parcel,
			      const rbi_fate *fate)
{
	rb_chunk *chunk = e->feed->ops->report(e->feed, parcel);

	chunk->attempts = parcel->attempts;
	chunk->request_bytes = parcel->cut.request_bytes;
	chunk->status = fate->status;
	chunk->outcome = fate->outcome;
	chunk->message = fate->message;
	/* That it was refused later says nothing of what came before. */
	if (parcel->unknown && chunk->outcome != RB_ANSWERED) {
		chunk->outcome = RB_UNKNOWN;
		rbi_parcel_doubt(parcel);
	}
	if (e->node != NULL)
		chunk->node = e->node;
	return chunk;
}

static void end_report(rbi_engine *e, const rbi_parcel *parcel, rb_chunk *chunk)
{
	const rb_chunk told = *chunk;

	/* The sink may come first, and may end what chunk points to. */
	if (e->feed->ops->delivered(e->feed, parcel, chunk) != RB_OK)
		rbi_settle_stop(e, RB_ERR_CANCELLED, "cancelled by the sink");
	tell(e, &told);
}

void rbi_settle_parcel(rbi_engine *e, const rbi_parcel *parcel,
		       const rbi_fate *fate)
{
	end_report(e, parcel, begin_report(e, parcel, fate));
}

void rbi_settle_count(rbi_engine *e)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	const rbi_cut *cut = &flight->parcel.cut;

	if (e->lane->sent < flight->end)
		return;
	e->result->stats.keys += cut->count;
	e->result->stats.commands += rbi_plan_commands(cut);
}

rbi_parcel rbi_settle_oldest(const rbi_engine *e)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	rbi_parcel parcel = flight->parcel;

	parcel.attempts += e->lane->sent > flight->begin;
	return parcel;
}

/* ------------------------------------------------------------- answered -- */

/* A stop is a failure of the call, even if its chunk was answered in part. */
static rb_status stopping_status(const rbi_answer *a)
{
	return a->status == RB_ERR_PARTIAL ? RB_ERR_SERVER : a->status;
}

static void follow_route(rbi_engine *e, const rbi_answer *a)
{
	if (a->status == RB_ERR_SERVER || a->route > RBI_ROUTE_FAIL)
		rbi_print(e->words, sizeof(e->words), "%s", a->message);
	switch (a->route) {
	case RBI_ROUTE_ANSWER:
	case RBI_ROUTE_FAIL:
	case RBI_ROUTE_REDIRECT:
	case RBI_ROUTE_REGROUP:
	case RBI_ROUTE_ALONE:
	case RBI_ROUTE_ISOLATE:
	case RBI_ROUTE_SPLIT:
	case RBI_ROUTE_AGAIN:
		break;
	case RBI_ROUTE_CLOSE:
		e->closing = true;
		rbi_settle_stop(e, stopping_status(a), a->message);
		break;
	case RBI_ROUTE_LATER:
	case RBI_ROUTE_SHRINK:
	case RBI_ROUTE_STOP:
		rbi_settle_stop(e, stopping_status(a), a->message);
		break;
	}
	if (a->status != RB_OK && !e->stopped &&
	    (e->options->flags & RB_STOP_ON_ERROR) != 0) {
		e->stopped = true;
		rbi_print(e->why, sizeof(e->why), "%s", a->message);
	}
}

rbi_account rbi_settle_account(const rbi_engine *e, uint64_t now_us)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	rbi_account account = { .reply_bytes = rbi_lane_reply_bytes(e->lane),
				.number = e->lane->answer.number };

	if (flight->first_sent_us != 0)
		account.elapsed_us = now_us - flight->first_sent_us;
	return account;
}

static void note_account(rb_chunk *chunk, const rbi_account *account)
{
	chunk->reply_bytes = account->reply_bytes;
	chunk->elapsed_us = account->elapsed_us;
	chunk->number = account->number;
}

/* What happened to a run of entries each of which knows. */
static rbi_fate common_fate(const rbi_parcel *p)
{
	rbi_fate fate = { RB_OK, RB_ANSWERED, "" };
	size_t counts[RB_PARTLY + 1] = { 0 };
	size_t failed = 0;
	size_t i;

	for (i = 0; i < p->cut.count; i++) {
		const rbi_entry *entry = &p->entries[i];

		counts[rbi_entry_outcome(entry, RB_ANSWERED)]++;
		if (rbi_entry_status(entry, RB_OK) == RB_OK)
			continue;
		if (failed++ == 0)
			fate.message = rbi_entry_words(entry);
	}
	if (failed > 0)
		fate.status =
			failed == p->cut.count ? RB_ERR_SERVER : RB_ERR_PARTIAL;
	if (counts[RB_REJECTED] == p->cut.count)
		fate.outcome = RB_REJECTED;
	else if (counts[RB_UNKNOWN] == p->cut.count)
		fate.outcome = RB_UNKNOWN;
	else if (counts[RB_ANSWERED] < p->cut.count && !p->cut.batch->reads)
		fate.outcome = RB_PARTLY;
	return fate;
}

void rbi_settle_known(rbi_engine *e, const rbi_parcel *parcel,
		      const rbi_account *account)
{
	const rbi_fate fate = common_fate(parcel);
	rb_chunk *chunk = begin_report(e, parcel, &fate);

	note_account(chunk, account);
	end_report(e, parcel, chunk);
}

void rbi_settle_answered(rbi_engine *e, uint64_t now_us)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	const rbi_account account = rbi_settle_account(e, now_us);
	const rbi_answer *a = &e->lane->answer;
	rbi_fate fate = { a->status, a->outcome, a->message };
	rbi_parcel parcel = rbi_settle_oldest(e);
	rb_chunk *chunk;

	/* A server that gives up may say so before it is asked. */
	if (e->lane->sent <= flight->begin) {
		fate.outcome = RB_NOT_SENT;
		rbi_parcel_clear(&parcel);
	}
	chunk = begin_report(e, &parcel, &fate);
	note_account(chunk, &account);
	rbi_settle_count(e);
	follow_route(e, a);
	rbi_lane_pop(e->lane);
	end_report(e, &parcel, chunk);
	if (e->feed->recycles && e->feed->held == 0 && e->again.count == 0)
		rbi_lane_forget(e->lane);
}

/* ----------------------------------------------------------------- lost -- */

/* Of a chunk of many commands some may have left: they are reported by
 * themselves. What is left to report, in *parcel. */
static void report_head(rbi_engine *e, rbi_parcel *parcel, rbi_fate *fate,
			uint64_t sent)
{
	rbi_fate unknown = { fate->status, RB_UNKNOWN, fate->message };
	rbi_parcel head;
	size_t bytes;
	size_t n;

	if (!rbi_plan_is_divisible(&parcel->cut))
		return;
	n = rbi_plan_sent(&parcel->cut, sent, &bytes);
	if (n == 0)
		return;
	head = rbi_parcel_part(parcel, 0, n);
	e->result->stats.keys += n;
	e->result->stats.commands += rbi_plan_commands(&head.cut);
	if (!e->feed->ops->divide(e->feed, parcel, n)) {
		fate->outcome = RB_UNKNOWN;
		return;
	}
	*parcel = rbi_parcel_part(parcel, n, parcel->cut.count - n);
	if (sent == bytes && --parcel->attempts == 0)
		fate->status = RB_ERR_SKIPPED;
	rbi_settle_parcel(e, &head, &unknown);
}

static void report_lost(rbi_engine *e, rb_status status, const char *message)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	rbi_parcel parcel = rbi_settle_oldest(e);
	rbi_fate fate = { RB_ERR_SKIPPED, RB_NOT_SENT, message };
	size_t reply_bytes = rbi_lane_reply_bytes(e->lane);
	rb_chunk *chunk;

	if (parcel.attempts > 0)
		fate.status = status;
	rbi_settle_count(e);
	if (e->lane->sent >= flight->end)
		fate.outcome = RB_UNKNOWN;
	else if (e->lane->sent > flight->begin)
		report_head(e, &parcel, &fate, e->lane->sent - flight->begin);
	if (e->lane->sent <= flight->begin)
		rbi_parcel_clear(&parcel);
	else if (e->lane->sent < flight->end)
		rbi_parcel_distrust(&parcel);
	rbi_lane_pop(e->lane);
	chunk = begin_report(e, &parcel, &fate);
	chunk->reply_bytes = reply_bytes;
	end_report(e, &parcel, chunk);
}

void rbi_settle_lost(rbi_engine *e, rb_status status, const char *why)
{
	const char *message = rbi_result_note(e->result, status, why);

	/* A server that closes after its last words did what it said. */
	if (!(e->closing && status == RB_ERR_IO) && e->status == RB_OK)
		rbi_settle_stop(e, status, why);
	e->stopped = true;
	/* A deadline that passes before anything was sent harms nobody. */
	if (!e->down && (status == RB_ERR_IO || rbi_lane_is_used(e->lane)))
		rbi_transport_break(e->transport, status, why);
	while (e->lane->count > 0)
		report_lost(e, status, message);
	rbi_settle_finish(e);
}

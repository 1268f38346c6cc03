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
		.entry_reply = *e->entry_reply,
	};

	/* A chunk is sent at once, so it may hold no more than a second's. */
	if (o->commands_per_second != 0 && e->batch->form != RBI_FORM_GATHER)
		bounds.keys = rbi_min(bounds.keys, o->commands_per_second);
	return bounds;
}

void rbi_settle_finish(rbi_engine *e)
{
	rbi_bounds bounds = rbi_settle_bounds(e);

	/* What was never tried is cut as it would have been at first. */
	bounds.entry_reply = 0;
	if (!e->feed->ended)
		e->feed->ops->rest(
			e->feed, &bounds,
			rbi_result_note(e->result, RB_ERR_SKIPPED, e->why));
	e->result->stats.request_bytes = e->lane->sent;
	e->result->stats.reply_bytes = e->lane->received;
	e->result->stats.round_trips = e->lane->round_trips;
	rbi_result_seal(e->result);
	e->over = true;
}

/* --------------------------------------------------------------- settle -- */

static void tell(rbi_engine *e, const rb_chunk *chunk)
{
	if (e->options->on_chunk == NULL || chunk->attempts == 0 ||
	    e->status == RB_ERR_CANCELLED)
		return;
	if (e->options->on_chunk(e->options->on_chunk_arg, chunk) < 0)
		rbi_settle_stop(e, RB_ERR_CANCELLED, "cancelled by on_chunk");
}

static void count_sent(rbi_engine *e, size_t entries, size_t commands)
{
	e->result->stats.keys += entries;
	e->result->stats.commands += commands;
}

/* What a report says in any case. */
static rb_chunk *begin_report(rbi_engine *e, const rbi_flight *flight)
{
	rb_chunk *chunk = e->feed->ops->report(e->feed, &flight->parcel);

	chunk->attempts = e->lane->sent > flight->begin ? 1 : 0;
	chunk->request_bytes = flight->parcel.cut.request_bytes;
	chunk->reply_bytes = rbi_lane_reply_bytes(e->lane);
	return chunk;
}

/* The report stands: hands the chunk back, and takes it out of the lane. */
static void end_report(rbi_engine *e, const rb_chunk *chunk)
{
	const rbi_parcel parcel = rbi_lane_oldest(e->lane)->parcel;

	rbi_lane_pop(e->lane);
	if (e->feed->ops->delivered(e->feed, &parcel, chunk) != RB_OK)
		rbi_settle_stop(e, RB_ERR_CANCELLED, "cancelled by the sink");
	tell(e, chunk);
}

/* What a chunk's answer took, for the next ones: at once when it is more, by
 * halves when it is less, since too large a chunk hurts more than a small one;
 * a single large value is forgotten within ten chunks. */
static void learn(rbi_engine *e, size_t entries, size_t reply_bytes)
{
	size_t entry = reply_bytes / entries + 1;

	if (entry > *e->entry_reply)
		*e->entry_reply = entry;
	else
		*e->entry_reply -= (*e->entry_reply - entry) / 2;
}

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
		break;
	case RBI_ROUTE_CLOSE:
		e->closing = true;
		rbi_settle_stop(e, stopping_status(a), a->message);
		break;
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

void rbi_settle_answered(rbi_engine *e, uint64_t now_us)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	const rbi_answer *a = &e->lane->answer;
	rb_chunk *chunk = begin_report(e, flight);
	size_t count = flight->parcel.cut.count;

	chunk->status = a->status;
	chunk->outcome = a->outcome;
	chunk->message = a->message;
	chunk->number = a->number;
	if (flight->first_sent_us != 0)
		chunk->elapsed_us = now_us - flight->first_sent_us;
	if (e->lane->sent >= flight->end)
		count_sent(e, count, rbi_batch_commands(e->batch, count));
	if (a->status == RB_OK || a->status == RB_ERR_PARTIAL) {
		learn(e, count, chunk->reply_bytes);
		rbi_window_answered(&e->window, flight->last_sent_us, now_us);
	}
	follow_route(e, a);
	end_report(e, chunk);
	if (e->feed->recycles)
		rbi_lane_forget(e->lane);
}

/* Of a chunk of many commands some may have left: they get a report of their
 * own. What is left to report. */
static rb_chunk *split_lost(rbi_engine *e, const rbi_flight *flight,
			    rb_chunk *chunk)
{
	uint64_t sent = e->lane->sent - flight->begin;
	rb_chunk *halves;
	size_t bytes;
	size_t n;

	if (e->batch->form == RBI_FORM_GATHER || e->batch->transaction)
		return chunk;
	n = rbi_plan_sent(&flight->parcel.cut, sent, &bytes);
	if (n == 0)
		return chunk;
	count_sent(e, n, n);
	halves = e->feed->ops->split(e->feed, chunk, n);
	if (halves == NULL) {
		chunk->outcome = RB_UNKNOWN;
		return chunk;
	}
	halves[0].outcome = RB_UNKNOWN;
	halves[0].request_bytes = bytes;
	halves[1].request_bytes -= bytes;
	halves[1].reply_bytes = 0;
	if (sent == bytes) {
		halves[1].attempts = 0;
		halves[1].status = RB_ERR_SKIPPED;
	}
	tell(e, &halves[0]);
	return &halves[1];
}

static void report_lost(rbi_engine *e, rb_status status, const char *message)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	rb_chunk *chunk = begin_report(e, flight);
	size_t count = flight->parcel.cut.count;

	chunk->message = message;
	if (chunk->attempts != 0)
		chunk->status = status;
	if (e->lane->sent >= flight->end) {
		chunk->outcome = RB_UNKNOWN;
		count_sent(e, count, rbi_batch_commands(e->batch, count));
	} else if (chunk->attempts != 0) {
		chunk = split_lost(e, flight, chunk);
	}
	end_report(e, chunk);
}

void rbi_settle_lost(rbi_engine *e, rb_status status, const char *why)
{
	const char *message = rbi_result_note(e->result, status, why);

	/* A server that closes after its last words did what it said. */
	if (!(e->closing && status == RB_ERR_IO) && e->status == RB_OK)
		rbi_settle_stop(e, status, why);
	e->stopped = true;
	/* A deadline that passes before anything was sent harms nobody. */
	if (status == RB_ERR_IO || e->lane->sent > 0 || e->lane->received > 0)
		rbi_transport_break(e->transport, status, why);
	while (e->lane->count > 0)
		report_lost(e, status, message);
	rbi_settle_finish(e);
}

void rbi_settle_lost_io(rbi_engine *e, int error)
{
	char system[96];
	char why[256];

	if (error != 0)
		rbi_transport_error_text(error, system, sizeof(system));
	else
		rbi_print(system, sizeof(system),
			  "the server closed the connection");
	if (e->words[0] != '\0')
		rbi_print(why, sizeof(why), "%.90s (its last words: %.140s)",
			  system, e->words);
	else
		rbi_print(why, sizeof(why), "%s", system);
	rbi_settle_lost(e, RB_ERR_IO, why);
}

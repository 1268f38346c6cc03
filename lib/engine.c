#include "engine.h"

/* Pieces of output offered to one system call. */
#define PIECES 64

/* Receives of one step, so that sending has its turn too. */
#define RECEIVES 8

/* A further chunk is encoded once no more than this waits to leave: the cut is
 * made as late as can be, and a slow line does not fill memory. */
#define OUTPUT_LOW ((size_t)64 * 1024)

/* After a failed write a server's last words are still on their way for no
 * longer than this. */
#define WORDS_US 1000000

void rbi_engine_begin(rbi_engine *e)
{
	rbi_window_init(&e->window, e->options->window, e->options->chunk_keys);
	rbi_pace_init(&e->pace, e->options->commands_per_second);
	rbi_lane_begin(e->lane, e->result, e->options->max_value_bytes);
	e->stopped = e->closing = e->over = e->unwritable = false;
	e->status = RB_OK;
	e->words_until_us = RBI_NEVER;
	e->why[0] = '\0';
	e->words[0] = '\0';
}

/* ----------------------------------------------------------------- stop -- */

/* Sends nothing more. The first reason is the one that is told. */
static void stop(rbi_engine *e, rb_status status, const char *why)
{
	e->stopped = true;
	if (e->status != RB_OK)
		return;
	e->status = status;
	rbi_print(e->why, sizeof(e->why), "%s", why);
}

/* The bounds of the next chunk, with what is known by now. */
static rbi_bounds bounds_now(const rbi_engine *e)
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

static void finish(rbi_engine *e)
{
	rbi_bounds bounds = bounds_now(e);

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
		stop(e, RB_ERR_CANCELLED, "cancelled by on_chunk");
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
		stop(e, RB_ERR_CANCELLED, "cancelled by the sink");
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
		stop(e, stopping_status(a), a->message);
		break;
	case RBI_ROUTE_STOP:
		stop(e, stopping_status(a), a->message);
		break;
	}
	if (a->status != RB_OK && !e->stopped &&
	    (e->options->flags & RB_STOP_ON_ERROR) != 0) {
		e->stopped = true;
		rbi_print(e->why, sizeof(e->why), "%s", a->message);
	}
}

static void settle_answered(rbi_engine *e, uint64_t now_us)
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

static void settle_lost(rbi_engine *e, rb_status status, const char *message)
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

/* The connection ends here, out of step or gone. */
static void lose(rbi_engine *e, rb_status status, const char *why)
{
	const char *message = rbi_result_note(e->result, status, why);

	/* A server that closes after its last words did what it said. */
	if (!(e->closing && status == RB_ERR_IO) && e->status == RB_OK)
		stop(e, status, why);
	e->stopped = true;
	/* A deadline that passes before anything was sent harms nobody. */
	if (status == RB_ERR_IO || e->lane->sent > 0 || e->lane->received > 0)
		rbi_transport_break(e->transport, status, why);
	while (e->lane->count > 0)
		settle_lost(e, status, message);
	finish(e);
}

static void lose_io(rbi_engine *e, int error)
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
	lose(e, RB_ERR_IO, why);
}

void rbi_engine_lost(rbi_engine *e, int error)
{
	lose_io(e, error);
}

/* ----------------------------------------------------------------- send -- */

static void send_chunk(rbi_engine *e, uint64_t now_us)
{
	rbi_bounds bounds = bounds_now(e);
	rbi_parcel parcel;
	rb_status status = e->feed->ops->next(e->feed, &bounds, &parcel);

	if (status != RB_OK) {
		stop(e, status, e->feed->problem);
		return;
	}
	if (parcel.cut.count == 0)
		return;
	if (rbi_lane_push(e->lane, &parcel,
			  parcel.cut.count * *e->entry_reply) != RB_OK) {
		e->feed->ops->put_back(e->feed, &parcel);
		stop(e, RB_ERR_NOMEM, "out of memory");
		return;
	}
	rbi_pace_spend(&e->pace, rbi_batch_commands(e->batch, parcel.cut.count),
		       now_us);
}

/* Whether another chunk would go, were it not for the time. */
static bool has_room(const rbi_engine *e)
{
	const rbi_lane *lane = e->lane;

	if (e->stopped || e->unwritable || e->feed->ended)
		return false;
	if (lane->count >= e->window.chunks || lane->out.pending > OUTPUT_LOW)
		return false;
	return lane->count == 0 ||
	       lane->reply_guess < e->options->window_reply_bytes;
}

static void fill(rbi_engine *e, uint64_t now_us)
{
	while (has_room(e) && rbi_pace_next(&e->pace) <= now_us)
		send_chunk(e, now_us);
}

/* False: nothing more can leave now. */
static bool send_some(rbi_engine *e, uint64_t now_us)
{
	struct iovec iov[PIECES];
	size_t moved = 0;
	int n = rbi_outbuf_offer(&e->lane->out, iov, PIECES);

	switch (rbi_transport_send(e->transport, iov, n, &moved)) {
	case RBI_IO_DONE:
		rbi_lane_sent(e->lane, moved, now_us);
		return true;
	case RBI_IO_LATER:
		return false;
	case RBI_IO_END:
	case RBI_IO_ERROR:
		break;
	}
	/* What the server said before it closed can still be read. */
	e->unwritable = true;
	e->words_until_us = now_us + WORDS_US;
	return false;
}

static void send_all(rbi_engine *e, uint64_t now_us)
{
	fill(e, now_us);
	while (e->lane->out.pending > 0 && !e->unwritable) {
		if (!send_some(e, now_us))
			return;
		fill(e, now_us);
	}
}

/* -------------------------------------------------------------- receive -- */

/* Too much is kept already: values that come from now on are dropped. */
static void bound_result(rbi_engine *e)
{
	const rbi_slab *slab;
	size_t used = 0;

	if (e->options->max_result_bytes == SIZE_MAX)
		return;
	for (slab = e->result->bytes.newest; slab != NULL; slab = slab->next)
		used = rbi_add_sat(used, slab->len);
	if (used <= e->options->max_result_bytes ||
	    (e->feed->ended && e->lane->count == 0))
		return;
	e->lane->in.max_value = 0;
	if (!e->stopped)
		stop(e, RB_ERR_LIMIT, "the result passes max_result_bytes");
}

static void read_answers(rbi_engine *e, uint64_t now_us)
{
	for (;;) {
		switch (rbi_lane_next(e->lane)) {
		case RBI_LANE_WAITING:
			return;
		case RBI_LANE_ANSWERED:
			settle_answered(e, now_us);
			break;
		case RBI_LANE_BROKEN:
			lose(e, e->lane->failure, e->lane->problem);
			return;
		}
	}
}

/* False: nothing more is to be had now. */
static bool receive_some(rbi_engine *e, uint64_t now_us)
{
	size_t moved = 0;
	size_t room;
	char *buf;

	if (rbi_lane_room(e->lane, &buf, &room) != RB_OK) {
		lose(e, RB_ERR_NOMEM, "out of memory");
		return false;
	}
	switch (rbi_transport_recv(e->transport, buf, room, &moved)) {
	case RBI_IO_DONE:
		rbi_lane_received(e->lane, moved);
		read_answers(e, now_us);
		if (!e->over)
			bound_result(e);
		return !e->over && moved == room;
	case RBI_IO_LATER:
		return false;
	case RBI_IO_END:
		lose_io(e, e->unwritable ? e->transport->error : 0);
		return false;
	case RBI_IO_ERROR:
		lose_io(e, e->transport->error);
		return false;
	}
	return false;
}

static void receive_all(rbi_engine *e, uint64_t now_us)
{
	int i;

	for (i = 0; i < RECEIVES; i++) {
		if (!receive_some(e, now_us))
			return;
	}
}

/* ----------------------------------------------------------------- step -- */

/* Whether all that was to be done is done. */
static bool is_done(const rbi_engine *e)
{
	return (e->stopped || e->feed->ended) && rbi_lane_idle(e->lane);
}

/* Everything was answered, and the connection is as it was. */
static void end_in_step(rbi_engine *e)
{
	if (e->closing)
		rbi_transport_break(e->transport, RB_ERR_SERVER, e->why);
	finish(e);
}

static bool is_late(rbi_engine *e, uint64_t now_us)
{
	if (now_us >= e->deadline_us)
		lose(e, RB_ERR_TIMEOUT, "the deadline passed");
	else if (now_us >= e->words_until_us)
		lose_io(e, e->transport->error);
	return e->over;
}

bool rbi_engine_step(rbi_engine *e, uint64_t now_us)
{
	if (e->over)
		return true;
	if (e->lane->sent > 0 || e->unwritable || e->transport->pushed)
		receive_all(e, now_us);
	if (e->over || (!is_done(e) && is_late(e, now_us)))
		return true;
	/* What lay unread before the first command is to be known whole. */
	if (e->lane->sent > 0 || rbi_reader_idle(&e->lane->in))
		send_all(e, now_us);
	if (is_done(e))
		end_in_step(e);
	return e->over;
}

rbi_wants rbi_engine_wants(const rbi_engine *e)
{
	rbi_wants wants = {
		.write = e->lane->out.pending > 0 && !e->unwritable,
		.until_us = e->deadline_us,
	};
	uint64_t pace_us = rbi_pace_next(&e->pace);

	if (has_room(e) && pace_us < wants.until_us)
		wants.until_us = pace_us;
	if (e->words_until_us < wants.until_us)
		wants.until_us = e->words_until_us;
	return wants;
}

/*
 * Waits as the engine wants, and makes use of it: page faults cost more than
 * all else that is done for a large value, and a server that is still at work
 * leaves the time for them.
 */
static void wait_usefully(rbi_engine *e, const rbi_clock *clock)
{
	rbi_wants wants = rbi_engine_wants(e);
	uint64_t now = rbi_clock_now(clock);
	uint64_t wait = RBI_NEVER;

	if (wants.until_us != RBI_NEVER)
		wait = wants.until_us > now ? wants.until_us - now : 0;
	while (wait > 0 && rbi_lane_warm(e->lane)) {
		if (rbi_transport_wait(e->transport, wants.write, 0))
			return;
	}
	(void)rbi_transport_wait(e->transport, wants.write, wait);
}

void rbi_engine_run(rbi_engine *e, const rbi_clock *clock)
{
	while (!rbi_engine_step(e, rbi_clock_now(clock)))
		wait_usefully(e, clock);
}

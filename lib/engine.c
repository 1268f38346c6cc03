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
	rbi_lane_begin(e->lane, e->batch, e->result,
		       e->options->max_value_bytes);
	e->next = 0;
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

/* Cuts what is left and reports it as not tried. */
static void skip_rest(rbi_engine *e)
{
	rbi_bounds bounds = {
		.keys = e->options->chunk_keys,
		.args = e->options->chunk_args,
		.request_bytes = e->options->chunk_request_bytes,
	};
	const char *message = NULL;

	while (e->next < e->batch->n) {
		rbi_cut cut = rbi_plan_cut(e->batch, e->next, &bounds);
		rb_chunk *chunk;

		if (!rbi_result_reserve(e->result))
			cut.count = e->batch->n - e->next;
		if (message == NULL)
			message = rbi_result_note(e->result, RB_ERR_SKIPPED,
						  e->why);
		chunk = &e->result->chunks[rbi_result_add(e->result, cut.first,
							  cut.count)];
		chunk->message = message;
		chunk->request_bytes = cut.request_bytes;
		e->next += cut.count;
	}
}

static void finish(rbi_engine *e)
{
	skip_rest(e);
	e->result->stats.request_bytes = e->lane->sent;
	e->result->stats.reply_bytes = e->lane->received;
	e->result->stats.round_trips = e->lane->round_trips;
	rbi_result_seal(e->result);
	e->over = true;
}

/* --------------------------------------------------------------- settle -- */

/* Writes what a flight's report has in any case. */
static rb_chunk *settle(rbi_engine *e, const rbi_flight *flight)
{
	rb_chunk *chunk = &e->result->chunks[flight->report];
	bool whole = e->lane->sent >= flight->end;

	chunk->attempts = e->lane->sent > flight->begin ? 1 : 0;
	chunk->request_bytes = flight->cut.request_bytes;
	chunk->reply_bytes = rbi_lane_reply_bytes(e->lane);
	if (whole) {
		e->result->stats.commands++;
		e->result->stats.keys += flight->cut.count;
	}
	return chunk;
}

static void tell(rbi_engine *e, const rb_chunk *chunk)
{
	if (e->options->on_chunk == NULL || e->status == RB_ERR_CANCELLED)
		return;
	if (e->options->on_chunk(e->options->on_chunk_arg, chunk) < 0)
		stop(e, RB_ERR_CANCELLED, "cancelled by on_chunk");
}

/* What a chunk's answer took, for the next ones: quick to grow, slow to
 * shrink, since too large a chunk hurts more than too small a one. */
static void learn(rbi_engine *e, const rbi_flight *flight, size_t reply_bytes)
{
	size_t entry = reply_bytes / flight->cut.count + 1;

	if (entry > *e->entry_reply)
		*e->entry_reply = entry;
	else
		*e->entry_reply -= (*e->entry_reply - entry) / 8;
}

static void follow_route(rbi_engine *e, const rbi_answer *a)
{
	if (a->status == RB_ERR_SERVER)
		rbi_print(e->words, sizeof(e->words), "%s", a->message);
	switch (a->route) {
	case RBI_ROUTE_ANSWER:
	case RBI_ROUTE_FAIL:
		break;
	case RBI_ROUTE_CLOSE:
		e->closing = true;
		stop(e, a->status, a->message);
		break;
	case RBI_ROUTE_STOP:
		stop(e, a->status, a->message);
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
	rb_chunk *chunk = settle(e, flight);

	chunk->status = a->status;
	chunk->outcome = a->outcome;
	chunk->message = a->message;
	if (flight->first_sent_us != 0)
		chunk->elapsed_us = now_us - flight->first_sent_us;
	if (a->status == RB_OK || a->status == RB_ERR_PARTIAL) {
		learn(e, flight, chunk->reply_bytes);
		rbi_window_answered(&e->window, flight->last_sent_us, now_us);
	}
	follow_route(e, a);
	rbi_lane_pop(e->lane);
	tell(e, chunk);
}

static void settle_lost(rbi_engine *e, rb_status status, const char *message)
{
	const rbi_flight *flight = rbi_lane_oldest(e->lane);
	rb_chunk *chunk = settle(e, flight);

	if (e->lane->sent >= flight->end)
		chunk->outcome = RB_UNKNOWN;
	if (chunk->attempts != 0)
		chunk->status = status;
	chunk->message = message;
	rbi_lane_pop(e->lane);
	tell(e, chunk);
}

/* The connection ends here, out of step or gone. */
static void lose(rbi_engine *e, rb_status status, const char *why)
{
	const char *message = rbi_result_note(e->result, status, why);

	/* A server that closes after its last words did what it said. */
	if (!(e->closing && status == RB_ERR_IO) && e->status == RB_OK)
		stop(e, status, why);
	e->stopped = true;
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

/* A chunk that cannot be encoded for lack of memory was cut, but never sent. */
static void skip_cut(rbi_engine *e, size_t report)
{
	rb_chunk *chunk = &e->result->chunks[report];

	stop(e, RB_ERR_NOMEM, "out of memory");
	chunk->message = rbi_result_note(e->result, RB_ERR_NOMEM, e->why);
}

static void send_chunk(rbi_engine *e, uint64_t now_us)
{
	rbi_bounds bounds = {
		.keys = e->options->chunk_keys,
		.args = e->options->chunk_args,
		.request_bytes = e->options->chunk_request_bytes,
		.reply_bytes = e->options->chunk_reply_bytes,
		.entry_reply = *e->entry_reply,
	};
	rbi_cut cut = rbi_plan_cut(e->batch, e->next, &bounds);
	size_t report;

	if (!rbi_result_reserve(e->result)) {
		stop(e, RB_ERR_NOMEM, "out of memory");
		return;
	}
	report = rbi_result_add(e->result, cut.first, cut.count);
	e->next += cut.count;
	if (rbi_lane_push(e->lane, &cut, report, cut.count * *e->entry_reply) !=
	    RB_OK) {
		skip_cut(e, report);
		return;
	}
	rbi_pace_spend(&e->pace, 1, now_us);
}

/* Whether another chunk would go, were it not for the time. */
static bool has_room(const rbi_engine *e)
{
	const rbi_lane *lane = e->lane;

	if (e->stopped || e->unwritable || e->next == e->batch->n)
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
	if (used <= e->options->max_result_bytes)
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
			lose(e, RB_ERR_PROTOCOL, e->lane->problem);
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
	return (e->stopped || e->next == e->batch->n) && rbi_lane_idle(e->lane);
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
	if (e->lane->sent > 0 || e->unwritable)
		receive_all(e, now_us);
	if (e->over || (!is_done(e) && is_late(e, now_us)))
		return true;
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

void rbi_engine_run(rbi_engine *e, const rbi_clock *clock)
{
	uint64_t now = rbi_clock_now(clock);

	while (!rbi_engine_step(e, now)) {
		rbi_wants wants = rbi_engine_wants(e);
		uint64_t wait = RBI_NEVER;

		now = rbi_clock_now(clock);
		if (wants.until_us != RBI_NEVER)
			wait = wants.until_us > now ? wants.until_us - now : 0;
		rbi_transport_wait(e->transport, wants.write, wait);
		now = rbi_clock_now(clock);
	}
}

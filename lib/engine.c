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

void rbi_engine_lost(rbi_engine *e, int error)
{
	rbi_settle_lost_io(e, error);
}

/* ----------------------------------------------------------------- send -- */

static void send_chunk(rbi_engine *e, uint64_t now_us)
{
	rbi_bounds bounds = rbi_settle_bounds(e);
	rbi_parcel parcel;
	rb_status status = e->feed->ops->next(e->feed, &bounds, &parcel);

	if (status != RB_OK) {
		rbi_settle_stop(e, status, e->feed->problem);
		return;
	}
	if (parcel.cut.count == 0)
		return;
	if (rbi_lane_push(e->lane, &parcel,
			  parcel.cut.count * *e->entry_reply) != RB_OK) {
		e->feed->ops->put_back(e->feed, &parcel);
		rbi_settle_stop(e, RB_ERR_NOMEM, "out of memory");
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
		rbi_settle_stop(e, RB_ERR_LIMIT,
				"the result passes max_result_bytes");
}

static void read_answers(rbi_engine *e, uint64_t now_us)
{
	for (;;) {
		switch (rbi_lane_next(e->lane)) {
		case RBI_LANE_WAITING:
			return;
		case RBI_LANE_ANSWERED:
			rbi_settle_answered(e, now_us);
			break;
		case RBI_LANE_BROKEN:
			rbi_settle_lost(e, e->lane->failure, e->lane->problem);
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
		rbi_settle_lost(e, RB_ERR_NOMEM, "out of memory");
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
		rbi_settle_lost_io(e, e->unwritable ? e->transport->error : 0);
		return false;
	case RBI_IO_ERROR:
		rbi_settle_lost_io(e, e->transport->error);
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
	rbi_settle_finish(e);
}

static bool is_late(rbi_engine *e, uint64_t now_us)
{
	if (now_us >= e->deadline_us)
		rbi_settle_lost(e, RB_ERR_TIMEOUT, "the deadline passed");
	else if (now_us >= e->words_until_us)
		rbi_settle_lost_io(e, e->transport->error);
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

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
	rbi_ramp_init(&e->ramp, e->starts_small);
	rbi_again_init(&e->again, e->lane->allocator);
	rbi_backoff_init(&e->refusals, e->seed);
	rbi_backoff_init(&e->losses, e->seed + 1);
	rbi_lane_begin(e->lane, e->result, e->options->max_value_bytes);
	e->resume_us = 0;
	e->mixed = 0;
	e->waiting = e->probing = e->shrunk = e->down = false;
	e->stopped = e->closing = e->over = e->unwritable = false;
	e->regroup = false;
	e->status = RB_OK;
	e->words_until_us = RBI_NEVER;
	e->why[0] = '\0';
	e->words[0] = '\0';
}

void rbi_engine_lost(rbi_engine *e, int error, uint64_t now_us)
{
	rbi_revive_lost(e, error, now_us);
}

/* ----------------------------------------------------------------- send -- */

/* What waits to be sent again goes first, as much of it as is within the
 * bounds by now. */
static rbi_parcel next_waiting(rbi_engine *e, const rbi_bounds *bounds)
{
	rbi_waiting *oldest = &e->again.items[0];
	rbi_parcel *p = &oldest->parcel;
	rbi_cut again;
	rbi_parcel head;
	size_t count = p->cut.count;

	if (!e->batch->transaction) {
		again = rbi_plan_cut_again(&p->cut, bounds);
		count = again.count;
		p->cut.group_max = again.group_max;
	}
	head = rbi_parcel_part(p, 0, p->cut.count);
	if (count < p->cut.count && e->feed->ops->divide(e->feed, p, count)) {
		head = rbi_parcel_part(p, 0, count);
		*p = rbi_parcel_part(p, count, p->cut.count - count);
	} else {
		(void)rbi_again_take(&e->again, 0);
	}
	if (head.attempts > 0) {
		rbi_parcel_clear(&head);
		e->result->stats.retries++;
	}
	return head;
}

/* Entries that cannot be sent after all, for the reason that stops the
 * batch. */
static void skip(rbi_engine *e, const rbi_parcel *parcel, rb_status status,
		 const char *why)
{
	rbi_fate fate = { RB_ERR_SKIPPED, RB_NOT_SENT, "" };

	rbi_settle_stop(e, status, why);
	fate.message = rbi_result_note(e->result, RB_ERR_SKIPPED, e->why);
	if (parcel->cut.count > 0)
		rbi_settle_parcel(e, parcel, &fate);
}

/* Whether it is not known yet if the server takes keys of several slots, and it
 * matters: what has one slot would be written before what was refused. */
static bool is_unproven(const rbi_engine *e)
{
	return e->may_regroup && !e->batch->reads && e->batch->values != NULL &&
	       !e->limits->mixes;
}

/* Whether such a chunk is in flight. */
static bool mixed_in_flight(const rbi_engine *e)
{
	return e->lane->pushed - e->lane->count < e->mixed && is_unproven(e);
}

/* Lets a chunk of one slot wait until the one in front of it is answered. */
static bool holds_back(rbi_engine *e, const rbi_parcel *parcel)
{
	static const rbi_fate fate = { RB_ERR_SKIPPED, RB_NOT_SENT, "" };

	return mixed_in_flight(e) && !rbi_plan_mixes_slots(&parcel->cut) &&
	       rbi_again_keep(&e->again, parcel, &fate);
}

static void send_chunk(rbi_engine *e, uint64_t now_us)
{
	rbi_bounds bounds = rbi_settle_bounds(e);
	rb_status status = RB_OK;
	rbi_parcel parcel;

	if (e->again.count > 0)
		parcel = next_waiting(e, &bounds);
	else
		status = e->feed->ops->next(e->feed, &bounds, &parcel);
	if (status != RB_OK) {
		skip(e, &parcel, status, e->feed->problem);
		return;
	}
	if (parcel.cut.count == 0 || holds_back(e, &parcel))
		return;
	if (rbi_lane_push(e->lane, &parcel,
			  rbi_plan_reply(&parcel.cut,
					 e->learned->entry_reply)) != RB_OK) {
		skip(e, &parcel, RB_ERR_NOMEM, "out of memory");
		return;
	}
	e->waiting = false;
	if (is_unproven(e) && rbi_plan_mixes_slots(&parcel.cut))
		e->mixed = e->lane->pushed;
	rbi_ramp_cut(&e->ramp, parcel.cut.count, e->options->chunk_keys);
	rbi_pace_spend(e->common_pace != NULL ? e->common_pace : &e->pace,
		       rbi_plan_commands(&parcel.cut), now_us);
}

/* What waits may overtake nothing that is in flight. */
static bool may_send_waiting(const rbi_engine *e)
{
	if (e->elsewhere != NULL && e->batch->reads)
		return true;
	if (mixed_in_flight(e))
		return false;
	return e->lane->count == 0 ||
	       rbi_lane_newest(e->lane)->parcel.position <
		       e->again.items[0].parcel.position;
}

/* Whether the answers in flight leave room for that to another chunk. */
static bool replies_have_room(const rbi_engine *e)
{
	rbi_bounds bounds = rbi_settle_bounds(e);

	return e->lane->reply_guess + rbi_plan_most_reply(e->batch, &bounds) <=
	       e->options->window_reply_bytes;
}

/* Whether another chunk would go, were it not for the time. */
static bool has_room(const rbi_engine *e)
{
	const rbi_lane *lane = e->lane;

	if (e->stopped || e->unwritable || e->down || e->regroup ||
	    ((e->feed->ended || e->feed->dry) && e->again.count == 0))
		return false;
	if (lane->count >= rbi_ramp_window(&e->ramp, e->window.chunks) ||
	    lane->out.pending > OUTPUT_LOW)
		return false;
	if (e->again.count > 0 && !may_send_waiting(e))
		return false;
	return lane->count == 0 || (!e->probing && replies_have_room(e));
}

/* When the next chunk may go, if there is room for it. */
static uint64_t next_time(const rbi_engine *e)
{
	const rbi_pace *pace =
		e->common_pace != NULL ? e->common_pace : &e->pace;
	uint64_t pace_us = rbi_pace_next(pace);

	return pace_us > e->resume_us ? pace_us : e->resume_us;
}

static void fill(rbi_engine *e, uint64_t now_us)
{
	while (has_room(e) && next_time(e) <= now_us)
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

/* Whether something is to leave, and may. */
static bool wants_to_send(const rbi_engine *e)
{
	return (e->lane->out.pending > 0 ||
		rbi_transport_unsent(e->transport)) &&
	       !e->unwritable;
}

static void send_all(rbi_engine *e, uint64_t now_us)
{
	fill(e, now_us);
	while (wants_to_send(e)) {
		if (!send_some(e, now_us))
			return;
		fill(e, now_us);
	}
}

/* -------------------------------------------------------------- receive -- */

/* Too much is kept already: values that come from now on are dropped. */
static void bound_result(rbi_engine *e)
{
	if (e->options->max_result_bytes == SIZE_MAX)
		return;
	if (rbi_result_bytes(e->result) <= e->options->max_result_bytes ||
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
			rbi_sift_answered(e, now_us);
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
		if (e->over || e->down)
			return false;
		bound_result(e);
		return moved == room;
	case RBI_IO_LATER:
		return false;
	case RBI_IO_END:
		rbi_revive_lost(e, e->unwritable ? e->transport->error : 0,
				now_us);
		return false;
	case RBI_IO_ERROR:
		rbi_revive_lost(e, e->transport->error, now_us);
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

/* An answer that came before its command had left is none: then something
 * still waits, and a context that is given back would send it. */
static bool is_idle(const rbi_engine *e)
{
	return rbi_lane_idle(e->lane) && !rbi_transport_unsent(e->transport);
}

/* Whether all that was to be done is done. */
static bool is_done(const rbi_engine *e)
{
	return (e->stopped || e->regroup ||
		(e->feed->ended && e->again.count == 0)) &&
	       is_idle(e);
}

/* Everything was answered, and the connection is as it was. */
static void end_in_step(rbi_engine *e)
{
	if (e->closing && !e->down)
		rbi_transport_break(e->transport, RB_ERR_SERVER, e->why);
	if (e->regroup && !e->stopped)
		rbi_settle_pause(e);
	else
		rbi_settle_finish(e);
}

/* With nothing in flight the connection is none the worse for it. */
void rbi_engine_end(rbi_engine *e, rb_status status, const char *why)
{
	if (e->over)
		return;
	if (!is_idle(e)) {
		rbi_settle_lost(e, status, why);
		return;
	}
	rbi_settle_stop(e, status, why);
	end_in_step(e);
}

static bool is_ended_early(rbi_engine *e, uint64_t now_us)
{
	if (rbi_wake_is_requested(e->wake)) {
		rbi_wake_clear(e->wake);
		rbi_engine_end(e, RB_ERR_CANCELLED, "cancelled");
	} else if (now_us >= e->deadline_us) {
		rbi_engine_end(e, RB_ERR_TIMEOUT, "the deadline passed");
	} else if (now_us >= e->words_until_us) {
		rbi_revive_lost(e, e->transport->error, now_us);
	}
	return e->over;
}

static bool may_receive(const rbi_engine *e)
{
	return !e->down && (rbi_lane_is_used(e->lane) || e->unwritable ||
			    e->transport->pushed);
}

/* What lay unread before the first command is to be known whole. */
static bool may_send(const rbi_engine *e)
{
	return !e->down &&
	       (rbi_lane_is_used(e->lane) || rbi_reader_idle(&e->lane->in));
}

bool rbi_engine_step(rbi_engine *e, uint64_t now_us)
{
	if (e->over)
		return true;
	if (may_receive(e))
		receive_all(e, now_us);
	if (e->over || (!is_done(e) && is_ended_early(e, now_us)))
		return true;
	if (may_send(e))
		send_all(e, now_us);
	if (is_done(e))
		end_in_step(e);
	return e->over;
}

rbi_wants rbi_engine_wants(const rbi_engine *e)
{
	rbi_wants wants = {
		.write = wants_to_send(e),
		.until_us =
			rbi_clock_earlier(e->deadline_us, e->words_until_us),
	};

	if (e->down)
		wants.until_us =
			rbi_clock_earlier(wants.until_us, e->resume_us);
	else if (may_send(e) && has_room(e))
		wants.until_us =
			rbi_clock_earlier(wants.until_us, next_time(e));
	return wants;
}

/* ------------------------------------------------------------------ run -- */

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

/* Connects anew once it is time to. */
static void revive(rbi_engine *e, const rbi_clock *clock)
{
	uint64_t now = rbi_clock_now(clock);
	uint64_t until = rbi_clock_earlier(e->resume_us, e->deadline_us);
	char why[256] = "";
	rb_status status;

	if (now < until) {
		rbi_transport_pause(e->transport, until - now);
		return;
	}
	status = e->redial(e->redial_arg, e->deadline_us, e->transport, why,
			   sizeof(why));
	if (status == RB_OK)
		rbi_revive_done(e);
	else
		rbi_revive_failed(e, status, why, rbi_clock_now(clock));
}

void rbi_engine_run(rbi_engine *e, const rbi_clock *clock)
{
	while (!rbi_engine_step(e, rbi_clock_now(clock))) {
		if (e->down)
			revive(e, clock);
		else
			wait_usefully(e, clock);
	}
}

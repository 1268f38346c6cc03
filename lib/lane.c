#include "lane.h"

#include "alloc.h"

#include <assert.h>

/* What is touched further ahead has left the processor's cache again by the
 * time it is written to. */
#define WARM_MAX ((size_t)2 * 1024 * 1024)

/* More than fits in a processor's cache would be read twice from memory. */
#define RECEIVE_MAX ((size_t)256 * 1024)

/* Of what is announced, memory is taken for so many bytes at once, or for so
 * many times what has arrived. */
#define TRUST_MIN ((size_t)4 * 1024 * 1024)
#define TRUST 8

/* From so many unused bytes on, what follows them is moved up. */
#define RECLAIM_MIN ((size_t)4096)

void rbi_lane_init(rbi_lane *lane, const rb_allocator *allocator)
{
	memset(lane, 0, sizeof(*lane));
	lane->allocator = allocator;
	rbi_outbuf_init(&lane->out, allocator);
}

void rbi_lane_fini(rbi_lane *lane)
{
	rbi_outbuf_fini(&lane->out);
	rbi_free(lane->allocator, lane->ring);
	lane->ring = NULL;
	lane->cap = 0;
}

void rbi_lane_begin(rbi_lane *lane, rb_result *result, size_t max_value)
{
	lane->result = result;
	rbi_outbuf_clear(&lane->out);
	rbi_reader_init(&lane->in, max_value);
	lane->answering = false;
	lane->head = lane->count = lane->nsent = 0;
	lane->pushed = 0;
	lane->keep = 0;
	lane->reply_guess = 0;
	lane->queued = lane->sent = lane->received = 0;
	lane->sent_before = lane->received_before = 0;
	lane->round_trips = 0;
	lane->failure = RB_OK;
	lane->problem = NULL;
}

void rbi_lane_restart(rbi_lane *lane)
{
	rbi_slab *slab = lane->result->bytes.newest;
	size_t max_value = lane->in.max_value;

	assert(lane->count == 0);
	rbi_outbuf_clear(&lane->out);
	rbi_reader_init(&lane->in, max_value);
	if (slab != NULL)
		slab->len = lane->keep;
	lane->queued = lane->sent;
	lane->sent_before = lane->sent;
	lane->received_before = lane->received;
	lane->failure = RB_OK;
	lane->problem = NULL;
}

/* ----------------------------------------------------------------- send -- */

static rbi_flight *flight_at(const rbi_lane *lane, size_t i)
{
	return &lane->ring[(lane->head + i) & (lane->cap - 1)];
}

/* Doubles the ring, its oldest flight first. */
static rb_status grow(rbi_lane *lane)
{
	size_t cap = rbi_max(lane->cap, 4) * 2;
	rbi_flight *ring;
	size_t i;

	if (lane->count < lane->cap)
		return RB_OK;
	ring = rbi_alloc_array(lane->allocator, NULL, cap, sizeof(*ring));
	if (ring == NULL)
		return RB_ERR_NOMEM;
	for (i = 0; i < lane->count; i++)
		ring[i] = *flight_at(lane, i);
	rbi_free(lane->allocator, lane->ring);
	lane->ring = ring;
	lane->cap = cap;
	lane->head = 0;
	return RB_OK;
}

rb_status rbi_lane_push(rbi_lane *lane, const rbi_parcel *parcel,
			size_t reply_guess)
{
	rb_status status = grow(lane);
	rbi_flight *flight;

	if (status == RB_OK)
		status = rbi_request_append(&lane->out, &parcel->cut);
	if (status != RB_OK)
		return status;
	flight = flight_at(lane, lane->count++);
	memset(flight, 0, sizeof(*flight));
	flight->parcel = *parcel;
	flight->reply_guess = reply_guess;
	flight->begin = lane->queued;
	flight->end = lane->queued + parcel->cut.request_bytes;
	flight->round_trip = lane->round_trips + 1;
	lane->reply_guess += reply_guess;
	lane->queued = flight->end;
	lane->pushed++;
	return RB_OK;
}

void rbi_lane_sent(rbi_lane *lane, size_t n, uint64_t now_us)
{
	uint64_t before = lane->sent;

	rbi_outbuf_sent(&lane->out, n);
	lane->sent += n;
	while (lane->nsent < lane->count) {
		rbi_flight *flight = flight_at(lane, lane->nsent);

		if (before <= flight->begin && lane->sent > flight->begin)
			flight->first_sent_us = now_us;
		if (lane->sent < flight->end)
			break;
		flight->last_sent_us = now_us;
		lane->nsent++;
	}
}

/* -------------------------------------------------------------- receive -- */

/* Moves the unread bytes down to what is pointed to. */
static void reclaim(rbi_lane *lane, rbi_slab *slab)
{
	size_t tail = (size_t)(lane->in.end - lane->in.pos);
	size_t unused = slab->len - tail - lane->keep;

	if (unused == 0 || (unused < RECLAIM_MIN && tail > 0))
		return;
	memmove(slab->bytes + lane->keep, lane->in.pos, tail);
	slab->len = lane->keep + tail;
}

rb_status rbi_lane_room(rbi_lane *lane, char **buf, size_t *len)
{
	rbi_slabs *slabs = &lane->result->bytes;
	rbi_slab *slab = slabs->newest;
	size_t tail = (size_t)(lane->in.end - lane->in.pos);
	size_t missing = lane->in.need > tail ? lane->in.need - tail : 1;
	size_t trust = rbi_max(TRUST_MIN, TRUST * tail);
	rb_status status;

	if (slab != NULL)
		reclaim(lane, slab);
	status = rbi_slabs_extend(slabs, tail, rbi_min(missing, trust));
	if (status != RB_OK)
		return status;
	if (slabs->newest != slab)
		lane->keep = 0;
	slab = slabs->newest;
	assert(slab != NULL);
	*buf = slab->bytes + slab->len;
	*len = rbi_min(slab->cap - slab->len, RECEIVE_MAX);
	rbi_reader_window(&lane->in, *buf - tail, *buf);
	return RB_OK;
}

void rbi_lane_received(rbi_lane *lane, size_t n)
{
	lane->result->bytes.newest->len += n;
	lane->received += n;
	rbi_reader_window(&lane->in, lane->in.pos, lane->in.end + n);
}

/* How many bytes of answers have been read. */
static uint64_t read_position(const rbi_lane *lane)
{
	return lane->received - (uint64_t)(lane->in.end - lane->in.pos) -
	       lane->in.hidden_bytes;
}

static rbi_lane_event lane_broken(rbi_lane *lane, const char *problem)
{
	lane->failure = RB_ERR_PROTOCOL;
	lane->problem = problem;
	return RBI_LANE_BROKEN;
}

/* With nothing in flight only pushes may come. */
static rbi_lane_event read_unasked(rbi_lane *lane)
{
	rbi_token token;
	rbi_token_kind kind = rbi_reader_next(&lane->in, &token);

	if (kind == RBI_TOKEN_BROKEN)
		return lane_broken(lane, lane->in.problem);
	if (kind != RBI_TOKEN_MORE || !rbi_reader_between(&lane->in))
		return lane_broken(lane, "an answer that no command asked for");
	return RBI_LANE_WAITING;
}

static rbi_lane_event answered(rbi_lane *lane)
{
	const rbi_flight *flight = rbi_lane_oldest(lane);

	/* Only a server that gives up answers what it has not read. */
	if (lane->nsent == 0 && lane->answer.status != RB_ERR_SERVER)
		return lane_broken(lane, "an answer came before its command "
					 "had left");
	if (flight->round_trip > lane->round_trips)
		lane->round_trips = flight->round_trip;
	return RBI_LANE_ANSWERED;
}

rbi_lane_event rbi_lane_next(rbi_lane *lane)
{
	rbi_flight *flight;
	rbi_progress progress;

	if (lane->count == 0)
		return read_unasked(lane);
	flight = flight_at(lane, 0);
	if (!lane->answering) {
		rbi_answer_init(&lane->answer, &flight->parcel.cut,
				flight->parcel.entries, lane->result);
		lane->answering = true;
		flight->reply_begin = read_position(lane);
	}
	progress = rbi_answer_read(&lane->answer, &lane->in, lane->result);
	if (lane->answer.keep != NULL) {
		lane->keep = (size_t)(lane->answer.keep -
				      lane->result->bytes.newest->bytes);
		lane->answer.keep = NULL;
	}
	switch (progress) {
	case RBI_PROGRESS_MORE:
		return RBI_LANE_WAITING;
	case RBI_PROGRESS_DONE:
		return answered(lane);
	case RBI_PROGRESS_BROKEN:
		return lane_broken(lane, lane->answer.message);
	case RBI_PROGRESS_NOMEM:
		break;
	}
	lane->failure = RB_ERR_NOMEM;
	lane->problem = "out of memory";
	return RBI_LANE_BROKEN;
}

const rbi_flight *rbi_lane_oldest(const rbi_lane *lane)
{
	return flight_at(lane, 0);
}

const rbi_flight *rbi_lane_newest(const rbi_lane *lane)
{
	return flight_at(lane, lane->count - 1);
}

void rbi_lane_pop(rbi_lane *lane)
{
	lane->reply_guess -= flight_at(lane, 0)->reply_guess;
	lane->head++;
	lane->count--;
	if (lane->nsent > 0)
		lane->nsent--;
	lane->answering = false;
}

bool rbi_lane_warm(rbi_lane *lane)
{
	return rbi_slabs_warm(&lane->result->bytes,
			      rbi_min(lane->reply_guess, WARM_MAX));
}

void rbi_lane_forget(rbi_lane *lane)
{
	rbi_slabs_reset(&lane->result->notes);
	rbi_slabs_keep_newest(&lane->result->bytes);
	lane->keep = 0;
}

size_t rbi_lane_reply_bytes(const rbi_lane *lane)
{
	if (!lane->answering)
		return 0;
	return (size_t)(read_position(lane) - flight_at(lane, 0)->reply_begin);
}

bool rbi_lane_idle(const rbi_lane *lane)
{
	return lane->count == 0 && lane->out.pending == 0 &&
	       rbi_reader_idle(&lane->in);
}

/*
 * One connection's chunks in flight, first in, first out.
 *
 * A lane makes no system call. It offers bytes to send and takes note of how
 * many left; it says where received bytes shall go and takes note of how many
 * came; and it hands back the chunks whose answers are complete. It knows for
 * each chunk how much of it has left, which is what an outcome rests on.
 *
 *	push ──► out ──► (socket) ──► room, received ──► next ──► a flight
 *
 * Positions are counted in bytes from the beginning of the call, over all of
 * its connections. A flight has
 * left when sent >= end, and has not begun to leave when sent <= begin.
 *
 * Received bytes go behind the used bytes of the result's newest slab. What no
 * entry points to (pushes, nils, dropped strings) is reclaimed before the next
 * receive, so that no peer can fill memory with what nobody keeps.
 */
#ifndef RBI_LANE_H
#define RBI_LANE_H

#include "answer.h"
#include "feed.h"
#include "request.h"

typedef struct rbi_flight {
	rbi_parcel parcel;
	size_t reply_guess; /* predicted bytes of its answer */
	uint64_t begin;
	uint64_t end;
	uint64_t first_sent_us;
	uint64_t last_sent_us;
	uint64_t round_trip;  /* how many had to end before it was sent */
	uint64_t reply_begin; /* position of its answer, pushes left out */
} rbi_flight;

typedef enum rbi_lane_event {
	RBI_LANE_WAITING,  /* for more bytes */
	RBI_LANE_ANSWERED, /* the oldest flight, see rbi_lane.answer */
	RBI_LANE_BROKEN	   /* rbi_lane.failure and problem */
} rbi_lane_event;

typedef struct rbi_lane {
	const rb_allocator *allocator;
	rb_result *result;
	rbi_outbuf out;
	rbi_reader in;
	rbi_answer answer; /* of the oldest flight */
	bool answering;	   /* answer is set up */
	rbi_flight *ring;  /* cap is a power of two */
	size_t cap;
	size_t head;
	size_t count;
	size_t nsent;	 /* flights that have left whole, the oldest ones */
	uint64_t pushed; /* flights since the call began */
	size_t keep;	 /* used bytes of the newest slab that are pointed to */
	size_t reply_guess; /* of all flights */
	uint64_t queued;
	uint64_t sent;
	uint64_t received;
	uint64_t sent_before;	  /* by connections that have ended */
	uint64_t received_before; /* likewise */
	uint64_t round_trips;
	rb_status failure; /* with RBI_LANE_BROKEN */
	const char *problem;
} rbi_lane;

void rbi_lane_init(rbi_lane *lane, const rb_allocator *allocator);
void rbi_lane_fini(rbi_lane *lane);

/* Begins a call, whose bytes and messages go into result. */
void rbi_lane_begin(rbi_lane *lane, rb_result *result, size_t max_value);

/*
 * A new connection takes the place of the one that ended. There must be no
 * flight left; what waited to be sent and what was read in part is dropped.
 */
void rbi_lane_restart(rbi_lane *lane);

/* Whether anything has left or come on this connection. */
static inline bool rbi_lane_is_used(const rbi_lane *lane)
{
	return lane->sent != lane->sent_before ||
	       lane->received != lane->received_before;
}

/* Puts a chunk at the end. RB_ERR_NOMEM: it is not there. */
rb_status rbi_lane_push(rbi_lane *lane, const rbi_parcel *parcel,
			size_t reply_guess) RBI_MUST_CHECK;

/* n bytes of what out offers have left. */
void rbi_lane_sent(rbi_lane *lane, size_t n, uint64_t now_us);

/* Where the next bytes shall go, and how many at most. */
rb_status rbi_lane_room(rbi_lane *lane, char **buf, size_t *len) RBI_MUST_CHECK;

/* n bytes have been received there. */
void rbi_lane_received(rbi_lane *lane, size_t n);

/*
 * Walks on. With RBI_LANE_ANSWERED lane->answer holds how the oldest flight
 * was answered, until it is popped.
 */
rbi_lane_event rbi_lane_next(rbi_lane *lane);

/* The oldest flight, which there must be; pop takes it out. */
const rbi_flight *rbi_lane_oldest(const rbi_lane *lane);
const rbi_flight *rbi_lane_newest(const rbi_lane *lane);
void rbi_lane_pop(rbi_lane *lane);

/*
 * Uses idle time to make ready the memory that the answers in flight will be
 * received into. False: nothing is left to do.
 */
bool rbi_lane_warm(rbi_lane *lane);

/*
 * Nobody needs what was received so far and belongs to no flight still to be
 * answered: its memory is used again.
 */
void rbi_lane_forget(rbi_lane *lane);

/* The bytes of the oldest flight's answer so far. */
size_t rbi_lane_reply_bytes(const rbi_lane *lane);

/* Nothing in flight, nothing to send, nothing left over. */
bool rbi_lane_idle(const rbi_lane *lane);

#endif

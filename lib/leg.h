/*
 * A call that is made over several connections, and one of its legs: a
 * connection with an engine of its own, which asks the leg for chunks.
 *
 * The work of a leg that was never sent lies in spans, runs of sorted entries.
 * A chunk is cut from them when it is about to be sent, and binds no slot to
 * the leg before: what belongs to another by then goes there.
 *
 *	asleep	 it has no work, and perhaps no connection
 *	dialing	 a connection is being made
 *	resting	 none was to be had; it is tried again
 *	up	 the engine is at work
 *	over	 nothing more goes this way in this call
 *
 * A leg that loses its connection gives back what it had (fleet), and keeps
 * its spans for as long as the map says that they are its own.
 */
#ifndef RBI_LEG_H
#define RBI_LEG_H

#include "client.h"
#include "dial.h"
#include "engine.h"
#include "pool.h"
#include "sorted.h"

typedef struct rbi_fleet rbi_fleet;

typedef enum rbi_leg_state {
	RBI_LEG_ASLEEP,
	RBI_LEG_DIALING,
	RBI_LEG_RESTING,
	RBI_LEG_UP,
	RBI_LEG_OVER
} rbi_leg_state;

/* Entries first .. first + count - 1 of a load. */
typedef struct rbi_span {
	const rbi_sorted *load;
	size_t first;
	size_t count;
} rbi_span;

typedef struct rbi_leg {
	rbi_feed feed; /* what its engine asks */
	rbi_fleet *fleet;
	size_t number; /* its own, among the legs */
	size_t node;
	bool replica;
	rbi_leg_state state;
	rbi_link *link;
	struct redisContext **ctx; /* the link's, or the client's */
	rbi_lane *lane;
	rbi_uri uri; /* its texts are the client's and the map's */
	rbi_dialer dialer;
	uint64_t dial_until_us;
	rbi_engine engine;
	rbi_transport transport;
	rb_result *part; /* what its engine receives and counts */
	rbi_elsewhere elsewhere;
	rbi_span *spans; /* the last one comes first */
	size_t nspans;
	size_t spans_cap;
	rbi_backoff backoff;
	uint64_t resume_us; /* when resting */
	uint64_t down_us;   /* since when there is no connection; 0: there is */
	bool released;	    /* of what others can do as well */
	bool was_up;
	bool renewing; /* wants another connection once nothing is in flight */
	bool renewed;
	uint64_t heard_us; /* when something was last received, or sent first */
	uint64_t received; /* by then */
	uint64_t worked_us;
	bool ready;    /* there is something to do */
	char why[256]; /* why there was no connection, or no more is sent */
} rbi_leg;

/* What happens to slots whose entries were redirected, of writes. */
typedef struct rbi_order {
	uint32_t held[RBI_SLOTS]; /* entries that are away */
	uint32_t out[RBI_SLOTS];  /* and of those, on their way again */
	uint32_t seen[RBI_SLOTS]; /* in which round it was met last */
	uint32_t round;
	bool doubted[RBI_SLOTS]; /* nobody knows what was done there */
} rbi_order;

struct rbi_fleet {
	/* Set by the caller. */
	rb_client *client;
	rbi_pool *pool;
	const rb_options *options;
	rbi_feed *inner; /* what is asked for */
	rb_result *result;
	rbi_batch form; /* of all chunks */
	uint64_t deadline_us;
	uint64_t budget_us; /* how long a node may be missing */
	bool starts_small;

	rbi_leg **legs;
	size_t nlegs;
	size_t connections; /* to each node */
	rbi_sorted **loads;
	size_t nloads;
	rbi_again yard;	  /* chunks that wait for somewhere to go */
	bool ordered;	  /* what is done to a key is done in order: writes */
	rbi_order *order; /* NULL: nothing has left its way yet */
	size_t left;	  /* entries given out and not reported */
	rbi_backoff backoff;
	rbi_pace pace; /* of all legs together */
	uint64_t now_us;
	size_t pick; /* which replica of each primary */
	const rbi_feed_ops *leg_feed;
	const rbi_elsewhere *leg_elsewhere; /* its arg is the leg */
	struct pollfd *fds;		    /* room for many of them */
	bool grouped; /* a command has keys of one slot only */
	bool wants_map;
	bool answered; /* at least one chunk was */
	bool stopped;
	rb_status status; /* what stopped it */
	char why[256];
};

/* Nothing more is sent. The first reason is the one that is told; RB_OK: not
 * even that is one for the call. */
void rbi_fleet_stop(rbi_fleet *f, rb_status status, const char *why);

/* The leg to a node that serves a slot; NULL: no memory. */
rbi_leg *rbi_leg_of(rbi_fleet *f, size_t node, uint16_t slot) RBI_MUST_CHECK;

/* Who is asked for a slot now. primary: no replica will do. */
rbi_leg *rbi_leg_for(rbi_fleet *f, uint16_t slot, bool primary) RBI_MUST_CHECK;

/* Whether nothing is known against a node in this call. */
bool rbi_leg_is_well(const rbi_fleet *f, size_t node);

/* Begins to connect, or goes on with the connection there is. */
void rbi_leg_start(rbi_leg *leg);

/* Does what can be done now. */
void rbi_leg_step(rbi_leg *leg);

/* What to poll for, if anything (fd->fd is -1 otherwise), and until when. */
uint64_t rbi_leg_wants(const rbi_leg *leg, struct pollfd *fd);

/* The map is new. A node that says nothing any more, and has lost its slots,
 * is not waited for. */
void rbi_leg_heed_map(rbi_leg *leg);

/* There is no connection, and none is tried before resume_us. */
void rbi_leg_rest(rbi_leg *leg, const char *why, uint64_t resume_us);

/* Nothing more goes this way. */
void rbi_leg_end(rbi_leg *leg, const char *why);

static inline bool rbi_leg_has_work(const rbi_leg *leg)
{
	return leg->nspans > 0 || leg->engine.again.count > 0 ||
	       leg->lane->count > 0;
}

/* Whether the map says that a slot is this leg's. One that nobody serves may
 * be anybody's: who is asked says so. */
bool rbi_leg_serves(const rbi_leg *leg, uint16_t slot);

void rbi_leg_free(rbi_leg *leg);

#endif

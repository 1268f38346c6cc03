/*
 * A call under way: its state, and what is said of its entries in the end.
 *
 * Every entry is reported in exactly one of these ways:
 *	answered	whatever the answer was;
 *	lost		its connection ended first: unknown if its last byte
 *			had left, not sent otherwise;
 *	skipped		the batch had stopped before it was sent.
 * A chunk of many commands of which some had left when the connection ended is
 * reported in two halves. What is sent again instead is for recover to say.
 *
 * A batch stops when a failure leaves no hope for other chunks, when it is
 * told to, or when a callback says so. What is in flight then is still
 * awaited, so that the connection stays in step. A connection that cannot be
 * kept in step is marked broken; there is nothing in between.
 */
#ifndef RBI_SETTLE_H
#define RBI_SETTLE_H

#include "again.h"
#include "backoff.h"
#include "lane.h"
#include "learn.h"
#include "pace.h"
#include "transport.h"
#include "wake.h"
#include "window.h"

/*
 * Makes a new connection in place of one that ended, and takes it over into
 * transport. RB_OK, RB_ERR_CANCELLED, RB_ERR_TIMEOUT when the deadline passed,
 * RB_ERR_NOMEM, RB_ERR_SKIPPED when there is no use in asking again, or any
 * other status; with the reason in why. It may block until the deadline.
 */
typedef rb_status rbi_redial_fn(void *arg, uint64_t deadline_us,
				rbi_transport *transport, char *why,
				size_t why_size);

typedef struct rbi_engine rbi_engine;

/* A chunk that was refused, in the server's words. */
typedef struct rbi_refusal {
	rbi_route route;
	rb_status status;
	rb_outcome outcome;
	const char *message;
} rbi_refusal;

/*
 * Who takes over what this connection cannot do, because it is one of several.
 * Such an engine never ends a call because its connection did: what may be sent
 * again waits in e->again, for whoever finds the engine down.
 */
typedef struct rbi_elsewhere {
	/* True: the chunk was taken over. False: it fails as fate says, whose
	 * words may have been changed. */
	bool (*take)(void *arg, const rbi_parcel *parcel,
		     const rbi_refusal *refusal, rbi_fate *fate,
		     uint64_t now_us);
	/* It is not known what a write did. */
	void (*doubt)(void *arg, const rbi_parcel *parcel);
	void *arg;
} rbi_elsewhere;

struct rbi_engine {
	/* Set by the caller before rbi_engine_begin(). */
	const rb_options *options;
	const rbi_batch *batch; /* what all chunks have in common */
	rbi_feed *feed;
	rb_result *result; /* bytes, messages and stats go here */
	rbi_lane *lane;
	rbi_transport *transport;
	uint64_t deadline_us;
	rbi_learned *learned; /* both are kept by the client */
	rbi_limits *limits;
	bool starts_small;     /* a long batch of unknown values */
	bool may_regroup;      /* somebody else can make other chunks */
	rbi_redial_fn *redial; /* NULL: a connection that ends stays so */
	void *redial_arg;
	rbi_wake *wake;	  /* NULL: nobody cancels */
	uint64_t seed;	  /* for what is left to chance */
	const char *node; /* who is asked; lives as long as the reports */
	const rbi_elsewhere *elsewhere; /* NULL: this is the only one */
	rbi_pace *common_pace; /* of several connections; NULL: its own */

	rbi_window window;
	rbi_pace pace;
	rbi_ramp ramp;
	rbi_again again;
	rbi_backoff refusals; /* the server is not ready */
	rbi_backoff losses;   /* connections that ended without an answer */
	uint64_t resume_us;   /* nothing is sent before */
	bool waiting;	      /* nothing was sent since that was set */
	uint64_t mixed;	      /* chunks pushed up to the last one that may be
			       * refused for its slots; 0: none may */
	bool probing;	      /* one chunk at a time until one is answered */
	bool shrunk;	      /* what memory the server lacks was tried for */
	bool down;	      /* the connection ended and is to be made anew */
	bool stopped;	      /* nothing more is cut and sent */
	bool closing;	      /* the server closes after what it said */
	bool regroup;	      /* it wants other chunks: the rest is not ours */
	bool over;
	bool unwritable;	 /* sending failed; reading on for last words */
	rb_status status;	 /* what stopped the batch; RB_OK: nothing */
	uint64_t words_until_us; /* how long last words are waited for */
	char why[256];		 /* the words for status */
	char words[160];	 /* the last error that the server sent */
};

/* The bounds of the next chunk, with what is known by now. */
rbi_bounds rbi_settle_bounds(const rbi_engine *e);

/* Sends nothing more. The first reason is the one that is told. */
void rbi_settle_stop(rbi_engine *e, rb_status status, const char *why);

/* The oldest flight's parcel as it is now: sent once more, perhaps. */
rbi_parcel rbi_settle_oldest(const rbi_engine *e);

/* Counts the oldest flight as sent, if it was. */
void rbi_settle_count(rbi_engine *e);

/* The lane's oldest flight is answered: reports it and takes it out. */
void rbi_settle_answered(rbi_engine *e, uint64_t now_us);

/* Reports entries that are in no flight. */
void rbi_settle_parcel(rbi_engine *e, const rbi_parcel *parcel,
		       const rbi_fate *fate);

/* What an answer cost, and the number in it. */
typedef struct rbi_account {
	size_t reply_bytes;
	uint64_t elapsed_us;
	int64_t number;
} rbi_account;

/* The account of the oldest flight, which is answered. */
rbi_account rbi_settle_account(const rbi_engine *e, uint64_t now_us);

/* Reports entries each of which knows how it fared. */
void rbi_settle_known(rbi_engine *e, const rbi_parcel *parcel,
		      const rbi_account *account);

/* The connection ends here, out of step or gone; the call is over. */
void rbi_settle_lost(rbi_engine *e, rb_status status, const char *why);

/* Nothing is in flight any more: the call goes on, but not here. What waits
 * and what the feed has left is somebody else's. */
void rbi_settle_pause(rbi_engine *e);

/* Nothing is in flight any more: reports what waits to be sent again, skips
 * what is left; the call is over. */
void rbi_settle_finish(rbi_engine *e);

#endif

/*
 * Where chunks come from, and where what became of them goes.
 *
 * The engine asks a feed for the next chunk when there is room for one, hands
 * back each chunk in the order it was given out, and tells it in the end that
 * no more are wanted. So an array of entries that is answered by a result and
 * a stream of entries that must not sit in memory are the same to it.
 *
 * For each chunk given out, the engine asks once for its report, fills it in,
 * and calls delivered.
 */
#ifndef RBI_FEED_H
#define RBI_FEED_H

#include "plan.h"
#include "result.h"

/* A chunk that the feed gives out. */
typedef struct rbi_parcel {
	rbi_cut cut;
	rbi_entry *entries; /* of the cut, unset */
	size_t tag;	    /* the feed's own number for it */
} rbi_parcel;

typedef struct rbi_feed rbi_feed;

typedef struct rbi_feed_ops {
	/*
	 * The next chunk. RB_OK with a cut of 0 entries: there is none and
	 * never will be. Otherwise why there is none, with feed->problem.
	 */
	rb_status (*next)(rbi_feed *feed, const rbi_bounds *bounds,
			  rbi_parcel *out);
	/* The report of a chunk, with first and count set. */
	rb_chunk *(*report)(rbi_feed *feed, const rbi_parcel *parcel);
	/*
	 * Splits a report behind its first count entries. The first half,
	 * which may have moved, with the other one behind it; NULL: it cannot
	 * be split.
	 */
	rb_chunk *(*split)(rbi_feed *feed, rb_chunk *report, size_t count);
	/*
	 * The chunk is accounted for; its memory may be used again.
	 * RB_ERR_CANCELLED: a sink asks to stop.
	 */
	rb_status (*delivered)(rbi_feed *feed, const rbi_parcel *parcel,
			       const rb_chunk *report);
	/* The chunk that was given out last could not be sent: it counts as
	 * never given out. */
	void (*put_back)(rbi_feed *feed, const rbi_parcel *parcel);
	/* Accounts for all entries that were never given out. */
	void (*rest)(rbi_feed *feed, const rbi_bounds *bounds,
		     const char *message);
} rbi_feed_ops;

struct rbi_feed {
	const rbi_feed_ops *ops;
	bool ended;    /* next has nothing more to give */
	bool recycles; /* received bytes are of no use once delivered */
	const char *problem;
};

/* An array of entries, answered by a result. */
typedef struct rbi_array_feed {
	rbi_feed feed;
	const rbi_batch *batch;
	rb_result *result;
	size_t next;  /* the first entry not yet given out */
	size_t shift; /* reports that came in by splitting */
} rbi_array_feed;

void rbi_array_feed_init(rbi_array_feed *f, const rbi_batch *batch,
			 rb_result *result);

#endif

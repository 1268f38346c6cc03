/*
 * Where chunks come from, and where what became of them goes.
 *
 * The engine asks a feed for the next chunk when there is room for one, tells
 * it how each fared, and in the end that no more are wanted. So an array of
 * entries that is answered by a result and a stream of entries that must not
 * sit in memory are the same to it.
 *
 * A chunk may be sent again, and in parts. Each entry that was given out is
 * reported exactly once, in whatever order: for a run of entries the engine
 * asks for the report, fills it in, and calls delivered.
 */
#ifndef RBI_FEED_H
#define RBI_FEED_H

#include "plan.h"
#include "result.h"

/* No node in particular. */
#define RBI_ANYWHERE SIZE_MAX

/* What a chunk has been through that was sent from node to node. */
typedef struct rbi_trip {
	uint64_t since_us;  /* when it was first refused; 0: never */
	uint64_t resume_us; /* it is not sent before */
	uint64_t barrier;   /* of the lane that refused it: flights before it */
	size_t from;	    /* the leg that refused it */
	size_t to;	    /* the node it is to be asked of, and no other */
	uint32_t redirects;
	uint32_t waits;
	bool away;    /* it left the way of the others */
	bool out;     /* and is under way again */
	bool primary; /* no replica will do */
} rbi_trip;

/* A chunk that the feed gives out, or a part of it. */
typedef struct rbi_parcel {
	rbi_cut cut;
	rbi_entry *entries;    /* of the cut, unset */
	const size_t *numbers; /* of its entries among all; NULL: position, and
				  on from there */
	const uint16_t *slots; /* of its entries; NULL: they do not matter */
	size_t position;       /* what comes before it comes first */
	size_t tag;	       /* the feed's own number for it */
	uint32_t attempts;     /* how often it was sent */
	bool unknown;	       /* what it did when it was sent before */
	rbi_trip trip;	       /* in a cluster */
} rbi_parcel;

typedef struct rbi_feed rbi_feed;

typedef struct rbi_feed_ops {
	/*
	 * The next chunk. RB_OK with a cut of 0 entries: there is none and
	 * never will be. Otherwise why there is no more, with feed->problem;
	 * a cut that has entries is not to be sent then.
	 */
	rb_status (*next)(rbi_feed *feed, const rbi_bounds *bounds,
			  rbi_parcel *out);
	/* The report of a parcel, with first and count set; valid until the
	 * next call. */
	rb_chunk *(*report)(rbi_feed *feed, const rbi_parcel *parcel);
	/* The parcel is going to be reported in two, behind its first count
	 * entries. False: no memory for that. */
	bool (*divide)(rbi_feed *feed, const rbi_parcel *parcel, size_t count);
	/*
	 * The report of the parcel is filled in. RB_ERR_CANCELLED: a sink asks
	 * to stop.
	 */
	rb_status (*delivered)(rbi_feed *feed, const rbi_parcel *parcel,
			       const rb_chunk *report);
	/* Accounts for all entries that were never given out. */
	void (*rest)(rbi_feed *feed, const rbi_bounds *bounds,
		     const char *message);
} rbi_feed_ops;

struct rbi_feed {
	const rbi_feed_ops *ops;
	bool ended;    /* next has nothing more to give */
	bool dry;      /* nothing to give now, though more may come */
	bool recycles; /* received bytes are of no use once delivered... */
	size_t held;   /* ...unless so many chunks wait for earlier ones */
	const char *problem;
};

/* count entries of a parcel, behind its first skip ones. */
rbi_parcel rbi_parcel_part(const rbi_parcel *p, size_t skip, size_t count);

/* Forgets what was answered, since it is going to be sent again. */
void rbi_parcel_clear(const rbi_parcel *p);

/* What was refused now may have been applied when it was sent before. */
void rbi_parcel_doubt(const rbi_parcel *p);

/* Forgets what was answered though it had not been asked whole, but for
 * errors: a server that gives up says why. */
void rbi_parcel_distrust(const rbi_parcel *p);

/*
 * An array of entries, answered by a result. Its chunks are reported in the
 * order of their entries; or, once it was loosened, as they become known, so
 * that they may be of any entries.
 */
typedef struct rbi_array_feed {
	rbi_feed feed;
	const rbi_batch *batch;
	rb_result *result;
	size_t next; /* the first entry not yet given out */
	bool loose;
} rbi_array_feed;

void rbi_array_feed_init(rbi_array_feed *f, const rbi_batch *batch,
			 rb_result *result);

/*
 * From now on next gives out all the entries that are left as one. Before that,
 * parcels that were given out and are going to be cut by other rules are taken
 * out of the reports that stand.
 */
void rbi_array_feed_loosen(rbi_array_feed *f);
void rbi_array_feed_reopen(rbi_array_feed *f, const rbi_parcel *parcel);

#endif

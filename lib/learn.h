/*
 * What is known of the answers to come, and how far to trust it.
 *
 *	learned	  what entries of a shape took to answer: an average that is
 *		  up at once and comes down by quarters, since too large a
 *		  chunk hurts more than a small one, and the largest value
 *		  seen, which is let go slowly;
 *	limits	  what the server said it takes at most;
 *	ramp	  how many entries a chunk may have while little is known: at
 *		  the beginning of a long batch, or after a connection that
 *		  ended on a large answer. It doubles with every chunk that is
 *		  cut; the chunks behind are a little larger than asked for,
 *		  until as many entries have gone as would have without it.
 *
 * The client keeps the first two for its life; a ramp is a call's.
 */
#ifndef RBI_LEARN_H
#define RBI_LEARN_H

#include "plan.h"

typedef struct rbi_learned {
	size_t entry_reply; /* bytes of one entry's answer; 0: not known */
	size_t largest;	    /* of the recent ones */
} rbi_learned;

/* A member of 0: no limit was met. */
typedef struct rbi_limits {
	size_t args;
	size_t bytes; /* of a request, or of the answer to it */
	bool mixes;   /* a command may have keys of several slots: it had */
} rbi_limits;

typedef struct rbi_ramp {
	size_t keys;   /* the most entries of the next chunk */
	size_t cap;    /* and of any chunk of this call */
	size_t behind; /* entries that smaller chunks left to others */
	size_t calm;   /* answers since the last loss */
	size_t losses;
} rbi_ramp;

/* count entries were answered by reply_bytes, none larger than largest. */
void rbi_learn(rbi_learned *l, size_t count, size_t reply_bytes,
	       size_t largest);

/* The server takes no command of so many arguments. */
void rbi_limits_args(rbi_limits *l, size_t refused);

/* The server takes no more than so many bytes. */
void rbi_limits_bytes(rbi_limits *l, size_t most);

/* small: begin with a few entries a chunk. */
void rbi_ramp_init(rbi_ramp *r, bool small);

/* A chunk of count entries was cut, where asked could have been. */
void rbi_ramp_cut(rbi_ramp *r, size_t count, size_t asked);

/* A chunk was answered. */
static inline void rbi_ramp_answered(rbi_ramp *r)
{
	r->calm++;
}

/* The connection ended on the answer to a large chunk of count entries. */
void rbi_ramp_lost(rbi_ramp *r, size_t count);

/* How many chunks may be in flight, of a window of so many. */
size_t rbi_ramp_window(const rbi_ramp *r, size_t window);

/* Narrows the bounds of the next chunk by what is known. */
void rbi_learn_narrow(rbi_bounds *bounds, const rbi_learned *l,
		      const rbi_limits *limits, const rbi_ramp *ramp);

#endif

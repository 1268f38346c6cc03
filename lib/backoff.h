/*
 * How long to wait before something is tried again: twice as long each time,
 * with chance in it, so that many clients that failed together do not come
 * back together.
 */
#ifndef RBI_BACKOFF_H
#define RBI_BACKOFF_H

#include "internal.h"

/* The longest of the first waits, and of all. */
#define RBI_BACKOFF_FIRST_US 100000
#define RBI_BACKOFF_LONGEST_US 2000000

typedef struct rbi_backoff {
	uint64_t random;
	unsigned tries; /* waits so far, since things last went well */
} rbi_backoff;

/* seed: whatever differs between clients. */
void rbi_backoff_init(rbi_backoff *b, uint64_t seed);

/* The next wait, in microseconds: between half and all of its longest. */
uint64_t rbi_backoff_next(rbi_backoff *b);

/* It went well. */
static inline void rbi_backoff_reset(rbi_backoff *b)
{
	b->tries = 0;
}

#endif

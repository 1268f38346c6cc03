/*
 * Chunks that wait to be sent again, in the order of their entries, each with
 * what is to be said of it if that does not come about.
 */
#ifndef RBI_AGAIN_H
#define RBI_AGAIN_H

#include "feed.h"

/* How a chunk fared. */
typedef struct rbi_fate {
	rb_status status;
	rb_outcome outcome;
	const char *message; /* lives as long as the result */
} rbi_fate;

typedef struct rbi_waiting {
	rbi_parcel parcel;
	rbi_fate fate;
} rbi_waiting;

typedef struct rbi_again {
	const rb_allocator *allocator;
	rbi_waiting *items; /* by position */
	size_t count;
	size_t cap;
} rbi_again;

void rbi_again_init(rbi_again *a, const rb_allocator *allocator);
void rbi_again_fini(rbi_again *a);

/* Makes room for n more, so that adding them cannot fail. */
bool rbi_again_reserve(rbi_again *a, size_t n) RBI_MUST_CHECK;

/* Adds a chunk where it belongs. False: no memory, and it is not there. */
bool rbi_again_keep(rbi_again *a, const rbi_parcel *parcel,
		    const rbi_fate *fate) RBI_MUST_CHECK;

/* Adds a chunk for which there is room. */
void rbi_again_add(rbi_again *a, const rbi_parcel *parcel,
		   const rbi_fate *fate);

/* Takes item i out. */
rbi_waiting rbi_again_take(rbi_again *a, size_t i);

#endif

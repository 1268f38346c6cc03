/*
 * Which commands of an answered chunk were refused, though another node may
 * take them, or this one later or in another shape.
 *
 * A chunk is answered command by command; runs of commands that were refused
 * alike go the same way, and stay one chunk.
 */
#ifndef RBI_REFUSAL_H
#define RBI_REFUSAL_H

#include "settle.h"

/* A run of entries that were refused: sees to it that they are sent again, or
 * reports them. */
typedef void rbi_refused_fn(rbi_engine *e, rbi_parcel *p, const rbi_refusal *r,
			    uint64_t now_us);

/*
 * Of a chunk all of whose entries were answered, and which has left the lane,
 * reports what was done or failed for good, and hands the rest to see_to.
 */
void rbi_refusal_sift(rbi_engine *e, rbi_parcel p, rbi_account account,
		      rbi_refused_fn *see_to, uint64_t now_us);

/* Whether who knows the nodes has the last word on such a refusal. */
bool rbi_refusal_is_of_nodes(const rbi_refusal *r);

#endif

/*
 * Whether two chunks of a batch may touch the same thing, so that it matters
 * which of them the server runs first.
 */
#ifndef RBI_OVERLAP_H
#define RBI_OVERLAP_H

#include "plan.h"

/* False: their order does not matter. Without memory to tell, true. */
bool rbi_overlap(const rb_allocator *a, const rbi_cut *one, const rbi_cut *two);

#endif

/*
 * Entries in the order in which they are sent: sorted by who is asked, then by
 * slot, then as they were given.
 *
 * A command may have keys of one slot only, and a chunk goes to one node. So
 * what a feed gives out, an array or a crate, is sorted once, and chunks of it
 * are runs of neighbours again, as everywhere else. Each entry keeps its number
 * among all, by which it is reported.
 *
 * It is a counting sort in two passes, since one of 16,384 counters misses the
 * cache at each entry, and a comparing one costs half of what grouping gains.
 */
#ifndef RBI_SORTED_H
#define RBI_SORTED_H

#include "feed.h"
#include "keyslot.h"

/* The arrays that a load may have to make anew. */
#define RBI_SORTED_ARRAYS 10

typedef struct rbi_sorted {
	const rb_allocator *allocator;
	rbi_batch batch; /* the entries, sorted */
	rbi_entry *entries;
	size_t *numbers; /* of each among all that the feed has */
	uint16_t *slots; /* of each, also where commands are not cut by them */
	size_t n;
	size_t position; /* of the first among all */
	size_t tag;
	void *arrays[RBI_SORTED_ARRAYS]; /* what is to be freed */
	size_t narrays;
} rbi_sorted;

/*
 * Sorts the entries of a parcel by the ranks of their slots. grouped: commands
 * may have keys of one slot only. keep: where the numbers shall live; NULL: as
 * long as the load. RB_ERR_NOMEM: nothing is to be freed.
 */
rb_status rbi_sorted_make(rbi_sorted *l, const rb_allocator *a,
			  const rbi_parcel *p, const uint16_t *ranks,
			  bool grouped, rbi_slabs *keep) RBI_MUST_CHECK;
void rbi_sorted_fini(rbi_sorted *l);

/* A cut of its batch, as a parcel that was never sent. */
rbi_parcel rbi_sorted_parcel(const rbi_sorted *l, const rbi_cut *cut);

#endif

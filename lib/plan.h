/*
 * Entries to chunks, by count, arguments and exact bytes. Pure: the next chunk
 * is cut when it is about to be sent, with the bounds known by then, and
 * nothing is copied or kept.
 */
#ifndef RBI_PLAN_H
#define RBI_PLAN_H

#include "batch.h"

typedef struct rbi_bounds {
	size_t keys;	      /* the most entries, at least 1 */
	size_t args;	      /* the most arguments of a command */
	size_t request_bytes; /* of a command as sent */
	size_t reply_bytes;   /* of an answer, as predicted */
	size_t entry_reply;   /* predicted of one entry; 0: not known */
} rbi_bounds;

/* Entries first .. first + count - 1, and the size of their command. */
typedef struct rbi_cut {
	size_t first;
	size_t count;
	size_t request_bytes;
} rbi_cut;

/*
 * The chunk that begins with entry first, which there is. It has one entry at
 * least, whatever the bounds.
 */
rbi_cut rbi_plan_cut(const rbi_batch *b, size_t first,
		     const rbi_bounds *bounds);

#endif

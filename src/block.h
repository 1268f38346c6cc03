/*
 * Records that are sent together: copies, bounded by count and bytes, in the
 * arrays that the library takes. What does not stand in its record as it is
 * lies behind it.
 */
#ifndef REDISBATCH_SRC_BLOCK_H
#define REDISBATCH_SRC_BLOCK_H

#include "pairs.h"

/* What a block holds at most, unless one record alone is larger. */
enum { BLOCK_RECORDS = 50000, BLOCK_BYTES = 8 * 1024 * 1024 };

typedef struct block_origin {
	/* The record with a newline behind it; none for a pair without one. */
	rb_slice record;
	const char *file;
	size_t line;
} block_origin;

typedef struct block {
	size_t n;
	const char **keys;
	size_t *keylens;
	const char **values;
	size_t *valuelens;
	block_origin *origins;
	/* Where the bytes lie; it does not move while there are any. */
	char *data;
	size_t used;
	size_t capacity;
} block;

typedef enum block_added { BLOCK_ADDED, BLOCK_FULL, BLOCK_NOMEM } block_added;

/* NULL: out of memory. */
block *block_new(void);
void block_free(block *b);

/* Copies a pair; a key alone has no record. BLOCK_FULL: it does not fit behind those there are. */
block_added block_add(block *b, const pair *p);

void block_clear(block *b);

#endif

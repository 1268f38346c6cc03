/*
 * An allocator for rb_options that counts, and fails when told to.
 *
 *	rbt_count count;
 *
 *	rbt_count_init(&count);
 *	options.allocator = &count.allocator;
 *
 * One thread at a time. The counter must outlive what was allocated by it.
 */
#ifndef RBT_COUNT_H
#define RBT_COUNT_H

#include <redisbatch/redisbatch.h>

#include <stddef.h>

typedef struct rbt_count {
	rb_allocator allocator;
	/* Successful calls. A realloc of NULL is an alloc; a free of NULL is
	 * not counted. */
	size_t allocs;
	size_t reallocs;
	size_t frees;
	/* Bytes asked for and not yet freed; blocks likewise; the most. */
	size_t live_bytes;
	size_t live_blocks;
	size_t peak_bytes;
	/* Allocs and reallocs asked for, the refused ones too. */
	size_t asked;
	/* The fail_at-th of them (from 1) fails, and all after it if
	 * fail_on. 0: none. */
	size_t fail_at;
	int fail_on;
} rbt_count;

/* Zero, and nothing fails. */
void rbt_count_init(rbt_count *count);

#endif

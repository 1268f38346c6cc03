/*
 * The memory of one chunk of a stream: copies of the entries that a source
 * gave, room for their answers, and the arrays in which a sink is handed both.
 *
 * Strings are copied one behind the other. While a crate is being filled its
 * bytes may still move, so only lengths are kept; closing it sets the pointers.
 * A crate is used again and again, and keeps the memory that its largest chunk
 * took.
 */
#ifndef RBI_CRATE_H
#define RBI_CRATE_H

#include "batch.h"
#include "result.h"

/* What the entries are, and what the sink wants. */
typedef enum rbi_cargo {
	RBI_CARGO_KEYS,	   /* keys, with values for the sink */
	RBI_CARGO_PAIRS,   /* keys and values; no sink */
	RBI_CARGO_COMMANDS /* commands, with replies for the sink */
} rbi_cargo;

typedef struct rbi_crate {
	const rb_allocator *allocator;
	rbi_cargo cargo;
	bool used;	 /* by a chunk in flight */
	size_t first;	 /* number of its first entry in the stream */
	rbi_batch batch; /* once closed, the entries */
	rbi_entry *entries;
	rb_status *statuses; /* the rest is for the sink: */
	rb_slice *keys;
	rb_slice *values;
	const struct redisReply **replies;
	size_t n;
	size_t left; /* entries that are not reported yet */

	size_t cap; /* entries that the arrays have room for */
	char *bytes;
	size_t nbytes;
	size_t bytes_cap;
	const char **pointers[2]; /* keys or arguments, and values */
	size_t *lens[2];
	size_t nstrings[2];
	size_t strings_cap[2];
	rb_command *commands;
} rbi_crate;

/* An empty crate, or NULL. */
rbi_crate *rbi_crate_new(const rb_allocator *a, rbi_cargo cargo) RBI_MUST_CHECK;
void rbi_crate_free(rbi_crate *c);

/* Empties it, for entries of a batch of this form. */
void rbi_crate_clear(rbi_crate *c, const rbi_batch *form);

/* Copies the one entry of item. False: no memory, and nothing was added. */
bool rbi_crate_add(rbi_crate *c, const rbi_batch *item) RBI_MUST_CHECK;

/* No more will be added: batch is complete. */
void rbi_crate_close(rbi_crate *c);

#endif

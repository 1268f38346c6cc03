/*
 * What one call asks for: a command, its constant argument, and the entries it
 * is to be sent for. All of it is borrowed from the caller until the call
 * returns; nothing is copied.
 *
 *	MGET entry entry ...		one command a chunk, which is answered
 *	HMGET fixed entry entry ...	by an array of one value an entry
 */
#ifndef RBI_BATCH_H
#define RBI_BATCH_H

#include "internal.h"

#include <redisbatch/redisbatch.h>
#include <string.h>

typedef struct rbi_batch {
	rb_slice command;
	rb_slice fixed; /* sent before the entries; data NULL: nothing */
	const char **keys;
	const size_t *keylens; /* NULL: the keys end with a NUL */
	size_t n;
	/* What the caller calls these arguments, for messages. */
	const char *fixed_name;
	const char *fixedlen_name;
	const char *keys_name;
	const char *keylens_name;
} rbi_batch;

static inline size_t rbi_batch_keylen(const rbi_batch *b, size_t i)
{
	return b->keylens != NULL ? b->keylens[i] : strlen(b->keys[i]);
}

/* The arguments of a command besides its entries, its name among them. */
static inline size_t rbi_batch_fixed_args(const rbi_batch *b)
{
	return b->fixed.data != NULL ? 2 : 1;
}

/* Looks at every argument. RB_ERR_INVALID with a line in why. */
rb_status rbi_batch_check(const rbi_batch *b, char *why,
			  size_t why_size) RBI_MUST_CHECK;

#endif

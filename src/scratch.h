/*
 * Bytes that grow: one buffer that is used again and again.
 */
#ifndef REDISBATCH_SRC_SCRATCH_H
#define REDISBATCH_SRC_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scratch {
	char *data;
	size_t len;
	size_t capacity;
} scratch;

/* Room for more bytes behind those there are. False: out of memory. What was
 * in it may move. */
bool scratch_reserve(scratch *s, size_t more);

bool scratch_add(scratch *s, const void *data, size_t len);

/* Forgets the bytes, and gives back a buffer that a giant has left. */
void scratch_clear(scratch *s);

void scratch_free(scratch *s);

#endif

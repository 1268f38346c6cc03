/*
 * A delay line: bytes that leave in the order they came, each not before its
 * moment. It takes no system's time and does no I/O.
 */
#ifndef RBT_PROXY_LINE_H
#define RBT_PROXY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbt_block rbt_block;

typedef struct rbt_line {
	rbt_block *first;
	rbt_block *last;
	size_t bytes;
} rbt_line;

void rbt_line_init(rbt_line *line);
/* Drops what is in it; it may be used again. */
void rbt_line_clear(rbt_line *line);

/* Copies n bytes that are due at due_us. False: out of memory. */
bool rbt_line_push(rbt_line *line, const char *bytes, size_t n,
		   uint64_t due_us);

/* The first bytes, if they are due at now_us: how many lie at *bytes. */
size_t rbt_line_due(const rbt_line *line, uint64_t now_us, const char **bytes);

/* Takes n of the bytes that were due away. */
void rbt_line_pop(rbt_line *line, size_t n);

/* When the first byte is due; UINT64_MAX: there is none. */
uint64_t rbt_line_next(const rbt_line *line);

#endif

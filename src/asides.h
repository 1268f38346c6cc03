/*
 * Records that never were commands, kept until the replies to the commands in
 * front of them are printed, so that the output has the order of the input. Only
 * so many are kept: when there are more between two replies, the oldest ones come
 * too early.
 */
#ifndef REDISBATCH_SRC_ASIDES_H
#define REDISBATCH_SRC_ASIDES_H

#include <stddef.h>

enum { ASIDES_KEPT = 1024 };

typedef struct aside {
	/* The number of the command behind it in the stream. */
	size_t before;
	/* Borrowed until it is put. */
	const char *file;
	size_t line;
	const char *why;
} aside;

typedef void asides_put(void *arg, const aside *bad);

/* All zero at first, but for put and its argument. */
typedef struct asides {
	asides_put *put;
	void *arg;
	size_t first;
	size_t n;
	aside kept[ASIDES_KEPT];
} asides;

void asides_add(asides *a, const aside *bad);

/* Puts those that stand before this command. */
void asides_pass(asides *a, size_t number);

#endif

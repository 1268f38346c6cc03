/*
 * The words of a command: where each begins in some bytes, and how long it is.
 * The bytes may move while words are added; only words_command() makes pointers
 * of it.
 */
#ifndef REDISBATCH_SRC_WORDS_H
#define REDISBATCH_SRC_WORDS_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>
#include <stddef.h>

/* The most words of a command: what servers before 7.0 take. */
#define WORDS_MAX ((size_t)1024 * 1024)

typedef struct words {
	size_t n;
	size_t capacity;
	size_t *begins;
	size_t *lens;
	const char **argv;
} words;

/* False: out of memory. */
bool words_add(words *w, size_t begin, size_t len);

/* Borrows base and w, until either changes. */
rb_command words_command(words *w, const char *base);

/* Forgets the words, and gives back the memory that a giant has left. */
void words_clear(words *w);
void words_free(words *w);

#endif

/*
 * What all unit tests share: cmocka with what it needs, and a few words.
 */
#ifndef RBT_UNIT_H
#define RBT_UNIT_H

#include <redisbatch/redisbatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A string literal with NULs in it: its bytes and their number. */
#define LIT(text) (text), sizeof(text) - 1

/* Both in words, which is what a failure then shows. */
#define assert_status(got, want) \
	assert_string_equal(rb_status_text(got), rb_status_text(want))
#define assert_outcome(got, want) \
	assert_string_equal(rb_outcome_text(got), rb_outcome_text(want))

/* len bytes with no byte behind them, so that a sanitizer sees a read too
 * far. The caller frees them. */
static inline char *exact_copy(const void *data, size_t len)
{
	char *copy = malloc(len > 0 ? len : 1);

	assert_non_null(copy);
	if (len > 0)
		memcpy(copy, data, len);
	return copy;
}

/* Numbers that look random and are the same in each run. */
static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* One of 0 .. n - 1. */
static inline size_t random_below(uint64_t *seed, size_t n)
{
	return (size_t)(next_random(seed) >> 16) % n;
}

#endif

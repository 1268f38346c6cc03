/*
 * The names of the keys that are measured with: a prefix and a number. Pure.
 */
#ifndef REDISBATCH_SRC_BENCH_KEYS_H
#define REDISBATCH_SRC_BENCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_keys {
	/* Each with a NUL behind it. */
	const char **names;
	size_t *lens;
	size_t n;
	char *bytes;
} bench_keys;

/* False: out of memory; there is nothing to free then. */
bool bench_keys_init(bench_keys *keys, const char *prefix, size_t n);
void bench_keys_fini(bench_keys *keys);

/* The pattern that matches every key with this prefix and no other, for SCAN;
 * to be freed. NULL: out of memory. */
char *bench_keys_pattern(const char *prefix);

#endif

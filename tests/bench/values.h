/*
 * Values to be written, ready in memory before any clock starts.
 */
#ifndef RBT_VALUES_H
#define RBT_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/* Value i is what rbt_value_fill() makes of i; all have the same length. */
typedef struct rbt_values {
	size_t n;
	const char **values;
	size_t *lens;
	char *bytes;
} rbt_values;

/* False: out of memory, and *values is empty. */
bool rbt_values_init(rbt_values *values, size_t n, size_t len);
void rbt_values_fini(rbt_values *values);

#endif

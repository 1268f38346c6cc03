/*
 * Known keys with known values, so that every value read can be compared byte
 * for byte: key i is "<prefix>%08zu", its value is a fixed stream of bytes of
 * all 256 kinds that depends on i.
 */
#ifndef RBT_LOAD_H
#define RBT_LOAD_H

#include <hiredis/hiredis.h>

#include <stdbool.h>
#include <stddef.h>

/* Keys ready for MGET: all of the same length. */
typedef struct rbt_keys {
	size_t n;
	const char **keys;
	size_t *lens;
	char *bytes; /* all of them, each with its NUL */
} rbt_keys;

/* Keys 0 .. n - 1. False: out of memory, and *keys is empty. */
bool rbt_keys_init(rbt_keys *keys, const char *prefix, size_t n);
void rbt_keys_fini(rbt_keys *keys);

/* Writes the value of key i. */
void rbt_value_fill(char *out, size_t len, size_t i);

/* True if data is the value of key i, and of the wanted length. */
bool rbt_value_is(const char *data, size_t len, size_t want, size_t i);

/* Sets all keys to their values by MSETs, through plain hiredis. False: the
 * connection broke or the server refused; *why, if given, is a text of size
 * bytes that says so. */
bool rbt_load(redisContext *ctx, const rbt_keys *keys, size_t value_len,
	      char *why, size_t size);

/* Deletes all keys, by UNLINK. */
bool rbt_unload(redisContext *ctx, const rbt_keys *keys, char *why,
		size_t size);

#endif

/*
 * Batches for tests, and their commands made in another way than the library
 * makes them.
 */
#ifndef RBT_KEYS_H
#define RBT_KEYS_H

#include "batch.h"
#include "plan.h"
#include "unit.h"

#include <stdio.h>

/* n keys of len bytes each, all in one block; of different bytes. */
typedef struct keys {
	const char **keys;
	size_t *lens;
	char *bytes;
	size_t n;
} keys;

/* Lengths from the array, or, where that is NULL, all len. */
static inline void keys_init(keys *k, size_t n, const size_t *lens, size_t len)
{
	size_t total = 1;
	size_t at = 0;
	size_t i;

	k->n = n;
	k->keys = malloc((n + 1) * sizeof(*k->keys));
	k->lens = malloc((n + 1) * sizeof(*k->lens));
	assert_true(k->keys != NULL && k->lens != NULL);
	for (i = 0; i < n; i++) {
		k->lens[i] = lens != NULL ? lens[i] : len;
		total += k->lens[i];
	}
	k->bytes = malloc(total);
	assert_non_null(k->bytes);
	for (i = 0; i < n; i++) {
		size_t j;

		k->keys[i] = k->bytes + at;
		for (j = 0; j < k->lens[i]; j++)
			k->bytes[at++] = (char)('0' + (i + j) % 75);
	}
}

static inline void keys_fini(keys *k)
{
	free(k->keys);
	free(k->lens);
	free(k->bytes);
}

static inline rbi_batch keys_mget(const keys *k)
{
	rbi_batch b = {
		.command = { "MGET", 4 },
		.keys = k->keys,
		.keylens = k->lens,
		.n = k->n,
		.keys_name = "keys",
		.keylens_name = "keylens",
	};

	return b;
}

static inline rbi_batch keys_hmget(const keys *k, const char *key, size_t len)
{
	rbi_batch b = keys_mget(k);

	b.command.data = "HMGET";
	b.command.len = 5;
	b.fixed.data = key;
	b.fixed.len = len;
	b.fixed_name = "key";
	b.fixedlen_name = "keylen";
	return b;
}

static inline char *print_arg(char *p, const char *data, size_t len)
{
	p += sprintf(p, "$%zu\r\n", len);
	if (len > 0)
		memcpy(p, data, len);
	memcpy(p + len, "\r\n", 2);
	return p + len + 2;
}

/* The command for count entries from first on; *size bytes, to be freed. */
static inline char *print_command(const rbi_batch *b, size_t first,
				  size_t count, size_t *size)
{
	size_t room = 100 + b->fixed.len;
	size_t argc = count + (b->fixed.data != NULL ? 2 : 1);
	char *buf;
	char *p;
	size_t i;

	for (i = first; i < first + count; i++)
		room += rbi_batch_keylen(b, i) + 30;
	buf = malloc(room);
	assert_non_null(buf);
	p = buf + sprintf(buf, "*%zu\r\n", argc);
	p = print_arg(p, b->command.data, b->command.len);
	if (b->fixed.data != NULL)
		p = print_arg(p, b->fixed.data, b->fixed.len);
	for (i = first; i < first + count; i++)
		p = print_arg(p, b->keys[i], rbi_batch_keylen(b, i));
	*size = (size_t)(p - buf);
	return buf;
}

#endif

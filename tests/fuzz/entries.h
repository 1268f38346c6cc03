/*
 * Entries for a batch, made of an input: keys, values, and commands over both.
 *
 * All strings lie in one block, one behind the other, the last one up to its
 * end. A byte of the input gives a length: mostly small, and sometimes at one
 * of the bounds of the encoder.
 */
#ifndef RBT_ENTRIES_H
#define RBT_ENTRIES_H

#include "batch.h"
#include "fuzz.h"
#include "outbuf.h"

#define ENTRIES_MAX 32

typedef struct entries {
	size_t n;
	char *bytes;
	const char *keys[ENTRIES_MAX];
	const char *values[ENTRIES_MAX];
	size_t keylens[ENTRIES_MAX];
	size_t valuelens[ENTRIES_MAX];
	rb_command commands[ENTRIES_MAX];
	const char *argv[ENTRIES_MAX][3];
	size_t argvlen[ENTRIES_MAX][3];
} entries;

static inline size_t entries_length(unsigned byte)
{
	static const size_t bounds[] = {
		9,
		10,
		99,
		100,
		999,
		1000,
		RBI_OUTBUF_BORROW - 1,
		RBI_OUTBUF_BORROW,
		RBI_OUTBUF_BORROW + 1,
	};

	return byte < 240 ? byte % 24 : bounds[(byte - 240) % N_OF(bounds)];
}

static inline void entries_command(entries *e, size_t i, unsigned byte)
{
	static const char *const names[] = { "SET", "GET",  "MULTI", "exec",
					     "DEL", "PING", "",	     "LPUSH" };
	rb_command *c = &e->commands[i];

	e->argv[i][0] = names[byte % N_OF(names)];
	e->argv[i][1] = e->keys[i];
	e->argv[i][2] = e->values[i];
	e->argvlen[i][0] = strlen(e->argv[i][0]);
	e->argvlen[i][1] = e->keylens[i];
	e->argvlen[i][2] = e->valuelens[i];
	c->argc = 1 + (int)(byte / N_OF(names)) % 3;
	c->argv = e->argv[i];
	c->argvlen = e->argvlen[i];
}

/* n entries, whose lengths and kinds take three bytes each. */
static inline void entries_init(entries *e, input *in, size_t n)
{
	unsigned kinds[ENTRIES_MAX];
	size_t total = 0;
	size_t at = 0;
	size_t i;

	must(n <= ENTRIES_MAX);
	e->n = n;
	for (i = 0; i < n; i++) {
		e->keylens[i] = entries_length(take_byte(in));
		e->valuelens[i] = entries_length(take_byte(in));
		kinds[i] = take_byte(in);
		total += e->keylens[i] + e->valuelens[i];
	}
	e->bytes = malloc(total > 0 ? total : 1);
	must(e->bytes != NULL);
	memset(e->bytes, 'x', total);
	if (total > 0)
		memcpy(e->bytes, in->data, rbi_min(in->size, total));
	for (i = 0; i < n; i++) {
		e->keys[i] = e->bytes + at;
		at += e->keylens[i];
		e->values[i] = e->bytes + at;
		at += e->valuelens[i];
		entries_command(e, i, kinds[i]);
	}
}

static inline void entries_fini(entries *e)
{
	free(e->bytes);
}

#endif

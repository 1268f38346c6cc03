/*
 * Batches of writes, and their bytes made in another way than the library
 * makes them.
 */
#ifndef RBT_WRITES_H
#define RBT_WRITES_H

#include "keys.h"

/* n pairs, whose values are the keys of another length. */
typedef struct writes {
	keys keys;
	keys values;
	rb_command *commands; /* SET key value, each over its own argv */
	const char **argv;
	size_t *argvlen;
} writes;

/* Lengths below most. */
static inline void writes_init(writes *w, size_t n, size_t most, uint64_t *seed)
{
	size_t *lens = malloc(2 * n * sizeof(*lens) + 1);
	size_t i;

	assert_non_null(lens);
	for (i = 0; i < 2 * n; i++)
		lens[i] = random_below(seed, most);
	keys_init(&w->keys, n, lens, 0);
	keys_init(&w->values, n, lens + n, 0);
	free(lens);
	w->commands = malloc((n + 1) * sizeof(*w->commands));
	w->argv = malloc((3 * n + 1) * sizeof(*w->argv));
	w->argvlen = malloc((3 * n + 1) * sizeof(*w->argvlen));
	assert_true(w->commands && w->argv && w->argvlen);
	for (i = 0; i < n; i++) {
		const char **argv = w->argv + 3 * i;
		size_t *len = w->argvlen + 3 * i;

		argv[0] = "SET";
		len[0] = 3;
		argv[1] = w->keys.keys[i];
		len[1] = w->keys.lens[i];
		argv[2] = w->values.keys[i];
		len[2] = w->values.lens[i];
		w->commands[i].argc = 3;
		w->commands[i].argv = argv;
		w->commands[i].argvlen = len;
	}
}

static inline void writes_fini(writes *w)
{
	keys_fini(&w->keys);
	keys_fini(&w->values);
	free(w->commands);
	free(w->argv);
	free(w->argvlen);
}

/* Makes command i one word, MULTI or EXEC. */
static inline void writes_word(writes *w, size_t i, const char *word)
{
	w->commands[i].argc = 1;
	w->argv[3 * i] = word;
	w->argvlen[3 * i] = strlen(word);
}

static inline rbi_batch writes_pairs(const writes *w, rbi_form form,
				     const char *name)
{
	rbi_batch b = keys_mget(&w->keys);

	b.form = form;
	b.shape = RBI_SHAPE_OK;
	b.command.data = name;
	b.command.len = strlen(name);
	b.values = w->values.keys;
	b.valuelens = w->values.lens;
	return b;
}

static inline void writes_tail(rbi_batch *b, const char *word)
{
	b->tail[b->ntail].data = word;
	b->tail[b->ntail].len = strlen(word);
	b->ntail++;
}

static inline rbi_batch writes_commands(const writes *w)
{
	rbi_batch b = {
		.form = RBI_FORM_COMMANDS,
		.shape = RBI_SHAPE_REPLIES,
		.commands = w->commands,
		.n = w->keys.n,
	};

	return b;
}

/* Every kind of batch that writes; NULL name: no further one. */
typedef struct kind {
	const char *name;
	rbi_batch batch;
} kind;

#define WRITES_KINDS 8

static inline size_t writes_kinds(const writes *w, kind *kinds)
{
	static const char *const names[WRITES_KINDS] = {
		"MSET",	  "HSET",     "MSETEX",	       "SET",
		"UNLINK", "commands", "MSET in MULTI", "commands in MULTI"
	};
	size_t i;

	for (i = 0; i < WRITES_KINDS; i++)
		kinds[i].name = names[i];
	kinds[0].batch = writes_pairs(w, RBI_FORM_GATHER, "MSET");
	kinds[1].batch = writes_pairs(w, RBI_FORM_GATHER, "HSET");
	kinds[1].batch.fixed.data = "a hash";
	kinds[1].batch.fixed.len = 6;
	kinds[2].batch = writes_pairs(w, RBI_FORM_GATHER, "MSETEX");
	kinds[2].batch.counted = true;
	writes_tail(&kinds[2].batch, "PX");
	writes_tail(&kinds[2].batch, "1500");
	kinds[3].batch = writes_pairs(w, RBI_FORM_EACH, "SET");
	writes_tail(&kinds[3].batch, "PX");
	writes_tail(&kinds[3].batch, "86400000");
	writes_tail(&kinds[3].batch, "NX");
	kinds[4].batch = keys_mget(&w->keys);
	kinds[4].batch.shape = RBI_SHAPE_INTEGER;
	kinds[4].batch.command.data = "UNLINK";
	kinds[4].batch.command.len = 6;
	kinds[5].batch = writes_commands(w);
	kinds[6].batch = kinds[0].batch;
	kinds[6].batch.transaction = true;
	kinds[7].batch = kinds[5].batch;
	kinds[7].batch.transaction = true;
	return WRITES_KINDS;
}

/* -------------------------------------------------------------- printing -- */

static inline char *print_tail(char *p, const rbi_batch *b)
{
	size_t i;

	for (i = 0; i < b->ntail; i++)
		p = print_arg(p, b->tail[i].data, b->tail[i].len);
	return p;
}

static inline char *print_pair(char *p, const rbi_batch *b, size_t i)
{
	p = print_arg(p, b->keys[i], b->keylens[i]);
	if (b->values != NULL)
		p = print_arg(p, b->values[i], b->valuelens[i]);
	return p;
}

static inline char *print_gathered(char *p, const rbi_batch *b, size_t first,
				   size_t count)
{
	size_t argc = 1 + count * (b->values != NULL ? 2 : 1) + b->ntail;
	char number[24];
	size_t i;

	argc += b->fixed.data != NULL;
	argc += b->counted;
	p += sprintf(p, "*%zu\r\n", argc);
	p = print_arg(p, b->command.data, b->command.len);
	if (b->fixed.data != NULL)
		p = print_arg(p, b->fixed.data, b->fixed.len);
	if (b->counted)
		p = print_arg(p, number, (size_t)sprintf(number, "%zu", count));
	for (i = first; i < first + count; i++)
		p = print_pair(p, b, i);
	return print_tail(p, b);
}

static inline char *print_each(char *p, const rbi_batch *b, size_t i)
{
	const rb_command *c = &b->commands[i];
	int k;

	if (b->form == RBI_FORM_EACH) {
		p += sprintf(p, "*%zu\r\n", 3 + b->ntail);
		p = print_arg(p, b->command.data, b->command.len);
		return print_tail(print_pair(p, b, i), b);
	}
	p += sprintf(p, "*%d\r\n", c->argc);
	for (k = 0; k < c->argc; k++)
		p = print_arg(p, c->argv[k], c->argvlen[k]);
	return p;
}

static inline size_t most_bytes(const rbi_batch *b, size_t first, size_t count)
{
	size_t room = 500;
	size_t i;
	int k;

	for (i = first; i < first + count; i++) {
		room += 200;
		if (b->form == RBI_FORM_COMMANDS) {
			for (k = 0; k < b->commands[i].argc; k++)
				room += b->commands[i].argvlen[k];
			continue;
		}
		room += b->keylens[i];
		room += b->values != NULL ? b->valuelens[i] : 0;
	}
	return room;
}

/* The bytes of a chunk of count entries from first on, to be freed. */
static inline char *print_chunk(const rbi_batch *b, size_t first, size_t count,
				size_t *size)
{
	char *buf = malloc(most_bytes(b, first, count));
	char *p = buf;
	size_t i;

	assert_non_null(buf);
	if (b->transaction)
		p += sprintf(p, "*1\r\n$5\r\nMULTI\r\n");
	if (b->form == RBI_FORM_GATHER) {
		p = print_gathered(p, b, first, count);
	} else {
		for (i = first; i < first + count; i++)
			p = print_each(p, b, i);
	}
	if (b->transaction)
		p += sprintf(p, "*1\r\n$4\r\nEXEC\r\n");
	*size = (size_t)(p - buf);
	return buf;
}

static inline size_t chunk_size(const rbi_batch *b, size_t first, size_t count)
{
	size_t size;

	free(print_chunk(b, first, count, &size));
	return size;
}

#endif

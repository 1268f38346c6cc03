/*
 * Batches whose entries have slots, and the bytes of their chunks made in
 * another way than the library makes them.
 */
#ifndef RBT_GROUPS_H
#define RBT_GROUPS_H

#include "writes.h"

#define GROUPS_MOST 48

typedef struct groups {
	writes w;
	uint16_t slots[GROUPS_MOST];
} groups;

/* Runs of one to about three entries of a slot, of few slots. */
static inline void groups_init(groups *g, size_t n, size_t most, uint64_t *seed)
{
	size_t i;

	assert_true(n <= GROUPS_MOST);
	writes_init(&g->w, n, most, seed);
	for (i = 0; i < n; i++) {
		g->slots[i] = (uint16_t)random_below(seed, 4);
		if (i > 0 && random_below(seed, 3) > 0)
			g->slots[i] = g->slots[i - 1];
	}
}

static inline void groups_fini(groups *g)
{
	writes_fini(&g->w);
}

/* Makes some of the commands transactions of the caller's, the first at the
 * beginning. */
static inline void groups_words(groups *g, uint64_t *seed)
{
	size_t n = g->w.keys.n;
	size_t i = 0;

	while (i + 1 < n) {
		size_t inside = random_below(seed, rbi_min(4, n - i - 1));

		writes_word(&g->w, i, "MULTI");
		writes_word(&g->w, i + inside + 1, "EXEC");
		i += inside + 2 + random_below(seed, 5);
	}
}

#define GROUPS_KINDS (WRITES_KINDS + 3)

/* Every kind of batch, with slots. */
static inline void groups_kinds(const groups *g, kind *kinds)
{
	size_t n = writes_kinds(&g->w, kinds);
	size_t i;

	kinds[n].name = "MGET";
	kinds[n++].batch = keys_mget(&g->w.keys);
	kinds[n].name = "HMGET";
	kinds[n++].batch = keys_hmget(&g->w.keys, "a hash", 6);
	kinds[n].name = "MSETEX in MULTI";
	kinds[n] = kinds[2];
	kinds[n++].batch.transaction = true;
	for (i = 0; i < n; i++)
		kinds[i].batch.slots = g->slots;
}

/* A cut of all from first on, of which nothing is bounded yet. */
static inline rbi_cut groups_whole(const rbi_batch *b, size_t first, bool alone,
				   bool asking)
{
	const rbi_cut cut = { .batch = b,
			      .first = first,
			      .count = b->n - first,
			      .alone = alone,
			      .asking = asking };

	return rbi_plan_part(&cut, 0, cut.count);
}

/* -------------------------------------------------------------- printing -- */

static inline bool is_word(const rb_command *c, const char *word)
{
	return c->argc == 1 && c->argvlen[0] == strlen(word) &&
	       memcmp(c->argv[0], word, strlen(word)) == 0;
}

/* How many entries from i on, at most left, go in one command, or together. */
static inline size_t groups_together(const rbi_cut *cut, size_t i, size_t left)
{
	const rbi_batch *b = cut->batch;
	size_t n = 1;

	if (b->form == RBI_FORM_EACH)
		return 1;
	if (b->form == RBI_FORM_COMMANDS) {
		if (!is_word(&b->commands[i], "MULTI"))
			return 1;
		while (!is_word(&b->commands[i + n], "EXEC"))
			n++;
		return n + 1;
	}
	if (cut->alone)
		return 1;
	if (b->slots == NULL)
		return left;
	while (n < left && b->slots[i + n] == b->slots[i] &&
	       (cut->group_max == 0 || n < cut->group_max))
		n++;
	return n;
}

static inline char *print_group(char *p, const rbi_cut *cut, size_t i, size_t n)
{
	rbi_batch b = *cut->batch;
	size_t k;

	if (b.form != RBI_FORM_GATHER) {
		for (k = 0; k < n; k++)
			p = print_each(p, &b, i + k);
		return p;
	}
	if (n == 1 && b.single.data != NULL && (b.slots != NULL || cut->alone))
		b.command = b.single;
	return print_gathered(p, &b, i, n);
}

/* The bytes of a chunk, to be freed; and in ends, unless NULL, with which byte
 * the command of each of its entries ends. */
static inline char *print_cut(const rbi_cut *cut, size_t *size, size_t *ends)
{
	const rbi_batch *b = cut->batch;
	char *buf = malloc(most_bytes(b, cut->first, cut->count) +
			   cut->count * (200 + b->fixed.len));
	size_t done = 0;
	char *p = buf;

	assert_non_null(buf);
	if (b->transaction && cut->asking)
		p += sprintf(p, "*1\r\n$6\r\nASKING\r\n");
	if (b->transaction)
		p += sprintf(p, "*1\r\n$5\r\nMULTI\r\n");
	while (done < cut->count) {
		size_t n = groups_together(cut, cut->first + done,
					   cut->count - done);

		if (!b->transaction && cut->asking)
			p += sprintf(p, "*1\r\n$6\r\nASKING\r\n");
		p = print_group(p, cut, cut->first + done, n);
		for (; n > 0; n--, done++) {
			if (ends != NULL)
				ends[done] = (size_t)(p - buf);
		}
	}
	if (b->transaction)
		p += sprintf(p, "*1\r\n$4\r\nEXEC\r\n");
	*size = (size_t)(p - buf);
	return buf;
}

static inline size_t cut_size(const rbi_cut *cut)
{
	size_t size;

	free(print_cut(cut, &size, NULL));
	return size;
}

/* The commands in these bytes: arrays that do not stand in a string. */
static inline size_t count_commands(const char *bytes, size_t size)
{
	size_t at = 0;
	size_t n = 0;

	while (at < size) {
		size_t len;

		n += bytes[at] == '*';
		len = (size_t)strtoul(bytes + at + 1, NULL, 10);
		len = bytes[at] == '$' ? len + 2 : 0;
		while (bytes[at++] != '\n')
			;
		at += len;
	}
	assert_int_equal(at, size);
	return n;
}

#endif

#include "blame.h"

#include "say.h"

#include <stdlib.h>
#include <string.h>

/* A failed chunk whose entries the sink has not had. */
typedef struct held {
	struct held *next;
	size_t first;
	size_t count;
	/* NULL: first and on; otherwise count numbers. */
	size_t *entries;
	size_t last; /* the highest of them */
	char *node;
	char *words;
} held;

/* A failed entry that has no words. */
typedef struct bare {
	size_t number;
	rb_status status;
	char *key;
	size_t len;
} bare;

struct blame {
	report *report;
	const keys *keys;
	/* How many entries the sink has had. */
	size_t handed;
	held *held;
	bare *bares;
	size_t nbares;
	size_t capacity;
};

blame *blame_new(report *r, const keys *k)
{
	blame *b = calloc(1, sizeof(*b));

	if (b == NULL) {
		say("out of memory");
		return NULL;
	}
	b->report = r;
	b->keys = k;
	return b;
}

static void free_held(held *h)
{
	if (h == NULL)
		return;
	free(h->entries);
	free(h->node);
	free(h->words);
	free(h);
}

void blame_free(blame *b)
{
	if (b == NULL)
		return;
	while (b->held != NULL) {
		held *next = b->held->next;

		free_held(b->held);
		b->held = next;
	}
	for (size_t i = 0; i < b->nbares; i++)
		free(b->bares[i].key);
	free(b->bares);
	free(b);
}

/* An entry that failed for itself is not to blame on its chunk. */
static const char *choose_words(rb_status status, const char *words)
{
	if (status == RB_ERR_LIMIT)
		return "the value is longer than --max-value";
	return words[0] == '\0' ? rb_status_text(status) : words;
}

static void tell(blame *b, size_t number, rb_slice key, rb_status status,
		 const char *node, const char *words)
{
	keys_place place = keys_find(b->keys, number);
	const report_failure failure = {
		.key = key,
		.file = place.file,
		.line = place.line,
		.node = node,
		.words = choose_words(status, words),
	};

	report_fail(b->report, &failure);
}

/* ------------------------------------------------------ keys come first -- */

/* Without memory the key is reported at once, with what is known. */
static void keep_bare(blame *b, size_t number, rb_slice key, rb_status status)
{
	char *copy = malloc(key.len + 1);

	if (b->nbares == b->capacity) {
		size_t capacity = 2 * b->capacity + 64;
		bare *bares = realloc(b->bares, capacity * sizeof(*bares));

		if (bares != NULL) {
			b->bares = bares;
			b->capacity = capacity;
		}
	}
	if (copy == NULL || b->nbares == b->capacity) {
		free(copy);
		tell(b, number, key, status, "", "");
		return;
	}
	if (key.len > 0)
		memcpy(copy, key.data, key.len);
	b->bares[b->nbares] = (bare){ .number = number, .status = status };
	b->bares[b->nbares].key = copy;
	b->bares[b->nbares++].len = key.len;
}

/* Whether a chunk has this entry. */
static bool has_entry(const size_t *entries, size_t first, size_t count,
		      size_t number)
{
	if (entries == NULL)
		return number >= first && number - first < count;
	for (size_t i = 0; i < count; i++) {
		if (entries[i] == number)
			return true;
	}
	return false;
}

static const held *find_held(const blame *b, size_t number)
{
	const held *h = b->held;

	while (h != NULL && !has_entry(h->entries, h->first, h->count, number))
		h = h->next;
	return h;
}

/* Forgets the words for what the sink has had. */
static void drop_held(blame *b)
{
	held **at = &b->held;

	while (*at != NULL) {
		held *h = *at;

		if (h->last < b->handed) {
			*at = h->next;
			free_held(h);
		} else {
			at = &h->next;
		}
	}
}

void blame_entries(blame *b, size_t first, const rb_slice *names,
		   const rb_status *statuses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const held *h;

		if (statuses[i] == RB_OK)
			continue;
		h = find_held(b, first + i);
		if (h != NULL)
			tell(b, first + i, names[i], statuses[i], h->node,
			     h->words);
		else
			keep_bare(b, first + i, names[i], statuses[i]);
	}
	b->handed = first + n;
	if (b->held != NULL)
		drop_held(b);
}

/* ----------------------------------------------------- words come first -- */

static size_t highest(const rb_chunk *chunk)
{
	size_t last = chunk->first;

	if (chunk->entries == NULL)
		return chunk->first + chunk->count - 1;
	for (size_t i = 0; i < chunk->count; i++) {
		if (chunk->entries[i] > last)
			last = chunk->entries[i];
	}
	return last;
}

static bool copy_entries(held *h, const rb_chunk *chunk)
{
	if (chunk->entries == NULL)
		return true;
	h->entries = malloc(chunk->count * sizeof(*h->entries));
	if (h->entries == NULL)
		return false;
	memcpy(h->entries, chunk->entries, chunk->count * sizeof(*h->entries));
	return true;
}

/* Without memory the entries are reported in the words of their status. */
static void hold(blame *b, const rb_chunk *chunk)
{
	held *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return;
	h->first = chunk->first;
	h->count = chunk->count;
	h->last = highest(chunk);
	h->node = strdup(chunk->node == NULL ? "" : chunk->node);
	h->words = strdup(chunk->message);
	if (h->node == NULL || h->words == NULL || !copy_entries(h, chunk)) {
		free_held(h);
		return;
	}
	h->next = b->held;
	b->held = h;
}

/* Reports the keys of a chunk that wait for its words, and keeps the others. */
static void match(blame *b, const rb_chunk *chunk)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->nbares; i++) {
		bare *e = &b->bares[i];

		if (!has_entry(chunk->entries, chunk->first, chunk->count,
			       e->number)) {
			b->bares[kept++] = *e;
			continue;
		}
		tell(b, e->number, (rb_slice){ e->key, e->len }, e->status,
		     chunk->node == NULL ? "" : chunk->node, chunk->message);
		free(e->key);
	}
	b->nbares = kept;
}

void blame_chunk(blame *b, const rb_chunk *chunk)
{
	if (chunk->status == RB_OK || chunk->count == 0)
		return;
	if (highest(chunk) >= b->handed)
		hold(b, chunk);
	else
		match(b, chunk);
}

void blame_settle(blame *b, const char *words)
{
	for (size_t i = 0; i < b->nbares; i++) {
		bare *e = &b->bares[i];

		tell(b, e->number, (rb_slice){ e->key, e->len }, e->status, "",
		     words);
		free(e->key);
	}
	b->nbares = 0;
}

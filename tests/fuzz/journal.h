/*
 * The tokens of a stream, written down in a row, to be compared with those of
 * another reading of it.
 */
#ifndef RBT_JOURNAL_H
#define RBT_JOURNAL_H

#include "fuzz.h"
#include "reader.h"

/* No input makes more tokens than it has bytes. */
#define JOURNAL_INPUT 2000

typedef struct journal_token {
	rbi_token_kind kind;
	unsigned depth;
	bool last;
	bool has_number;
	int64_t number;
	size_t len; /* of its text; with RBI_TOKEN_LONG of what it was */
	size_t at;  /* where the text is in journal.text */
} journal_token;

typedef struct journal {
	journal_token tokens[JOURNAL_INPUT];
	size_t n;
	char text[JOURNAL_INPUT];
	size_t len;
} journal;

static inline journal_token *journal_add(journal *j, rbi_token_kind kind,
					 unsigned depth, const char *data,
					 size_t len)
{
	journal_token *t = &j->tokens[j->n];

	must(j->n < JOURNAL_INPUT);
	j->n++;
	memset(t, 0, sizeof(*t));
	t->kind = kind;
	t->depth = depth;
	t->len = len;
	t->at = j->len;
	if (kind == RBI_TOKEN_LONG || len == 0)
		return t;
	must(len <= JOURNAL_INPUT - j->len);
	memcpy(j->text + j->len, data, len);
	j->len += len;
	return t;
}

static inline void journal_number(journal_token *t, int64_t number)
{
	t->has_number = true;
	t->number = number;
}

/* Token i is the same in both. text: what it says, too. */
static inline void journal_same(const journal *a, const journal *b, size_t i,
				bool text)
{
	const journal_token *x = &a->tokens[i];
	const journal_token *y = &b->tokens[i];

	must(x->depth == y->depth);
	must(x->last == y->last);
	must(x->has_number == y->has_number);
	must(x->number == y->number);
	if (!text)
		return;
	must(x->len == y->len);
	if (x->kind != RBI_TOKEN_LONG && y->kind != RBI_TOKEN_LONG)
		must(memcmp(a->text + x->at, b->text + y->at, x->len) == 0);
}

#endif

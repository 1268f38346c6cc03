/*
 * What a reader said, as one line of text, however its bytes arrived.
 *
 *	*2\r\n$1\r\na\r\n_\r\n	"array:2@0 bulk:a@1 nil@1! idle"
 *
 * A token is its kind, its text or number, its depth, and "!" if the answer is
 * complete with it. At the end stands what the reader is left with: idle,
 * between (only a push can be cut), amid, or broken. Bytes below 33 and above
 * 126 are written as \xx.
 *
 * Bytes are fed into a block of exactly their size, a new one each time, so
 * that a sanitizer sees the reader look anywhere else.
 */
#ifndef RBT_TRANSCRIPT_H
#define RBT_TRANSCRIPT_H

#include "reader.h"
#include "unit.h"

#include <stdio.h>

typedef struct transcript {
	rbi_reader reader;
	char *block;
	bool run;    /* take strings by the short way where it is open */
	bool broken; /* nothing more can be read */
	char *text;
	size_t len;
	size_t cap;
} transcript;

static inline void transcript_init(transcript *t, size_t max_value, bool run)
{
	memset(t, 0, sizeof(*t));
	rbi_reader_init(&t->reader, max_value);
	t->run = run;
	t->cap = 256;
	t->text = malloc(t->cap);
	assert_non_null(t->text);
	t->text[0] = '\0';
}

static inline void transcript_fini(transcript *t)
{
	free(t->block);
	free(t->text);
}

static inline void say_bytes(transcript *t, const char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	while (t->cap - t->len < 3 * len + 1) {
		t->cap *= 2;
		t->text = realloc(t->text, t->cap);
		assert_non_null(t->text);
	}
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c > 32 && c < 127) {
			t->text[t->len++] = (char)c;
			continue;
		}
		t->text[t->len++] = '\\';
		t->text[t->len++] = digits[c >> 4];
		t->text[t->len++] = digits[c & 15];
	}
	t->text[t->len] = '\0';
}

static inline void say_word(transcript *t, const char *word)
{
	if (t->len > 0) {
		say_bytes(t, "-", 1);
		t->text[t->len - 1] = ' ';
	}
	say_bytes(t, word, strlen(word));
}

static inline void say_data(transcript *t, const char *data, size_t len)
{
	say_bytes(t, ":", 1);
	say_bytes(t, data, len);
}

static inline void say_number(transcript *t, long long number)
{
	char text[32];

	snprintf(text, sizeof(text), ":%lld", number);
	say_bytes(t, text, strlen(text));
}

static inline void say_end(transcript *t, unsigned depth, bool last)
{
	char text[32];

	snprintf(text, sizeof(text), "@%u%s", depth, last ? "!" : "");
	say_bytes(t, text, strlen(text));
}

static inline const char *kind_word(rbi_token_kind kind)
{
	static const char *const words[] = {
		[RBI_TOKEN_BULK] = "bulk",
		[RBI_TOKEN_NIL] = "nil",
		[RBI_TOKEN_NIL_ARRAY] = "nil-array",
		[RBI_TOKEN_LONG] = "long",
		[RBI_TOKEN_ERROR] = "error",
		[RBI_TOKEN_SIMPLE] = "simple",
		[RBI_TOKEN_INTEGER] = "integer",
		[RBI_TOKEN_DOUBLE] = "double",
		[RBI_TOKEN_BOOLEAN] = "boolean",
		[RBI_TOKEN_BIG_NUMBER] = "big",
		[RBI_TOKEN_VERBATIM] = "verbatim",
		[RBI_TOKEN_ARRAY] = "array",
		[RBI_TOKEN_MAP] = "map",
		[RBI_TOKEN_SET] = "set",
	};

	assert_true((size_t)kind < N_OF(words) && words[kind] != NULL);
	return words[kind];
}

static inline void say_token(transcript *t, rbi_token_kind kind,
			     const rbi_token *token)
{
	say_word(t, kind_word(kind));
	switch (kind) {
	case RBI_TOKEN_NIL:
	case RBI_TOKEN_NIL_ARRAY:
		break;
	case RBI_TOKEN_LONG:
		assert_null(token->data);
		say_number(t, (long long)token->len);
		break;
	case RBI_TOKEN_ARRAY:
	case RBI_TOKEN_MAP:
	case RBI_TOKEN_SET:
		say_number(t, (long long)token->number);
		break;
	case RBI_TOKEN_INTEGER:
	case RBI_TOKEN_BOOLEAN:
		say_data(t, token->data, token->len);
		say_bytes(t, "=", 1);
		say_number(t, (long long)token->number);
		break;
	default:
		assert_int_equal(token->data[token->len], '\0');
		say_data(t, token->data, token->len);
		break;
	}
	say_end(t, token->depth, token->last);
}

/* Strings by the short way, which answers use. */
static inline void read_run(transcript *t)
{
	unsigned depth = t->reader.depth;
	rbi_run run;
	char *data;
	size_t len;

	if (!t->run || !rbi_reader_in_run(&t->reader))
		return;
	run = rbi_run_begin(&t->reader);
	while (rbi_run_next(&run, &data, &len)) {
		if (data == NULL) {
			say_word(t, "nil");
			say_end(t, depth, false);
			continue;
		}
		assert_int_equal(data[len], '\0');
		say_word(t, "bulk");
		say_data(t, data, len);
		say_end(t, depth, false);
	}
	rbi_run_end(&run, &t->reader);
	assert_true(rbi_reader_in_run(&t->reader));
}

static inline void transcript_read(transcript *t)
{
	while (!t->broken) {
		rbi_reader *r = &t->reader;
		rbi_token token;
		rbi_token_kind kind;

		read_run(t);
		kind = rbi_reader_next(r, &token);
		if (kind == RBI_TOKEN_MORE) {
			assert_true(r->need > (size_t)(r->end - r->pos));
			return;
		}
		if (kind != RBI_TOKEN_BROKEN) {
			say_token(t, kind, &token);
			continue;
		}
		assert_non_null(r->problem);
		assert_true(strlen(r->problem) > 0);
		t->broken = true;
	}
}

/* n more bytes arrive, and all unread ones lie elsewhere. */
static inline void transcript_feed(transcript *t, const char *bytes, size_t n)
{
	rbi_reader *r = &t->reader;
	size_t tail = (size_t)(r->end - r->pos);
	char *block = malloc(tail + n > 0 ? tail + n : 1);

	if (t->broken) {
		free(block);
		return;
	}
	assert_non_null(block);
	if (tail > 0)
		memcpy(block, r->pos, tail);
	if (n > 0)
		memcpy(block + tail, bytes, n);
	free(t->block);
	t->block = block;
	rbi_reader_window(r, block, block + tail + n);
	transcript_read(t);
}

/* Writes what the reader is left with; the whole line. */
static inline const char *transcript_end(transcript *t)
{
	if (t->broken)
		say_word(t, "broken");
	else if (rbi_reader_idle(&t->reader))
		say_word(t, "idle");
	else if (rbi_reader_between(&t->reader))
		say_word(t, "between");
	else
		say_word(t, "amid");
	return t->text;
}

#endif

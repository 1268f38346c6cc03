#include "script_text.h"

#include "hex.h"

typedef struct cursor {
	const char *p;
	const char *end;
	char *to;
} cursor;

static const char no_memory[] = "out of memory";
static const char too_many[] = "there are more than 1048576 words";
static const char unbalanced[] = "unbalanced quotes: one is not closed";
static const char joined[] =
	"unbalanced quotes: a closing one must be followed by a blank";

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* \v and \f may stand before a word, but do not end one. */
static bool ends_word(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char escaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'a':
		return '\a';
	default:
		return c;
	}
}

/* What follows a backslash between double quotes, which is not the end. */
static void take_escape(cursor *c)
{
	int high = -1;
	int low = -1;

	if (*c->p == 'x' && c->end - c->p >= 3) {
		high = hex_value(c->p[1]);
		low = hex_value(c->p[2]);
	}
	if (high >= 0 && low >= 0) {
		*c->to++ = (char)(unsigned char)(16 * high + low);
		c->p += 3;
	} else {
		*c->to++ = escaped(*c->p++);
	}
}

/* Behind an opening quote: up to behind the closing one. */
static const char *take_quoted(cursor *c, char quote)
{
	while (c->p < c->end) {
		char byte = *c->p++;
		bool more = c->p < c->end;

		if (byte == quote)
			return more && !is_blank(*c->p) ? joined : NULL;
		if (byte == '\\' && more && quote == '"')
			take_escape(c);
		else if (byte == '\\' && more && *c->p == '\'')
			*c->to++ = *c->p++;
		else
			*c->to++ = byte;
	}
	return unbalanced;
}

/* A quote may open in the middle of a word, and its closing ends the word. */
static const char *take_word(cursor *c)
{
	while (c->p < c->end && !ends_word(*c->p)) {
		char byte = *c->p++;

		if (byte == '"' || byte == '\'')
			return take_quoted(c, byte);
		*c->to++ = byte;
	}
	return NULL;
}

static void skip_blanks(cursor *c)
{
	while (c->p < c->end && is_blank(*c->p))
		c->p++;
}

bool script_text_is_empty(rb_slice line)
{
	cursor c = { line.data, line.data + line.len, NULL };

	skip_blanks(&c);
	return c.p == c.end || *c.p == '#';
}

const char *script_text_split(rb_slice line, scratch *bytes, words *w)
{
	cursor c = { line.data, line.data + line.len, NULL };

	scratch_clear(bytes);
	words_clear(w);
	/* No word is longer than it was written. */
	if (!scratch_reserve(bytes, line.len + 1))
		return no_memory;
	c.to = bytes->data;
	for (skip_blanks(&c); c.p < c.end; skip_blanks(&c)) {
		char *begin = c.to;
		const char *why = take_word(&c);

		if (why != NULL)
			return why;
		if (w->n == WORDS_MAX)
			return too_many;
		if (!words_add(w, (size_t)(begin - bytes->data),
			       (size_t)(c.to - begin)))
			return no_memory;
	}
	bytes->len = (size_t)(c.to - bytes->data);
	return NULL;
}

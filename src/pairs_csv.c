#include "pairs_formats.h"

#include <string.h>

/* What is left of a line, from one field to the next. */
typedef struct field {
	const char *at;
	size_t left;
	bool was_quoted;
} field;

static void skip(field *f, size_t n)
{
	f->at += n;
	f->left -= n;
}

/* Moves n bytes into the buffer. */
static bool move(field *f, size_t n, scratch *s)
{
	bool added = scratch_add(s, f->at, n);

	skip(f, n);
	return added;
}

/* Up to the quote that ends it; PARSED_MORE: it is not in this line. */
static parsed take_quoted(field *f, scratch *s)
{
	for (;;) {
		const char *quote = memchr(f->at, '"', f->left);
		size_t n = quote == NULL ? f->left : (size_t)(quote - f->at);

		if (!move(f, n, s))
			return PARSED_NOMEM;
		if (quote == NULL)
			return scratch_add(s, "\n", 1) ? PARSED_MORE :
							 PARSED_NOMEM;
		skip(f, 1);
		/* Two of them are one. */
		if (f->left == 0 || *f->at != '"')
			return PARSED_PAIR;
		if (!move(f, 1, s))
			return PARSED_NOMEM;
	}
}

static parsed take_plain(field *f, scratch *s, pair *out)
{
	const char *comma = memchr(f->at, ',', f->left);
	size_t n = comma == NULL ? f->left : (size_t)(comma - f->at);

	/* A carriage return before the newline belongs to it. */
	if (comma == NULL && n > 0 && f->at[n - 1] == '\r') {
		n--;
		f->left--;
	}
	if (memchr(f->at, '"', n) != NULL)
		return pairs_bad(out, "a quote within a field that does not "
				      "begin with one");
	return move(f, n, s) ? PARSED_PAIR : PARSED_NOMEM;
}

static parsed take_field(field *f, csv_state *state, scratch *s, pair *out)
{
	parsed got;

	f->was_quoted = state->quoted || (f->left > 0 && *f->at == '"');
	if (!f->was_quoted)
		return take_plain(f, s, out);
	if (!state->quoted)
		skip(f, 1);
	got = take_quoted(f, s);
	state->quoted = got == PARSED_MORE;
	if (got != PARSED_PAIR)
		return got;
	if (f->left == 1 && *f->at == '\r')
		skip(f, 1);
	if (f->left > 0 && *f->at != ',')
		return pairs_bad(out, "there is more behind the quote that "
				      "ends a field");
	return PARSED_PAIR;
}

static parsed end_record(const field *f, csv_state *state, scratch *s,
			 pair *out)
{
	unsigned n = state->nfields;
	size_t key_len = state->key_len;

	if (n != 2)
		return pairs_bad(out,
				 "%u field%s, where a key and a value are "
				 "expected",
				 n, n == 1 ? "" : "s");
	/* Both may be empty, and the buffer none. */
	out->key = (rb_slice){ key_len > 0 ? s->data : "", key_len };
	out->value = (rb_slice){ s->len > key_len ? s->data + key_len : "",
				 s->len - key_len };
	return out->value.len == 0 && !f->was_quoted ? PARSED_MISSING :
						       PARSED_PAIR;
}

static parsed take_fields(rb_slice line, csv_state *state, scratch *s,
			  pair *out)
{
	field f = { .at = line.data, .left = line.len };

	for (;;) {
		parsed got = take_field(&f, state, s, out);

		if (got != PARSED_PAIR)
			return got;
		if (++state->nfields == 1)
			state->key_len = s->len;
		if (f.left == 0)
			return end_record(&f, state, s, out);
		skip(&f, 1);
	}
}

parsed pairs_csv(rb_slice line, csv_state *state, scratch *s, pair *out)
{
	parsed got = take_fields(line, state, s, out);

	if (got != PARSED_MORE)
		*state = (csv_state){ .nfields = 0 };
	return got;
}

parsed pairs_csv_cut_off(pair *out)
{
	return pairs_bad(out, "the file ends within quotes");
}

#include "pairs_formats.h"

#include <string.h>

/* Takes one field behind *at into the buffer, to the comma or the end. */
typedef struct field {
	const char *at;
	const char *end;
	bool was_quoted;
} field;

static bool add(scratch *s, const char *from, const char *to)
{
	return scratch_add(s, from, (size_t)(to - from));
}

/* Up to the quote that ends it; PARSED_MORE: it is not in this line. */
static parsed take_quoted(field *f, scratch *s)
{
	for (;;) {
		const char *quote =
			memchr(f->at, '"', (size_t)(f->end - f->at));

		if (quote == NULL)
			return add(s, f->at, f->end) &&
					       scratch_add(s, "\n", 1) ?
				       PARSED_MORE :
				       PARSED_NOMEM;
		/* Two of them are one. */
		if (quote + 1 < f->end && quote[1] == '"') {
			if (!add(s, f->at, quote + 1))
				return PARSED_NOMEM;
			f->at = quote + 2;
			continue;
		}
		if (!add(s, f->at, quote))
			return PARSED_NOMEM;
		f->at = quote + 1;
		return PARSED_PAIR;
	}
}

/* The carriage return before the newline belongs to it. */
static void drop_return(field *f)
{
	if (f->end > f->at && f->end[-1] == '\r')
		f->end--;
}

static parsed take_plain(field *f, scratch *s, pair *out)
{
	const char *end = memchr(f->at, ',', (size_t)(f->end - f->at));

	if (end == NULL)
		end = f->end;
	if (memchr(f->at, '"', (size_t)(end - f->at)) != NULL)
		return pairs_bad(out, "a quote within a field that does not "
				      "begin with one");
	if (!add(s, f->at, end))
		return PARSED_NOMEM;
	f->at = end;
	return PARSED_PAIR;
}

static parsed take_field(field *f, csv_state *state, scratch *s, pair *out)
{
	parsed got;

	f->was_quoted = state->quoted || (f->at < f->end && *f->at == '"');
	if (!f->was_quoted) {
		drop_return(f);
		return take_plain(f, s, out);
	}
	if (!state->quoted)
		f->at++;
	got = take_quoted(f, s);
	state->quoted = got == PARSED_MORE;
	if (got != PARSED_PAIR)
		return got;
	drop_return(f);
	if (f->at < f->end && *f->at != ',')
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
	field f = { .at = line.data, .end = line.data + line.len };

	for (;;) {
		parsed got = take_field(&f, state, s, out);

		if (got != PARSED_PAIR)
			return got;
		if (++state->nfields == 1)
			state->key_len = s->len;
		if (f.at == f.end)
			return end_record(&f, state, s, out);
		f.at++;
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

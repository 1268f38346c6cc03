#include "pairs.h"

#include "pairs_formats.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_RECORD ((size_t)512 * 1024 * 1024)

struct pairs {
	pairs_options options;
	text *in;
	bool begun;
	/* Values that do not stand in the input as they are. */
	scratch decoded;
	/* The lines of a record that has several. */
	scratch joined;
	csv_state csv;
};

typedef struct suffix {
	const char *name;
	pairs_format format;
} suffix;

static const suffix suffixes[] = { { "tsv", PAIRS_TSV },
				   { "csv", PAIRS_CSV },
				   { "json", PAIRS_JSON },
				   { "jsonl", PAIRS_JSON },
				   { "ndjson", PAIRS_JSON } };

enum { NSUFFIXES = sizeof(suffixes) / sizeof(suffixes[0]), NNAMES = 3 };

pairs_format pairs_format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot != NULL && i < NSUFFIXES; i++) {
		if (strcasecmp(dot + 1, suffixes[i].name) == 0)
			return suffixes[i].format;
	}
	return PAIRS_TSV;
}

bool pairs_format_named(const char *name, pairs_format *out)
{
	for (size_t i = 0; i < NNAMES; i++) {
		if (strcmp(name, suffixes[i].name) == 0) {
			*out = suffixes[i].format;
			return true;
		}
	}
	return false;
}

pairs *pairs_open(const char *path, const pairs_options *options)
{
	pairs *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->options = *options;
	p->in = text_open(path, '\n');
	if (p->in == NULL) {
		free(p);
		return NULL;
	}
	return p;
}

void pairs_close(pairs *p)
{
	if (p == NULL)
		return;
	text_close(p->in);
	scratch_free(&p->decoded);
	scratch_free(&p->joined);
	free(p);
}

parsed pairs_bad(pair *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(out->words, sizeof(out->words), format, args);
	va_end(args);
	return PARSED_BAD;
}

static pairs_got failed(pair *out, const char *words)
{
	(void)pairs_bad(out, "%s", words);
	return PAIRS_FAILED;
}

static parsed parse(pairs *p, rb_slice line, pair *out)
{
	switch (p->options.format) {
	case PAIRS_TSV:
		return pairs_tsv(line, p->options.literal, &p->decoded, out);
	case PAIRS_CSV:
		return pairs_csv(line, &p->csv, &p->decoded, out);
	case PAIRS_JSON:
		return pairs_json(line, &p->decoded, out);
	}
	return PARSED_NOTHING;
}

/* Keeps a line of a record that has several. */
static parsed join(pairs *p, rb_slice line, bool first)
{
	if ((!first && !scratch_add(&p->joined, "\n", 1)) ||
	    !scratch_add(&p->joined, line.data, line.len))
		return PARSED_NOMEM;
	return PARSED_MORE;
}

/* A record that goes on in further lines. */
static parsed parse_on(pairs *p, rb_slice line, pair *out, text_got *read)
{
	parsed got = join(p, line, true);

	while (got == PARSED_MORE) {
		*read = p->joined.len > MAX_RECORD ? TEXT_TOO_LONG :
						     text_next(p->in, &line);
		if (*read == TEXT_END)
			got = pairs_csv_cut_off(out);
		else if (*read != TEXT_RECORD)
			return PARSED_MORE;
		else if (join(p, line, false) == PARSED_NOMEM)
			got = PARSED_NOMEM;
		else
			got = parse(p, line, out);
	}
	out->record = (rb_slice){ p->joined.data, p->joined.len };
	return got;
}

static pairs_got not_read(const pairs *p, text_got got, pair *out)
{
	out->file = text_name(p->in);
	out->line = text_line(p->in) + 1;
	if (got == TEXT_TOO_LONG)
		return failed(out, "a record is longer than 512 MiB");
	return failed(out, strerror(errno));
}

/* The next record, if it is one. */
static parsed take_record(pairs *p, pair *out, text_got *read)
{
	rb_slice line;
	parsed got;

	scratch_clear(&p->decoded);
	scratch_clear(&p->joined);
	*read = text_next(p->in, &line);
	if (*read != TEXT_RECORD)
		return PARSED_NOTHING;
	*out = (pair){ .record = line,
		       .file = text_name(p->in),
		       .line = text_line(p->in) };
	got = parse(p, line, out);
	return got == PARSED_MORE ? parse_on(p, line, out, read) : got;
}

static bool is_header(const pairs *p)
{
	return p->options.header && !p->begun &&
	       p->options.format != PAIRS_JSON;
}

static pairs_got name_result(pairs *p, parsed got, pair *out)
{
	bool header = is_header(p);

	p->begun = true;
	if (got == PARSED_NOMEM)
		return failed(out, "out of memory");
	if (header)
		return PAIRS_HEADER;
	if (got == PARSED_BAD)
		return PAIRS_BAD;
	return got == PARSED_PAIR ? PAIRS_PAIR : PAIRS_MISSING;
}

pairs_got pairs_next(pairs *p, pair *out)
{
	for (;;) {
		text_got read;
		parsed got = take_record(p, out, &read);

		if (read == TEXT_FAILED || read == TEXT_TOO_LONG)
			return not_read(p, read, out);
		if (got != PARSED_NOTHING)
			return name_result(p, got, out);
		if (read == TEXT_END)
			return PAIRS_END;
	}
}

const char *pairs_name(const pairs *p)
{
	return text_name(p->in);
}

uint64_t pairs_taken(const pairs *p)
{
	return text_taken(p->in);
}

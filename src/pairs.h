/*
 * Keys with their values from a file or from standard input, record by record.
 * A record that is none is given too, with what is wrong with it, and the ones
 * behind it go on.
 *
 * What a record looks like is decided in pairs_tsv.c, pairs_csv.c and
 * pairs_json.c, which are pure.
 */
#ifndef REDISBATCH_SRC_PAIRS_H
#define REDISBATCH_SRC_PAIRS_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>

typedef enum pairs_format { PAIRS_TSV, PAIRS_CSV, PAIRS_JSON } pairs_format;

typedef struct pairs_options {
	pairs_format format;
	/* tsv: every byte is literal, also a backslash. */
	bool literal;
	/* The first record of a file names the columns; not for json. */
	bool header;
} pairs_options;

/* Valid until the next pairs_next(). */
typedef struct pair {
	rb_slice key;
	rb_slice value;
	/* The record as it stood in the input, without the newline at its
	 * end. */
	rb_slice record;
	/* Where it begins: pairs_name(), and a line from 1. */
	const char *file;
	size_t line;
	/* PAIRS_BAD, PAIRS_FAILED: what is wrong. */
	char words[200];
} pair;

typedef enum pairs_got {
	PAIRS_END,
	PAIRS_PAIR,
	/* The record says that its key has no value: there is nothing to
	 * set. */
	PAIRS_MISSING,
	PAIRS_BAD,
	/* The names of the columns, which pairs_options.header asks to skip. */
	PAIRS_HEADER,
	/* The file cannot be read on. */
	PAIRS_FAILED
} pairs_got;

typedef struct pairs pairs;

/* The format that a path's suffix stands for, tsv if none. */
pairs_format pairs_format_of(const char *path);
/* The format of this name. False: there is none. */
bool pairs_format_named(const char *name, pairs_format *out);

/* NULL, with errno, when the file cannot be opened. "-" is standard input. The
 * path is borrowed. */
pairs *pairs_open(const char *path, const pairs_options *options);
void pairs_close(pairs *p);

pairs_got pairs_next(pairs *p, pair *out);

const char *pairs_name(const pairs *p);
/* Bytes of the input that were taken so far. */
uint64_t pairs_taken(const pairs *p);

#endif

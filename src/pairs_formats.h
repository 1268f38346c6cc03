/*
 * What a record looks like: lines in, pairs out. No input or output is done
 * here. A slice of the pair lies in the line where it stands there as it is,
 * otherwise in the scratch buffer, until the next call.
 */
#ifndef REDISBATCH_SRC_PAIRS_FORMATS_H
#define REDISBATCH_SRC_PAIRS_FORMATS_H

#include "pairs.h"
#include "scratch.h"

typedef enum parsed {
	PARSED_PAIR,
	PARSED_MISSING,
	/* out->words says why. */
	PARSED_BAD,
	/* No record in it: a blank line between objects. */
	PARSED_NOTHING,
	/* The record goes on in the next line. */
	PARSED_MORE,
	PARSED_NOMEM
} parsed;

/*
 * key TAB value, split at the first tab. Unless literal: with the escapes of
 * PostgreSQL's COPY, of which those it would take for the letter itself are
 * refused, and with the value \N, which stands for none.
 */
parsed pairs_tsv(rb_slice line, bool literal, scratch *s, pair *out);

/*
 * RFC 4180, two fields; a value that is empty and has no quotes stands for
 * none. A record goes on in the next line while a quote is open, so this is
 * given line after line, each with a state that begins and ends as zeros.
 */
typedef struct csv_state {
	unsigned nfields; /* that are whole */
	bool quoted;	  /* within quotes, at the end of a line */
	size_t key_len;	  /* in the scratch buffer, the value behind it */
} csv_state;

parsed pairs_csv(rb_slice line, csv_state *state, scratch *s, pair *out);
/* The words for a record whose quote was open at the end of the file. */
parsed pairs_csv_cut_off(pair *out);

/*
 * An object with "key" and "value", or "key_base64" and "value_base64" for
 * bytes that are no UTF-8; the value null stands for none.
 */
parsed pairs_json(rb_slice line, scratch *s, pair *out);

/* PARSED_BAD, with these words. */
__attribute__((format(printf, 2, 3))) parsed pairs_bad(pair *out,
						       const char *format, ...);

#endif

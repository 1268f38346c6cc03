/*
 * How keys and their values are written. Answers come in rows, a chunk at a
 * time; rows that failed are left out, since they are reported elsewhere.
 *
 * tsv	key TAB value LF, with \b \f \n \r \t \v \\ for those bytes, as
 *	PostgreSQL's COPY has them; all other bytes as they are. A missing value
 *	is \N, which no value looks like, since its backslash is doubled.
 * json	{"key":"...","value":"..."} LF; null: missing. What is no UTF-8 is told
 *	as "key_base64" or "value_base64" (RFC 4648, padded) instead.
 * csv	RFC 4180: two fields and CR LF, quotes where they are needed. An empty
 *	string is "", a missing value nothing at all.
 * raw	The values alone, as they are, each with LF or NUL behind; a text of the
 *	user's choice for what is missing, by default \N.
 * table For people: aligned, cut to the width of the terminal, with escapes for
 *	what is no text; (missing) and (empty), and a value that is spelled so
 *	has its parenthesis escaped.
 *
 * Nothing is allocated.
 */
#ifndef REDISBATCH_SRC_FORMAT_H
#define REDISBATCH_SRC_FORMAT_H

#include "out.h"

#include <redisbatch/redisbatch.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct format format;

typedef struct format_rows {
	const rb_slice *keys;
	const rb_slice *values;
	/* What is not RB_OK is left out. */
	const rb_status *statuses;
	size_t n;
} format_rows;

typedef void format_put_fn(format *f, out *o, const format_rows *rows);

struct format {
	format_put_fn *put;
	/* Keys without a value are left out. */
	bool no_missing;
	/* raw: behind each value, and for one that is missing. */
	char end;
	const char *missing;
	/* table: the columns there are, 0 for no bound; and how wide the keys
	 * were so far. */
	size_t width;
	size_t key_width;
};

/* The format of this name, with the defaults of all members; false: there is
 * none. */
bool format_init(format *f, const char *name);

void format_put(format *f, out *o, const format_rows *rows);

/* Whether row i is to be written. */
bool format_wants(const format *f, const format_rows *rows, size_t i);

format_put_fn format_put_tsv;
format_put_fn format_put_json;
format_put_fn format_put_csv;
format_put_fn format_put_raw;
format_put_fn format_put_table;

#endif

/*
 * Replies of a server as they are printed, each with the line of its command:
 *
 *	text	12: and what redis-cli shows on a terminal; further lines of an
 *		array are indented below the first
 *	tsv	the line, the type, the value, with tabs between and the escapes
 *		of PostgreSQL's COPY; \N is nil; each element of an array, and
 *		of what is in it, is a field more
 *	json	{"line":12,"reply":...} or {"line":12,"error":"..."}, an object a
 *		line
 *	raw	what redis-cli --raw prints: the bytes and a newline, no numbers
 *
 * Types of RESP3 have the numbers of hiredis 1.x, whatever hiredis.h says.
 */
#ifndef REDISBATCH_SRC_REPLY_H
#define REDISBATCH_SRC_REPLY_H

#include "out.h"

#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>

enum {
	REPLY_DOUBLE = 7,
	REPLY_BOOL = 8,
	REPLY_MAP = 9,
	REPLY_SET = 10,
	REPLY_ATTRIBUTE = 11,
	REPLY_PUSH = 12,
	REPLY_NUMBER = 13,
	REPLY_VERBATIM = 14
};

typedef enum reply_format {
	REPLY_TEXT,
	REPLY_TSV,
	REPLY_JSON,
	REPLY_RAW
} reply_format;

/* The place of a command. file NULL: it is not told. */
typedef struct reply_place {
	const char *file;
	size_t line;
} reply_place;

void reply_put(out *o, reply_format format, const reply_place *place,
	       const redisReply *reply);

/* In place of a reply that did not come: what became of the command, and why.
 * The raw form has no place for it and prints nothing. */
void reply_put_none(out *o, reply_format format, const reply_place *place,
		    rb_outcome outcome, const char *why);

/* The first error in a reply, itself or in what it holds; or NULL. */
const redisReply *reply_error(const redisReply *reply);

rb_slice reply_string(const redisReply *reply);
/* An array, a set, a map, ... */
bool reply_is_list(const redisReply *reply);

#endif

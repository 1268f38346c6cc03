/*
 * Bytes made harmless for a place where some of them mean something.
 */
#ifndef REDISBATCH_SRC_ESCAPE_H
#define REDISBATCH_SRC_ESCAPE_H

#include "out.h"

#include <redisbatch/redisbatch.h>

/* Between double quotes, as redis-cli shows a string and reads it: \" \\ \n \r
 * \t \a \b, and \xHH for all that is no printable ASCII. */
void escape_quoted(out *o, rb_slice bytes);

/* The same without the quotes around it, and without \" : for words that are
 * printable as a rule. */
void escape_plain(out *o, rb_slice bytes);

/* As a field of PostgreSQL's COPY: \t \n \r \\ ; all others are themselves. */
void escape_tsv(out *o, rb_slice bytes);

#endif

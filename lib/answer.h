/*
 * The answers to one chunk: tokens into entries, with their shape checked.
 *
 * What may come depends on the batch (rbi_shape). An error in place of the
 * answer is for rbi_route_error() to judge; an error inside of an array or to
 * one command of many is that entry's own. An element of an odd type fails its
 * entry alone, since all know where it ends. Anything else means that answers
 * and commands are no longer known to belong together: the connection is
 * broken.
 *
 * A transaction is answered by OK, a QUEUED for each command, and an array
 * with what would have come without it, so that the same checks apply to the
 * array's elements, one level deeper.
 */
#ifndef RBI_ANSWER_H
#define RBI_ANSWER_H

#include "verdict.h"

/* Awaits the answer to cut, into its entries. */
void rbi_answer_init(rbi_answer *a, const rbi_cut *cut, rbi_entry *entries,
		     rb_result *res);

/* Goes on with what the reader has. Messages of our own live in res. */
rbi_progress rbi_answer_read(rbi_answer *a, rbi_reader *r, rb_result *res);

#endif

/*
 * The answer to one chunk: tokens into entries, with its shape checked.
 *
 * An answer must be one array with an element for each entry. A string is a
 * value and stays where it was received; nil is nil; an error inside is that
 * entry's own; any other element fails its entry alone, since all know where
 * it ends. An error in place of the array is for rbi_route_error() to judge.
 * Anything else, or an array of another length, means that answers and
 * commands are no longer known to belong together: the connection is broken.
 */
#ifndef RBI_ANSWER_H
#define RBI_ANSWER_H

#include "batch.h"
#include "plan.h"
#include "reader.h"
#include "result.h"
#include "route.h"

typedef enum rbi_progress {
	RBI_PROGRESS_MORE,  /* bytes are missing */
	RBI_PROGRESS_DONE,  /* the answer is complete */
	RBI_PROGRESS_BROKEN /* rbi_answer.message says why */
} rbi_progress;

typedef struct rbi_answer {
	rbi_entry *entries; /* those of the chunk */
	size_t count;
	size_t seen;   /* elements begun */
	size_t failed; /* entries that failed alone */
	rb_status status;
	rb_outcome outcome;
	rbi_route route;
	const char *message;
	/* Behind the last byte that the result points to: what lies between
	 * it and the reader may be overwritten. NULL: nothing kept. */
	char *keep;
} rbi_answer;

/* Awaits the answer to count entries. */
void rbi_answer_init(rbi_answer *a, rbi_entry *entries, size_t count);

/* Goes on with what the reader has. Messages of our own live in res. */
rbi_progress rbi_answer_read(rbi_answer *a, rbi_reader *r, rb_result *res,
			     const rbi_batch *b);

#endif

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

#include "plan.h"
#include "reader.h"
#include "reply.h"
#include "result.h"
#include "route.h"

typedef enum rbi_progress {
	RBI_PROGRESS_MORE,   /* bytes are missing */
	RBI_PROGRESS_DONE,   /* the answer is complete */
	RBI_PROGRESS_BROKEN, /* rbi_answer.message says why */
	RBI_PROGRESS_NOMEM
} rbi_progress;

typedef enum rbi_stage {
	RBI_STAGE_MULTI,   /* the answer to MULTI is next */
	RBI_STAGE_QUEUED,  /* those to the commands in it */
	RBI_STAGE_EXEC,	   /* that to EXEC */
	RBI_STAGE_ANSWERS, /* the answers themselves */
	RBI_STAGE_IGNORE   /* whatever comes; what failed is known */
} rbi_stage;

typedef struct rbi_answer {
	const rbi_batch *batch;
	rbi_entry *entries; /* those of the chunk */
	size_t count;
	rbi_stage stage;
	unsigned base; /* depth of the answers */
	size_t left;   /* whole answers still to come */
	size_t queued; /* commands whose QUEUED has come */
	size_t seen;   /* entries begun */
	size_t failed; /* entries that failed alone */
	size_t unmet;  /* entries whose condition was not met */
	size_t later;  /* entries refused for now, with later_route */
	rbi_route later_route;
	int64_t number;
	rb_status status;
	rb_outcome outcome;
	rbi_route route;
	const char *message;
	/* Behind the last byte that the result points to: what lies between
	 * it and the reader may be overwritten. NULL: nothing kept. */
	char *keep;
	rbi_reply_builder builder;
} rbi_answer;

/* Awaits the answer to cut, into its entries. */
void rbi_answer_init(rbi_answer *a, const rbi_cut *cut, rbi_entry *entries,
		     rb_result *res);

/* Goes on with what the reader has. Messages of our own live in res. */
rbi_progress rbi_answer_read(rbi_answer *a, rbi_reader *r, rb_result *res);

#endif

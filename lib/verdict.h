/*
 * An answer under way, and what is made of its errors: whether they concern
 * an entry, the chunk, or the chunks to come, and what was applied.
 *
 * What reads the tokens is answer, and exec for those of a transaction.
 */
#ifndef RBI_VERDICT_H
#define RBI_VERDICT_H

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
	RBI_STAGE_ASKING,  /* the answer to ASKING is next */
	RBI_STAGE_MULTI,   /* the answer to MULTI is next */
	RBI_STAGE_QUEUED,  /* those to the commands in it */
	RBI_STAGE_EXEC,	   /* that to EXEC */
	RBI_STAGE_ANSWERS, /* the answers themselves */
	RBI_STAGE_UNASKED, /* likewise, behind an ASKING that was refused */
	RBI_STAGE_IGNORE   /* whatever comes; what failed is known */
} rbi_stage;

typedef struct rbi_answer {
	const rbi_batch *batch;
	rbi_cut cut;
	rbi_entry *entries; /* those of the chunk */
	size_t count;
	rbi_stage stage;
	unsigned base;	 /* depth of the answers */
	bool grouped;	 /* a command's answer is that of a group */
	bool asks;	 /* ASKING stands before each command */
	bool steps;	 /* either: end is to follow */
	size_t left;	 /* whole answers still to come */
	size_t commands; /* but for ASKING, MULTI and EXEC */
	size_t queued;	 /* commands whose QUEUED has come */
	size_t seen;	 /* entries begun */
	size_t end;    /* the entries up to here are in this command or unit */
	size_t failed; /* entries that failed alone */
	size_t errors; /* of them, those that failed with their group */
	size_t doubts; /* of these, those that may be applied */
	size_t unmet;  /* entries whose condition was not met */
	/* The error to this command's ASKING; data is NULL: none. */
	struct {
		char *data;
		size_t len;
	} unasked;
	size_t later; /* entries refused for now, with later_route */
	rbi_route later_route;
	/* Of a clustered batch: how many commands were refused in a way that
	 * another node, time or size may mend. */
	size_t refused;
	const char *redirect; /* the first MOVED or ASK, whole; NULL: none */
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

/* Whether the token is this simple string. */
static inline bool rbi_verdict_is_word(rbi_token_kind kind, const rbi_token *t,
				       const char *word)
{
	return kind == RBI_TOKEN_SIMPLE && t->len == strlen(word) &&
	       memcmp(t->data, word, t->len) == 0;
}

/* Whether the result may keep nothing more. */
static inline bool rbi_verdict_past_bound(const rbi_reader *r)
{
	return r->max_value == 0;
}

/* The words of an error, never empty. */
const char *rbi_verdict_words(const rbi_token *t);

/* The route of an error, as far as the batch can make use of it. */
rbi_route rbi_verdict_text_route(const rbi_answer *a, const rbi_token *t,
				 bool one_of_many);

/* The server refused the chunk. */
void rbi_verdict_refuse(rbi_answer *a, rbi_reader *r, const rbi_token *t);

/* What came is not what was wanted, and ends the connection. */
rbi_progress rbi_verdict_wrong(rbi_answer *a, rb_result *res,
			       rbi_token_kind kind, const char *wanted);

/* What came for the whole chunk is not its answer: an error, QUEUED in a
 * transaction of the caller's, or wrong. */
rbi_progress rbi_verdict_odd(rbi_answer *a, rbi_reader *r, rb_result *res,
			     rbi_token_kind kind, const rbi_token *t,
			     const char *wanted);

/* An entry fails alone; its chunk is told the first reason. */
void rbi_verdict_fail(rbi_answer *a, rbi_entry *entry, rbi_state state,
		      const void *data, const char *message);

/* Likewise, by an error that answers one command or element of many. */
void rbi_verdict_error(rbi_answer *a, rbi_reader *r, rbi_entry *entry,
		       const rbi_token *t);

/* Why a string was dropped. */
const char *rbi_verdict_too_long(const rbi_reader *r);

/* An error that answers the command of a group: all its entries fail by it. */
void rbi_verdict_group_error(rbi_answer *a, rbi_reader *r, const rbi_token *t);

/* The route of an error to one command of many, as far as it concerns the
 * chunks to come; heed takes note of it, for the command's count entries. */
rbi_route rbi_verdict_route(const rbi_answer *a, const rbi_token *t);
void rbi_verdict_heed(rbi_answer *a, rbi_reader *r, const rbi_token *t,
		      size_t count);

/* Notes an error by which a command of a clustered batch was refused, and which
 * another node, time or size may mend. False: it is none. */
bool rbi_verdict_note_refusal(rbi_answer *a, rbi_reader *r, const rbi_token *t);

/* The answer is complete: what became of the chunk, entry by entry. */
void rbi_verdict_conclude(rbi_answer *a);

#endif

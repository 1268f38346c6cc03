/*
 * Commands that a pipeline cannot send, named before the library would end the
 * run for them: what does not answer exactly once, and transactions, which have
 * an option of their own. A MULTI of the input is refused with all that follows
 * it up to its EXEC: sent without it, those commands would run one by one.
 */
#ifndef REDISBATCH_SRC_REFUSAL_H
#define REDISBATCH_SRC_REFUSAL_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>

typedef struct refusal {
	/* All commands are one transaction. */
	bool transaction;
	/* No argument may be longer. */
	size_t max_word;
	/* A MULTI was refused, its EXEC has not come yet. */
	bool in_multi;
} refusal;

/* NULL: it may be sent. Otherwise why not: a static text. */
const char *refusal_of(refusal *r, const rb_command *command);

#endif

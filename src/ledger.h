/*
 * What is known of each command that was given to the library and of which not
 * all is known yet, in the order of the stream.
 *
 * A stream tells in two ways what became of a command: the sink has the reply,
 * or none, and the report of its chunk has the node and why there is no reply.
 * Either may come first. A failure is told once both have come, or at the end of
 * the stream, since some reports never do. Only failures wait.
 */
#ifndef REDISBATCH_SRC_LEDGER_H
#define REDISBATCH_SRC_LEDGER_H

#include "script.h"

typedef struct ledger ledger;

typedef struct ledger_failure {
	rb_slice raw;
	const char *file;
	size_t line;
	/* The server's words of an error reply, or why there is no reply;
	 * node "": not known, or it was never sent. */
	const char *words;
	const char *node;
	/* RB_ANSWERED: with an error. */
	rb_outcome outcome;
} ledger_failure;

typedef void ledger_tell(void *arg, const ledger_failure *failure);

/* NULL: out of memory. */
ledger *ledger_new(ledger_tell *tell, void *arg);
void ledger_free(ledger *l);

/* The next command of the stream; copied, but for its file. False: out of
 * memory. */
bool ledger_add(ledger *l, const script_item *item);

/* Where command `number` of the stream stood; it must not be settled yet. */
void ledger_place(const ledger *l, size_t number, const char **file,
		  size_t *line);

/* What the sink says: it was answered; it was answered with an error, or with
 * an error in it (known: nothing more is to come of it); it was not answered. */
void ledger_answered(ledger *l, size_t number);
void ledger_refused(ledger *l, size_t number, rb_slice words, bool known);
void ledger_unanswered(ledger *l, size_t number, rb_status status);

/* A report of the stream. */
void ledger_report(ledger *l, const rb_chunk *chunk);

/* The stream is over: tells what waits, with these words where there are
 * none. */
void ledger_end(ledger *l, const char *words);

#endif

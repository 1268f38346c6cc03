/*
 * Sends blocks of entries, one after the other, and accounts for each of them:
 * what was sent, what the server acknowledged, and what became of the rest.
 */
#ifndef REDISBATCH_SRC_LOAD_H
#define REDISBATCH_SRC_LOAD_H

#include "block.h"
#include "exits.h"
#include "report.h"

#include <redisbatch/redisbatch.h>
#include <stdbool.h>

typedef struct load_counts {
	uint64_t given;	       /* to be sent */
	uint64_t sent;	       /* left for the server */
	uint64_t acknowledged; /* the server said that it is set */
	uint64_t not_set;      /* the condition of --nx or --xx was not met */
	uint64_t unknown;      /* may be set or not */
	uint64_t number;       /* the sum of what was answered */
} load_counts;

/* What is done with a block: a call of the library. */
typedef rb_status load_send(rb_client *client, const block *b,
			    const rb_options *o, rb_result **out);

typedef struct load_verb {
	load_send *send;
	/* It matters whether it was done all the same, though not answered. */
	bool writes;
	/* It answers a number, and what that lacks are keys that do not
	 * exist. */
	bool counts;
} load_verb;

typedef struct load load;

/* The client is borrowed, the verb is static. NULL: out of memory. */
load *load_new(rb_client *client, const load_verb *verb,
	       const rb_options *options, report *r);
void load_free(load *l);

/*
 * Sends a block and waits for all its answers: a reading_take. Once the server
 * has ended the run, or a signal came, blocks are not sent but listed as
 * failed, so that nothing is lost in silence.
 */
exits load_block(void *to, const block *b);

const load_counts *load_result(const load *l);
const rb_stats *load_stats(const load *l);

/* Why the run ended early, EXITS_FINE if it did not. */
exits load_verdict(const load *l);

#endif

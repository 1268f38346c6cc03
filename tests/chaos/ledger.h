/*
 * What was written to a cluster, and what may therefore be read from it.
 *
 * Keys come in families of eight with a hash tag of their own, so that they
 * share a slot. Every other key has a value, from before the storm on; the
 * rest never has one. A value names its key and the round of writing that it
 * is of, and it is kept what became of each key in each round. So a value that
 * belongs to another key, that nobody has written, or that is said not to have
 * been written, is told from one that is merely older: a write that was
 * acknowledged may be lost with its primary.
 */
#ifndef CHAOS_LEDGER_H
#define CHAOS_LEDGER_H

#include <redisbatch/redisbatch.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEDGER_KEYS = 20000, LEDGER_FAMILY = 8, LEDGER_BATCH = 10000 };

typedef struct ledger ledger;

/* What was found, all told. But for failed and named, all must stay 0. */
typedef struct ledger_sums {
	uint64_t reads, writes; /* entries */
	uint64_t failed;	/* entries, each by its name */
	uint64_t unnamed;	/* without a message, or as if answered; calls
				 * that say another thing than their entries */
	uint64_t wrong;		/* values that nobody has written there */
	uint64_t swapped;	/* values of another key */
	uint64_t missing;	/* keys that have a value, and came as nil */
	uint64_t aged; /* older than acknowledged, though no node had died */
	uint64_t surfaced; /* TRYAGAIN, MOVED or ASK in a message */
} ledger_sums;

ledger *ledger_new(void);
void ledger_free(ledger *l);
const ledger_sums *ledger_look(const ledger *l);

/* The key of this number, and its length; whether it has a value. */
const char *ledger_key(const ledger *l, size_t i, size_t *len);
bool ledger_has_value(size_t i);

/* A call's entries: LEDGER_BATCH of them. */
typedef struct ledger_batch {
	size_t numbers[LEDGER_BATCH]; /* of the keys */
	const char *keys[LEDGER_BATCH];
	size_t keylens[LEDGER_BATCH];
	const char *values[LEDGER_BATCH];
	size_t valuelens[LEDGER_BATCH];
	uint64_t round;
} ledger_batch;

/* Keys by chance, half of which have no value. */
void ledger_pick_reads(ledger *l, ledger_batch *b);
/* All keys that have a value, with their values of the next round. They live
 * until the next one. */
bool ledger_pick_writes(ledger *l, ledger_batch *b);

/* deaths: of nodes, so far: before the call began, and after it had ended. */
void ledger_check_reads(ledger *l, const ledger_batch *b, rb_status status,
			const rb_result *res, uint64_t deaths);
void ledger_check_writes(ledger *l, const ledger_batch *b, rb_status status,
			 const rb_result *res, uint64_t deaths);

/* False: a sum that must be 0 is not. */
bool ledger_is_clean(const ledger *l);

#endif

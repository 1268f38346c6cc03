/*
 * Chunks that wait for somewhere to go: refused by a node that sent them
 * elsewhere or could not serve them now, or lost with their connection.
 *
 * They wait until the map says who has their slot, until that one is there, for
 * as long as a refusal takes to be over; and writes for each other. For what
 * writes do to a key must come in their order, though nodes do not wait for
 * each other:
 *
 *	- of a slot one chunk is under way again at a time, the earliest first,
 *	  and no earlier than all is answered that was in flight where it was
 *	  refused;
 *	- what was not sent yet waits behind it (rbi_yard_holds);
 *	- what was overtaken by a later write of the same key that was applied
 *	  is not sent any more;
 *	- where nobody knows what a write did, nothing more is sent to its slot.
 */
#ifndef RBI_YARD_H
#define RBI_YARD_H

#include "leg.h"

/*
 * Takes in a chunk that a leg cannot send. False: no memory, and it is still
 * the caller's.
 */
bool rbi_yard_put(rbi_leg *from, const rbi_parcel *parcel,
		  const rbi_fate *fate) RBI_MUST_CHECK;

/* Takes in all that waits at a leg which lost its connection. */
void rbi_yard_collect(rbi_leg *leg);

/* Sends on what can be. */
void rbi_yard_run(rbi_fleet *f);

/* When there is something to do at the latest, nodes aside. */
uint64_t rbi_yard_until(const rbi_fleet *f);

/* Reports all that waits. */
void rbi_yard_report(rbi_fleet *f);

/* Whether an entry of a slot is not to be sent now, or never. */
bool rbi_yard_holds(const rbi_fleet *f, uint16_t slot);
bool rbi_yard_doubts(const rbi_fleet *f, uint16_t slot);

/* Nobody knows what a write did. */
void rbi_yard_doubt(rbi_fleet *f, const rbi_parcel *parcel);

/* A chunk was reported that had been taken in before. */
void rbi_yard_done(rbi_fleet *f, const rbi_parcel *parcel);

/* A write was applied: what waits and should have come before it never
 * will. */
void rbi_yard_applied(rbi_fleet *f, const rbi_parcel *parcel);

/* Whether what has failed since since_us may be tried again at until_us: not
 * for ever, nor when the call is over. */
bool rbi_yard_may_wait(const rbi_fleet *f, uint64_t since_us,
		       uint64_t until_us);

/* Whether a leg that has no connection is not waited for any longer. */
bool rbi_yard_is_lost(const rbi_fleet *f, const rbi_leg *leg,
		      uint64_t since_us);

#endif

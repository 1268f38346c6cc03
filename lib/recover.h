/*
 * What is done about a refusal.
 *
 *	for its size, or for one of its entries: the chunk goes on in halves,
 *	until a lone entry fails by itself;
 *	since the server is not ready: it is sent again later, one chunk at
 *	first;
 *	and the server closes the connection: over a new one, if there is a way
 *	to make one.
 *
 * The order of writes is kept. Nothing is sent again before all that is in
 * flight was answered. A write that was refused while a later one was applied
 * is sent again only if they have no key in common, and fails otherwise. What
 * waits goes before what was never sent.
 */
#ifndef RBI_RECOVER_H
#define RBI_RECOVER_H

#include "settle.h"

/*
 * A chunk, or a part of one, was refused. True: it waits to be sent again, as a
 * whole or in parts.
 */
bool rbi_recover_refused(rbi_engine *e, rbi_parcel *p, const rbi_refusal *r,
			 uint64_t now_us);

/* Takes from the oldest flight's answer what there is to learn of others. */
void rbi_recover_learn(rbi_engine *e, uint64_t now_us);

/* The lane's oldest flight is answered: it is reported, or waits to be sent
 * again. Takes it out. */
void rbi_recover_answered(rbi_engine *e, uint64_t now_us);

#endif

/*
 * Brings what the feed of a call gives out to the legs: as one load for an
 * array, and one crate after the other for a stream, each of which is large
 * enough to keep all connections at work.
 */
#ifndef RBI_SUPPLY_H
#define RBI_SUPPLY_H

#include "share.h"

/* Takes the next load from the feed, once the one before is done. */
void rbi_supply_next(rbi_fleet *f);

/* Takes entries that the feed has given out before. */
void rbi_supply_take(rbi_fleet *f, const rbi_parcel *p);

/* Reports entries that could not even be given to a leg. */
void rbi_supply_strand(rbi_fleet *f, const rbi_parcel *p);

/* Frees all loads. */
void rbi_supply_drop(rbi_fleet *f);

#endif

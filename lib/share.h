/*
 * What a leg's engine asks for chunks: runs of sorted entries that were never
 * sent, and where the reports on them go. Not those that were sent before,
 * which wait at the engine, or in the yard.
 */
#ifndef RBI_SHARE_H
#define RBI_SHARE_H

#include "yard.h"

extern const rbi_feed_ops rbi_share_ops;

/* Gives a leg entries to send. False: no memory. */
bool rbi_share_add(rbi_leg *leg, const rbi_span *span) RBI_MUST_CHECK;

/* Gives all entries of a load to the legs that they belong to. False: no
 * memory; what was not given is in *rest. */
bool rbi_share_out(rbi_fleet *f, rbi_span *rest) RBI_MUST_CHECK;

/* Hands the spans of a leg to those they belong to by now. */
void rbi_share_again(rbi_leg *leg);

/*
 * Hands the commands of a leg that have no key to a node that can be reached:
 * any can answer them. False: there is none, or no memory; they stay.
 */
bool rbi_share_release(rbi_leg *leg);

/* Reports all spans of a leg, which are not going to be sent. */
void rbi_share_fail(rbi_leg *leg, const rbi_fate *fate);

#endif

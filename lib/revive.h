/*
 * What becomes of a call whose connection has ended: it goes on over a new
 * one, if there is a way to make one, or it ends.
 *
 * What was answered stays, entry by entry where a chunk is answered so. Reads
 * that were not are asked for again. A write is sent again only if it had not
 * left whole, or if the caller said that writes may be repeated; a write in
 * doubt ends the call, since it could still come after what is sent next.
 *
 * An entry is sent no more than options.attempts times, and no more
 * connections in a row are tried without an answer. A connection that ended
 * on a large answer may have ended because of it: servers bound what they hold
 * for a client. So chunks begin small again, and alone.
 */
#ifndef RBI_REVIVE_H
#define RBI_REVIVE_H

#include "settle.h"

/* Whether connections can be made anew, and have not been too often. */
bool rbi_revive_possible(const rbi_engine *e);

/* The connection has ended: error is an errno, or 0. Either it is to be made
 * anew (e->down), or the call is over. */
void rbi_revive_lost(rbi_engine *e, int error, uint64_t now_us);

/* Ends the connection, which is to be made anew; what was in flight waits.
 * not_run: the server has said that it runs nothing more. */
void rbi_revive_lose(rbi_engine *e, const char *why, bool not_run,
		     uint64_t now_us);

/* No new connection was to be had, for the reason in why. */
void rbi_revive_failed(rbi_engine *e, rb_status status, const char *why,
		       uint64_t now_us);

/* There is a new connection. */
void rbi_revive_done(rbi_engine *e);

#endif

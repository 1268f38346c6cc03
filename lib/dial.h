/*
 * From a URI to a redisContext that is connected, authenticated and in its
 * database: AUTH and SELECT are sent, and their answers checked.
 *
 * The socket is made here and handed to hiredis. hiredis's own connect gives
 * up when a signal comes, allows each address of a host the whole timeout, and
 * its first write may raise SIGPIPE; here one deadline covers all addresses
 * and the answers, and signals change nothing. Looking up a host name is the
 * C library's, and cannot be bounded.
 */
#ifndef RBI_DIAL_H
#define RBI_DIAL_H

#include "clock.h"
#include "transport.h"
#include "uri.h"
#include "wake.h"

/*
 * Makes *out. RB_ERR_CONNECT, RB_ERR_TIMEOUT, RB_ERR_CANCELLED or RB_ERR_NOMEM
 * with a line in why, which never holds the password. wake may be NULL.
 */
rb_status rbi_dial(struct redisContext **out, const rbi_uri *uri,
		   const rb_allocator *a, const rbi_clock *clock,
		   uint64_t deadline_us, rbi_wake *wake, char *why,
		   size_t why_size) RBI_MUST_CHECK;

/* "host:port", "[address]:port" or the path. */
void rbi_dial_node(const rbi_uri *uri, char *buf, size_t size);

#endif

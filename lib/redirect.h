/*
 * The errors by which a node of a cluster sends us to another:
 *
 *	MOVED slot host:port	the slot is that node's from now on
 *	ASK slot host:port	that node has the keys that are not here
 *
 * The host may be a name or an address, also of IPv6, which stands there
 * without brackets; it is empty or "?" where the node cannot say it. Pure: what
 * is not exactly this is no redirect, and stays the error that it is.
 */
#ifndef RBI_REDIRECT_H
#define RBI_REDIRECT_H

#include "internal.h"

#include <redisbatch/redisbatch.h>

/* The most bytes of a host; no name in the DNS is longer. */
#define RBI_HOST_MAX 255

typedef struct rbi_redirect {
	bool ask;
	uint16_t slot;	  /* below RBI_SLOTS */
	const char *host; /* within the text; no NUL behind it */
	size_t host_len;  /* 0: the host that has answered */
	unsigned port;	  /* 1 .. 65535 */
} rbi_redirect;

/* Takes an error's text apart. False: it is no redirect; *out is unchanged. */
bool rbi_redirect_parse(const char *text, size_t len,
			rbi_redirect *out) RBI_MUST_CHECK;

/*
 * Whether a server's word for a host may be used as one, brackets around it
 * being taken away. An empty one may. False: it has bytes that no host has, or
 * too many.
 */
bool rbi_redirect_host(rb_slice *host) RBI_MUST_CHECK;

#endif

/*
 * From a URI to a socket that is connected, as a step: nothing here waits, but
 * for looking up a host name, which is the C library's and cannot be bounded.
 * A numeric address is not looked up anywhere.
 *
 * The addresses of a host are tried one after another. Who steps decides how
 * long that may take; between two steps everything can be given up.
 */
#ifndef RBI_CONNECT_H
#define RBI_CONNECT_H

#include "uri.h"

struct addrinfo;

typedef enum rbi_connect_state {
	RBI_CONNECT_WAITING,
	RBI_CONNECT_DONE,
	RBI_CONNECT_FAILED
} rbi_connect_state;

typedef struct rbi_connect {
	const rbi_uri *uri;
	struct addrinfo *list; /* NULL: not looked up, or a path */
	const struct addrinfo *at;
	int fd;	       /* -1: none */
	bool underway; /* connect() was called, and goes on by itself */
	char problem[128];
} rbi_connect;

/* The URI stays the caller's, and must stay until fini. */
void rbi_connect_begin(rbi_connect *c, const rbi_uri *uri);

/*
 * Does what can be done now. RBI_CONNECT_FAILED: no address is left, and
 * c->problem tells what was wrong with the last one. Not to be called after
 * the end.
 */
rbi_connect_state rbi_connect_step(rbi_connect *c);

/*
 * The descriptor that becomes writable when there is something to do, and
 * RBI_NEVER in *wait_us; or -1 when nothing tells but time, and the time.
 */
int rbi_connect_wants(const rbi_connect *c, uint64_t *wait_us);

/* After RBI_CONNECT_DONE: the socket, which does not block; it is the
 * caller's. */
int rbi_connect_take(rbi_connect *c);

/* Frees everything and closes the socket, whatever the state. */
void rbi_connect_fini(rbi_connect *c);

#endif

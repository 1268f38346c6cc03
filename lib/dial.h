/*
 * From a URI to a redisContext that is connected, authenticated and in its
 * database, over TLS if the URI says so, whose peer is verified before anything
 * is said to it: AUTH, SELECT and READONLY are sent, and their answers checked.
 *
 * The socket is made here and handed to hiredis. hiredis's own connect gives
 * up when a signal comes, allows each address of a host the whole timeout, and
 * its first write may raise SIGPIPE; here one deadline covers all addresses
 * and the answers, and signals change nothing. Looking up a host name is the
 * C library's, and cannot be bounded.
 *
 * A dialer is a step, so that one poll loop connects to many nodes at once;
 * it knows neither deadlines nor cancelling, which are its caller's, and may
 * be freed between any two steps. rbi_dial() is the loop around one of them.
 */
#ifndef RBI_DIAL_H
#define RBI_DIAL_H

#include "ask.h"
#include "clock.h"
#include "connect.h"
#include "secure.h"
#include "transport.h"
#include "uri.h"
#include "wake.h"

#include <poll.h>

typedef enum rbi_dialer_state {
	RBI_DIALER_WAITING,
	RBI_DIALER_DONE,
	RBI_DIALER_FAILED
} rbi_dialer_state;

/* What is under way, in this order; a command that is not needed is left
 * out. */
typedef enum rbi_dialer_stage {
	RBI_DIALER_CONNECT,
	RBI_DIALER_TLS,
	RBI_DIALER_AUTH,
	RBI_DIALER_SELECT,
	RBI_DIALER_READONLY,
	RBI_DIALER_READY
} rbi_dialer_stage;

typedef struct rbi_dialer {
	/* With RBI_DIALER_FAILED. status: RB_ERR_CONNECT or RB_ERR_NOMEM.
	 * refused: the server is there, and has answered a command by an
	 * error that it will not think better of. why: "host:port: words", which never hold the password. */
	rb_status status;
	bool refused;
	char why[512];

	rbi_dialer_state state;
	rbi_dialer_stage stage;
	bool asking; /* the stage's command */
	bool readonly;
	const rbi_uri *uri;
	const rb_allocator *allocator;
	rbi_connect connect;
	rbi_transport transport; /* of ctx, for the handshake */
	struct redisContext *ctx;
	rbi_secure_handshake tls;
	rbi_ask ask;
} rbi_dialer;

/*
 * Nothing happens before the first step. The URI stays the caller's, and must
 * stay until fini. readonly: a replica is to answer reads by itself, so it is
 * sent READONLY.
 */
void rbi_dialer_begin(rbi_dialer *d, const rbi_uri *uri, const rb_allocator *a,
		      bool readonly);

/* Does what can be done now. After the end it answers the same again. */
rbi_dialer_state rbi_dialer_step(rbi_dialer *d);

/*
 * After a step that answered RBI_DIALER_WAITING: what to poll for until the
 * next one, and for nothing else. Returned is how many microseconds that may
 * take at most; RBI_NEVER: any time. Where fd->fd is -1 there is nothing to
 * wait for but that time.
 */
uint64_t rbi_dialer_wants(const rbi_dialer *d, struct pollfd *fd);

/* What to say of a dialer whose time is over. */
const char *rbi_dialer_late(const rbi_dialer *d);

/* After RBI_DIALER_DONE: the context; it is the caller's. */
struct redisContext *rbi_dialer_take(rbi_dialer *d);

/* Frees everything and closes what was not taken, whatever the state. */
void rbi_dialer_fini(rbi_dialer *d);

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

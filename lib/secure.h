/*
 * TLS for the connections that the library makes by itself: what a client
 * trusts and shows, and the handshake of one connection, as a step.
 *
 * The SSL of a connection is made here and handed to hiredis, which does not
 * check names by itself in any release. The only place that knows OpenSSL; in
 * a build without it everything here answers that there is none.
 */
#ifndef RBI_SECURE_H
#define RBI_SECURE_H

#include "uri.h"

#include <redisbatch/redisbatch.h>

struct redisContext;

/* What all connections of a client share. It never changes. */
typedef struct rbi_secure rbi_secure;

typedef enum rbi_secure_state {
	RBI_SECURE_WAITING,
	RBI_SECURE_DONE,
	RBI_SECURE_FAILED
} rbi_secure_state;

typedef struct rbi_secure_handshake {
	struct redisContext *ctx;
	struct ssl_st *ssl; /* the context's, once the handshake has begun */
	bool write;	    /* it waits to write, not to read */
	bool no_memory;
	char problem[160]; /* with RBI_SECURE_FAILED */
} rbi_secure_handshake;

/* Whether any option of TLS is set. */
bool rbi_secure_is_asked(const rb_options *o);

/*
 * Reads the files that the options name. RB_ERR_INVALID, RB_ERR_NOMEM or
 * RB_ERR_UNSUPPORTED with *problem, a static text that names the option.
 * Nothing of o is kept.
 */
rb_status rbi_secure_new(rbi_secure **out, const rb_options *o,
			 const rb_allocator *a,
			 const char **problem) RBI_MUST_CHECK;

/* NULL is fine. Connections that were made with it live on. */
void rbi_secure_free(rbi_secure *tls, const rb_allocator *a);

/*
 * Begins the handshake on a context whose socket does not block; host is what
 * the certificate has to be for, unless options.tls_server_name said so.
 */
rbi_secure_state rbi_secure_begin(rbi_secure_handshake *h,
				  const rbi_secure *tls,
				  struct redisContext *ctx, const char *host);

/* Does what can be done now. Not to be called after the end. */
rbi_secure_state rbi_secure_step(rbi_secure_handshake *h);

#endif

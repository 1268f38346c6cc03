/*
 * A server that speaks TLS, on a port beside its plain one, and contexts to it
 * that hiredis makes. Only where the build has TLS (RBI_WITH_TLS).
 */
#ifndef RBT_TLS_H
#define RBT_TLS_H

#ifdef RBI_WITH_TLS

#include "certs.h"
#include "server.h"

#include <hiredis/hiredis.h>

typedef struct rbt_tls {
	rbt_certs certs;
	rbt_server *server;
	int port; /* on 127.0.0.1, for TLS */
} rbt_tls;

/*
 * Starts it with one of the certificates; NULL: that for 127.0.0.1. Clients
 * need a certificate only if client_certs says so. False: see
 * rbt_server_why().
 */
bool rbt_tls_start(rbt_tls *tls, const char *cert, bool client_certs);
void rbt_tls_stop(rbt_tls *tls);

/* A connection by hiredis to a port of 127.0.0.1 behind which the server is;
 * NULL: there is none. The caller frees it. */
redisContext *rbt_tls_connect(const rbt_tls *tls, int port);

#endif

#endif

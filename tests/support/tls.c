#include "tls.h"

#ifdef RBI_WITH_TLS

#include "port.h"

#include <hiredis/hiredis_ssl.h>
#include <stdio.h>
#include <string.h>

bool rbt_tls_start(rbt_tls *tls, const char *cert, bool client_certs)
{
	char port[16];
	int tries;

	memset(tls, 0, sizeof(*tls));
	if (!rbt_certs_make(&tls->certs))
		return false;
	/* Somebody may have taken the port before the server has. */
	for (tries = 0; tries < 5 && tls->server == NULL; tries++) {
		const char *const args[] = {
			"--tls-port",
			port,
			"--tls-cert-file",
			cert != NULL ? cert : tls->certs.server,
			"--tls-key-file",
			tls->certs.server_key,
			"--tls-ca-cert-file",
			tls->certs.ca,
			"--tls-auth-clients",
			client_certs ? "yes" : "no",
			NULL,
		};

		tls->port = rbt_port_any();
		snprintf(port, sizeof(port), "%d", tls->port);
		tls->server = rbt_server_start(args);
	}
	if (tls->server == NULL)
		rbt_certs_remove(&tls->certs);
	return tls->server != NULL;
}

void rbt_tls_stop(rbt_tls *tls)
{
	rbt_server_stop(tls->server);
	tls->server = NULL;
	rbt_certs_remove(&tls->certs);
}

redisContext *rbt_tls_connect(const rbt_tls *tls, int port)
{
	redisContext *ctx = redisConnect("127.0.0.1", port);
	redisSSLContext *ssl = redisCreateSSLContext(tls->certs.ca, NULL, NULL,
						     NULL, "localhost", NULL);

	if (ctx != NULL &&
	    (ssl == NULL || ctx->err != 0 ||
	     redisInitiateSSLWithContext(ctx, ssl) != REDIS_OK)) {
		redisFree(ctx);
		ctx = NULL;
	}
	redisFreeSSLContext(ssl);
	return ctx;
}

#else

typedef int rbt_tls_is_left_out;

#endif

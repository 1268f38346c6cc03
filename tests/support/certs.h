/*
 * Certificates for tests with TLS, made anew in a temporary directory. Only
 * where the build has TLS (RBI_WITH_TLS).
 */
#ifndef RBT_CERTS_H
#define RBT_CERTS_H

#ifdef RBI_WITH_TLS

#include <stdbool.h>

#define RBT_CERTS_PATH 128

typedef struct rbt_certs {
	char dir[64];
	/* Files, in PEM. */
	char ca[RBT_CERTS_PATH];
	char other_ca[RBT_CERTS_PATH]; /* has signed nothing of the others */
	/* Of servers, signed by ca and with the same key. The first is for
	 * 127.0.0.1, ::1 and localhost. */
	char server[RBT_CERTS_PATH];
	char wrong_name[RBT_CERTS_PATH];
	char expired[RBT_CERTS_PATH];
	char server_key[RBT_CERTS_PATH];
	/* For a client, signed by ca. */
	char client[RBT_CERTS_PATH];
	char client_key[RBT_CERTS_PATH];
} rbt_certs;

/* False: it could not be done, and nothing is left. */
bool rbt_certs_make(rbt_certs *certs);

/* Removes the files. */
void rbt_certs_remove(rbt_certs *certs);

#endif

#endif

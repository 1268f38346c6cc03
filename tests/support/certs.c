#include "certs.h"

#ifdef RBI_WITH_TLS

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR 3600L

typedef struct signer {
	X509 *cert;
	EVP_PKEY *key;
} signer;

typedef struct wish {
	const char *name;
	const char *alternatives; /* NULL: none */
	bool is_ca;
	bool expired;
} wish;

/* ------------------------------------------------------------ certificate -- */

static bool extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;
	bool done;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	done = ext != NULL && X509_add_ext(cert, ext, -1) == 1;
	X509_EXTENSION_free(ext);
	return done;
}

static bool set_name(X509 *cert, const char *name)
{
	return X509_NAME_add_entry_by_txt(
		       X509_get_subject_name(cert), "CN", MBSTRING_ASC,
		       (const unsigned char *)name, -1, -1, 0) == 1;
}

static bool set_times(X509 *cert, bool expired)
{
	long end = expired ? -HOUR : 24 * HOUR;

	return X509_gmtime_adj(X509_getm_notBefore(cert), -2 * HOUR) != NULL &&
	       X509_gmtime_adj(X509_getm_notAfter(cert), end) != NULL;
}

static bool set_extensions(X509 *cert, X509 *issuer, const wish *w)
{
	if (!extend(cert, issuer, NID_basic_constraints,
		    w->is_ca ? "critical,CA:TRUE" : "CA:FALSE"))
		return false;
	return w->alternatives == NULL ||
	       extend(cert, issuer, NID_subject_alt_name, w->alternatives);
}

/* by NULL: signed by itself. */
static X509 *make_cert(const wish *w, EVP_PKEY *key, const signer *by)
{
	static long serial = 1;
	X509 *cert = X509_new();
	X509 *issuer = by != NULL ? by->cert : cert;

	if (cert != NULL && X509_set_version(cert, 2) == 1 &&
	    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++) == 1 &&
	    set_name(cert, w->name) && set_times(cert, w->expired) &&
	    X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
	    X509_set_pubkey(cert, key) == 1 &&
	    set_extensions(cert, issuer, w) &&
	    X509_sign(cert, by != NULL ? by->key : key, EVP_sha256()) > 0)
		return cert;
	X509_free(cert);
	return NULL;
}

/* ------------------------------------------------------------------ files -- */

static bool write_cert(const char *path, X509 *cert)
{
	FILE *file = cert != NULL ? fopen(path, "w") : NULL;
	bool done = file != NULL && PEM_write_X509(file, cert) == 1;

	if (file != NULL)
		done = fclose(file) == 0 && done;
	return done;
}

static bool write_key(const char *path, EVP_PKEY *key)
{
	FILE *file = fopen(path, "w");
	bool done = file != NULL && PEM_write_PrivateKey(file, key, NULL, NULL,
							 0, NULL, NULL) == 1;

	if (file != NULL)
		done = fclose(file) == 0 && done;
	return done;
}

static bool issue(const char *path, const wish *w, EVP_PKEY *key,
		  const signer *by)
{
	X509 *cert = make_cert(w, key, by);
	bool done = write_cert(path, cert);

	X509_free(cert);
	return done;
}

static bool issue_all(const rbt_certs *c, const signer *ca, EVP_PKEY *key)
{
	static const wish server = { "redisbatch test",
				     "IP:127.0.0.1,IP:::1,DNS:localhost", false,
				     false };
	static const wish wrong = { "elsewhere", "DNS:elsewhere.invalid", false,
				    false };
	static const wish expired = { "redisbatch test",
				      "IP:127.0.0.1,IP:::1,DNS:localhost",
				      false, true };
	static const wish client = { "a client", NULL, false, false };
	static const wish other = { "another CA", NULL, true, false };

	return write_cert(c->ca, ca->cert) && write_key(c->server_key, key) &&
	       write_key(c->client_key, key) &&
	       issue(c->server, &server, key, ca) &&
	       issue(c->wrong_name, &wrong, key, ca) &&
	       issue(c->expired, &expired, key, ca) &&
	       issue(c->client, &client, key, ca) &&
	       issue(c->other_ca, &other, key, NULL);
}

static void set_path(const rbt_certs *c, char *path, const char *name)
{
	snprintf(path, RBT_CERTS_PATH, "%s/%s", c->dir, name);
}

static void set_paths(rbt_certs *c)
{
	set_path(c, c->ca, "ca.crt");
	set_path(c, c->other_ca, "other-ca.crt");
	set_path(c, c->server, "server.crt");
	set_path(c, c->wrong_name, "wrong-name.crt");
	set_path(c, c->expired, "expired.crt");
	set_path(c, c->server_key, "server.key");
	set_path(c, c->client, "client.crt");
	set_path(c, c->client_key, "client.key");
}

bool rbt_certs_make(rbt_certs *certs)
{
	static const wish own = { "a CA for tests", NULL, true, false };
	signer ca = { NULL, EVP_EC_gen("P-256") };
	EVP_PKEY *key = EVP_EC_gen("P-256");
	bool done = false;

	memset(certs, 0, sizeof(*certs));
	snprintf(certs->dir, sizeof(certs->dir), "/tmp/redisbatch-XXXXXX");
	if (mkdtemp(certs->dir) == NULL)
		certs->dir[0] = '\0';
	set_paths(certs);
	if (ca.key != NULL && key != NULL && certs->dir[0] != '\0')
		ca.cert = make_cert(&own, ca.key, NULL);
	if (ca.cert != NULL)
		done = issue_all(certs, &ca, key);
	X509_free(ca.cert);
	EVP_PKEY_free(ca.key);
	EVP_PKEY_free(key);
	if (!done)
		rbt_certs_remove(certs);
	return done;
}

void rbt_certs_remove(rbt_certs *certs)
{
	const char *const paths[] = { certs->ca,      certs->other_ca,
				      certs->server,  certs->wrong_name,
				      certs->expired, certs->server_key,
				      certs->client,  certs->client_key };
	size_t i;

	if (certs->dir[0] == '\0')
		return;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		(void)remove(paths[i]);
	(void)rmdir(certs->dir);
	certs->dir[0] = '\0';
}

#else

typedef int rbt_certs_are_for_tls;

#endif

#include "secure.h"

#include "alloc.h"
#include "sigpipe.h"
#include "transport.h"

#include <string.h>

bool rbi_secure_is_asked(const rb_options *o)
{
	return o->tls_ca_file != NULL || o->tls_ca_dir != NULL ||
	       o->tls_cert_file != NULL || o->tls_key_file != NULL ||
	       o->tls_server_name != NULL || (o->flags & RB_TLS_INSECURE) != 0;
}

#ifdef RBI_WITH_TLS

#include <arpa/inet.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* A name in the DNS is shorter. */
#define NAME_MAX_LENGTH 255

struct rbi_secure {
	SSL_CTX *ssl;
	bool insecure;
	char name[NAME_MAX_LENGTH + 1]; /* "": that of each node */
};

/* -------------------------------------------------------------- the client -- */

static const char *trust(SSL_CTX *ssl, const rb_options *o)
{
	if (o->tls_ca_file == NULL && o->tls_ca_dir == NULL) {
		(void)SSL_CTX_set_default_verify_paths(ssl);
		return NULL;
	}
	if (o->tls_ca_file != NULL &&
	    SSL_CTX_load_verify_locations(ssl, o->tls_ca_file, NULL) != 1)
		return "options.tls_ca_file cannot be read as certificates";
	if (o->tls_ca_dir != NULL &&
	    SSL_CTX_load_verify_locations(ssl, NULL, o->tls_ca_dir) != 1)
		return "options.tls_ca_dir cannot be used";
	return NULL;
}

static const char *identify(SSL_CTX *ssl, const rb_options *o)
{
	const char *cert = o->tls_cert_file;
	const char *key = o->tls_key_file;

	if (cert == NULL && key == NULL)
		return NULL;
	if (cert == NULL)
		return "options.tls_key_file is set without tls_cert_file";
	if (key == NULL)
		return "options.tls_cert_file is set without tls_key_file";
	if (SSL_CTX_use_certificate_chain_file(ssl, cert) != 1)
		return "options.tls_cert_file cannot be read as a certificate";
	if (SSL_CTX_use_PrivateKey_file(ssl, key, SSL_FILETYPE_PEM) != 1)
		return "options.tls_key_file cannot be read as the key of "
		       "tls_cert_file";
	return NULL;
}

/* A key with a passphrase is refused: nobody is asked for it on a terminal. */
static int no_passphrase(char *buf, int size, int rwflag, void *arg)
{
	(void)buf;
	(void)size;
	(void)rwflag;
	(void)arg;
	return -1;
}

static const char *configure(rbi_secure *tls, const rb_options *o)
{
	const char *problem;

	SSL_CTX_set_default_passwd_cb(tls->ssl, no_passphrase);
	if (SSL_CTX_set_min_proto_version(tls->ssl, TLS1_2_VERSION) != 1)
		return "OpenSSL has no TLS 1.2";
	(void)SSL_CTX_set_options(tls->ssl, SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_verify(tls->ssl,
			   tls->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
			   NULL);
	if (o->tls_server_name != NULL &&
	    (o->tls_server_name[0] == '\0' ||
	     strlen(o->tls_server_name) > NAME_MAX_LENGTH))
		return "options.tls_server_name is no name";
	if (o->tls_server_name != NULL)
		rbi_print(tls->name, sizeof(tls->name), "%s",
			  o->tls_server_name);
	problem = trust(tls->ssl, o);
	return problem != NULL ? problem : identify(tls->ssl, o);
}

rb_status rbi_secure_new(rbi_secure **out, const rb_options *o,
			 const rb_allocator *a, const char **problem)
{
	rbi_secure *tls = rbi_alloc_zero(a, sizeof(*tls));

	*out = NULL;
	*problem = "out of memory";
	if (tls == NULL)
		return RB_ERR_NOMEM;
	tls->insecure = (o->flags & RB_TLS_INSECURE) != 0;
	tls->ssl = SSL_CTX_new(TLS_client_method());
	if (tls->ssl != NULL)
		*problem = configure(tls, o);
	ERR_clear_error();
	if (*problem == NULL) {
		*out = tls;
		return RB_OK;
	}
	if (tls->ssl == NULL) {
		rbi_free(a, tls);
		return RB_ERR_NOMEM;
	}
	rbi_secure_free(tls, a);
	return RB_ERR_INVALID;
}

void rbi_secure_free(rbi_secure *tls, const rb_allocator *a)
{
	if (tls == NULL)
		return;
	SSL_CTX_free(tls->ssl);
	rbi_free(a, tls);
}

/* -------------------------------------------------------------- handshake -- */

static bool is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, address) == 1 ||
	       inet_pton(AF_INET6, host, address) == 1;
}

/* Whom the other end has to be, and to be told that we look for. */
static bool name_peer(SSL *ssl, const char *host)
{
	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl),
						     host) == 1;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set_tlsext_host_name(ssl, host) == 1 &&
	       SSL_set1_host(ssl, host) == 1;
}

static bool is_plain_text(unsigned long error)
{
	int reason = ERR_GET_REASON(error);

	return reason == SSL_R_WRONG_VERSION_NUMBER ||
	       reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
	       reason == SSL_R_HTTP_REQUEST;
}

/* What ended the handshake; how is what SSL_get_error() said, and error the
 * errno. system has room for words of the system's. */
static const char *reason(const SSL *ssl, int how, int error, char *system,
			  size_t size)
{
	long verified = SSL_get_verify_result(ssl);
	unsigned long first = ERR_peek_error();
	const char *words = ERR_reason_error_string(first);

	if (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE &&
	    verified != X509_V_OK)
		return X509_verify_cert_error_string(verified);
	if (how == SSL_ERROR_SSL && is_plain_text(first))
		return "the server does not speak TLS here";
	if (how == SSL_ERROR_SSL && words != NULL)
		return words;
	if (how == SSL_ERROR_SSL || error == 0)
		return "the server closed the connection";
	rbi_transport_error_text(error, system, size);
	return system;
}

static void explain(rbi_secure_handshake *h, const SSL *ssl, int how, int error)
{
	char system[96];

	rbi_print(h->problem, sizeof(h->problem), "TLS failed: %s",
		  reason(ssl, how, error, system, sizeof(system)));
}

static rbi_secure_state out_of_memory(rbi_secure_handshake *h)
{
	ERR_clear_error();
	h->no_memory = true;
	rbi_print(h->problem, sizeof(h->problem), "out of memory");
	return RBI_SECURE_FAILED;
}

static rbi_secure_state shake(rbi_secure_handshake *h)
{
	int answer;
	int how;
	int error;

	ERR_clear_error();
	errno = 0;
	answer = SSL_do_handshake(h->ssl);
	error = errno;
	how = SSL_get_error(h->ssl, answer);
	h->write = how == SSL_ERROR_WANT_WRITE;
	if (answer == 1) {
		h->ctx->flags |= REDIS_BLOCK;
		return RBI_SECURE_DONE;
	}
	if (how == SSL_ERROR_WANT_READ || how == SSL_ERROR_WANT_WRITE)
		return RBI_SECURE_WAITING;
	explain(h, h->ssl, how, error);
	ERR_clear_error();
	return RBI_SECURE_FAILED;
}

/* Makes the first move; hiredis does not take the SSL if that fails. */
static bool hand_over(rbi_secure_handshake *h, SSL *ssl)
{
	h->ctx->flags &= ~REDIS_BLOCK;
	ERR_clear_error();
	errno = 0;
	if (redisInitiateSSL(h->ctx, ssl) == REDIS_OK) {
		h->ssl = ssl;
		return true;
	}
	explain(h, ssl, SSL_ERROR_SYSCALL, errno);
	ERR_clear_error();
	SSL_free(ssl);
	return false;
}

rbi_secure_state rbi_secure_step(rbi_secure_handshake *h)
{
	rbi_secure_state state;
	rbi_sigpipe quiet;

	rbi_sigpipe_begin(&quiet);
	state = shake(h);
	rbi_sigpipe_end(&quiet);
	return state;
}

rbi_secure_state rbi_secure_begin(rbi_secure_handshake *h,
				  const rbi_secure *tls, redisContext *ctx,
				  const char *host)
{
	SSL *ssl = SSL_new(tls->ssl);
	rbi_sigpipe quiet;
	bool begun;

	memset(h, 0, sizeof(*h));
	h->ctx = ctx;
	if (ssl == NULL)
		return out_of_memory(h);
	if (!name_peer(ssl, tls->name[0] != '\0' ? tls->name : host)) {
		SSL_free(ssl);
		return out_of_memory(h);
	}
	rbi_sigpipe_begin(&quiet);
	begun = hand_over(h, ssl);
	rbi_sigpipe_end(&quiet);
	return begun ? rbi_secure_step(h) : RBI_SECURE_FAILED;
}

#else

rb_status rbi_secure_new(rbi_secure **out, const rb_options *o,
			 const rb_allocator *a, const char **problem)
{
	(void)o;
	(void)a;
	*out = NULL;
	*problem = RBI_NO_TLS;
	return RB_ERR_UNSUPPORTED;
}

void rbi_secure_free(rbi_secure *tls, const rb_allocator *a)
{
	(void)tls;
	(void)a;
}

rbi_secure_state rbi_secure_begin(rbi_secure_handshake *h,
				  const rbi_secure *tls,
				  struct redisContext *ctx, const char *host)
{
	(void)tls;
	(void)ctx;
	(void)host;
	memset(h, 0, sizeof(*h));
	rbi_print(h->problem, sizeof(h->problem), "%s", RBI_NO_TLS);
	return RBI_SECURE_FAILED;
}

rbi_secure_state rbi_secure_step(rbi_secure_handshake *h)
{
	(void)h;
	return RBI_SECURE_FAILED;
}

#endif

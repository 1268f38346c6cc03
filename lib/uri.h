/*
 * A connection URI, taken apart:
 *
 *	redis://[[user]:password@]host[:port][/db]
 *	unix://[[user]:password@]/path[?db=n]
 *	redis+cluster://[[user]:password@]host[:port][,host[:port]]...[/db]
 *
 * rediss:// and rediss+cluster:// are the same with TLS.
 *
 * Pure but for the memory of the copy. The parts are percent-decoded and end
 * with a NUL; a decoded NUL inside of one is refused.
 */
#ifndef RBI_URI_H
#define RBI_URI_H

#include "internal.h"

#include <redisbatch/redisbatch.h>

/* sun_path has 108 bytes on Linux, its NUL among them; some have 104. */
#define RBI_URI_PATH_MAX 107

/* The most nodes of a cluster that are named. One that answers is enough. */
#define RBI_URI_SEEDS_MAX ((size_t)100)

/* What a build without TLS says to those who ask for it. */
#define RBI_NO_TLS                                                           \
	"this build has no TLS: it takes hiredis 1.0 or later with its ssl " \
	"library, and OpenSSL"

struct rbi_secure;

typedef struct rbi_seed {
	const char *host;
	unsigned port;
} rbi_seed;

typedef struct rbi_uri {
	char *text; /* the memory behind all parts */
	size_t text_size;
	const char *host;     /* NULL: a unix socket; the first seed's */
	const char *path;     /* NULL: TCP */
	const char *user;     /* NULL: none */
	const char *password; /* NULL: none */
	unsigned port;
	unsigned db;
	bool cluster;
	bool secure;		      /* TLS is asked for */
	const struct rbi_secure *tls; /* how; its client sets it */
	rbi_seed *seeds; /* the nodes to ask first; NULL: it is no cluster */
	size_t nseeds;
} rbi_uri;

/*
 * Takes text apart into *uri. RB_ERR_INVALID or RB_ERR_UNSUPPORTED with
 * *problem, a static text; RB_ERR_NOMEM. On failure nothing is to be freed.
 */
rb_status rbi_uri_parse(rbi_uri *uri, const char *text, const rb_allocator *a,
			const char **problem) RBI_MUST_CHECK;

/* Wipes and frees the parts. */
void rbi_uri_fini(rbi_uri *uri, const rb_allocator *a);

#endif

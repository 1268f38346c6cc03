/*
 * Where a server is and who asks, as the parts of a URI of the library. The
 * parts are kept as a URI has them, percent-encoded; what they may be is the
 * library's to say, of the URI that is made of them.
 */
#ifndef REDISBATCH_SRC_PLACE_H
#define REDISBATCH_SRC_PLACE_H

#include <stdbool.h>

typedef enum place_kind { PLACE_HOST, PLACE_SOCKET, PLACE_CLUSTER } place_kind;

/* All zero: nowhere yet. */
typedef struct place {
	place_kind kind;
	bool tls;
	char *address;	/* host:port[,host:port]... or a path */
	char *user;	/* NULL: none */
	char *password; /* NULL: none */
	char *db;	/* NULL: none */
} place;

/* Frees the parts and wipes what is secret. */
void place_fini(place *p);

/*
 * Each sets up p, which is all zero. NULL, or a static text that says what is
 * wrong and repeats nothing of it; p is to be finished all the same.
 */
const char *place_read(place *p, const char *uri);
const char *place_at_host(place *p, const char *host, unsigned port);
const char *place_at_socket(place *p, const char *path);

/* Each takes the place of what was there, if it is not NULL. False: out of
 * memory. */
bool place_login(place *p, const char *user, const char *password);
bool place_choose(place *p, unsigned db);

/* Another node with the same login; false: out of memory, or no host. */
bool place_beside(const place *p, const char *host, unsigned port, place *out);

/* The URI, for password_free(). NULL: out of memory. */
char *place_uri(const place *p);

#endif

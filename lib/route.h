/*
 * What an error answer means for the batch, by its first word. Pure: text in,
 * decision out. A product's name is never looked at, since servers and proxies
 * put their own into the same errors.
 */
#ifndef RBI_ROUTE_H
#define RBI_ROUTE_H

#include "internal.h"

typedef enum rbi_route {
	RBI_ROUTE_ANSWER,   /* no error, or one that is the answer */
	RBI_ROUTE_FAIL,	    /* this chunk fails, the others go on */
	RBI_ROUTE_REDIRECT, /* another node has its slot */
	RBI_ROUTE_REGROUP,  /* its keys have more than one slot */
	RBI_ROUTE_ALONE,    /* keys of its slot are on two nodes just now */
	RBI_ROUTE_ISOLATE,  /* one of its entries is at fault */
	RBI_ROUTE_SPLIT,    /* it is too large as a whole */
	RBI_ROUTE_AGAIN,    /* this chunk cannot be served now */
	RBI_ROUTE_SHRINK,   /* the server lacks memory: perhaps a smaller one */
	RBI_ROUTE_LATER,    /* no chunk can be served now */
	RBI_ROUTE_STOP,	    /* no other chunk can fare better: send no more */
	RBI_ROUTE_CLOSE	    /* as stop, and the server closes the connection */
} rbi_route;

/* What a text says besides. */
typedef struct rbi_hints {
	size_t limit;	/* "Limit: N bytes"; 0: none is named */
	bool arguments; /* it has too many arguments */
	bool long_one;	/* one of its arguments is too long */
	bool upstream;	/* a proxy lost the server, and whether the command
			    was run */
	bool in_part;	/* a proxy says that some of it was done */
	bool login;	/* it wants to know who we are */
	bool uncovered; /* no node of the cluster has the slot */
} rbi_hints;

/*
 * The route of an error answer. one_of_many: to a command that shares its
 * chunk with others of any kind, so that only what concerns the connection or
 * the server as a whole concerns the others; the rest is that command's own
 * answer.
 *
 * REDIRECT, REGROUP and ALONE are for who knows the nodes of a cluster. To who
 * does not, they are FAIL, FAIL and AGAIN.
 */
rbi_route rbi_route_error(const char *text, size_t len, bool one_of_many);

/* What the same text says besides its route. */
rbi_hints rbi_route_hints(const char *text, size_t len);

#endif

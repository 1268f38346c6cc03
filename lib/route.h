/*
 * What an error answer means for the batch, by its first word. Pure: text in,
 * decision out. A product's name is never looked at, since servers and proxies
 * put their own into the same errors.
 */
#ifndef RBI_ROUTE_H
#define RBI_ROUTE_H

#include "internal.h"

typedef enum rbi_route {
	RBI_ROUTE_ANSWER, /* no error, or one that is the answer */
	RBI_ROUTE_FAIL,	  /* this chunk fails, the others go on */
	RBI_ROUTE_STOP,	  /* no other chunk can fare better: send no more */
	RBI_ROUTE_CLOSE	  /* as stop, and the server closes the connection */
} rbi_route;

/*
 * The route of an error answer. one_of_many: to a command that shares its
 * chunk with others of any kind, so that only what concerns the connection
 * concerns the others; the rest is that command's own answer.
 */
rbi_route rbi_route_error(const char *text, size_t len, bool one_of_many);

#endif

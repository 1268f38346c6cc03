#include "route.h"

#include <string.h>

typedef struct rule {
	const char *prefix; /* of the text without a leading "ERR " */
	const char *within; /* and this somewhere behind it; NULL: anything */
	bool all;	    /* it concerns every command, of whatever kind */
	rbi_route route;
} rule;

/* The first that fits decides. */
static const rule rules[] = {
	/* The server gives up on the connection. */
	{ "Protocol error", NULL, true, RBI_ROUTE_CLOSE },
	{ "max number of clients reached", NULL, true, RBI_ROUTE_CLOSE },
	/* Who we are is not enough for any chunk. */
	{ "NOAUTH", NULL, true, RBI_ROUTE_STOP },
	{ "WRONGPASS", NULL, false, RBI_ROUTE_STOP },
	{ "NOPERM", "run the", false, RBI_ROUTE_STOP },
	/* A quota of the provider ran out. */
	{ "max requests limit exceeded", NULL, true, RBI_ROUTE_STOP },
	{ "max daily request limit exceeded", NULL, true, RBI_ROUTE_STOP },
	{ "DB capacity quota exceeded", NULL, true, RBI_ROUTE_STOP },
	/* The server takes no writes. */
	{ "MISCONF", NULL, false, RBI_ROUTE_STOP },
	{ "OOM", NULL, false, RBI_ROUTE_STOP },
	/* It does not know the command. */
	{ "unknown command", NULL, false, RBI_ROUTE_STOP },
};

static bool starts_with(const char *text, const char *end, const char *prefix)
{
	size_t len = strlen(prefix);

	return (size_t)(end - text) >= len && memcmp(text, prefix, len) == 0;
}

static bool contains(const char *text, const char *end, const char *words)
{
	for (; text < end; text++) {
		if (starts_with(text, end, words))
			return true;
	}
	return false;
}

rbi_route rbi_route_error(const char *text, size_t len, bool one_of_many)
{
	const char *end = text + len;
	size_t i;

	/* Some servers put it before codes of their own. */
	if (starts_with(text, end, "ERR "))
		text += 4;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!starts_with(text, end, rules[i].prefix) ||
		    (one_of_many && !rules[i].all))
			continue;
		if (rules[i].within == NULL ||
		    contains(text, end, rules[i].within))
			return rules[i].route;
	}
	return one_of_many ? RBI_ROUTE_ANSWER : RBI_ROUTE_FAIL;
}

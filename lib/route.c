#include "route.h"

#include <string.h>

typedef enum scope {
	OWN,  /* an answer to the command as such */
	ALL,  /* it concerns every command, of whatever kind */
	WORD, /* as OWN; and the prefix is a whole word */
	HERE  /* as WORD; and every command would be told so now */
} scope;

typedef struct rule {
	const char *prefix; /* of the text without a leading "ERR " */
	const char *within; /* and this somewhere behind it; NULL: anything */
	scope scope;
	rbi_route route;
} rule;

/* The first that fits decides. */
static const rule rules[] = {
	/* The server gives up on the connection. */
	{ "Protocol error", NULL, ALL, RBI_ROUTE_CLOSE },
	{ "max number of clients reached", NULL, ALL, RBI_ROUTE_CLOSE },
	/* Who we are is not enough for any chunk, or for some keys. */
	{ "NOAUTH", NULL, ALL, RBI_ROUTE_STOP },
	{ "WRONGPASS", NULL, OWN, RBI_ROUTE_STOP },
	{ "NOPERM", "run the", OWN, RBI_ROUTE_STOP },
	{ "NOPERM", "key", OWN, RBI_ROUTE_ISOLATE },
	/* A quota of the provider ran out. */
	{ "max requests limit exceeded", NULL, ALL, RBI_ROUTE_STOP },
	{ "max daily request limit exceeded", NULL, ALL, RBI_ROUTE_STOP },
	{ "DB capacity quota exceeded", NULL, ALL, RBI_ROUTE_STOP },
	/* It is more than the provider takes at once. */
	{ "max request size exceeded", NULL, OWN, RBI_ROUTE_SPLIT },
	{ "max single record size exceeded", NULL, OWN, RBI_ROUTE_ISOLATE },
	{ "max key size exceeded", NULL, OWN, RBI_ROUTE_ISOLATE },
	/* The server is not ready. */
	{ "LOADING", NULL, HERE, RBI_ROUTE_LATER },
	{ "BUSY", NULL, HERE, RBI_ROUTE_LATER },
	{ "MASTERDOWN", NULL, HERE, RBI_ROUTE_LATER },
	{ "NOREPLICAS", NULL, HERE, RBI_ROUTE_LATER },
	{ "CLUSTERDOWN", NULL, HERE, RBI_ROUTE_AGAIN },
	{ "TRYAGAIN", NULL, HERE, RBI_ROUTE_ALONE },
	/* It is the wrong node of a cluster, or the wrong set of keys. */
	{ "MOVED", NULL, WORD, RBI_ROUTE_REDIRECT },
	{ "ASK", NULL, WORD, RBI_ROUTE_REDIRECT },
	{ "CROSSSLOT", NULL, WORD, RBI_ROUTE_REGROUP },
	/* A proxy is not connected to its server. */
	{ "upstream failure", NULL, OWN, RBI_ROUTE_AGAIN },
	{ "no upstream host", NULL, OWN, RBI_ROUTE_AGAIN },
	{ "Connection timed out", NULL, OWN, RBI_ROUTE_AGAIN },
	{ "Connection refused", NULL, OWN, RBI_ROUTE_AGAIN },
	{ "Connection reset by peer", NULL, OWN, RBI_ROUTE_AGAIN },
	{ "Host is down", NULL, OWN, RBI_ROUTE_AGAIN },
	{ "No route to host", NULL, OWN, RBI_ROUTE_AGAIN },
	/* The server takes no writes. */
	{ "MISCONF", NULL, WORD, RBI_ROUTE_STOP },
	{ "READONLY", NULL, WORD, RBI_ROUTE_STOP },
	{ "OOM", NULL, WORD, RBI_ROUTE_SHRINK },
	/* It does not know the command. */
	{ "unknown command", NULL, OWN, RBI_ROUTE_STOP },
};

static bool starts_with(const char *text, const char *end, const char *prefix)
{
	size_t len = strlen(prefix);

	return (size_t)(end - text) >= len && memcmp(text, prefix, len) == 0;
}

/* Behind the first place where the words stand; NULL: nowhere. */
static const char *behind(const char *text, const char *end, const char *words)
{
	for (; text < end; text++) {
		if (starts_with(text, end, words))
			return text + strlen(words);
	}
	return NULL;
}

/* Some servers put it before codes of their own. */
static const char *skip_err(const char *text, const char *end)
{
	return starts_with(text, end, "ERR ") ? text + 4 : text;
}

static bool fits(const rule *r, const char *text, const char *end)
{
	const char *next = text + strlen(r->prefix);

	if (!starts_with(text, end, r->prefix))
		return false;
	if (r->scope == WORD || r->scope == HERE)
		return next == end || *next == ' ';
	return r->within == NULL || behind(text, end, r->within) != NULL;
}

rbi_route rbi_route_error(const char *text, size_t len, bool one_of_many)
{
	const char *end = text + len;
	size_t i;

	text = skip_err(text, end);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!fits(&rules[i], text, end))
			continue;
		if (!one_of_many || rules[i].scope == ALL ||
		    rules[i].scope == HERE)
			return rules[i].route;
		break;
	}
	return one_of_many ? RBI_ROUTE_ANSWER : RBI_ROUTE_FAIL;
}

/* The number behind the words; 0: there is none, or it is too large. */
static size_t number_behind(const char *text, const char *end,
			    const char *words)
{
	const char *p = behind(text, end, words);
	size_t n = 0;

	if (p == NULL)
		return 0;
	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (n > (SIZE_MAX - 9) / 10)
			return 0;
		n = 10 * n + (size_t)(*p - '0');
	}
	return n;
}

rbi_hints rbi_route_hints(const char *text, size_t len)
{
	const char *end = text + len;
	rbi_hints hints = { .limit = number_behind(text, end, "Limit: ") };

	text = skip_err(text, end);
	if (starts_with(text, end, "Protocol error")) {
		hints.login = behind(text, end, "unauthenticated") != NULL;
		hints.arguments =
			!hints.login && behind(text, end, "multibulk") != NULL;
		hints.long_one = !hints.login && !hints.arguments &&
				 behind(text, end, "bulk") != NULL;
	}
	hints.upstream = rbi_route_error(text, (size_t)(end - text), false) ==
				 RBI_ROUTE_AGAIN &&
			 !starts_with(text, end, "CLUSTERDOWN");
	hints.uncovered =
		starts_with(text, end, "CLUSTERDOWN Hash slot not served");
	hints.in_part = starts_with(text, end, "finished with ") &&
			behind(text, end, "error") != NULL;
	return hints;
}

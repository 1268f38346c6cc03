/*
 * Error texts, of any bytes: byte 0 says whether the command was one of many.
 *
 * The text lies in a block of exactly its size, with no NUL behind it. The
 * same text gets the same route wherever it lies, "ERR " in front changes
 * nothing, and only an error among many is nobody else's concern.
 */
#include "fuzz.h"
#include "route.h"

static rbi_route route_of(const char *text, size_t len, bool one_of_many)
{
	char *copy = exact_copy(text, len);
	rbi_route route = rbi_route_error(copy, len, one_of_many);

	must(len == 0 || memcmp(copy, text, len) == 0);
	free(copy);
	return route;
}

static bool has_prefix(const char *text, size_t len)
{
	return len >= 4 && memcmp(text, "ERR ", 4) == 0;
}

static void prefix_changes_nothing(const char *text, size_t len,
				   bool one_of_many, rbi_route route)
{
	static const char prefix[4] = { 'E', 'R', 'R', ' ' };
	char *longer = malloc(len + sizeof(prefix));

	must(longer != NULL);
	memcpy(longer, prefix, sizeof(prefix));
	if (len > 0)
		memcpy(longer + 4, text, len);
	must(rbi_route_error(longer, len + 4, one_of_many) == route);
	free(longer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input in = { data, size };
	bool one_of_many = take_byte(&in) % 2 != 0;
	const char *text = (const char *)in.data;
	rbi_route route = route_of(text, in.size, one_of_many);

	must(route_of(text, in.size, one_of_many) == route);
	must(route != RBI_ROUTE_ANSWER || one_of_many);
	must(route != RBI_ROUTE_FAIL || !one_of_many);
	/* What stops many commands of any kind stops those of one kind. */
	if (one_of_many && route != RBI_ROUTE_ANSWER)
		must(route_of(text, in.size, false) != RBI_ROUTE_FAIL);
	/* It is taken away once only. */
	if (!has_prefix(text, in.size))
		prefix_changes_nothing(text, in.size, one_of_many, route);
	return 0;
}

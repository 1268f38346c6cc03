#include "listing.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* How many bytes the character at p takes that a terminal may be shown; 0: none
 * that is whole, or one that plays with it. */
static size_t readable(const char *p, size_t len)
{
	uint32_t c;
	size_t n = utf8_next(p, len, &c);

	return n > 0 && utf8_columns(c) >= 0 ? n : 0;
}

/* One character or escape at p; how many bytes of p it took. */
static size_t put_one(const char *p, size_t len, char *piece, size_t size)
{
	size_t n = readable(p, len);

	if (n == 1 && *p == '\\') {
		snprintf(piece, size, "\\\\");
		return 1;
	}
	if (n == 0) {
		snprintf(piece, size, "\\x%02x", (unsigned char)*p);
		return 1;
	}
	snprintf(piece, size, "%.*s", (int)n, p);
	return n;
}

void listing_put(rb_slice bytes, char *out, size_t size)
{
	size_t room = size - sizeof("...");
	size_t used = 0;
	size_t i = 0;

	while (i < bytes.len) {
		char piece[8];
		size_t took = put_one(bytes.data + i, bytes.len - i, piece,
				      sizeof(piece));
		size_t len = strlen(piece);

		if (used + len > room) {
			memcpy(out + used, "...", 3);
			used += 3;
			break;
		}
		memcpy(out + used, piece, len);
		used += len;
		i += took;
	}
	out[used] = '\0';
}

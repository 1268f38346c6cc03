#include "listing.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How many bytes the UTF-8 character at p takes that a terminal may be shown;
 * 0: none that is whole, or a control character. Overlong forms and surrogates
 * are not told apart: a terminal does no harm with them. */
static size_t readable(const unsigned char *p, size_t len)
{
	size_t n;

	if (p[0] >= 0x20 && p[0] < 0x7f)
		return 1;
	n = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 :
	    p[0] >= 0xe0 && p[0] < 0xf0 ? 3 :
	    p[0] >= 0xf0 && p[0] < 0xf5 ? 4 :
					  0;
	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	/* U+0080 to U+009F move cursors as well. */
	return p[0] == 0xc2 && p[1] < 0xa0 ? 0 : n;
}

/* One character or escape at p; how many bytes of p it took. */
static size_t put_one(const unsigned char *p, size_t len, char *piece,
		      size_t size)
{
	size_t n = readable(p, len);

	if (n == 1 && *p == '\\') {
		snprintf(piece, size, "\\\\");
		return 1;
	}
	if (n == 0) {
		snprintf(piece, size, "\\x%02x", *p);
		return 1;
	}
	snprintf(piece, size, "%.*s", (int)n, (const char *)p);
	return n;
}

void listing_put(rb_slice bytes, char *out, size_t size)
{
	const unsigned char *p = (const unsigned char *)bytes.data;
	size_t room = size - sizeof("...");
	size_t used = 0;
	size_t i = 0;

	while (i < bytes.len) {
		char piece[8];
		size_t took =
			put_one(p + i, bytes.len - i, piece, sizeof(piece));
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

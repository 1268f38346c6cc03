#include "redirect.h"

#include "keyslot.h"

#include <string.h>

#define PORT_MAX 65535

/* Skips the word at the beginning; false: it is another. */
static bool skip_word(rb_slice *text, const char *word)
{
	size_t len = strlen(word);

	if (text->len < len || memcmp(text->data, word, len) != 0)
		return false;
	text->data += len;
	text->len -= len;
	return true;
}

/* A decimal number of digits alone, at most max. */
static bool read_number(const char *p, const char *end, unsigned max,
			unsigned *out)
{
	unsigned n = 0;

	if (p == end)
		return false;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		n = n * 10 + (unsigned)(*p - '0');
		if (n > max)
			return false;
	}
	*out = n;
	return true;
}

/* host:port, where the host may have colons itself. */
static bool read_address(rb_slice address, rbi_redirect *r)
{
	const char *end = address.data + address.len;
	const char *colon = end;
	rb_slice host = { address.data, 0 };

	while (colon > address.data && colon[-1] != ':')
		colon--;
	if (colon == address.data)
		return false;
	if (!read_number(colon, end, PORT_MAX, &r->port) || r->port == 0)
		return false;
	host.len = (size_t)(colon - 1 - address.data);
	if (!rbi_redirect_host(&host))
		return false;
	if (host.len == 1 && *host.data == '?')
		host.len = 0;
	r->host = host.data;
	r->host_len = host.len;
	return true;
}

bool rbi_redirect_parse(const char *text, size_t len, rbi_redirect *out)
{
	rb_slice rest = { text, len };
	rbi_redirect r = { .ask = false };
	const char *blank;
	unsigned slot;

	if (len == 0)
		return false;
	r.ask = skip_word(&rest, "ASK ");
	if (!r.ask && !skip_word(&rest, "MOVED "))
		return false;
	blank = memchr(rest.data, ' ', rest.len);
	if (blank == NULL ||
	    !read_number(rest.data, blank, RBI_SLOTS - 1, &slot))
		return false;
	r.slot = (uint16_t)slot;
	rest.len -= (size_t)(blank + 1 - rest.data);
	rest.data = blank + 1;
	if (!read_address(rest, &r))
		return false;
	*out = r;
	return true;
}

bool rbi_redirect_host(rb_slice *host)
{
	rb_slice bare = *host;
	size_t i;

	if (bare.len > 2 && bare.data[0] == '[' &&
	    bare.data[bare.len - 1] == ']') {
		bare.data++;
		bare.len -= 2;
	}
	if (bare.len > RBI_HOST_MAX)
		return false;
	for (i = 0; i < bare.len; i++) {
		unsigned char c = (unsigned char)bare.data[i];

		if (c <= ' ' || c == 0x7f || c == '[' || c == ']')
			return false;
	}
	*host = bare;
	return true;
}

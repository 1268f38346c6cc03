#include "escape.h"

#include <stdint.h>

static const char hex[] = "0123456789abcdef";

/* The letter behind a backslash for this byte; 0: it has none. */
static char letter_of(char c)
{
	switch (c) {
	case '\\':
		return '\\';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	case '\a':
		return 'a';
	case '\b':
		return 'b';
	default:
		return 0;
	}
}

static void put_pair(out *o, char letter)
{
	const char pair[] = { '\\', letter };

	out_write(o, pair, sizeof(pair));
}

static void put_hex(out *o, unsigned char c)
{
	const char four[] = { '\\', 'x', hex[c >> 4], hex[c & 15] };

	out_write(o, four, sizeof(four));
}

static bool is_printable(char c)
{
	return c >= 0x20 && c < 0x7f;
}

static void put_escaped(out *o, rb_slice bytes, bool quotes)
{
	size_t from = 0;

	/* What needs no escape is written in one go. */
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.data[i];
		char letter = c == '"' && quotes ? c : letter_of(c);

		if (letter == 0 && is_printable(c))
			continue;
		out_write(o, bytes.data + from, i - from);
		from = i + 1;
		if (letter != 0)
			put_pair(o, letter);
		else
			put_hex(o, (unsigned char)c);
	}
	out_write(o, bytes.data + from, bytes.len - from);
}

void escape_quoted(out *o, rb_slice bytes)
{
	out_char(o, '"');
	put_escaped(o, bytes, true);
	out_char(o, '"');
}

void escape_plain(out *o, rb_slice bytes)
{
	put_escaped(o, bytes, false);
}

void escape_tsv(out *o, rb_slice bytes)
{
	size_t from = 0;

	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.data[i];

		if (c != '\t' && c != '\n' && c != '\r' && c != '\\')
			continue;
		out_write(o, bytes.data + from, i - from);
		from = i + 1;
		put_pair(o, letter_of(c));
	}
	out_write(o, bytes.data + from, bytes.len - from);
}

/* --------------------------------------------------------------- JSON -- */

static void put_json_control(out *o, unsigned char c)
{
	const char six[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	if (c == '\n' || c == '\r' || c == '\t' || c == '\b')
		put_pair(o, letter_of((char)c));
	else
		out_write(o, six, sizeof(six));
}

void escape_json(out *o, rb_slice bytes)
{
	size_t from = 0;

	out_char(o, '"');
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.data[i];

		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
			continue;
		out_write(o, bytes.data + from, i - from);
		from = i + 1;
		if (c == '"' || c == '\\')
			put_pair(o, (char)c);
		else
			put_json_control(o, c);
	}
	out_write(o, bytes.data + from, bytes.len - from);
	out_char(o, '"');
}

/* The range of the second byte and how many follow the first; 0: it is no first
 * byte. As Unicode has it in its table 3-7. */
static size_t following(unsigned char first, unsigned char *low,
			unsigned char *high)
{
	*low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	*high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	if (first >= 0xc2 && first < 0xe0)
		return 1;
	if (first >= 0xe0 && first < 0xf0)
		return 2;
	return first >= 0xf0 && first < 0xf5 ? 3 : 0;
}

/* How long the character at p is that has more than one byte; 0: it is none. */
static size_t character(const unsigned char *p, size_t len)
{
	unsigned char low;
	unsigned char high;
	size_t n = following(p[0], &low, &high);

	if (n == 0 || n >= len || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i <= n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return n + 1;
}

bool escape_is_utf8(rb_slice bytes)
{
	const unsigned char *p = (const unsigned char *)bytes.data;
	size_t i = 0;

	while (i < bytes.len) {
		size_t n = p[i] < 0x80 ? 1 : character(p + i, bytes.len - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

/* ------------------------------------------------------------- base64 -- */

void escape_base64(out *o, rb_slice bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)bytes.data;

	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
		uint32_t bits = (uint32_t)p[i] << 16;
		char four[4];

		bits |= n > 1 ? (uint32_t)p[i + 1] << 8 : 0;
		bits |= n > 2 ? (uint32_t)p[i + 2] : 0;
		four[0] = digits[bits >> 18];
		four[1] = digits[bits >> 12 & 63];
		four[2] = n > 1 ? digits[bits >> 6 & 63] : '=';
		four[3] = n > 2 ? digits[bits & 63] : '=';
		out_write(o, four, sizeof(four));
	}
}

#include "escape.h"

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

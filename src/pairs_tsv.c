#include "pairs_formats.h"

#include "hex.h"

#include <string.h>

/* One or two hexadecimal digits; -1: none. */
static int take_hex(const char **at, const char *end)
{
	int byte = -1;

	for (int i = 0; i < 2 && *at < end; i++) {
		int digit = hex_value(**at);

		if (digit < 0)
			break;
		byte = (i == 0 ? 0 : byte * 16) + digit;
		(*at)++;
	}
	return byte;
}

/* One to three octal digits, of which there is one; -1: above 255. */
static int take_octal(const char **at, const char *end)
{
	int byte = 0;

	for (int i = 0; i < 3 && *at < end; i++) {
		if (**at < '0' || **at > '7')
			break;
		byte = byte * 8 + (**at - '0');
		(*at)++;
	}
	return byte <= 255 ? byte : -1;
}

/* The byte that is meant by what stands behind a backslash; -1: none is. */
static int take_escape(const char **at, const char *end)
{
	static const char letters[] = "tnrbfv\\";
	static const char bytes[] = "\t\n\r\b\f\v\\";
	const char *letter;

	if (*at == end)
		return -1;
	if (**at >= '0' && **at <= '7')
		return take_octal(at, end);
	if (**at == 'x') {
		(*at)++;
		return take_hex(at, end);
	}
	letter = **at == '\0' ? NULL : strchr(letters, **at);
	if (letter == NULL)
		return -1;
	(*at)++;
	return (unsigned char)bytes[letter - letters];
}

/* Into the buffer, which has the room. What is wrong is an escape, at *bad. */
static bool unescape(rb_slice *text, scratch *s, const char **bad)
{
	const char *at = text->data;
	const char *end = at + text->len;
	size_t start = s->len;

	if (memchr(at, '\\', text->len) == NULL)
		return true;
	while (at < end) {
		const char *from = at;
		int byte = (unsigned char)*at++;

		if (byte == '\\')
			byte = take_escape(&at, end);
		if (byte < 0) {
			*bad = from;
			return false;
		}
		s->data[s->len++] = (char)byte;
	}
	text->data = s->data + start;
	text->len = s->len - start;
	return true;
}

static parsed bad_escape(rb_slice line, const char *at, pair *out)
{
	if (at + 1 == line.data + line.len)
		return pairs_bad(out, "a backslash ends the line "
				      "(--no-escapes takes it literally)");
	if (at[1] == '\t')
		return pairs_bad(out, "a backslash ends the key "
				      "(--no-escapes takes it literally)");
	if (at[1] <= ' ' || at[1] > '~')
		return pairs_bad(out, "a backslash that escapes nothing "
				      "(--no-escapes takes it literally)");
	return pairs_bad(out,
			 "unknown escape \\%c (--no-escapes takes it "
			 "literally)",
			 at[1]);
}

parsed pairs_tsv(rb_slice line, bool literal, scratch *s, pair *out)
{
	const char *tab = memchr(line.data, '\t', line.len);
	const char *bad = NULL;

	if (tab == NULL)
		return pairs_bad(out, "there is no tab behind the key");
	out->key = (rb_slice){ line.data, (size_t)(tab - line.data) };
	out->value = (rb_slice){ tab + 1, line.len - out->key.len - 1 };
	if (literal)
		return PARSED_PAIR;
	if (!scratch_reserve(s, line.len))
		return PARSED_NOMEM;
	if (!unescape(&out->key, s, &bad))
		return bad_escape(line, bad, out);
	if (out->value.len == 2 && memcmp(out->value.data, "\\N", 2) == 0)
		return PARSED_MISSING;
	if (!unescape(&out->value, s, &bad))
		return bad_escape(line, bad, out);
	return PARSED_PAIR;
}

#include "unbase64.h"

#include <stdint.h>

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

/* Four letters, of which the last `padding` stand for nothing. */
static bool take_group(const char *text, size_t padding, char *out)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < 4; i++) {
		int value = i < 4 - padding ? value_of(text[i]) : 0;

		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
	}
	/* Bits that stand for nothing are zero. */
	if ((bits & ((1u << (8 * padding)) - 1)) != 0)
		return false;
	for (size_t i = 0; i < 3 - padding; i++)
		out[i] = (char)(bits >> (16 - 8 * i) & 0xff);
	return true;
}

bool unbase64(const char *text, size_t len, char *out, size_t *out_len)
{
	*out_len = 0;
	if (len % 4 != 0)
		return false;
	for (size_t i = 0; i < len; i += 4) {
		size_t padding = 0;

		if (i + 4 == len && text[i + 3] == '=')
			padding = text[i + 2] == '=' ? 2 : 1;
		if (!take_group(text + i, padding, out + *out_len))
			return false;
		*out_len += 3 - padding;
	}
	return true;
}

#include "utf8.h"

#include <string.h>

/* The lead byte's share of the character, and how many bytes follow; -1: it
 * leads nothing. */
static int follow(unsigned char lead, uint32_t *c)
{
	if (lead < 0x80) {
		*c = lead;
		return 0;
	}
	if (lead >= 0xc2 && lead < 0xe0) {
		*c = lead & 0x1f;
		return 1;
	}
	if (lead >= 0xe0 && lead < 0xf0) {
		*c = lead & 0x0f;
		return 2;
	}
	if (lead >= 0xf0 && lead < 0xf5) {
		*c = lead & 0x07;
		return 3;
	}
	return -1;
}

size_t utf8_next(const char *data, size_t len, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint32_t c = 0;
	int n = follow((unsigned char)data[0], &c);

	if (n < 0 || (size_t)n >= len)
		return 0;
	for (int i = 1; i <= n; i++) {
		unsigned char byte = (unsigned char)data[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (byte & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*out = c;
	return (size_t)n + 1;
}

/* Most text is ASCII: eight bytes together. */
static bool is_ascii(const char *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return (word & UINT64_C(0x8080808080808080)) == 0;
}

bool utf8_is_valid(const char *data, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint32_t c;
		size_t n;

		if (len - i >= sizeof(uint64_t) && is_ascii(data + i)) {
			i += sizeof(uint64_t);
			continue;
		}
		n = utf8_next(data + i, len - i, &c);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

typedef struct range {
	uint32_t first;
	uint32_t last;
	int columns;
} range;

int utf8_columns(uint32_t c)
{
	static const range ranges[] = {
		{ 0x0000, 0x001f, -1 },	  { 0x007f, 0x009f, -1 },
		{ 0x0300, 0x036f, 0 },	  { 0x1100, 0x115f, 2 },
		{ 0x200b, 0x200d, 0 },	  { 0x200e, 0x200f, -1 },
		{ 0x2028, 0x202e, -1 },	  { 0x2066, 0x206f, -1 },
		{ 0x2e80, 0xa4cf, 2 },	  { 0xac00, 0xd7a3, 2 },
		{ 0xf900, 0xfaff, 2 },	  { 0xfe00, 0xfe0f, 0 },
		{ 0xfe30, 0xfe6f, 2 },	  { 0xfeff, 0xfeff, -1 },
		{ 0xff00, 0xff60, 2 },	  { 0xffe0, 0xffe6, 2 },
		{ 0x1f300, 0x1f64f, 2 },  { 0x1f900, 0x1f9ff, 2 },
		{ 0x20000, 0x3fffd, 2 },  { 0xe0000, 0xe007f, -1 },
		{ 0xe0100, 0xe01ef, -1 },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (c < ranges[i].first)
			break;
		if (c <= ranges[i].last)
			return ranges[i].columns;
	}
	return 1;
}

#include "format.h"

#include <stdint.h>
#include <string.h>

/* What stands behind the backslash for each byte that has an escape. */
static const char escapes[256] = {
	['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n',  ['\r'] = 'r',
	['\t'] = 't', ['\v'] = 'v', ['\\'] = '\\',
};

#define EACH_BYTE(b) ((uint64_t)(b)*UINT64_C(0x0101010101010101))

/* Whether one of eight bytes is below 0x20 or a backslash. */
static bool may_need_escape(const char *data)
{
	uint64_t word;
	uint64_t slash;

	memcpy(&word, data, sizeof(word));
	slash = word ^ EACH_BYTE('\\');
	return ((((word - EACH_BYTE(0x20)) & ~word) |
		 ((slash - EACH_BYTE(0x01)) & ~slash)) &
		EACH_BYTE(0x80)) != 0;
}

/* How many bytes stand before the first that has an escape. Most text has none,
 * so eight are looked at together. */
static size_t plain_span(const char *data, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t end = i + sizeof(uint64_t);

		if (end <= len && !may_need_escape(data + i)) {
			i = end;
			continue;
		}
		if (end > len)
			end = len;
		for (; i < end; i++) {
			if (escapes[(unsigned char)data[i]] != '\0')
				return i;
		}
	}
	return len;
}

static void put_field(out *o, rb_slice field)
{
	while (field.len > 0) {
		size_t n = plain_span(field.data, field.len);

		out_write(o, field.data, n);
		if (n == field.len)
			break;
		out_char(o, '\\');
		out_char(o, escapes[(unsigned char)field.data[n]]);
		field.data += n + 1;
		field.len -= n + 1;
	}
}

void format_put_tsv(format *f, out *o, const format_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (!format_wants(f, rows, i))
			continue;
		put_field(o, rows->keys[i]);
		out_char(o, '\t');
		if (rows->values[i].data == NULL)
			out_text(o, "\\N");
		else
			put_field(o, rows->values[i]);
		out_char(o, '\n');
	}
}

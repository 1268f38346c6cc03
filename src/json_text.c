#include "json_text.h"

#include <stdint.h>

/* What stands behind the backslash; 'u': four digits follow. */
static const char escapes[256] = {
	[0x00] = 'u', [0x01] = 'u', [0x02] = 'u', [0x03] = 'u',	 [0x04] = 'u',
	[0x05] = 'u', [0x06] = 'u', [0x07] = 'u', [0x08] = 'b',	 [0x09] = 't',
	[0x0a] = 'n', [0x0b] = 'u', [0x0c] = 'f', [0x0d] = 'r',	 [0x0e] = 'u',
	[0x0f] = 'u', [0x10] = 'u', [0x11] = 'u', [0x12] = 'u',	 [0x13] = 'u',
	[0x14] = 'u', [0x15] = 'u', [0x16] = 'u', [0x17] = 'u',	 [0x18] = 'u',
	[0x19] = 'u', [0x1a] = 'u', [0x1b] = 'u', [0x1c] = 'u',	 [0x1d] = 'u',
	[0x1e] = 'u', [0x1f] = 'u', ['"'] = '"',  ['\\'] = '\\', [0x7f] = 'u',
};

static const char hex[] = "0123456789abcdef";

static void put_escape(out *o, unsigned char byte)
{
	char text[6] = { '\\', escapes[byte],  '0',
			 '0',  hex[byte >> 4], hex[byte & 15] };

	out_write(o, text, escapes[byte] == 'u' ? 6 : 2);
}

void json_text_string(out *o, rb_slice s)
{
	size_t from = 0;

	out_char(o, '"');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char byte = (unsigned char)s.data[i];

		if (escapes[byte] == '\0')
			continue;
		out_write(o, s.data + from, i - from);
		put_escape(o, byte);
		from = i + 1;
	}
	out_write(o, s.data + from, s.len - from);
	out_char(o, '"');
}

/* Three bytes, or what is left of them, as four letters. */
static void put_three(out *o, const char *data, size_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	uint32_t bits = 0;
	char text[4];

	for (size_t i = 0; i < 3; i++)
		bits = bits << 8 | (i < n ? (unsigned char)data[i] : 0u);
	for (size_t i = 0; i < 4; i++)
		text[i] = i <= n ? letters[bits >> (18 - 6 * i) & 63] : '=';
	out_write(o, text, sizeof(text));
}

void json_text_base64(out *o, rb_slice s)
{
	out_char(o, '"');
	for (size_t i = 0; i < s.len; i += 3)
		put_three(o, s.data + i, s.len - i < 3 ? s.len - i : 3);
	out_char(o, '"');
}

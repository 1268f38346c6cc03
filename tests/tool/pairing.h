/*
 * For tests of records: what a parser made of bytes, as one text.
 *
 *	pair key=value, missing key, bad: words, and so on
 *
 * with every byte that is not printable as \xHH.
 */
#ifndef RBT_PAIRING_H
#define RBT_PAIRING_H

#include <redisbatch/redisbatch.h>

#include <stdio.h>
#include <string.h>

typedef struct rbt_line {
	char text[4096];
	size_t len;
} rbt_line;

static inline void rbt_put(rbt_line *l, const char *text)
{
	l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len,
				   "%s", text);
}

static inline void rbt_put_bytes(rbt_line *l, rb_slice bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.data[i];
		char text[8];

		snprintf(text, sizeof(text),
			 c < ' ' || c > '~' ? "\\x%02x" : "%c", c);
		rbt_put(l, text);
	}
}

#endif

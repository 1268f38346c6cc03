/*
 * RESP commands: how long they are, and their bytes.
 *
 *	*argc CRLF, then for each argument  $len CRLF bytes CRLF
 *
 * The size is always known before the first byte is written, so that a chunk
 * is cut by exact bytes and its buffer grows at most once. The writers below
 * trust that the room is there and answer where they stopped.
 */
#ifndef RBI_ENCODE_H
#define RBI_ENCODE_H

#include "internal.h"

#include <string.h>

/* No server takes a longer argument by default (proto-max-bulk-len), and sums
 * of a few of them fit in a size_t. */
#define RBI_ENCODE_MAX_ARG ((size_t)512 * 1024 * 1024)

/* The most arguments that every server takes, the name among them. */
#define RBI_ENCODE_MAX_ARGC ((size_t)1024 * 1024)

/* The number of decimal digits of n. */
static inline size_t rbi_encode_digits(size_t n)
{
	size_t digits = 1;

	while (n >= 10) {
		n /= 10;
		digits++;
	}
	return digits;
}

/* The bytes of "*argc CRLF". */
static inline size_t rbi_encode_header_size(size_t argc)
{
	return rbi_encode_digits(argc) + 3;
}

/* The bytes of an argument of len bytes; saturates. */
static inline size_t rbi_encode_arg_size(size_t len)
{
	if (RBI_LIKELY(len < 10))
		return len + 6;
	if (RBI_LIKELY(len < 100))
		return len + 7;
	if (RBI_LIKELY(len < 1000))
		return len + 8;
	return rbi_add_sat(len, rbi_encode_digits(len) + 5);
}

/* Writes type, the number and CRLF. */
char *rbi_encode_number(char *p, char type, size_t n);

/* Writes "*argc CRLF". */
char *rbi_encode_header(char *p, size_t argc);

/* Copies the few bytes of a key, in two moves that overlap, since a call of
 * memcpy() takes longer than that. */
static inline void rbi_encode_copy(char *p, const char *data, size_t len)
{
	if (RBI_LIKELY(len >= 8 && len <= 16)) {
		memcpy(p, data, 8);
		memcpy(p + len - 8, data + len - 8, 8);
	} else if (RBI_LIKELY(len > 16 && len <= 32)) {
		memcpy(p, data, 16);
		memcpy(p + len - 16, data + len - 16, 16);
	} else if (len > 0) {
		memcpy(p, data, len);
	}
}

/* Writes an argument. data may be NULL when len is 0. */
static inline char *rbi_encode_arg(char *p, const char *data, size_t len)
{
	if (RBI_LIKELY(len < 100)) {
		*p++ = '$';
		if (len >= 10)
			*p++ = (char)('0' + len / 10);
		*p++ = (char)('0' + len % 10);
		*p++ = '\r';
		*p++ = '\n';
	} else if (len < 1000) {
		*p++ = '$';
		*p++ = (char)('0' + len / 100);
		*p++ = (char)('0' + len / 10 % 10);
		*p++ = (char)('0' + len % 10);
		*p++ = '\r';
		*p++ = '\n';
	} else {
		p = rbi_encode_number(p, '$', len);
	}
	rbi_encode_copy(p, data, len);
	p += len;
	*p++ = '\r';
	*p++ = '\n';
	return p;
}

#endif

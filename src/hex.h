/*
 * Hexadecimal digits.
 */
#ifndef REDISBATCH_SRC_HEX_H
#define REDISBATCH_SRC_HEX_H

/* -1: it is none. */
static inline int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

#endif

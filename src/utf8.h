/*
 * Characters in bytes that may or may not be UTF-8.
 */
#ifndef REDISBATCH_SRC_UTF8_H
#define REDISBATCH_SRC_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes the character at data takes, 0 if it is none: no surrogates,
 * nothing longer than need be, nothing above U+10FFFF. len > 0. */
size_t utf8_next(const char *data, size_t len, uint32_t *out);

bool utf8_is_valid(const char *data, size_t len);

/* How many columns of a terminal the character takes; -1: it is better not
 * shown as it is, since it controls the terminal or the order of the text. */
int utf8_columns(uint32_t character);

#endif

/*
 * Base64 as RFC 4648 has it, read strictly: padded, nothing else in it.
 */
#ifndef REDISBATCH_SRC_UNBASE64_H
#define REDISBATCH_SRC_UNBASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Writes at most len / 4 * 3 bytes and tells how many. False: it is none. */
bool unbase64(const char *text, size_t len, char *out, size_t *out_len);

#endif

/*
 * Numbers of the command line, read strictly: the whole text, no sign, no
 * blank, nothing that does not fit.
 */
#ifndef REDISBATCH_SRC_NUMBER_H
#define REDISBATCH_SRC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A count, from min to max. */
bool number_count(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* A count of bytes or of things with an optional suffix k, M or G (powers of
 * 1,024 for bytes, of 1,000 for things), and an optional B behind it. */
bool number_size(const char *text, uint64_t max, uint64_t *out);
bool number_many(const char *text, uint64_t max, uint64_t *out);

/* A time in milliseconds: "250ms", "1.5s", "2m", "1h", or seconds without a
 * unit, as timeouts are given to other commands. */
bool number_time(const char *text, uint64_t max_ms, uint64_t *out_ms);

#endif

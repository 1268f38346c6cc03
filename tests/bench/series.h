/*
 * Few numbers from many: medians and percentiles.
 */
#ifndef RBT_SERIES_H
#define RBT_SERIES_H

#include <stddef.h>
#include <stdint.h>

void rbt_series_sort(uint64_t *values, size_t n);

/* Of sorted values, the one that percent of them do not pass; 0 of none. */
uint64_t rbt_series_at(const uint64_t *sorted, size_t n, unsigned percent);

/* The middle of values in any order (sorts them). */
uint64_t rbt_series_median(uint64_t *values, size_t n);

/* The same for fractions. */
double rbt_series_median_of(double *values, size_t n);

/* "1,234,567" into one of a few buffers that are used in turn. */
const char *rbt_series_grouped(size_t n);

#endif

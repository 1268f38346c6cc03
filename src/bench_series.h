/*
 * Many numbers, and the few that are told of them: a median, percentiles, the
 * ends. Pure.
 */
#ifndef REDISBATCH_SRC_BENCH_SERIES_H
#define REDISBATCH_SRC_BENCH_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is one without numbers. */
typedef struct bench_series {
	uint64_t *values;
	size_t n;
	size_t capacity;
} bench_series;

/* False: out of memory, and nothing was added. */
bool bench_series_add(bench_series *s, uint64_t value);

/* Room for n more, which the caller fills in and then counts in s->n. NULL: out
 * of memory. */
uint64_t *bench_series_room(bench_series *s, size_t n);

/* Puts them in order, which the functions below want. */
void bench_series_sort(bench_series *s);

/* The smallest one that so many thousandths of them do not pass; 0 of none. 0
 * gives the smallest of all, 1,000 the largest. */
uint64_t bench_series_at(const bench_series *s, unsigned permille);

/* The one in the middle, or half way between the two that are; 0 of none. */
uint64_t bench_series_median(const bench_series *s);

/* Frees the numbers, and leaves a series without any. */
void bench_series_fini(bench_series *s);

#endif

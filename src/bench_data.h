/*
 * What was measured, for programs: JSON and CSV on standard output. What there
 * is no number for is null, or empty.
 */
#ifndef REDISBATCH_SRC_BENCH_DATA_H
#define REDISBATCH_SRC_BENCH_DATA_H

#include "bench_table.h"

#include <jansson.h>

/* EXITS_LOCAL: out of memory, which was said. */
exits bench_data_put_json(const bench_sheet *sheet);

void bench_data_put_csv(const bench_sheet *sheet);

/* Prints it and lets it go; NULL: there was no memory for it. EXITS_LOCAL then,
 * which was said. */
exits bench_data_dump(json_t *all);

/* {"gets", "p50_ms", "p99_ms", "slowest_ms"} of sorted nanoseconds; NULL: out of
 * memory. */
json_t *bench_data_others(const bench_series *s);

#endif

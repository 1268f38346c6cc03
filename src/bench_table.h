/*
 * What was measured, as a table for people.
 */
#ifndef REDISBATCH_SRC_BENCH_TABLE_H
#define REDISBATCH_SRC_BENCH_TABLE_H

#include "bench_run.h"

/* All that is told. */
typedef struct bench_sheet {
	const bench_work *work;
	const bench_plan *plan;
	const bench_report *report;
	/* Of a million commands; below 0: none was given. */
	double price;
} bench_sheet;

/* To standard output. */
void bench_table_put(const bench_sheet *sheet);

/* Thousands are set apart: "1,234,567". The text lies in out. */
const char *bench_table_grouped(uint64_t n, char *out, size_t size);

#endif

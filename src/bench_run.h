/*
 * Runs methods in turn, round by round, each in a process of its own while
 * another client watches the server, and keeps what was seen.
 */
#ifndef REDISBATCH_SRC_BENCH_RUN_H
#define REDISBATCH_SRC_BENCH_RUN_H

#include "bench_method.h"
#include "bench_series.h"
#include "bench_work.h"

enum { BENCH_SIZES = 16 };

typedef struct bench_plan {
	/* How many keys; the largest first or last, as the user said. */
	size_t sizes[BENCH_SIZES];
	size_t nsizes;
	/* Bits of bench_methods. */
	unsigned methods;
	unsigned rounds;
} bench_plan;

/* A method with a number of keys. */
typedef struct bench_row {
	const bench_method *method;
	size_t nkeys;
	/* Sorted, in nanoseconds: of the runs in which any key was read, how
	 * long; of another client's GETs meanwhile. */
	bench_series times;
	bench_series others;
	/* Entries of all rounds. */
	uint64_t right;
	uint64_t wrong;
	/* Of one run, and bytes: the most of any round. */
	uint64_t commands;
	uint64_t memory;
	/* Why the first one failed. */
	char why[160];
} bench_row;

typedef struct bench_report {
	/* Another client's GETs while nothing was done. */
	bench_series idle;
	bench_row rows[BENCH_SIZES * BENCH_METHODS];
	size_t nrows;
} bench_report;

/* Whether it ran at all, well or not. */
bool bench_row_tried(const bench_row *row);

/* Keys that were read, in a second, in the run of median length; 0: none. */
double bench_row_rate(const bench_row *row);

/* What a million keys cost in commands at this price of a million commands. */
double bench_row_cost(const bench_row *row, double price);

/* EXITS_FINE: all was measured and answered. EXITS_PARTIAL: some entries
 * failed. EXITS_SERVER: the run could not go on, or nothing was answered. What
 * is wrong was said. The report holds what there is, in all cases. */
exits bench_run(const bench_work *work, const bench_plan *plan,
		bench_report *report);

void bench_report_fini(bench_report *report);

#endif

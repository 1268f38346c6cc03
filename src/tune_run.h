/*
 * Tries settings on a server, for so long, while another client watches.
 */
#ifndef REDISBATCH_SRC_TUNE_RUN_H
#define REDISBATCH_SRC_TUNE_RUN_H

#include "bench_series.h"
#include "bench_work.h"
#include "tune_search.h"

typedef struct tune_plan {
	/* How much longer than without us another client may wait. */
	uint64_t guard_ms;
	/* All of it takes about so long. */
	uint64_t budget_ms;
} tune_plan;

typedef struct tune_report {
	bench_series idle;
	tune_search search;
	/* The time was over before everything was tried. */
	bool cut;
	/* Entries that failed, and why the first one did. */
	uint64_t failed;
	char why[160];
} tune_report;

/* EXITS_SERVER: the run could not go on, which was said. The report holds what
 * there is, in all cases. */
exits tune_run(const bench_work *work, const tune_plan *plan,
	       tune_report *report);

void tune_report_fini(tune_report *report);

#endif

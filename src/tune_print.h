/*
 * What tuning found: the curve that was seen, and the winner as options of a
 * command line and as lines of C. To standard output.
 */
#ifndef REDISBATCH_SRC_TUNE_PRINT_H
#define REDISBATCH_SRC_TUNE_PRINT_H

#include "tune_run.h"

void tune_print_table(const bench_work *work, const tune_plan *plan,
		      const tune_report *report);

/* EXITS_LOCAL: out of memory, which was said. */
exits tune_print_json(const bench_work *work, const tune_plan *plan,
		      const tune_report *report);

#endif

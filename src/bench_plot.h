/*
 * What was measured, as a picture that gnuplot draws: the time of each method
 * over the number of keys, or as bars where there is one number only.
 */
#ifndef REDISBATCH_SRC_BENCH_PLOT_H
#define REDISBATCH_SRC_BENCH_PLOT_H

#include "bench_table.h"

/* Whether there is a gnuplot in PATH. */
bool bench_plot_possible(void);

/* Whether a file can be made there. EXITS_LOCAL: no, which was said. */
exits bench_plot_check(const char *path);

/* Draws it as SVG. EXITS_LOCAL: it could not be drawn or written, which was
 * said; there is no half of a file then. */
exits bench_plot_put(const bench_sheet *sheet, const char *path);

#endif

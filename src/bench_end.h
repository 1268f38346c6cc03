/*
 * How a measurement ends, in exit statuses.
 */
#ifndef REDISBATCH_SRC_BENCH_END_H
#define REDISBATCH_SRC_BENCH_END_H

#include "exits.h"

/* What went wrong first counts. */
exits bench_end_worse(exits first, exits then);

/* Hands on what was printed. status, unless that went wrong: EXITS_LOCAL, which
 * was said, or 141 if nobody reads it any more. */
exits bench_end_output(exits status);

/* That of the signal, if one came. */
exits bench_end_signal(exits status);

#endif

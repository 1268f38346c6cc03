/*
 * mset --dry-run: reads as a run would, and tells what it would send.
 */
#ifndef REDISBATCH_SRC_REHEARSAL_H
#define REDISBATCH_SRC_REHEARSAL_H

#include "reading.h"

/* Prints the numbers on standard output. EXITS_PARTIAL if records were bad. */
exits rehearsal_run(reading *r, const rb_options *o, bool is_cluster);

#endif

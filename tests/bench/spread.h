/*
 * The part of the benchmark for clusters: keys all over three primaries, read
 * and written by the library, and by a careful user of plain hiredis, who sends
 * each command to the node of its key, all of them in flight at once.
 */
#ifndef RBT_SPREAD_H
#define RBT_SPREAD_H

#include "setup.h"

/* Starts a cluster, measures and prints. False: that failed, which was said. */
bool rbt_spread_print(const rbt_setup *s);

/* One method on a cluster below callgrind, see rbt_instructions_counted().
 * Names begin with "cluster-". */
bool rbt_spread_count(const rbt_setup *s, const char *name, size_t n);

#endif

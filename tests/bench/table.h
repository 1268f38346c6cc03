/*
 * Methods side by side.
 *
 * Only ratios within one run mean anything. So each method runs in a process
 * of its own, the methods take turns round by round, and the ratio of a method
 * is the median of the ratios of the rounds, each against the first method, the
 * floor, of the same round. Before that each method has a run that is not
 * counted, in which values are compared whole and the server is watched.
 */
#ifndef RBT_TABLE_H
#define RBT_TABLE_H

#include "setup.h"

#include <stdbool.h>
#include <stddef.h>

enum { RBT_TABLE_METHODS = 6 };

/* Ends with NULL if there are fewer. */
typedef const rbt_method *rbt_table_methods[RBT_TABLE_METHODS];

/* Measures and prints the table, on the unix socket and over TCP if asked to;
 * what says what an entry is ("keys"). False: a run failed, which was said. */
bool rbt_table_print(const rbt_setup *s, rbt_job *job,
		     const rbt_table_methods methods, const char *what);

#endif

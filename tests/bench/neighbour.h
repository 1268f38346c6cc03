/*
 * Another client of the same server: a process that does GET again and again
 * over its own connection, with a short pause between, and says how long the
 * answers took while something else went on.
 */
#ifndef RBT_NEIGHBOUR_H
#define RBT_NEIGHBOUR_H

#include "child.h"
#include "target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What it saw. */
typedef struct rbt_view {
	bool fine;   /* it was answered all the time */
	size_t gets; /* all it ever sent */
	size_t seen; /* those that fell into the window */
	uint64_t slowest_ns;
	uint64_t p99_ns;
} rbt_view;

typedef struct rbt_neighbour {
	rbt_child child;
	const rbt_target *target;
	const char *key;
} rbt_neighbour;

/* Starts it, and waits until it has had its first answers. target and key are
 * borrowed. */
bool rbt_neighbour_start(rbt_neighbour *nb, const rbt_target *target,
			 const char *key);

/* Ends it, and asks about the GETs that were under way at any moment from
 * start_ns to end_ns of rbt_now_ns(). */
bool rbt_neighbour_stop(rbt_neighbour *nb, uint64_t start_ns, uint64_t end_ns,
			rbt_view *view);

#endif

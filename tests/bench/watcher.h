/*
 * How much the server holds for its clients: a process that asks CLIENT LIST
 * again and again over its own connection while something else goes on.
 */
#ifndef RBT_WATCHER_H
#define RBT_WATCHER_H

#include "child.h"
#include "target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbt_watcher {
	rbt_child child;
	const rbt_target *target;
} rbt_watcher;

/* Starts it, and waits until it was answered once. target is borrowed. */
bool rbt_watcher_start(rbt_watcher *w, const rbt_target *target);

/* Ends it. *most is the largest output buffer of any one client ("omem") that
 * was seen from start_ns to end_ns of rbt_now_ns(), in bytes. */
bool rbt_watcher_stop(rbt_watcher *w, uint64_t start_ns, uint64_t end_ns,
		      size_t *most);

#endif

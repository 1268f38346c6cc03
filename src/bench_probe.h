/*
 * Another client of the same server: a process that reads one key again and
 * again over a connection of its own, one GET at a time with a tenth of a
 * millisecond between, and says how long the answers took while something else
 * went on. It has no part in a distance that was added.
 */
#ifndef REDISBATCH_SRC_BENCH_PROBE_H
#define REDISBATCH_SRC_BENCH_PROBE_H

#include "bench_child.h"
#include "bench_series.h"
#include "connection.h"
#include "exits.h"

typedef struct bench_probe {
	bench_child child;
	connection *connection;
	const char *key;
} bench_probe;

/* Starts it and waits for its first answers. What is wrong was said. All but
 * the child is set by the caller, and borrowed. */
exits bench_probe_start(bench_probe *probe);

/* Adds the times, in nanoseconds, of the GETs that were under way at any moment
 * from start_ns to end_ns of bench_now_ns(). It forgets what was before, so
 * the spans come in order. Of a span with more than a million GETs those are
 * the first. False: it is cut off, or a signal came. */
bool bench_probe_ask(bench_probe *probe, uint64_t start_ns, uint64_t end_ns,
		     bench_series *into);

/* Watches the server as it is by itself for so long. */
bool bench_probe_rest(bench_probe *probe, unsigned ms, bench_series *into);

void bench_probe_end(bench_probe *probe);

#endif

/*
 * The keys that SCAN finds at a server, or at each primary of a cluster in
 * turn, over connections of its own, so that it can be asked while the main
 * client is at work.
 *
 * What SCAN promises holds here: a key that is there from the beginning to the
 * end is given at least once. It may be given twice, and may be gone by the time
 * it is read. Slots that move to another node meanwhile may be missed or given
 * twice.
 */
#ifndef REDISBATCH_SRC_SCAN_H
#define REDISBATCH_SRC_SCAN_H

#include "connection.h"
#include "exits.h"

#include <redisbatch/redisbatch.h>

typedef struct scan scan;

typedef struct scan_order {
	/* As MATCH takes it; with a NUL behind. */
	const char *pattern;
	/* COUNT: how many the server looks at for each answer. */
	uint64_t count;
} scan_order;

/* Finds out the nodes by the main client, which is connected, and is the one
 * that signals_watch() knows. All is borrowed; what is wrong was said. */
exits scan_open(const connection *c, rb_client *main_client,
		const rb_options *options, const scan_order *order, scan **out);
void scan_free(scan *s);

/* 1 and a key, valid until the next call; 0: that was all; -1: scan_status()
 * tells what was said, EXITS_FINE for a signal. */
int scan_next(scan *s, rb_slice *key);
exits scan_status(const scan *s);

/* Adds what its commands cost. */
void scan_add_stats(const scan *s, rb_stats *sum);

#endif

/*
 * Whether a server, or any node of a cluster, holds keys that begin with a
 * prefix.
 */
#ifndef REDISBATCH_SRC_BENCH_PREFIX_H
#define REDISBATCH_SRC_BENCH_PREFIX_H

#include "connection.h"
#include "exits.h"

/* EXITS_FINE: it holds none. EXITS_USAGE: it does, which was said. What else
 * is wrong was said too. */
exits bench_prefix_check(connection *c, rb_client *client, const char *prefix);

#endif

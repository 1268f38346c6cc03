/*
 * What befalls a cluster while a client works on it, by a thread of its own:
 * slots move to and fro, key by key; connections are killed ten times a second;
 * and from time to time a primary is killed, replaced, and comes back.
 *
 * Only one of these at a time is something that data may be lost by, and that
 * one is begun only when all was replicated: what is lost beyond writes that
 * were acknowledged meanwhile is the client's fault.
 */
#ifndef CHAOS_STORM_H
#define CHAOS_STORM_H

#include "cluster.h"
#include "ledger.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct storm storm;

typedef struct storm_sums {
	uint64_t deaths;	/* of primaries, counted before they happen */
	uint64_t death_us;	/* when the last one died, by rbt_now_us() */
	uint64_t succession_ms; /* until all nodes knew who came after it */
	uint64_t moves;		/* of slots */
	uint64_t keys;		/* in them */
	uint64_t connections;	/* that were killed */
} storm_sums;

/* The cluster is the storm's until it has ended. calm_ms: between one primary's
 * return and the next one's death. */
storm *storm_begin(rbt_cluster *c, const ledger *l, unsigned calm_ms);

/* Of now, from any thread. */
storm_sums storm_look(storm *s);

/* Lets what has begun come to its end, so that the cluster is whole. */
void storm_stop(storm *s);
bool storm_is_over(storm *s);
/* Once it is: "", or what did not go as it should. */
const char *storm_why(const storm *s);
/* The nodes that were restarted live until then. */
void storm_free(storm *s);

#endif

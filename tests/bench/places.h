/*
 * Where keys are in a cluster: its nodes, and which of them has which slot.
 */
#ifndef RBT_PLACES_H
#define RBT_PLACES_H

#include "cluster.h"
#include "target.h"

typedef struct rbt_places {
	char uri[512]; /* for the library, with all nodes */
	size_t n;
	rbt_target targets[RBT_MOST_NODES];
	unsigned char owner[RBT_SLOTS];
} rbt_places;

/* False: rbt_cluster_why(). */
bool rbt_places_init(rbt_places *places, rbt_cluster *c);

/* The node that has a key. */
size_t rbt_places_of(const rbt_places *places, const char *key, size_t len);

#endif

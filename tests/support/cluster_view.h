/*
 * What the nodes of a cluster say about it, and waiting until they say what a
 * test needs.
 */
#ifndef RBT_CLUSTER_VIEW_H
#define RBT_CLUSTER_VIEW_H

#include "cluster.h"

/* Who has which slot, as one node sees it; RBT_MOST_NODES: nobody. */
typedef struct rbt_view {
	unsigned char owner[RBT_SLOTS];
	/* The nodes that own slots, and the replicas that are said to be fit to
	 * read from: bit i is node i. */
	uint32_t owners, replicas;
} rbt_view;

bool rbt_cluster_view(rbt_cluster *c, size_t node, rbt_view *view);

/* The node that says that it owns the slot itself; RBT_MOST_NODES: none does.
 * Others may hear of it later. */
size_t rbt_cluster_owner(rbt_cluster *c, unsigned slot);

/* By its own account. */
bool rbt_cluster_is_primary(rbt_cluster *c, size_t node);

/* All nodes that run serve, see the same map in which all slots have an owner
 * that runs, and know all replicas that run, which are in step with their
 * primaries. */
bool rbt_cluster_is_ok(rbt_cluster *c);

/* Each waits for at most so long; false, with rbt_cluster_why(): in vain. */
bool rbt_cluster_await_ok(rbt_cluster *c, unsigned ms);
/* Until every node that runs says that it serves. */
bool rbt_cluster_await_serving(rbt_cluster *c, unsigned ms);
/* Until every node that runs sees another owner of the slot than this one,
 * which is one that runs: a replica was promoted. */
bool rbt_cluster_await_other(rbt_cluster *c, unsigned slot, size_t than,
			     unsigned ms);
/* Until every node that runs sees this owner of the slot, and has heard of the
 * newest change of any slot. */
bool rbt_cluster_await_settled(rbt_cluster *c, unsigned slot, size_t owner,
			       unsigned ms);
/* Until all that the primaries were told is at their replicas. */
bool rbt_cluster_await_replicated(rbt_cluster *c, unsigned ms);

#endif

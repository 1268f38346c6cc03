/*
 * Making a cluster of servers that know nothing of each other: inside of it.
 */
#ifndef RBT_CLUSTER_MAKE_H
#define RBT_CLUSTER_MAKE_H

#include "cluster.h"

/* The slots of primary i, when there are n: first .. last. */
void rbt_cluster_share(size_t i, size_t n, unsigned *first, unsigned *last);

#endif

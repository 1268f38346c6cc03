/*
 * A cluster between two tests, and keys for it: inside of the fixture.
 */
#ifndef RBT_NODES_MEND_H
#define RBT_NODES_MEND_H

#include "cluster.h"
#include "load.h"

/* Empties the cluster and makes it what it was at first; false: it takes a new
 * one. */
bool rbt_nodes_mend(rbt_cluster *c);

/* Sets every step-th key to its value by plain hiredis, many at a time. */
bool rbt_nodes_fill(rbt_cluster *c, const rbt_keys *keys, size_t step,
		    size_t value_len);

/* Of the keys, every step-th and no other is there, with its value. The first
 * that is not so is named in rbt_cluster_why(). */
bool rbt_nodes_verify(rbt_cluster *c, const rbt_keys *keys, size_t step,
		      size_t value_len);

#endif

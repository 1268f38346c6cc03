/*
 * Slots of keys, and moving them from node to node.
 *
 *	rbt_cluster_begin_move(c, slot, to);
 *	rbt_cluster_migrate(c, slot, to, 5);	(five keys of it)
 *	...
 *	rbt_cluster_finish_move(c, slot, to);	(or rbt_cluster_abort_move())
 */
#ifndef RBT_CLUSTER_SLOTS_H
#define RBT_CLUSTER_SLOTS_H

#include "cluster.h"

/* By the words of the specification, one bit at a time. */
unsigned rbt_slot_of(const char *key, size_t len);

/* A word in braces whose keys are in this slot: "{t123}". */
void rbt_slot_tag(unsigned slot, char *out, size_t size);

/* The slot is open: its owner has it MIGRATING, `to` has it IMPORTING. */
bool rbt_cluster_begin_move(rbt_cluster *c, unsigned slot, size_t to);
/* Moves at most so many keys of it there; how many, -1: it failed. */
long rbt_cluster_migrate(rbt_cluster *c, unsigned slot, size_t to, size_t most);
/* Moves this key. */
bool rbt_cluster_migrate_key(rbt_cluster *c, const char *key, size_t to);
/* The rest of its keys; then all nodes are told that it is there. */
bool rbt_cluster_finish_move(rbt_cluster *c, unsigned slot, size_t to);
/* It is open no more, and its keys go back to its owner, which answers nil for
 * them until they are there. */
bool rbt_cluster_abort_move(rbt_cluster *c, unsigned slot, size_t to);
/* All of it. */
bool rbt_cluster_move(rbt_cluster *c, unsigned slot, size_t to);

/* No slot is open any more at any node that runs; keys stay where they are. */
bool rbt_cluster_close_slots(rbt_cluster *c);

/* Nobody has the slots first .. last, and all nodes know. Only for a cluster that
 * is `partial`. */
bool rbt_cluster_uncover(rbt_cluster *c, unsigned first, unsigned last);

#endif

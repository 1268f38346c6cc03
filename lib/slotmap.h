/*
 * Which node of a cluster serves a slot: as it was read from an answer to
 * CLUSTER SLOTS, and as nodes corrected it since by MOVED.
 *
 * Nodes are never taken away, so that an index stays what it is for as long as
 * the map: to forget nodes, another map is read. The hosts belong to the map.
 */
#ifndef RBI_SLOTMAP_H
#define RBI_SLOTMAP_H

#include "keyslot.h"

#include <redisbatch/redisbatch.h>

struct redisReply;

/* In the place of a node's index: nobody. */
#define RBI_NO_NODE ((size_t)0xffff)

/* Clusters are not made for more. */
#define RBI_NODES_MAX ((size_t)1000)

/* The most replicas of a primary that are read; the others are ignored. */
#define RBI_REPLICAS_MAX ((size_t)100)

typedef struct rbi_node {
	char *host; /* ends with a NUL */
	size_t host_len;
	unsigned port;
	bool replica;
	bool listed; /* its replicas were read */
	/* Of a replica the index of its primary, of a primary its own, and
	 * RBI_NO_NODE of a node that has neither been listed nor set. */
	size_t primary;
} rbi_node;

typedef struct rbi_slotmap {
	const rb_allocator *allocator;
	rbi_node *nodes;
	size_t nnodes;
	size_t cap;
	uint16_t owner[RBI_SLOTS]; /* below nnodes, or RBI_NO_NODE */
} rbi_slotmap;

/* No nodes, and every slot is nobody's. Takes no memory. */
void rbi_slotmap_init(rbi_slotmap *map, const rb_allocator *allocator);

/* Afterwards the map is as after init. */
void rbi_slotmap_fini(rbi_slotmap *map);

/* The index of a node, which is added if there is none such; its host has at
 * least one byte. RBI_NO_NODE: there is no memory, or there are RBI_NODES_MAX
 * others. */
size_t rbi_slotmap_node(rbi_slotmap *map, const char *host, size_t host_len,
			unsigned port) RBI_MUST_CHECK;

/* The slot is that node's from now on, and the node is no replica. */
void rbi_slotmap_set(rbi_slotmap *map, uint16_t slot, size_t node);

/*
 * Fills a map that is as after init from the answer to CLUSTER SLOTS of the
 * node at asked_host, whose host stands for one that is not named.
 *
 * Slots that no node serves are normal, and a range whose primary cannot be
 * used stays nobody's: one that has no port that we could connect to, say.
 * Replicas that cannot be used are ignored. RB_ERR_PROTOCOL: it is no answer
 * to CLUSTER SLOTS, or no slot at all has a usable primary; RB_ERR_SERVER: it
 * is an error, or the cluster is not ready; RB_ERR_UNSUPPORTED: it has too
 * many nodes; RB_ERR_NOMEM. On failure *problem says what is wrong, in a text that
 * is static or the reply's own, and the map is as after init.
 */
rb_status rbi_slotmap_read(rbi_slotmap *map, const struct redisReply *reply,
			   const char *asked_host,
			   const char **problem) RBI_MUST_CHECK;

#endif

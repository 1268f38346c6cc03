/*
 * What a client keeps of several connections between its calls: which node
 * serves which slot, and the connections to each node.
 *
 * One endpoint may be asked over several connections too: then it is the only
 * node of the map, and serves all slots.
 */
#ifndef RBI_POOL_H
#define RBI_POOL_H

#include "lane.h"
#include "slotmap.h"

typedef struct rbi_link {
	size_t node;
	size_t number;		  /* among those to the node */
	struct redisContext *ctx; /* NULL: not connected */
	bool readonly;		  /* a replica was told that we only read */
	rbi_lane lane;
} rbi_link;

typedef struct rbi_pool {
	const rb_allocator *allocator;
	rbi_slotmap map;
	bool known;	   /* the map was read, or is fixed */
	bool fixed;	   /* one endpoint: nothing to ask for */
	bool stale;	   /* a node said that the map is out of date */
	uint64_t asked_us; /* when the map was last asked for; 0: never */
	rbi_link **links;  /* each stays where it is */
	size_t nlinks;
	/* Which slots come first in a chunk: those of one connection together.
	 * In order for so many connections to a node. */
	uint16_t ranks[RBI_SLOTS];
	size_t ranked;
} rbi_pool;

/* NULL: no memory. fixed_host: the one endpoint, or NULL. */
rbi_pool *rbi_pool_new(const rb_allocator *a, const char *fixed_host,
		       unsigned port) RBI_MUST_CHECK;
/* Closes all connections. NULL is fine. */
void rbi_pool_free(rbi_pool *pool);

/* The connection number of a node, which is made known if it is not. NULL: no
 * memory. */
rbi_link *rbi_pool_link(rbi_pool *pool, size_t node,
			size_t number) RBI_MUST_CHECK;

/* Closes a connection. */
void rbi_pool_close(rbi_link *link);

/*
 * Takes over what a fresh map says. Nodes keep their indexes, and those that
 * are in it no more keep theirs. False: no memory; the map is as before.
 */
bool rbi_pool_learn(rbi_pool *pool, const rbi_slotmap *fresh) RBI_MUST_CHECK;

/* A node said who has a slot now. */
void rbi_pool_moved(rbi_pool *pool, uint16_t slot, size_t node);

/* Puts the slots in order for so many connections to each node. */
const uint16_t *rbi_pool_ranks(rbi_pool *pool, size_t connections);

/*
 * Between calls: forgets the nodes that serve nothing, if there are many of
 * them, with their connections.
 */
void rbi_pool_tidy(rbi_pool *pool);

#endif

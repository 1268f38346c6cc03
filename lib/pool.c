#include "pool.h"

#include "alloc.h"
#include "transport.h"

/* So many nodes may be kept that serve nothing. */
#define IDLE_NODES 16

rbi_pool *rbi_pool_new(const rb_allocator *a, const char *fixed_host,
		       unsigned port)
{
	rbi_pool *pool = rbi_alloc_zero(a, sizeof(*pool));
	size_t node;
	uint16_t slot;

	if (pool == NULL)
		return NULL;
	pool->allocator = a;
	rbi_slotmap_init(&pool->map, a);
	if (fixed_host == NULL)
		return pool;
	node = rbi_slotmap_node(&pool->map, fixed_host, strlen(fixed_host),
				port);
	if (node == RBI_NO_NODE) {
		rbi_pool_free(pool);
		return NULL;
	}
	for (slot = 0; slot < RBI_SLOTS; slot++)
		rbi_slotmap_set(&pool->map, slot, node);
	pool->known = pool->fixed = true;
	return pool;
}

static void link_free(rbi_pool *pool, rbi_link *link)
{
	rbi_pool_close(link);
	rbi_lane_fini(&link->lane);
	rbi_free(pool->allocator, link);
}

void rbi_pool_free(rbi_pool *pool)
{
	size_t i;

	if (pool == NULL)
		return;
	for (i = 0; i < pool->nlinks; i++)
		link_free(pool, pool->links[i]);
	rbi_free(pool->allocator, pool->links);
	rbi_slotmap_fini(&pool->map);
	rbi_free(pool->allocator, pool);
}

/* ----------------------------------------------------------------- links -- */

static rbi_link *add_link(rbi_pool *pool, size_t node, size_t number)
{
	rbi_link **links = rbi_alloc_array(pool->allocator, pool->links,
					   pool->nlinks + 1, sizeof(*links));
	rbi_link *link;

	if (links == NULL)
		return NULL;
	pool->links = links;
	link = rbi_alloc_zero(pool->allocator, sizeof(*link));
	if (link == NULL)
		return NULL;
	link->node = node;
	link->number = number;
	rbi_lane_init(&link->lane, pool->allocator);
	links[pool->nlinks++] = link;
	return link;
}

rbi_link *rbi_pool_link(rbi_pool *pool, size_t node, size_t number)
{
	size_t i;

	for (i = 0; i < pool->nlinks; i++) {
		if (pool->links[i]->node == node &&
		    pool->links[i]->number == number)
			return pool->links[i];
	}
	return add_link(pool, node, number);
}

void rbi_pool_close(rbi_link *link)
{
	rbi_transport_close(link->ctx);
	link->ctx = NULL;
}

/* ------------------------------------------------------------------- map -- */

static size_t find_or_add(rbi_slotmap *map, const rbi_node *node)
{
	return rbi_slotmap_node(map, node->host, node->host_len, node->port);
}

/* The roles in the fresh map, of nodes that are all known here. */
static void take_roles(rbi_slotmap *map, const rbi_slotmap *fresh)
{
	size_t i;

	for (i = 0; i < map->nnodes; i++)
		map->nodes[i].primary = RBI_NO_NODE;
	for (i = 0; i < fresh->nnodes; i++) {
		const rbi_node *from = &fresh->nodes[i];
		rbi_node *to = &map->nodes[find_or_add(map, from)];

		to->replica = from->replica;
		to->primary = RBI_NO_NODE;
		if (from->primary != RBI_NO_NODE)
			to->primary =
				find_or_add(map, &fresh->nodes[from->primary]);
	}
}

bool rbi_pool_learn(rbi_pool *pool, const rbi_slotmap *fresh)
{
	size_t slot;
	size_t i;

	for (i = 0; i < fresh->nnodes; i++) {
		if (find_or_add(&pool->map, &fresh->nodes[i]) == RBI_NO_NODE)
			return false;
	}
	take_roles(&pool->map, fresh);
	for (slot = 0; slot < RBI_SLOTS; slot++) {
		size_t owner = fresh->owner[slot];

		if (owner != RBI_NO_NODE)
			owner = find_or_add(&pool->map, &fresh->nodes[owner]);
		pool->map.owner[slot] = (uint16_t)owner;
	}
	pool->known = true;
	pool->ranked = 0;
	return true;
}

void rbi_pool_moved(rbi_pool *pool, uint16_t slot, size_t node)
{
	rbi_slotmap_set(&pool->map, slot, node);
	pool->stale = true;
	pool->ranked = 0;
}

/* ---------------------------------------------------------------- ranks -- */

/* Node by node, and connection by connection; what nobody serves comes last. */
const uint16_t *rbi_pool_ranks(rbi_pool *pool, size_t connections)
{
	size_t node;
	size_t number;
	size_t slot;
	uint16_t rank = 0;

	if (pool->ranked == connections)
		return pool->ranks;
	for (node = 0; node <= pool->map.nnodes; node++) {
		size_t owner = node < pool->map.nnodes ? node : RBI_NO_NODE;

		for (number = 0; number < connections; number++) {
			for (slot = number; slot < RBI_SLOTS;
			     slot += connections) {
				if (pool->map.owner[slot] == owner)
					pool->ranks[slot] = rank++;
			}
		}
	}
	pool->ranked = connections;
	return pool->ranks;
}

/* ------------------------------------------------------------------ tidy -- */

static bool *find_used(const rbi_pool *pool, size_t *unused)
{
	const rbi_slotmap *map = &pool->map;
	bool *used = rbi_alloc_zero(pool->allocator, rbi_max(map->nnodes, 1));
	size_t i;

	if (used == NULL)
		return NULL;
	for (i = 0; i < RBI_SLOTS; i++) {
		if (map->owner[i] != RBI_NO_NODE)
			used[map->owner[i]] = true;
	}
	for (i = 0; i < map->nnodes; i++) {
		size_t primary = map->nodes[i].primary;

		if (map->nodes[i].replica && primary != RBI_NO_NODE)
			used[i] = used[primary];
	}
	*unused = 0;
	for (i = 0; i < map->nnodes; i++)
		*unused += !used[i];
	return used;
}

/* Where the nodes that are used stand in a map of them alone. False: no
 * memory, or it has other places for them. */
static bool copy_used(const rbi_pool *pool, const bool *used, rbi_slotmap *out)
{
	const rbi_slotmap *map = &pool->map;
	size_t i;

	for (i = 0; i < map->nnodes; i++) {
		if (used[i] && find_or_add(out, &map->nodes[i]) == RBI_NO_NODE)
			return false;
	}
	for (i = 0; i < RBI_SLOTS; i++) {
		size_t owner = map->owner[i];

		if (owner != RBI_NO_NODE)
			owner = find_or_add(out, &map->nodes[owner]);
		out->owner[i] = (uint16_t)owner;
	}
	for (i = 0; i < map->nnodes; i++) {
		rbi_node *to;

		if (!used[i])
			continue;
		to = &out->nodes[find_or_add(out, &map->nodes[i])];
		to->replica = map->nodes[i].replica;
		if (map->nodes[i].primary != RBI_NO_NODE)
			to->primary = find_or_add(
				out, &map->nodes[map->nodes[i].primary]);
	}
	return true;
}

static void move_links(rbi_pool *pool, const bool *used, rbi_slotmap *tidied)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < pool->nlinks; i++) {
		rbi_link *link = pool->links[i];
		const rbi_node *node = &pool->map.nodes[link->node];

		if (!used[link->node]) {
			link_free(pool, link);
			continue;
		}
		link->node = find_or_add(tidied, node);
		pool->links[kept++] = link;
	}
	pool->nlinks = kept;
}

void rbi_pool_tidy(rbi_pool *pool)
{
	rbi_slotmap tidied;
	size_t unused;
	bool *used;

	if (pool->fixed || pool->map.nnodes <= IDLE_NODES)
		return;
	used = find_used(pool, &unused);
	if (used != NULL && unused > IDLE_NODES) {
		rbi_slotmap_init(&tidied, pool->allocator);
		if (copy_used(pool, used, &tidied)) {
			move_links(pool, used, &tidied);
			rbi_slotmap_fini(&pool->map);
			pool->map = tidied;
			pool->ranked = 0;
		} else {
			rbi_slotmap_fini(&tidied);
		}
	}
	rbi_free(pool->allocator, used);
}

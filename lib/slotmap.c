/*
 * The answer is an array of ranges,
 *
 *	[start, end, primary, replica, ...]
 *
 * and a node is [endpoint, port, id, [name, value, ...], ...], the last ones
 * depending on the server's age. The endpoint is nil or empty where the node
 * that answers does not want to name one, and "?" where it would but does not
 * know its name. What is unknown to us behind all that is ignored.
 *
 * The primaries are read first and the replicas after all of them, so that a
 * node is a primary wherever it stands in the answer, and a lack of room hits
 * replicas. A primary stands in as many ranges as it has, each time with the
 * same replicas: they are read once. So the work is bounded by the slots and
 * the nodes, whatever the answer looks like.
 */
#include "slotmap.h"

#include "alloc.h"
#include "redirect.h"
#include "reply.h"

#include <string.h>

#define PORT_MAX 65535

/* The most names that describe a node, with their values, that are looked
 * at. */
#define META_MAX ((size_t)32)

typedef struct reading {
	rbi_slotmap *map;
	rb_slice asked; /* the host that has answered */
	const char *problem;
} reading;

/* ------------------------------------------------------------- the map -- */

void rbi_slotmap_init(rbi_slotmap *map, const rb_allocator *allocator)
{
	map->allocator = allocator;
	map->nodes = NULL;
	map->nnodes = 0;
	map->cap = 0;
	/* RBI_NO_NODE has two equal bytes. */
	memset(map->owner, 0xff, sizeof(map->owner));
}

void rbi_slotmap_fini(rbi_slotmap *map)
{
	size_t i;

	for (i = 0; i < map->nnodes; i++)
		rbi_free(map->allocator, map->nodes[i].host);
	rbi_free(map->allocator, map->nodes);
	rbi_slotmap_init(map, map->allocator);
}

static bool make_room(rbi_slotmap *map)
{
	size_t cap = map->cap > 0 ? 2 * map->cap : 16;
	rbi_node *nodes;

	if (map->nnodes < map->cap)
		return true;
	if (map->nnodes >= RBI_NODES_MAX)
		return false;
	cap = rbi_min(cap, RBI_NODES_MAX);
	nodes = rbi_alloc_array(map->allocator, map->nodes, cap,
				sizeof(*nodes));
	if (nodes == NULL)
		return false;
	map->nodes = nodes;
	map->cap = cap;
	return true;
}

static size_t add_node(rbi_slotmap *map, const char *host, size_t host_len,
		       unsigned port)
{
	rbi_node node = { .host_len = host_len,
			  .port = port,
			  .primary = RBI_NO_NODE };

	if (!make_room(map))
		return RBI_NO_NODE;
	node.host = rbi_alloc_copy(map->allocator, host, host_len);
	if (node.host == NULL)
		return RBI_NO_NODE;
	map->nodes[map->nnodes] = node;
	return map->nnodes++;
}

size_t rbi_slotmap_node(rbi_slotmap *map, const char *host, size_t host_len,
			unsigned port)
{
	size_t i;

	for (i = 0; i < map->nnodes; i++) {
		const rbi_node *node = &map->nodes[i];

		if (node->port == port && node->host_len == host_len &&
		    memcmp(node->host, host, host_len) == 0)
			return i;
	}
	return add_node(map, host, host_len, port);
}

static void make_primary(rbi_slotmap *map, size_t node)
{
	map->nodes[node].replica = false;
	map->nodes[node].primary = node;
}

void rbi_slotmap_set(rbi_slotmap *map, uint16_t slot, size_t node)
{
	if (slot >= RBI_SLOTS || node >= map->nnodes)
		return;
	make_primary(map, node);
	map->owner[slot] = (uint16_t)node;
}

/* --------------------------------------------------------------- a node -- */

static bool is_unknown(rb_slice host)
{
	return host.len == 0 || (host.len == 1 && *host.data == '?');
}

/* The value of a name, which stand after each other; len 0: there is none. */
static rb_slice find_meta(const struct redisReply *meta, const char *name)
{
	size_t n = rbi_min(rbi_reply_count(meta), 2 * META_MAX);
	rb_slice none = { NULL, 0 };
	size_t i;

	for (i = 0; i < n; i += 2) {
		rb_slice text = rbi_reply_text(rbi_reply_element(meta, i));

		if (text.len == strlen(name) &&
		    memcmp(text.data, name, text.len) == 0)
			return rbi_reply_text(rbi_reply_element(meta, i + 1));
	}
	return none;
}

/* Whether it looks like a node at all. */
static bool is_node(const struct redisReply *node)
{
	const struct redisReply *endpoint = rbi_reply_element(node, 0);
	int64_t port;

	return (rbi_reply_is_nil(endpoint) ||
		rbi_reply_text(endpoint).data != NULL) &&
	       rbi_reply_integer(rbi_reply_element(node, 1), &port);
}

/* Where a node is to be found; false: it cannot be used. */
static bool read_address(const reading *r, const struct redisReply *node,
			 rb_slice *host, unsigned *port)
{
	int64_t number;

	*host = rbi_reply_text(rbi_reply_element(node, 0));
	if (host->len > 0 && is_unknown(*host))
		*host = find_meta(rbi_reply_element(node, 3), "ip");
	if (is_unknown(*host))
		*host = r->asked;
	if (!rbi_reply_integer(rbi_reply_element(node, 1), &number) ||
	    number < 1 || number > PORT_MAX)
		return false;
	*port = (unsigned)number;
	return rbi_redirect_host(host) && host->len > 0;
}

/* -------------------------------------------------------------- a range -- */

static rb_status refuse(reading *r, rb_status status, const char *problem)
{
	r->problem = problem;
	return status;
}

static bool read_slot(const struct redisReply *reply, size_t *slot)
{
	int64_t number;

	if (!rbi_reply_integer(reply, &number) || number < 0 ||
	    number >= RBI_SLOTS)
		return false;
	*slot = (size_t)number;
	return true;
}

static rb_status give_slots(reading *r, size_t start, size_t end, size_t node)
{
	uint16_t *owner = r->map->owner;
	size_t slot;

	make_primary(r->map, node);
	for (slot = start; slot <= end; slot++) {
		if (owner[slot] != RBI_NO_NODE)
			return refuse(r, RB_ERR_PROTOCOL,
				      "a slot is listed twice");
		owner[slot] = (uint16_t)node;
	}
	return RB_OK;
}

static rb_status read_range(reading *r, const struct redisReply *range)
{
	const struct redisReply *primary = rbi_reply_element(range, 2);
	rb_slice host;
	unsigned port;
	size_t start;
	size_t end;
	size_t node;

	if (!read_slot(rbi_reply_element(range, 0), &start) ||
	    !read_slot(rbi_reply_element(range, 1), &end))
		return refuse(r, RB_ERR_PROTOCOL,
			      "a slot is no number from 0 to 16383");
	if (start > end)
		return refuse(r, RB_ERR_PROTOCOL,
			      "a range of slots ends before it begins");
	if (!is_node(primary))
		return refuse(r, RB_ERR_PROTOCOL,
			      "a range of slots has no endpoint and port");
	if (!read_address(r, primary, &host, &port))
		return RB_OK;
	node = rbi_slotmap_node(r->map, host.data, host.len, port);
	if (node != RBI_NO_NODE)
		return give_slots(r, start, end, node);
	if (r->map->nnodes >= RBI_NODES_MAX)
		return refuse(r, RB_ERR_UNSUPPORTED,
			      "the cluster has more than 1000 nodes");
	return refuse(r, RB_ERR_NOMEM, "out of memory");
}

/* False: no memory. */
static bool read_replica(const reading *r, const struct redisReply *reply,
			 size_t primary)
{
	rb_slice host;
	unsigned port;
	rbi_node *node;
	size_t i;

	if (!is_node(reply) || !read_address(r, reply, &host, &port))
		return true;
	i = rbi_slotmap_node(r->map, host.data, host.len, port);
	if (i == RBI_NO_NODE)
		return r->map->nnodes >= RBI_NODES_MAX;
	node = &r->map->nodes[i];
	if (node->primary != RBI_NO_NODE)
		return true;
	node->replica = true;
	node->primary = primary;
	return true;
}

static rb_status read_replicas(reading *r, const struct redisReply *range)
{
	size_t n = rbi_min(rbi_reply_count(range), 3 + RBI_REPLICAS_MAX);
	size_t primary;
	size_t start;
	size_t i;

	if (!read_slot(rbi_reply_element(range, 0), &start))
		return RB_OK;
	primary = r->map->owner[start];
	if (primary == RBI_NO_NODE || r->map->nodes[primary].listed)
		return RB_OK;
	r->map->nodes[primary].listed = true;
	for (i = 3; i < n; i++) {
		if (!read_replica(r, rbi_reply_element(range, i), primary))
			return refuse(r, RB_ERR_NOMEM, "out of memory");
	}
	return RB_OK;
}

/* ------------------------------------------------------------ the answer -- */

static bool is_scalar(const struct redisReply *reply)
{
	int64_t number;

	return reply == NULL || rbi_reply_is_nil(reply) ||
	       rbi_reply_text(reply).data != NULL ||
	       rbi_reply_integer(reply, &number);
}

static rb_status read_all(reading *r, const struct redisReply *reply)
{
	size_t n = rbi_reply_count(reply);
	rb_status status = RB_OK;
	size_t i;

	if (rbi_reply_is_error(reply))
		return refuse(r, RB_ERR_SERVER, rbi_reply_text(reply).data);
	if (is_scalar(reply))
		return refuse(r, RB_ERR_PROTOCOL, "there is no list of ranges");
	if (n == 0)
		return refuse(r, RB_ERR_SERVER, "the cluster is not ready");
	if (n > RBI_SLOTS)
		return refuse(r, RB_ERR_PROTOCOL,
			      "there are more ranges than slots");
	for (i = 0; i < n && status == RB_OK; i++)
		status = read_range(r, rbi_reply_element(reply, i));
	if (status == RB_OK && r->map->nnodes == 0)
		return refuse(r, RB_ERR_PROTOCOL,
			      "no slot has a node that can be used");
	for (i = 0; i < n && status == RB_OK; i++)
		status = read_replicas(r, rbi_reply_element(reply, i));
	return status;
}

rb_status rbi_slotmap_read(rbi_slotmap *map, const struct redisReply *reply,
			   const char *asked_host, const char **problem)
{
	reading r = { .map = map };
	rb_status status;

	if (asked_host != NULL) {
		r.asked.data = asked_host;
		r.asked.len = strlen(asked_host);
	}
	status = read_all(&r, reply);
	if (status == RB_OK)
		return RB_OK;
	rbi_slotmap_fini(map);
	*problem = r.problem != NULL ? r.problem : "";
	return status;
}

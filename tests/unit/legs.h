/*
 * A call over several connections on a bench: its pieces, without the loop
 * that drives them. Time is turned by hand; nodes are the other ends of
 * socketpairs, and say what the test says.
 *
 * Entry i has the key of that number. Slots are served in turns, so that slot
 * s is that of node s % nodes.
 */
#ifndef RBT_LEGS_H
#define RBT_LEGS_H

#include "count.h"
#include "detour.h"
#include "fleet.h"
#include "options.h"
#include "pair.h"
#include "peer_request.h"
#include "supply.h"
#include "unit.h"

#include <stdio.h>

#define LEGS_MOST 64
#define LEGS_NODES 8
#define LEGS_BEGIN_US 5000000
#define LEGS_PORT 7000

typedef struct legs {
	rbt_count count;
	rb_client client;
	rb_options options;
	char names[LEGS_MOST][32];
	const char *keys[LEGS_MOST];
	rbi_batch batch;
	rbi_array_feed array;
	rb_result *res;
	rbi_fleet fleet;
	rbi_order order; /* used where the test writes */
	int peers[LEGS_NODES];
} legs;

static inline void legs_map(legs *l, unsigned nodes)
{
	rbi_slotmap *map = &l->client.pool->map;
	uint16_t slot;

	for (slot = 0; slot < RBI_SLOTS; slot++) {
		size_t node = rbi_slotmap_node(map, "127.0.0.1", 9,
					       LEGS_PORT + slot % nodes);

		assert_true(node != RBI_NO_NODE);
		rbi_slotmap_set(map, slot, node);
	}
	l->client.pool->known = true;
}

static inline void legs_client(legs *l, unsigned nodes)
{
	rb_client *client = &l->client;
	rb_options none;

	rb_options_init(&none);
	rb_options_init(&l->options);
	rbi_options_fill(&l->options, &none);
	client->allocator = &l->count.allocator;
	client->clock = &rbi_clock_monotonic;
	client->sys = &rbi_sys_default;
	client->plain = rbi_transport_plain();
	client->own = true;
	client->uri.cluster = true;
	client->uri.host = "127.0.0.1";
	client->wake.fds[0] = client->wake.fds[1] = -1;
	strcpy(client->node, "cluster");
	rbi_lane_init(&client->lane, client->allocator);
	client->pool = rbi_pool_new(client->allocator, NULL, 0);
	assert_non_null(client->pool);
	legs_map(l, nodes);
}

static inline void legs_fleet(legs *l)
{
	rbi_fleet *f = &l->fleet;

	f->client = &l->client;
	f->pool = l->client.pool;
	f->options = &l->options;
	f->inner = &l->array.feed;
	f->result = l->res;
	f->form = l->batch;
	f->form.clustered = true;
	f->grouped = true;
	f->deadline_us = RBI_NEVER;
	f->budget_us = 15000000;
	f->connections = 1;
	f->now_us = LEGS_BEGIN_US;
	f->leg_feed = &rbi_share_ops;
	f->leg_elsewhere = &rbi_detour_ops;
	rbi_again_init(&f->yard, l->client.allocator);
	rbi_backoff_init(&f->backoff, 1);
	if (!f->form.reads)
		f->order = &l->order;
}

/* MGET of n keys, or with values MSET. */
static inline void legs_begin(legs *l, size_t n, unsigned nodes,
			      const char **values)
{
	size_t i;

	memset(l, 0, sizeof(*l));
	assert_true(n <= LEGS_MOST);
	rbt_count_init(&l->count);
	for (i = 0; i < LEGS_NODES; i++)
		l->peers[i] = -1;
	for (i = 0; i < n; i++) {
		snprintf(l->names[i], sizeof(l->names[i]), "%zu", i);
		l->keys[i] = l->names[i];
	}
	legs_client(l, nodes);
	l->batch.shape = values != NULL ? RBI_SHAPE_OK : RBI_SHAPE_VALUES;
	l->batch.reads = values == NULL;
	l->batch.command.data = values != NULL ? "MSET" : "MGET";
	l->batch.command.len = 4;
	l->batch.keys = l->keys;
	l->batch.values = values;
	l->batch.n = n;
	l->res = rbi_result_new(l->client.allocator, n, 1, "result");
	assert_non_null(l->res);
	rbi_array_feed_init(&l->array, &l->batch, l->res);
	rbi_array_feed_loosen(&l->array);
	legs_fleet(l);
}

static inline void legs_end(legs *l)
{
	size_t i;

	l->fleet.order = NULL;
	rbi_fleet_fini(&l->fleet);
	rb_result_free(l->res);
	rbi_lane_fini(&l->client.lane);
	rbi_pool_free(l->client.pool);
	assert_int_equal(l->count.live_blocks, 0);
	for (i = 0; i < LEGS_NODES; i++) {
		if (l->peers[i] >= 0)
			close(l->peers[i]);
	}
}

static inline uint16_t legs_slot(const legs *l, size_t i)
{
	return rbi_keyslot(l->keys[i], strlen(l->keys[i]));
}

/* The leg to a node, whose connection is there. */
static inline rbi_leg *legs_up(legs *l, size_t node)
{
	rbi_link *link = rbi_pool_link(l->client.pool, node, 0);
	rbi_leg *leg;
	pair p;

	assert_non_null(link);
	pair_init(&p);
	link->ctx = p.ctx;
	l->peers[node] = p.peer;
	leg = rbi_leg_of(&l->fleet, node, 0);
	assert_non_null(leg);
	rbi_leg_start(leg);
	assert_int_equal(leg->state, RBI_LEG_UP);
	return leg;
}

/* The leg to a node that nobody has tried yet. */
static inline rbi_leg *legs_leg(legs *l, size_t node)
{
	rbi_leg *leg = rbi_leg_of(&l->fleet, node, 0);

	assert_non_null(leg);
	return leg;
}

static inline void legs_say(const legs *l, size_t node, const char *text)
{
	assert_int_equal(send(l->peers[node], text, strlen(text), MSG_NOSIGNAL),
			 strlen(text));
}

static inline void legs_step(rbi_leg *leg)
{
	leg->ready = true;
	rbi_leg_step(leg);
}

/* How many arguments a node has heard, and how many commands. */
static inline size_t legs_heard(const legs *l, size_t node, size_t *commands)
{
	rbt_request request;
	const rbt_arg *argv;
	size_t sum = 0;
	size_t argc;
	ssize_t n;

	*commands = 0;
	rbt_request_init(&request);
	n = recv(l->peers[node], rbt_request_space(&request, 65536), 65536,
		 MSG_DONTWAIT);
	if (n > 0)
		rbt_request_filled(&request, (size_t)n);
	while (n > 0 && rbt_request_next(&request, &argc, &argv) == 1) {
		sum += argc - 1;
		++*commands;
	}
	rbt_request_fini(&request);
	return sum;
}

/* From now on there is no memory, nor room for one report more. */
static inline void legs_exhaust(legs *l)
{
	while (l->res->nchunks + l->res->promised + 2 <= l->res->chunk_cap)
		assert_true(rbi_result_promise(l->res));
	l->count.fail_at = l->count.asked + 1;
	l->count.fail_on = 1;
}

/* How many entries fared so. */
static inline size_t legs_count(const legs *l, rb_status status,
				const char *words)
{
	size_t found = 0;
	size_t i;

	for (i = 0; i < l->batch.n; i++)
		found += rb_result_status(l->res, i) == status &&
			 strstr(rb_result_message(l->res, i), words) != NULL;
	return found;
}

/* How many entries are in the spans of a leg. */
static inline size_t legs_spans(const rbi_leg *leg)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < leg->nspans; i++)
		sum += leg->spans[i].count;
	return sum;
}

static inline size_t legs_all_spans(const legs *l)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < l->fleet.nlegs; i++)
		sum += legs_spans(l->fleet.legs[i]);
	return sum;
}

#endif

/*
 * What a client keeps of several connections from call to call.
 */
#include "alloc.h"
#include "count.h"
#include "pair.h"
#include "pool.h"
#include "unit.h"

#include <stdio.h>

#define PORT 7000

typedef struct fixture {
	rbt_count count;
	rbi_pool *pool;
} fixture;

static void begin(fixture *f, const char *fixed_host)
{
	rbt_count_init(&f->count);
	f->pool = rbi_pool_new(&f->count.allocator, fixed_host, PORT);
	assert_non_null(f->pool);
}

static void end(fixture *f)
{
	rbi_pool_free(f->pool);
	assert_int_equal(f->count.live_blocks, 0);
}

static size_t node(rbi_slotmap *map, unsigned i)
{
	size_t n = rbi_slotmap_node(map, "node", 4, PORT + i);

	assert_true(n != RBI_NO_NODE);
	return n;
}

/* n nodes that have their slots in turns. */
static void serve(rbi_slotmap *map, unsigned n)
{
	uint16_t slot;

	for (slot = 0; slot < RBI_SLOTS; slot++)
		rbi_slotmap_set(map, slot, node(map, slot % n));
}

static void follow(rbi_slotmap *map, unsigned replica, unsigned primary)
{
	size_t to = node(map, primary);
	size_t i = node(map, replica);

	map->nodes[i].replica = true;
	map->nodes[i].primary = to;
}

static unsigned port_of(const rbi_pool *pool, size_t node_number)
{
	assert_true(node_number < pool->map.nnodes);
	return pool->map.nodes[node_number].port;
}

static rbi_link *link_to(fixture *f, size_t node_number, size_t number)
{
	rbi_link *link = rbi_pool_link(f->pool, node_number, number);

	assert_non_null(link);
	return link;
}

/* Gives a link a connection, whose other end is returned. */
static int connect_link(rbi_link *link)
{
	pair p;

	pair_init(&p);
	link->ctx = p.ctx;
	return p.peer;
}

static bool is_closed(int peer)
{
	char byte;

	return recv(peer, &byte, 1, MSG_DONTWAIT) == 0;
}

/* ----------------------------------------------------------------- begin -- */

static void test_a_new_pool_knows_nothing(void **state)
{
	fixture f;

	(void)state;
	begin(&f, NULL);
	assert_false(f.pool->known);
	assert_false(f.pool->fixed);
	assert_int_equal(f.pool->map.nnodes, 0);
	assert_int_equal(f.pool->map.owner[0], RBI_NO_NODE);
	end(&f);
	rbi_pool_free(NULL);
}

static void test_one_endpoint_serves_all_slots(void **state)
{
	fixture f;
	size_t slot;

	(void)state;
	begin(&f, "server");
	assert_true(f.pool->known);
	assert_true(f.pool->fixed);
	assert_int_equal(f.pool->map.nnodes, 1);
	for (slot = 0; slot < RBI_SLOTS; slot++)
		assert_int_equal(f.pool->map.owner[slot], 0);
	end(&f);
}

static void test_without_memory_there_is_no_pool_and_no_leak(void **state)
{
	size_t fail_at;

	(void)state;
	for (fail_at = 1;; fail_at++) {
		rbt_count count;
		rbi_pool *pool;

		rbt_count_init(&count);
		count.fail_at = fail_at;
		pool = rbi_pool_new(&count.allocator, "server", PORT);
		if (pool == NULL) {
			assert_int_equal(count.live_blocks, 0);
			continue;
		}
		rbi_pool_free(pool);
		break;
	}
	/* The pool, its nodes and the name of the one. */
	assert_int_equal(fail_at, 4);
}

/* ----------------------------------------------------------------- links -- */

static void test_a_link_is_found_again_where_it_was(void **state)
{
	rbi_link *links[40];
	fixture f;
	size_t i;

	(void)state;
	begin(&f, NULL);
	for (i = 0; i < N_OF(links); i++) {
		links[i] = link_to(&f, i / 4, i % 4);
		assert_int_equal(links[i]->node, i / 4);
		assert_int_equal(links[i]->number, i % 4);
		assert_null(links[i]->ctx);
	}
	for (i = 0; i < N_OF(links); i++)
		assert_ptr_equal(link_to(&f, i / 4, i % 4), links[i]);
	assert_int_equal(f.pool->nlinks, N_OF(links));
	end(&f);
}

static void test_without_memory_there_is_no_new_link(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f, NULL);
	(void)link_to(&f, 0, 0);
	for (i = 1; i <= 2; i++) {
		f.count.fail_at = f.count.asked + i;
		assert_null(rbi_pool_link(f.pool, 0, 1));
		assert_int_equal(f.pool->nlinks, 1);
	}
	/* What is there needs none. */
	f.count.fail_at = f.count.asked + 1;
	assert_non_null(rbi_pool_link(f.pool, 0, 0));
	f.count.fail_at = 0;
	assert_non_null(rbi_pool_link(f.pool, 0, 1));
	end(&f);
}

static void test_a_link_is_closed_and_stays(void **state)
{
	rbi_link *link;
	fixture f;
	int peer;

	(void)state;
	begin(&f, NULL);
	link = link_to(&f, 0, 0);
	peer = connect_link(link);
	assert_false(is_closed(peer));
	rbi_pool_close(link);
	assert_true(is_closed(peer));
	assert_null(link->ctx);
	rbi_pool_close(link);
	assert_ptr_equal(link_to(&f, 0, 0), link);
	close(peer);
	end(&f);
}

static void test_a_pool_closes_what_it_has(void **state)
{
	int peers[3];
	fixture f;
	size_t i;

	(void)state;
	begin(&f, NULL);
	for (i = 0; i < N_OF(peers); i++)
		peers[i] = connect_link(link_to(&f, i, 0));
	end(&f);
	for (i = 0; i < N_OF(peers); i++) {
		assert_true(is_closed(peers[i]));
		close(peers[i]);
	}
}

/* ------------------------------------------------------------------- map -- */

static void learn(fixture *f, rbi_slotmap *fresh)
{
	assert_true(rbi_pool_learn(f->pool, fresh));
	rbi_slotmap_fini(fresh);
}

static void test_nodes_keep_their_indexes(void **state)
{
	rbi_slotmap fresh;
	fixture f;
	size_t slot;

	(void)state;
	begin(&f, NULL);
	rbi_slotmap_init(&fresh, &f.count.allocator);
	serve(&fresh, 3);
	learn(&f, &fresh);
	assert_true(f.pool->known);
	/* Node 0 is gone, and there is another in front of the others. */
	rbi_slotmap_init(&fresh, &f.count.allocator);
	(void)node(&fresh, 9);
	(void)node(&fresh, 2);
	(void)node(&fresh, 1);
	for (slot = 0; slot < RBI_SLOTS - 1; slot++)
		rbi_slotmap_set(&fresh, (uint16_t)slot, slot % 3);
	learn(&f, &fresh);
	assert_int_equal(f.pool->map.nnodes, 4);
	for (slot = 0; slot < 4; slot++)
		assert_int_equal(port_of(f.pool, slot),
				 slot < 3 ? PORT + slot : PORT + 9);
	for (slot = 0; slot < RBI_SLOTS - 1; slot++) {
		static const size_t want[] = { 3, 2, 1 };

		assert_int_equal(f.pool->map.owner[slot], want[slot % 3]);
	}
	assert_int_equal(f.pool->map.owner[slot], RBI_NO_NODE);
	end(&f);
}

static void test_roles_are_those_of_the_fresh_map(void **state)
{
	rbi_slotmap fresh;
	fixture f;

	(void)state;
	begin(&f, NULL);
	rbi_slotmap_init(&fresh, &f.count.allocator);
	serve(&fresh, 2);
	follow(&fresh, 2, 0);
	follow(&fresh, 3, 1);
	learn(&f, &fresh);
	assert_true(f.pool->map.nodes[2].replica);
	assert_int_equal(f.pool->map.nodes[2].primary, 0);
	assert_int_equal(f.pool->map.nodes[3].primary, 1);
	/* 2 has taken over from 0, which follows it; 3 is gone. */
	rbi_slotmap_init(&fresh, &f.count.allocator);
	(void)node(&fresh, 2);
	serve(&fresh, 2);
	rbi_slotmap_set(&fresh, 0, node(&fresh, 2));
	follow(&fresh, 0, 2);
	learn(&f, &fresh);
	assert_false(f.pool->map.nodes[2].replica);
	assert_int_equal(f.pool->map.nodes[2].primary, 2);
	assert_true(f.pool->map.nodes[0].replica);
	assert_int_equal(f.pool->map.nodes[0].primary, 2);
	assert_int_equal(f.pool->map.nodes[3].primary, RBI_NO_NODE);
	end(&f);
}

static void test_without_memory_the_map_is_as_before(void **state)
{
	rbt_count other;
	rbi_slotmap fresh;
	size_t slot;
	size_t i;

	(void)state;
	rbt_count_init(&other);
	rbi_slotmap_init(&fresh, &other.allocator);
	serve(&fresh, 40);
	for (i = 1;; i++) {
		fixture f;

		begin(&f, NULL);
		for (slot = 0; slot < RBI_SLOTS; slot++)
			rbi_slotmap_set(&f.pool->map, (uint16_t)slot,
					node(&f.pool->map, 99));
		f.count.fail_at = f.count.asked + i;
		if (rbi_pool_learn(f.pool, &fresh)) {
			end(&f);
			break;
		}
		assert_false(f.pool->known);
		for (slot = 0; slot < RBI_SLOTS; slot++)
			assert_int_equal(f.pool->map.owner[slot], 0);
		assert_int_equal(port_of(f.pool, 0), PORT + 99);
		end(&f);
	}
	assert_in_range(i, 40, 50);
	rbi_slotmap_fini(&fresh);
}

static void test_what_moved_makes_the_map_stale(void **state)
{
	fixture f;

	(void)state;
	begin(&f, NULL);
	serve(&f.pool->map, 2);
	(void)rbi_pool_ranks(f.pool, 1);
	rbi_pool_moved(f.pool, 4, 1);
	assert_true(f.pool->stale);
	assert_int_equal(f.pool->map.owner[4], 1);
	/* Slot 4 is in order with those of its new node. */
	assert_true(rbi_pool_ranks(f.pool, 1)[4] >
		    rbi_pool_ranks(f.pool, 1)[RBI_SLOTS - 2]);
	end(&f);
}

/* ----------------------------------------------------------------- ranks -- */

typedef struct place {
	size_t node;
	size_t number;
	size_t slot;
} place;

static bool comes_first(const place *a, const place *b)
{
	if (a->node != b->node)
		return a->node < b->node;
	if (a->number != b->number)
		return a->number < b->number;
	return a->slot < b->slot;
}

/* Each rank is given once, by node, then connection, then slot. */
static void check_ranks(rbi_pool *pool, size_t connections)
{
	const uint16_t *ranks = rbi_pool_ranks(pool, connections);
	size_t slot_of[RBI_SLOTS];
	place before = { 0, 0, 0 };
	size_t i;

	for (i = 0; i < RBI_SLOTS; i++)
		slot_of[i] = RBI_SLOTS;
	for (i = 0; i < RBI_SLOTS; i++) {
		assert_true(ranks[i] < RBI_SLOTS);
		assert_int_equal(slot_of[ranks[i]], RBI_SLOTS);
		slot_of[ranks[i]] = i;
	}
	for (i = 0; i < RBI_SLOTS; i++) {
		place p = { pool->map.owner[slot_of[i]],
			    slot_of[i] % connections, slot_of[i] };

		if (i > 0)
			assert_true(comes_first(&before, &p));
		before = p;
	}
}

static void test_slots_are_ranked_by_who_serves_them(void **state)
{
	static const size_t connections[] = { 1, 2, 3, 64 };
	static const unsigned nodes[] = { 1, 2, 3, 1000 };
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < N_OF(nodes); i++) {
		fixture f;

		begin(&f, NULL);
		check_ranks(f.pool, 1);
		f.pool->ranked = 0;
		serve(&f.pool->map, nodes[i]);
		/* What nobody serves comes last. */
		f.pool->map.owner[0] = (uint16_t)RBI_NO_NODE;
		for (k = 0; k < N_OF(connections); k++)
			check_ranks(f.pool, connections[k]);
		end(&f);
	}
}

/* ------------------------------------------------------------------ tidy -- */

/* A map with a node at each end of so many that have nothing. */
static void scatter(fixture *f, unsigned idle)
{
	unsigned i;
	size_t slot;

	for (i = 0; i < idle + 2; i++)
		(void)node(&f->pool->map, i);
	for (slot = 0; slot < RBI_SLOTS - 1; slot++)
		rbi_slotmap_set(&f->pool->map, (uint16_t)slot,
				slot % 2 * (idle + 1));
}

static void test_a_few_nodes_that_serve_nothing_are_kept(void **state)
{
	fixture f;

	(void)state;
	begin(&f, NULL);
	scatter(&f, 14);
	rbi_pool_tidy(f.pool);
	assert_int_equal(f.pool->map.nnodes, 16);
	(void)node(&f.pool->map, 16);
	(void)node(&f.pool->map, 17);
	rbi_pool_tidy(f.pool);
	assert_int_equal(f.pool->map.nnodes, 18);
	end(&f);
}

static void test_many_that_serve_nothing_are_forgotten(void **state)
{
	rbi_link *last;
	rbi_link *first;
	int peers[3];
	size_t slot;
	fixture f;

	(void)state;
	begin(&f, NULL);
	scatter(&f, 17);
	first = link_to(&f, 0, 0);
	peers[0] = connect_link(first);
	peers[1] = connect_link(link_to(&f, 5, 0));
	last = link_to(&f, 18, 1);
	peers[2] = connect_link(last);
	rbi_pool_tidy(f.pool);
	assert_int_equal(f.pool->map.nnodes, 2);
	assert_int_equal(port_of(f.pool, 0), PORT);
	assert_int_equal(port_of(f.pool, 1), PORT + 18);
	for (slot = 0; slot < RBI_SLOTS - 1; slot++)
		assert_int_equal(f.pool->map.owner[slot], slot % 2);
	assert_int_equal(f.pool->map.owner[slot], RBI_NO_NODE);
	/* Connections are those of the same nodes as before. */
	assert_int_equal(f.pool->nlinks, 2);
	assert_ptr_equal(link_to(&f, 0, 0), first);
	assert_ptr_equal(link_to(&f, 1, 1), last);
	assert_false(is_closed(peers[0]));
	assert_true(is_closed(peers[1]));
	assert_false(is_closed(peers[2]));
	end(&f);
	for (slot = 0; slot < 3; slot++)
		close(peers[slot]);
}

static void test_replicas_of_those_that_serve_are_kept(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f, NULL);
	scatter(&f, 20);
	follow(&f.pool->map, 3, 21);
	follow(&f.pool->map, 4, 5);
	follow(&f.pool->map, 22, 0);
	f.pool->map.nodes[6].replica = true;
	rbi_pool_tidy(f.pool);
	assert_int_equal(f.pool->map.nnodes, 4);
	for (i = 0; i < 4; i++) {
		const rbi_node *n = &f.pool->map.nodes[i];

		assert_int_equal(n->replica,
				 n->port == PORT + 3 || n->port == PORT + 22);
		if (!n->replica)
			assert_int_equal(n->primary, i);
		else
			assert_int_equal(port_of(f.pool, n->primary),
					 n->port == PORT + 3 ? PORT + 21 :
							       PORT);
	}
	end(&f);
}

static void test_ranks_are_made_anew_behind_a_tidy(void **state)
{
	fixture f;

	(void)state;
	begin(&f, NULL);
	scatter(&f, 17);
	(void)rbi_pool_ranks(f.pool, 2);
	rbi_pool_tidy(f.pool);
	check_ranks(f.pool, 2);
	end(&f);
}

static void test_without_memory_nothing_is_forgotten(void **state)
{
	size_t i;

	(void)state;
	for (i = 1;; i++) {
		fixture f;
		bool tidied;

		begin(&f, NULL);
		scatter(&f, 17);
		(void)link_to(&f, 5, 0);
		f.count.fail_at = f.count.asked + i;
		rbi_pool_tidy(f.pool);
		tidied = f.pool->map.nnodes == 2;
		if (!tidied) {
			assert_int_equal(f.pool->map.nnodes, 19);
			assert_int_equal(f.pool->map.owner[1], 18);
			assert_int_equal(f.pool->nlinks, 1);
		}
		end(&f);
		if (tidied)
			break;
	}
	assert_int_equal(i, 5);
}

static void test_one_endpoint_needs_no_tidying(void **state)
{
	fixture f;
	unsigned i;

	(void)state;
	begin(&f, "server");
	for (i = 1; i < 40; i++)
		(void)node(&f.pool->map, i);
	rbi_pool_tidy(f.pool);
	assert_int_equal(f.pool->map.nnodes, 40);
	end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_pool_knows_nothing),
		cmocka_unit_test(test_one_endpoint_serves_all_slots),
		cmocka_unit_test(
			test_without_memory_there_is_no_pool_and_no_leak),
		cmocka_unit_test(test_a_link_is_found_again_where_it_was),
		cmocka_unit_test(test_without_memory_there_is_no_new_link),
		cmocka_unit_test(test_a_link_is_closed_and_stays),
		cmocka_unit_test(test_a_pool_closes_what_it_has),
		cmocka_unit_test(test_nodes_keep_their_indexes),
		cmocka_unit_test(test_roles_are_those_of_the_fresh_map),
		cmocka_unit_test(test_without_memory_the_map_is_as_before),
		cmocka_unit_test(test_what_moved_makes_the_map_stale),
		cmocka_unit_test(test_slots_are_ranked_by_who_serves_them),
		cmocka_unit_test(test_a_few_nodes_that_serve_nothing_are_kept),
		cmocka_unit_test(test_many_that_serve_nothing_are_forgotten),
		cmocka_unit_test(test_replicas_of_those_that_serve_are_kept),
		cmocka_unit_test(test_ranks_are_made_anew_behind_a_tidy),
		cmocka_unit_test(test_without_memory_nothing_is_forgotten),
		cmocka_unit_test(test_one_endpoint_needs_no_tidying),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}

/*
 * A primary is lost and its replica takes its place, while a client goes on.
 */
#include "commands.h"
#include "nodes.h"
#include "replies.h"
#include "sanitized.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	KEYS = 3000,
	LEN = 50,
	NODE_MS = 1000,
	/* From the death to a call that is fine: what the nodes take to agree,
	 * and what a client may take to hear of it. */
	BOUND_MS = NODE_MS + RBT_PLAIN_OR_SANITIZED(3000, 9000),
	DEADLINE_MS = 15000,
	LATE_MS = 20000
};

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3,
					       .replicas = 1,
					       .node_timeout_ms = NODE_MS };

	return rbt_nodes_open(state, &o);
}

static rb_options patient(void)
{
	rb_options o = rbt_options(0, 0);

	o.timeout_ms = DEADLINE_MS;
	return o;
}

/* Values at primaries and replicas, and a client that knows the map. */
static void load_all(rbt_nodes *n, size_t step)
{
	rb_options o = patient();

	rbt_nodes_load(n, "key:", KEYS, step, LEN);
	want_done(n, rbt_cluster_await_replicated(n->cluster, LATE_MS));
	rbt_nodes_client(n, 0, &o);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
}

static rb_status write_all(rbt_nodes *n, const rb_options *o)
{
	rbt_pairs p;
	rb_status status;

	rbt_nodes_drop(n);
	rbt_pairs_init(&p, "key:", KEYS, LEN);
	status = rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				 p.lens, KEYS, o, &n->res);
	rbt_pairs_fini(&p);
	return status;
}

/* A machine that stands still makes the nodes late as well: once in three is
 * enough. */
static void want_soon(rbt_nodes *n, void (*turn)(rbt_nodes *n))
{
	unsigned ms = 0;

	for (int tries = 0; tries < 3; tries++) {
		uint64_t start;

		load_all(n, 2);
		start = rbt_now_us();
		rbt_cluster_kill(n->cluster, 0);
		turn(n);
		ms = (unsigned)((rbt_now_us() - start) / 1000);
		print_message("fine again after %u ms\n", ms);
		if (ms < BOUND_MS)
			return;
		want_done(n, rbt_cluster_restart(n->cluster, 0));
		want_done(n, rbt_cluster_await_ok(n->cluster, LATE_MS));
	}
	fail_msg("it took %u ms", ms);
}

static void turn_to_reads(rbt_nodes *n)
{
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
}

static void test_reads_go_on_with_the_replica(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	want_soon(n, turn_to_reads);
	assert_int_equal(rbt_cluster_owner(n->cluster, 0), 3);
	/* The way is known from now on. */
	rbt_nodes_reset_stats(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
}

static void turn_to_writes(rbt_nodes *n)
{
	want_status(n->rb, write_all(n, NULL), RB_OK);
	for (size_t i = 0; i < KEYS; i++)
		want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
}

/* A connection that is refused has sent nothing, so there is no doubt. */
static void test_writes_go_on_with_the_replica(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	want_soon(n, turn_to_writes);
	want_done(n, rbt_cluster_await_other(n->cluster, 0, 0, LATE_MS));
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 1, LEN);
}

static void test_a_new_client_waits_for_the_replica_too(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = patient();

	load_all(n, 2);
	rbt_cluster_kill(n->cluster, 0);
	rbt_nodes_client(n, 0, &o);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, LEN);
}

/* --------------------------------------------------------------- midway -- */

typedef struct blow {
	rbt_nodes *n;
	size_t at, seen;
} blow;

static int kill_midway(void *arg, const rb_chunk *chunk)
{
	blow *b = arg;

	(void)chunk;
	if (++b->seen == b->at)
		rbt_cluster_kill(b->n->cluster, 0);
	return 0;
}

static rb_options striking(blow *b, uint32_t flags)
{
	rb_options o = rbt_options(50, 2);

	o.timeout_ms = DEADLINE_MS;
	o.flags = flags;
	o.on_chunk = kill_midway;
	o.on_chunk_arg = b;
	return o;
}

static void test_reads_survive_a_death_in_their_middle(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	blow b = { n, 5, 0 };
	rb_options o = striking(&b, 0);

	load_all(n, 2);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
}

static void test_writes_in_flight_are_in_doubt(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	blow b = { n, 5, 0 };
	rb_options o = striking(&b, 0);
	rb_status status;

	load_all(n, 0);
	status = write_all(n, &o);
	/* Whether anything was in flight there is a matter of chance. */
	assert_true(status == RB_OK || status == RB_ERR_PARTIAL);
	for (size_t i = 0; i < KEYS; i++)
		if (rb_result_status(n->res, i) == RB_OK)
			want_written(n->res, i, RB_ANSWERED);
		else
			want_failed(n->res, i, rb_result_status(n->res, i),
				    RB_UNKNOWN);
	want_covered(n);
	want_done(n, rbt_cluster_await_other(n->cluster, 0, 0, LATE_MS));
	want_status(n->rb, write_all(n, NULL), RB_OK);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 1, LEN);
}

static void test_writes_may_be_sent_again_to_the_replica(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	blow b = { n, 5, 0 };
	rb_options o = striking(&b, RB_RETRY_WRITES);

	load_all(n, 0);
	want_status(n->rb, write_all(n, &o), RB_OK);
	for (size_t i = 0; i < KEYS; i++)
		want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
}

/* ------------------------------------------------------------ the frozen -- */

/* It still takes connections, and answers none. Once another has its slots, a
 * client hears of that. */
static void test_a_frozen_primary_is_left_for_its_replica(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	rb_status status = RB_ERR_TIMEOUT;

	load_all(n, 2);
	rbt_cluster_freeze(n->cluster, 0);
	want_done(n, rbt_cluster_await_other(n->cluster, 0, 0, LATE_MS));
	o.timeout_ms = 3000;
	o.connect_timeout_ms = 500;
	for (int turn = 0; turn < 5 && status != RB_OK; turn++)
		status = rbt_nodes_read(n, &o);
	want_status(n->rb, status, RB_OK);
	want_read(n, 2, LEN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_reads_go_on_with_the_replica),
		RBT_NODES(test_writes_go_on_with_the_replica),
		RBT_NODES(test_a_new_client_waits_for_the_replica_too),
		RBT_NODES(test_reads_survive_a_death_in_their_middle),
		RBT_NODES(test_writes_in_flight_are_in_doubt),
		RBT_NODES(test_writes_may_be_sent_again_to_the_replica),
		RBT_NODES(test_a_frozen_primary_is_left_for_its_replica),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

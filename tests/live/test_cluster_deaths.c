/*
 * Nodes that die or stand still, with nobody to replace them: what the others
 * have is answered, and what was theirs says that it was not.
 */
#include "commands.h"
#include "nodes.h"
#include "patience.h"
#include "replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 3000, LEN = 50, DEAD = 1, LATE_MS = 20000 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3,
					       .partial = true };

	return rbt_nodes_open(state, &o);
}

/* Nobody will take the dead node's place, so it is not waited for. */
static rb_options hasty(size_t chunk_keys, size_t window)
{
	rb_options o = rbt_options(chunk_keys, window);

	o.failover_ms = 300;
	return o;
}

static rbt_nodes *use_hasty(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = hasty(0, 0);

	rbt_nodes_client(n, 0, &o);
	return n;
}

/* Which entries were the dead node's, before it died. */
static void list_dead(rbt_nodes *n, bool *dead)
{
	rbt_view view;

	want_done(n, rbt_cluster_view(n->cluster, 0, &view));
	for (size_t i = 0; i < n->keys.n; i++)
		dead[i] = view.owner[rbt_slot_of(n->keys.keys[i],
						 n->keys.lens[i])] == DEAD;
}

static size_t count_others(const rbt_nodes *n, const bool *dead)
{
	size_t fine = 0;

	for (size_t i = 0; i < n->keys.n; i++)
		fine += !dead[i] && rb_result_status(n->res, i) == RB_OK;
	return fine;
}

static size_t count_dead(const rbt_nodes *n, const bool *dead)
{
	size_t count = 0;

	for (size_t i = 0; i < n->keys.n; i++)
		count += dead[i];
	return count;
}

/* A failure that says so: the value of the dead is never nil, unless it had
 * answered before it died. */
static void want_lost(const rbt_nodes *n, size_t i)
{
	rb_status status = rb_result_status(n->res, i);
	rb_outcome outcome = rb_result_outcome(n->res, i);

	assert_int_not_equal(status, RB_OK);
	assert_true(outcome == RB_NOT_SENT || outcome == RB_UNKNOWN);
	want_failed(n->res, i, status, outcome);
}

static void want_others_read(rbt_nodes *n, const bool *dead)
{
	for (size_t i = 0; i < n->keys.n; i++)
		if (dead[i])
			want_lost(n, i);
		else
			want_filled(n->res, i, LEN, i);
	assert_int_equal(rb_result_failed(n->res), count_dead(n, dead));
	want_covered(n);
}

static void want_ended(const rbt_nodes *n, rb_status status)
{
	if (status != RB_ERR_PARTIAL && status != RB_ERR_TIMEOUT)
		fail_msg("%s: %s", rb_status_text(status),
			 rb_client_error(n->rb));
	assert_int_not_equal(rb_client_error(n->rb)[0], '\0');
}

/* ------------------------------------------------------------- the dead -- */

static void test_a_dead_node_takes_only_its_own_with_it(void **state)
{
	rbt_nodes *n = use_hasty(state);
	rb_options o = hasty(0, 0);
	bool dead[KEYS];

	o.timeout_ms = 0;
	rbt_nodes_client(n, 0, &o);
	rbt_nodes_load(n, "key:", KEYS, 1, LEN);
	list_dead(n, dead);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	rbt_cluster_kill(n->cluster, DEAD);
	for (int turn = 0; turn < 2; turn++) {
		want_status(n->rb, rbt_nodes_read(n, NULL), RB_ERR_PARTIAL);
		want_others_read(n, dead);
		/* A client that knows nothing yet fares no worse. */
		rbt_nodes_client(n, 0, &o);
	}
}

static void test_a_deadline_does_not_change_that(void **state)
{
	rbt_nodes *n = use_hasty(state);
	rb_options o = hasty(0, 0);
	bool dead[KEYS];
	unsigned ms = 0;

	rbt_nodes_load(n, "key:", KEYS, 1, LEN);
	list_dead(n, dead);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	rbt_cluster_kill(n->cluster, DEAD);
	do {
		o.timeout_ms = rbt_more_patience(&ms);
		want_ended(n, rbt_nodes_read(n, &o));
	} while (count_others(n, dead) < KEYS - count_dead(n, dead));
	want_others_read(n, dead);
}

static void test_writes_to_the_dead_are_not_sent(void **state)
{
	rbt_nodes *n = use_hasty(state);
	bool dead[KEYS];
	rbt_pairs p;

	rbt_nodes_load(n, "key:", KEYS, 0, LEN);
	list_dead(n, dead);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	rbt_cluster_kill(n->cluster, DEAD);
	rbt_pairs_init(&p, "key:", KEYS, LEN);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				    p.lens, KEYS, NULL, &n->res),
		    RB_ERR_PARTIAL);
	rbt_pairs_fini(&p);
	for (size_t i = 0; i < KEYS; i++)
		if (dead[i])
			want_lost(n, i);
		else
			want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_ERR_PARTIAL);
	want_others_read(n, dead);
}

static void test_a_node_that_came_back_is_dialled_anew(void **state)
{
	rbt_nodes *n = use_hasty(state);
	bool dead[KEYS];

	rbt_nodes_load(n, "key:", KEYS, 1, LEN);
	list_dead(n, dead);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	rbt_cluster_kill(n->cluster, DEAD);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_ERR_PARTIAL);
	want_done(n, rbt_cluster_restart(n->cluster, DEAD));
	want_done(n, rbt_cluster_await_ok(n->cluster, LATE_MS));
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	/* It kept nothing. */
	for (size_t i = 0; i < KEYS; i++)
		if (dead[i])
			want_nil(n->res, i);
		else
			want_filled(n->res, i, LEN, i);
}

static void test_without_any_node_nothing_is_nil(void **state)
{
	rbt_nodes *n = use_hasty(state);
	rb_status status;

	rbt_nodes_load(n, "key:", 100, 1, LEN);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	for (size_t i = 0; i < 3; i++)
		rbt_cluster_kill(n->cluster, i);
	status = rbt_nodes_read(n, NULL);
	assert_int_not_equal(status, RB_OK);
	assert_int_not_equal(rb_client_error(n->rb)[0], '\0');
	for (size_t i = 0; i < rb_result_count(n->res); i++)
		want_lost(n, i);
}

/* ------------------------------------------------------------- the dying -- */

typedef struct blow {
	rbt_nodes *n;
	void (*strike)(rbt_nodes *n);
	size_t at, seen;
} blow;

static int strike(void *arg, const rb_chunk *chunk)
{
	blow *b = arg;

	(void)chunk;
	if (++b->seen == b->at)
		b->strike(b->n);
	return 0;
}

static void kill_one(rbt_nodes *n)
{
	rbt_cluster_kill(n->cluster, DEAD);
}

static void drop_connections(rbt_nodes *n)
{
	rbt_cluster_do_all(n->cluster, "CLIENT KILL TYPE normal SKIPME yes");
}

static blow strike_amid(rbt_nodes *n, void (*how)(rbt_nodes *n), rb_options *o)
{
	blow b = { n, how, 5, 0 };

	*o = hasty(50, 2);
	o->on_chunk = strike;
	return b;
}

static void test_a_node_that_dies_amid_reads_loses_what_is_left(void **state)
{
	rbt_nodes *n = use_hasty(state);
	bool dead[KEYS];
	rb_options o;
	blow b = strike_amid(n, kill_one, &o);

	o.on_chunk_arg = &b;
	rbt_nodes_load(n, "key:", KEYS, 1, LEN);
	list_dead(n, dead);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_ERR_PARTIAL);
	for (size_t i = 0; i < KEYS; i++)
		if (dead[i] && rb_result_status(n->res, i) != RB_OK)
			want_lost(n, i);
		else
			want_filled(n->res, i, LEN, i);
	assert_int_equal(count_others(n, dead), KEYS - count_dead(n, dead));
	want_covered(n);
}

static void test_writes_to_a_dying_node_are_lost_or_in_doubt(void **state)
{
	rbt_nodes *n = use_hasty(state);
	bool dead[KEYS];
	rb_options o;
	blow b = strike_amid(n, kill_one, &o);
	rbt_pairs p;

	o.on_chunk_arg = &b;
	rbt_nodes_load(n, "key:", KEYS, 0, LEN);
	list_dead(n, dead);
	rbt_pairs_init(&p, "key:", KEYS, LEN);
	want_status(n->rb,
		    rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				    p.lens, KEYS, &o, &n->res),
		    RB_ERR_PARTIAL);
	rbt_pairs_fini(&p);
	for (size_t i = 0; i < KEYS; i++)
		if (dead[i] && rb_result_status(n->res, i) != RB_OK)
			want_lost(n, i);
		else
			want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_ERR_PARTIAL);
	want_others_read(n, dead);
}

static void test_connections_that_are_dropped_are_made_anew(void **state)
{
	rbt_nodes *n = use_hasty(state);
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_options o;
	blow b = strike_amid(n, drop_connections, &o);

	o.on_chunk_arg = &b;
	rbt_nodes_load(n, "key:", KEYS, 2, LEN);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 2, LEN);
	want_covered(n);
	assert_int_equal(rb_result_stats(n->res, &stats), RB_OK);
	assert_in_range(stats.reconnects, 1, 6);
}

/* ------------------------------------------------------------ the frozen -- */

static void test_a_frozen_node_holds_only_its_own_up(void **state)
{
	rbt_nodes *n = use_hasty(state);
	rb_options o = hasty(0, 0);
	bool dead[KEYS];
	unsigned ms = 0;

	rbt_nodes_load(n, "key:", KEYS, 1, LEN);
	list_dead(n, dead);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	do {
		rbt_cluster_freeze(n->cluster, DEAD);
		o.timeout_ms = rbt_more_patience(&ms);
		want_ended(n, rbt_nodes_read(n, &o));
		rbt_cluster_thaw(n->cluster, DEAD);
	} while (count_others(n, dead) < KEYS - count_dead(n, dead));
	want_others_read(n, dead);
	want_done(n, rbt_cluster_await_ok(n->cluster, LATE_MS));
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 1, LEN);
}

static void test_a_client_finds_its_way_past_a_frozen_seed(void **state)
{
	static const char *key = "foo";
	rbt_nodes *n = use_hasty(state);
	rb_options o = rbt_options(0, 0);
	unsigned ms = 0;
	rb_status status;

	/* foo is on the last node. */
	rbt_nodes_set(n, key, "bar");
	do {
		o.timeout_ms = rbt_more_patience(&ms);
		o.connect_timeout_ms = o.timeout_ms / 4;
		rbt_nodes_client(n, 0, &o);
		rbt_cluster_freeze(n->cluster, 0);
		rbt_nodes_drop(n);
		status = rb_mget_chunked(n->rb, &key, NULL, 1, NULL, &n->res);
		rbt_cluster_thaw(n->cluster, 0);
	} while (status == RB_ERR_TIMEOUT);
	want_status(n->rb, status, RB_OK);
	want_text(n->res, 0, "bar");
}

/* ---------------------------------------------------------------- streams -- */

typedef struct flow {
	const rbt_keys *keys;
	const bool *dead;
	size_t given, taken, failed;
} flow;

static int next_key(void *arg, rb_slice *key)
{
	flow *f = arg;

	if (f->given == f->keys->n)
		return 0;
	key->data = f->keys->keys[f->given];
	key->len = f->keys->lens[f->given++];
	return 1;
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	flow *f = arg;

	(void)keys;
	assert_int_equal(first, f->taken);
	for (size_t i = 0; i < n; i++, f->taken++) {
		assert_int_equal(statuses[i] != RB_OK, f->dead[f->taken]);
		f->failed += statuses[i] != RB_OK;
		if (statuses[i] == RB_OK)
			assert_true(rbt_value_is(values[i].data, values[i].len,
						 LEN, f->taken));
		else
			assert_null(values[i].data);
	}
	return 0;
}

static void test_a_stream_hands_over_what_the_dead_had_as_lost(void **state)
{
	rbt_nodes *n = use_hasty(state);
	bool dead[KEYS];
	flow f = { .keys = &n->keys, .dead = dead };

	rbt_nodes_load(n, "key:", KEYS, 1, LEN);
	list_dead(n, dead);
	want_status(n->rb, rb_client_connect(n->rb), RB_OK);
	rbt_cluster_kill(n->cluster, DEAD);
	want_status(n->rb,
		    rb_mget_stream(n->rb, next_key, &f, take, &f, NULL, NULL),
		    RB_ERR_PARTIAL);
	assert_int_equal(f.taken, KEYS);
	assert_int_equal(f.failed, count_dead(n, dead));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_a_dead_node_takes_only_its_own_with_it),
		RBT_NODES(test_a_deadline_does_not_change_that),
		RBT_NODES(test_writes_to_the_dead_are_not_sent),
		RBT_NODES(test_a_node_that_came_back_is_dialled_anew),
		RBT_NODES(test_without_any_node_nothing_is_nil),
		RBT_NODES(test_a_node_that_dies_amid_reads_loses_what_is_left),
		RBT_NODES(test_writes_to_a_dying_node_are_lost_or_in_doubt),
		RBT_NODES(test_connections_that_are_dropped_are_made_anew),
		RBT_NODES(test_a_frozen_node_holds_only_its_own_up),
		RBT_NODES(test_a_client_finds_its_way_past_a_frozen_seed),
		RBT_NODES(test_a_stream_hands_over_what_the_dead_had_as_lost),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

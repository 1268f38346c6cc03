/*
 * What a call over several nodes says of itself: reports, sums, and how it is
 * ended from outside.
 */
#include "cluster_make.h"
#include "cluster_slots.h"
#include "commands.h"
#include "nodes.h"
#include "replies.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 10000 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

/* Reports as they came. */
typedef struct watcher {
	size_t calls, entries;
	size_t stop_at; /* the call at which it asks to stop; 0: never */
	unsigned char seen[KEYS];
	rb_client *to_cancel;
} watcher;

static int watch(void *arg, const rb_chunk *chunk)
{
	watcher *w = arg;

	assert_non_null(chunk->entries);
	assert_true(chunk->count > 0);
	assert_true(chunk->attempts > 0);
	assert_int_equal(strncmp(chunk->node, "127.0.0.1:", 10), 0);
	for (size_t i = 0; i < chunk->count; i++) {
		assert_in_range(chunk->entries[i], 0, KEYS - 1);
		assert_int_equal(w->seen[chunk->entries[i]]++, 0);
	}
	w->entries += chunk->count;
	w->calls++;
	if (w->calls == w->stop_at && w->to_cancel)
		rb_client_cancel(w->to_cancel);
	return w->calls == w->stop_at && !w->to_cancel ? -1 : 0;
}

static rb_stats stats_of(const rbt_nodes *n)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(n->res, &stats), RB_OK);
	return stats;
}

/* Each entry is in the report of the node that owns its key. */
static void want_owners(rbt_nodes *n)
{
	rbt_view view;

	want_done(n, rbt_cluster_view(n->cluster, 0, &view));
	for (size_t i = 0; i < rb_result_chunks(n->res); i++) {
		const rb_chunk *chunk = rb_result_chunk(n->res, i);
		const char *colon = strrchr(chunk->node, ':');
		size_t node;

		assert_non_null(colon);
		node = rbt_cluster_at_port(n->cluster, atoi(colon + 1));
		for (size_t k = 0; k < chunk->count; k++) {
			size_t e = chunk->entries[k];

			assert_int_equal(
				view.owner[rbt_slot_of(n->keys.keys[e],
						       n->keys.lens[e])],
				node);
		}
	}
}

static void test_reports_name_the_node_of_each_entry(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", KEYS, 2, 20);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_covered(n);
	want_owners(n);
	for (size_t i = 0; i < rb_result_chunks(n->res); i++) {
		const rb_chunk *chunk = rb_result_chunk(n->res, i);

		assert_int_equal(chunk->status, RB_OK);
		assert_int_equal(chunk->outcome, RB_ANSWERED);
		assert_int_equal(chunk->attempts, 1);
		assert_true(chunk->request_bytes > 0);
		assert_true(chunk->reply_bytes > 0);
		assert_true(chunk->elapsed_us > 0);
	}
}

static void test_each_report_is_told_once(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	watcher w;

	memset(&w, 0, sizeof(w));
	o.on_chunk = watch;
	o.on_chunk_arg = &w;
	rbt_nodes_load(n, "key:", KEYS, 2, 20);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	assert_int_equal(w.entries, KEYS);
	assert_int_equal(w.calls, rb_result_chunks(n->res));
}

static void test_sums_agree_with_the_nodes(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	uint64_t request = 0, reply = 0;
	rb_stats stats;

	rbt_nodes_load(n, "key:", KEYS, 2, 20);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	rbt_nodes_reset_stats(n);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	stats = stats_of(n);
	assert_int_equal(stats.keys, KEYS);
	assert_int_equal(stats.commands,
			 rbt_cluster_calls(n->cluster, "mget") +
				 rbt_cluster_calls(n->cluster, "get"));
	for (size_t i = 0; i < rb_result_chunks(n->res); i++) {
		request += rb_result_chunk(n->res, i)->request_bytes;
		reply += rb_result_chunk(n->res, i)->reply_bytes;
	}
	assert_int_equal(stats.request_bytes, request);
	assert_int_equal(stats.reply_bytes, reply);
	assert_int_equal(stats.redirects, 0);
	assert_int_equal(stats.reconnects, 0);
	assert_int_equal(stats.retries, 0);
	assert_true(stats.round_trips > 0);
}

/* --------------------------------------------------------------- stopping -- */

/* Values, or entries that were not sent, or that nobody awaited. */
static void want_values_or_failures(rbt_nodes *n, size_t least)
{
	size_t fine = 0;

	for (size_t i = 0; i < KEYS; i++) {
		if (rb_result_status(n->res, i) == RB_OK) {
			if (i % 2)
				want_nil(n->res, i);
			else
				want_filled(n->res, i, 20, i);
			fine++;
			continue;
		}
		want_failed(n->res, i, rb_result_status(n->res, i),
			    rb_result_outcome(n->res, i));
		assert_int_not_equal(rb_result_outcome(n->res, i), RB_ANSWERED);
	}
	assert_in_range(fine, least, KEYS - 1);
	want_covered(n);
}

static void test_a_callback_stops_all_nodes(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(50, 2);
	watcher w;

	memset(&w, 0, sizeof(w));
	w.stop_at = 3;
	o.on_chunk = watch;
	o.on_chunk_arg = &w;
	rbt_nodes_load(n, "key:", KEYS, 2, 20);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_ERR_CANCELLED);
	assert_int_equal(w.calls, 3);
	want_values_or_failures(n, w.entries);
	for (size_t i = 0; i < KEYS; i++)
		if (rb_result_status(n->res, i) != RB_OK)
			assert_int_equal(rb_result_outcome(n->res, i),
					 RB_NOT_SENT);
	/* What was in flight was awaited: nothing has to be dialled anew. */
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 20);
	assert_int_equal(stats_of(n).reconnects, 0);
}

static void test_cancelling_ends_the_call_on_all_nodes(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(50, 2);
	watcher w;

	memset(&w, 0, sizeof(w));
	w.stop_at = 3;
	w.to_cancel = n->rb;
	o.on_chunk = watch;
	o.on_chunk_arg = &w;
	rbt_nodes_load(n, "key:", KEYS, 2, 20);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_ERR_CANCELLED);
	want_values_or_failures(n, 1);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 20);
}

static void test_cancelling_ahead_ends_the_next_call(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	rbt_nodes_load(n, "key:", 100, 2, 20);
	rb_client_cancel(n->rb);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_ERR_CANCELLED);
	assert_int_equal(rbt_cluster_calls(n->cluster, "mget") +
				 rbt_cluster_calls(n->cluster, "get"),
			 0);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_read(n, 2, 20);
}

/* The refused command is the first that its node gets, since it has the first of
 * the slots: the rest of what is for that node is never sent. How far the others
 * have come by then is theirs. */
static void test_an_error_may_stop_the_rest(void **state)
{
	enum { CHUNK = 10, REFUSED = 5, N = 3000 };
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(CHUNK, 1);
	rbt_commands c;
	unsigned first, last;
	size_t skipped;
	size_t there = 0;
	char name[16];
	char tag[32];

	o.flags = RB_STOP_ON_ERROR;
	rbt_slot_tag(0, tag, sizeof(tag));
	rbt_cluster_share(0, 3, &first, &last);
	rbt_commands_init(&c);
	for (int i = 0; i < N; i++) {
		int len = snprintf(name, sizeof(name), "k%d", i);

		there += i != REFUSED && rbt_slot_of(name, (size_t)len) <= last;
		if (i == REFUSED)
			rbt_commands_add(&c, "NOSUCH %s", tag);
		else
			rbt_commands_add(&c, "SET k%d v", i);
	}
	want_status(n->rb, rb_pipeline_chunked(n->rb, c.list, c.n, &o, &n->res),
		    RB_ERR_PARTIAL);
	rbt_commands_fini(&c);
	want_refused(n->res, REFUSED, "unknown command");
	skipped = rbt_count_status(n->res, RB_ERR_SKIPPED);
	assert_in_range(skipped, there - CHUNK, N - 1);
	assert_int_equal(rb_result_failed(n->res), skipped + 1);
	assert_int_equal(rbt_cluster_calls(n->cluster, "set"), N - 1 - skipped);
	want_covered(n);
}

/* ------------------------------------------------------------------ pacing -- */

static void test_the_pace_holds_for_all_nodes_together(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(10, 0);
	uint64_t start, took_us, least_us;

	o.commands_per_second = 2000;
	rbt_nodes_load(n, "key:", 1200, 2, 20);
	want_status(n->rb, rb_client_connect(n->rb), RB_OK);
	start = rbt_now_us();
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	took_us = rbt_now_us() - start;
	want_read(n, 2, 20);
	/* Half a thousandth of a second each, but for a burst at every node. */
	least_us = (stats_of(n).commands - 40) * 500;
	assert_true(took_us >= least_us);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_reports_name_the_node_of_each_entry),
		RBT_NODES(test_each_report_is_told_once),
		RBT_NODES(test_sums_agree_with_the_nodes),
		RBT_NODES(test_a_callback_stops_all_nodes),
		RBT_NODES(test_cancelling_ends_the_call_on_all_nodes),
		RBT_NODES(test_cancelling_ahead_ends_the_next_call),
		RBT_NODES(test_an_error_may_stop_the_rest),
		RBT_NODES(test_the_pace_holds_for_all_nodes_together),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}

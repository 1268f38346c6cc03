/*
 * Reports of chunks, on_chunk, cancelling, and what a call cost.
 */
#include "live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What on_chunk was told. */
typedef struct told {
	size_t calls;
	size_t entries;
	size_t request_bytes;
	size_t reply_bytes;
	size_t wrong; /* reports that cannot be */
	size_t cancel_at;
} told;

static int tell(void *arg, const rb_chunk *chunk)
{
	told *t = arg;

	t->wrong += chunk->first != t->entries || chunk->status != RB_OK ||
		    chunk->outcome != RB_ANSWERED || chunk->attempts != 1 ||
		    chunk->message[0] != '\0' || chunk->node[0] == '\0';
	t->calls++;
	t->entries += chunk->count;
	t->request_bytes += chunk->request_bytes;
	t->reply_bytes += chunk->reply_bytes;
	return t->calls == t->cancel_at ? -1 : 0;
}

static rb_options telling(told *t, size_t chunk_keys, size_t window)
{
	rb_options o = rbt_options(chunk_keys, window);

	memset(t, 0, sizeof(*t));
	o.on_chunk = tell;
	o.on_chunk_arg = t;
	return o;
}

static void test_each_chunk_is_told_once_and_in_order(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_stats stats = { .struct_size = sizeof(stats) };
	told t;
	rb_options o = telling(&t, 30, 4);

	rbt_live_load(live, 1000, 20);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	assert_int_equal(t.wrong, 0);
	assert_int_equal(t.calls, 34);
	assert_int_equal(t.entries, 1000);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(t.request_bytes, stats.request_bytes);
	assert_int_equal(t.reply_bytes, stats.reply_bytes);
}

static void test_the_reports_measure_the_answers_exactly(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 0);
	/* "*2" and "$3", each with its end of line, and the values. */
	const size_t sizes[] = { 4 + 2 * (4 + 3 + 2), 4 + 4 + 3 + 2 + 5 };

	rbt_live_load(live, 4, 3);
	rbt_do(live->admin, "DEL %s", live->keys.keys[3]);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		const rb_chunk *chunk = rb_result_chunk(live->res, i);

		assert_int_equal(chunk->reply_bytes, sizes[i]);
		assert_int_equal(chunk->status, RB_OK);
		assert_int_equal(chunk->outcome, RB_ANSWERED);
		assert_int_equal(chunk->attempts, 1);
		assert_in_range(chunk->elapsed_us, 1, 60000000);
	}
	want_sound(live->res);
}

static void test_the_node_is_where_the_context_went(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char node[64];

	rbt_live_load(live, 1, 3);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	assert_string_equal(rb_result_chunk(live->res, 0)->node,
			    rbt_server_socket(live->server));
	rbt_live_wrap(live, rbt_live_tcp(live), NULL);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	snprintf(node, sizeof(node), "127.0.0.1:%d",
		 rbt_server_port(live->server));
	assert_string_equal(rb_result_chunk(live->res, 0)->node, node);
}

/* ----------------------------------------------------------- cancelling -- */

static void test_cancelling_awaits_what_is_in_flight(void **state)
{
	static const size_t windows[] = { 1, 2, 5 };
	rbt_live *live = rbt_live_use(state);
	told t;

	rbt_live_load(live, 200, 20);
	for (size_t i = 0; i < COUNT(windows); i++) {
		rb_options o = telling(&t, 10, windows[i]);
		size_t sent;

		t.cancel_at = 3;
		rbt_do(live->admin, "CONFIG RESETSTAT");
		want_status(live->rb, rbt_live_read(live, &o),
			    RB_ERR_CANCELLED);
		sent = 10 * (size_t)rbt_live_calls(live, "mget");
		assert_in_range(sent, 30, 10 * (2 + windows[i]));
		for (size_t k = 0; k < sent; k++)
			want_filled(live->res, k, 20, k);
		for (size_t k = sent; k < 200; k++)
			want_failed(live->res, k, RB_ERR_SKIPPED, RB_NOT_SENT);
		want_sound(live->res);
		assert_string_not_equal(rb_client_error(live->rb), "");
		rbt_want_pong(live->ctx);
	}
}

static void test_cancelling_at_the_last_chunk_is_cancelling(void **state)
{
	rbt_live *live = rbt_live_use(state);
	told t;
	rb_options o = telling(&t, 10, 1);

	t.cancel_at = 2;
	rbt_live_load(live, 20, 20);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_CANCELLED);
	for (size_t k = 0; k < 20; k++)
		want_filled(live->res, k, 20, k);
	assert_int_equal(rb_result_failed(live->res), 0);
	rbt_want_pong(live->ctx);
}

static void test_a_client_reads_on_after_a_cancelled_call(void **state)
{
	rbt_live *live = rbt_live_use(state);
	told t;
	rb_options o = telling(&t, 10, 4);

	t.cancel_at = 1;
	rbt_live_load(live, 100, 20);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_CANCELLED);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, 100, 20);
}

/* --------------------------------------------------------------- stats -- */

static void test_round_trips_are_chunks_over_the_window(void **state)
{
	static const struct {
		size_t window, trips;
	} rows[] = { { 1, 100 }, { 2, 50 }, { 3, 34 }, { 4, 25 }, { 100, 1 } };
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 1000, 20);
	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(10, rows[i].window);
		rb_stats stats = { .struct_size = sizeof(stats) };

		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
		assert_int_equal(stats.commands, 100);
		assert_int_equal(stats.round_trips, rows[i].trips);
		assert_int_equal(stats.retries, 0);
		assert_int_equal(stats.reconnects, 0);
	}
}

static void test_stats_fit_the_structure_of_the_caller(void **state)
{
	rbt_live *live = rbt_live_use(state);
	struct {
		rb_stats known;
		size_t later[2];
	} large;
	rb_stats stats = { 0 };

	rbt_live_load(live, 10, 20);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(stats.keys, 10);
	memset(&large, 0x5a, sizeof(large));
	large.known.struct_size = sizeof(large);
	assert_int_equal(rb_result_stats(live->res, &large.known), RB_OK);
	assert_int_equal(large.known.keys, 10);
	stats.struct_size = sizeof(size_t);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_ERR_INVALID);
	assert_int_equal(rb_result_stats(NULL, &stats), RB_ERR_INVALID);
	assert_int_equal(rb_result_stats(live->res, NULL), RB_ERR_INVALID);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_each_chunk_is_told_once_and_in_order),
		RBT_LIVE(test_the_reports_measure_the_answers_exactly),
		RBT_LIVE(test_the_node_is_where_the_context_went),
		RBT_LIVE(test_cancelling_awaits_what_is_in_flight),
		RBT_LIVE(test_cancelling_at_the_last_chunk_is_cancelling),
		RBT_LIVE(test_a_client_reads_on_after_a_cancelled_call),
		RBT_LIVE(test_round_trips_are_chunks_over_the_window),
		RBT_LIVE(test_stats_fit_the_structure_of_the_caller),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

/*
 * Reads over connections that end in the middle of the call, by clients that
 * connect by themselves.
 */
#include "store.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of a test at a time; the peer of the one before has stopped by then. */
static rbt_store store;

static void begin(rbt_scene *s, rbt_store with, const rb_options *o)
{
	rbt_scene_rest(s);
	store = with;
	rbt_store_open(&store, s, o);
}

/* Ends the peer, and says how many connections it had. */
static size_t connections(rbt_scene *s)
{
	size_t n = rbt_peer_connections(s->peer);

	rbt_scene_rest(s);
	return n;
}

static rb_stats stats_of(const rb_result *res)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(res, &stats), RB_OK);
	return stats;
}

/* --------------------------------------------------- every byte of them -- */

static const struct {
	size_t n, value_len, chunk_keys, window;
} shapes[] = {
	{ 5, 3, 5, 1 },	 { 5, 3, 2, 3 }, { 4, 0, 1, 4 },
	{ 3, 12, 3, 1 }, { 9, 2, 3, 0 },
};

static void read_cut_at(rbt_scene *s, size_t row, size_t at, size_t of)
{
	size_t budgets[] = { at };
	rb_options o = rbt_options(shapes[row].chunk_keys, shapes[row].window);
	rbt_store with = { .nkeys = shapes[row].n,
			   .value_len = shapes[row].value_len,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = 1 };

	begin(s, with, &o);
	want_status(s->rb, rbt_scene_read(s, shapes[row].n, &o), RB_OK);
	want_loaded(s->res, shapes[row].n, shapes[row].value_len);
	want_sound(s->res);
	if (at < of) {
		assert_int_equal(stats_of(s->res).reconnects, 1);
		assert_int_equal(connections(s), 2);
	}
	rbt_scene_rest(s);
	assert_int_equal(store.again, 0);
	assert_int_equal(store.logins, store.selects);
	store.budgets = NULL;
}

static void test_a_connection_may_end_at_each_byte_of_the_answers(void **state)
{
	rbt_scene *s = rbt_scene_use(state);

	for (size_t row = 0; row < COUNT(shapes); row++) {
		rbt_store like = { .value_len = shapes[row].value_len };
		size_t chunk = shapes[row].chunk_keys, left = shapes[row].n;
		size_t end = RBT_STORE_GREETING;

		for (; left > 0; left -= left < chunk ? left : chunk)
			end += rbt_store_reply_size(
				&like, left < chunk ? left : chunk);
		for (size_t at = RBT_STORE_GREETING; at <= end; at++)
			read_cut_at(s, row, at, end);
	}
}

/* The answers to AUTH and SELECT of the second one: 10 bytes, and then on. */
static void test_the_new_connection_may_end_as_well(void **state)
{
	rb_options o = rbt_options(4, 1);
	rbt_scene *s = rbt_scene_use(state);

	for (size_t at = 0; at <= 30; at += 3) {
		size_t budgets[] = { RBT_STORE_GREETING + 20, at };
		rbt_store with = { .nkeys = 8,
				   .value_len = 4,
				   .closed = true,
				   .budgets = budgets,
				   .nbudgets = 2 };

		begin(s, with, &o);
		want_status(s->rb, rbt_scene_read(s, 8, &o), RB_OK);
		want_loaded(s->res, 8, 4);
		assert_int_equal(connections(s), 3);
		assert_int_equal(store.again, 0);
		store.budgets = NULL;
	}
}

static void test_a_reset_is_as_good_as_an_end(void **state)
{
	rb_options o = rbt_options(3, 2);
	rbt_scene *s = rbt_scene_use(state);

	for (size_t at = 10; at < 60; at += 7) {
		size_t budgets[] = { at };
		rbt_store with = { .nkeys = 12,
				   .value_len = 4,
				   .closed = true,
				   .budgets = budgets,
				   .nbudgets = 1,
				   .ending = RBT_THEN_RESET };

		begin(s, with, &o);
		want_status(s->rb, rbt_scene_read(s, 12, &o), RB_OK);
		want_loaded(s->res, 12, 4);
		assert_int_equal(connections(s), 2);
		store.budgets = NULL;
	}
}

/* ------------------------------------------------------------ the bounds -- */

static void test_an_entry_is_sent_no_more_often_than_asked_for(void **state)
{
	static const uint32_t attempts[] = { 1, 2, 3, 4 };
	static const size_t budgets[] = { 11, 11, 11, 11, 11, 11 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(attempts); i++) {
		rb_options o = rbt_options(0, 1);
		rbt_store with = { .nkeys = 3,
				   .value_len = 4,
				   .closed = true,
				   .budgets = budgets,
				   .nbudgets = COUNT(budgets) };
		rb_stats stats;

		o.attempts = attempts[i];
		begin(s, with, &o);
		want_status(s->rb, rbt_scene_read(s, 3, &o), RB_ERR_IO);
		want_words(rb_client_error(s->rb), "127.0.0.1:");
		want_words(rb_client_error(s->rb), "closed the connection");
		want_sound(s->res);
		stats = stats_of(s->res);
		assert_int_equal(stats.reconnects, attempts[i] - 1);
		assert_int_equal(connections(s), attempts[i]);
		assert_int_equal(store.logins, attempts[i]);
		assert_int_equal(store.asked[0], attempts[i]);
		for (size_t k = 0; k < 3; k++)
			want_failed(s->res, k, RB_ERR_IO, RB_UNKNOWN);
	}
}

static void test_a_failure_says_how_often_it_was_sent(void **state)
{
	static const size_t budgets[] = { 11, 11, 11, 11 };
	rb_options o = rbt_options(0, 1);
	rbt_store with = { .nkeys = 1,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = COUNT(budgets) };
	rbt_scene *s = rbt_scene_use(state);

	begin(s, with, &o);
	want_status(s->rb, rbt_scene_read(s, 1, &o), RB_ERR_IO);
	want_failed(s->res, 0, RB_ERR_IO, RB_UNKNOWN);
	assert_int_equal(rb_result_chunk(s->res, 0)->attempts, 3);
	rbt_scene_rest(s);
}

/* One answer each: the bound is on connections that bring nothing. */
static void test_connections_that_bring_something_are_not_counted(void **state)
{
	enum { N = 20 };
	size_t budgets[N];
	rb_options o = rbt_options(1, 1);
	rbt_store with = { .nkeys = N,
			   .value_len = 4,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = N };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < N; i++)
		budgets[i] =
			RBT_STORE_GREETING + rbt_store_reply_size(&with, 1);
	begin(s, with, &o);
	want_status(s->rb, rbt_scene_read(s, N, &o), RB_OK);
	want_loaded(s->res, N, 4);
	assert_int_equal(stats_of(s->res).reconnects, N - 1);
	assert_int_equal(connections(s), N);
	assert_int_equal(store.again, 0);
	store.budgets = NULL;
}

static void test_what_was_sent_again_is_counted(void **state)
{
	rbt_store with = { .nkeys = 4, .value_len = 4, .closed = true };
	size_t budgets[] = { RBT_STORE_GREETING +
			     rbt_store_reply_size(&with, 2) };
	rb_options o = rbt_options(2, 1);
	rb_stats stats;
	rbt_scene *s = rbt_scene_use(state);

	/* Whether the second chunk had been sent when the first connection
	 * ended is not for us to say; that it was, once the first byte of its
	 * answer has come. */
	budgets[0]++;
	with.budgets = budgets;
	with.nbudgets = 1;
	begin(s, with, &o);
	want_status(s->rb, rbt_scene_read(s, 4, &o), RB_OK);
	want_loaded(s->res, 4, 4);
	stats = stats_of(s->res);
	assert_int_equal(stats.reconnects, 1);
	assert_int_equal(stats.retries, 1);
	assert_int_equal(stats.commands, 3);
	assert_int_equal(stats.keys, 6);
	assert_int_equal(rb_result_chunks(s->res), 2);
	assert_int_equal(rb_result_chunk(s->res, 0)->attempts, 1);
	assert_int_equal(rb_result_chunk(s->res, 1)->attempts, 2);
	rbt_scene_rest(s);
	assert_int_equal(store.commands, 3);
	store.budgets = NULL;
}

/* A value a connection: some are lost more often than they may be sent. */
static void test_no_entry_is_sent_too_often_whatever_comes(void **state)
{
	enum { M = 20 };
	size_t budgets[3 * M];
	rbt_scene *s = rbt_scene_use(state);

	for (size_t chunk = 1; chunk <= M; chunk += 6) {
		rb_options o = rbt_options(chunk, 4);
		rbt_store with = { .nkeys = M,
				   .value_len = 4,
				   .closed = true,
				   .budgets = budgets,
				   .nbudgets = COUNT(budgets) };

		for (size_t i = 0; i < COUNT(budgets); i++)
			budgets[i] = RBT_STORE_GREETING + 5 + 10 + i % 3;
		begin(s, with, &o);
		if (rbt_scene_read(s, M, &o) != RB_OK)
			assert_int_not_equal(rb_result_failed(s->res), 0);
		want_sound(s->res);
		rbt_scene_rest(s);
		assert_int_equal(store.again, 0);
		for (size_t i = 0; i < M; i++) {
			assert_in_range(store.asked[i], 0, 3);
			if (rb_result_status(s->res, i) == RB_OK)
				want_filled(s->res, i, 4, i);
			else
				assert_null(rb_result_value(s->res, i).data);
			if (store.arrived[i])
				assert_int_equal(rb_result_status(s->res, i),
						 RB_OK);
		}
		store.budgets = NULL;
	}
}

/* What a server that was started anew says for a while. */
static void test_a_new_server_that_is_not_ready_is_awaited(void **state)
{
	static const char *const refusals[] = {
		"-LOADING Redis is loading the dataset in memory\r\n",
		"-MASTERDOWN Link with MASTER is down\r\n",
	};
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(refusals); i++) {
		size_t budgets[] = { RBT_STORE_GREETING + 30 };
		rb_options o = rbt_options(4, 1);
		rbt_store with = { .nkeys = 8,
				   .value_len = 4,
				   .closed = true,
				   .budgets = budgets,
				   .nbudgets = 1,
				   .refusal = refusals[i],
				   .refuse_from = 1,
				   .refusals = 2 };

		begin(s, with, &o);
		want_status(s->rb, rbt_scene_read(s, 8, &o), RB_OK);
		want_loaded(s->res, 8, 4);
		assert_int_equal(stats_of(s->res).reconnects, 1);
		assert_int_equal(connections(s), 2);
		assert_int_equal(store.again, 0);
		store.budgets = NULL;
	}
}

/* The refusal comes before it is asked, or looks like an answer. */
static void test_a_server_without_room_is_no_answer(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("*2\r\n$1\r\na\r\n"),
		RBT_CLOSE,
		RBT_ACCEPT,
		RBT_SEND("-ERR max number of clients reached\r\n"),
		RBT_CLOSE,
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n$1\r\nb\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	for (int i = 0; i < 10; i++) {
		rb_status status;

		rbt_scene_play_own(s, script, "", "", &o);
		status = rbt_scene_read(s, 2, &o);
		want_sound(s->res);
		want_text(s->res, 0, "a");
		if (status == RB_OK) {
			want_text(s->res, 1, "b");
			continue;
		}
		want_words(rb_client_error(s->rb), "max number of clients");
		assert_null(rb_result_value(s->res, 1).data);
	}
}

/* --------------------------------------------------- no other connection -- */

static void test_a_password_that_was_changed_meanwhile_is_said(void **state)
{
	size_t budgets[] = { RBT_STORE_GREETING + 4 + 2 * 10 };
	rb_options o = rbt_options(4, 1);
	rbt_store with = { .nkeys = 4,
			   .value_len = 4,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = 1,
			   .changed_at = 2 };
	rbt_scene *s = rbt_scene_use(state);

	begin(s, with, &o);
	want_status(s->rb, rbt_scene_read(s, 4, &o), RB_ERR_IO);
	want_words(rb_client_error(s->rb), "WRONGPASS");
	want_words(rb_client_error(s->rb), "127.0.0.1:");
	want_no_words(rb_client_error(s->rb), "pw");
	want_sound(s->res);
	/* What had come is kept. */
	want_filled(s->res, 0, 4, 0);
	want_filled(s->res, 1, 4, 1);
	want_failed(s->res, 2, RB_ERR_IO, RB_UNKNOWN);
	want_failed(s->res, 3, RB_ERR_IO, RB_UNKNOWN);
	assert_in_range(connections(s), 2, 3);
	assert_int_equal(store.asked[2], 1);
	store.budgets = NULL;
}

static int stop_peer(void *arg, const rb_chunk *chunk)
{
	(void)chunk;
	rbt_scene_rest(arg);
	return 0;
}

static void test_a_server_that_is_gone_for_good_ends_the_call(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_store with = { .nkeys = 10, .value_len = 4, .closed = true };
	rbt_scene *s = rbt_scene_use(state);

	begin(s, with, &o);
	o.on_chunk = stop_peer;
	o.on_chunk_arg = s;
	want_status(s->rb, rbt_scene_read(s, 10, &o), RB_ERR_IO);
	want_words(rb_client_error(s->rb), "127.0.0.1:");
	want_words(rb_client_error(s->rb), "refused");
	want_sound(s->res);
	want_filled(s->res, 0, 4, 0);
	want_filled(s->res, 1, 4, 1);
	assert_int_equal(rb_result_failed(s->res), 8);
	assert_int_equal(stats_of(s->res).reconnects, 0);
	/* The next call finds it gone as well, before it begins. */
	want_status(s->rb, rbt_scene_read(s, 10, NULL), RB_ERR_CONNECT);
	assert_null(s->res);
}

/* ------------------------------------------------------------ deadlines -- */

static void test_the_deadline_holds_while_connecting_anew(void **state)
{
	size_t budgets[] = { RBT_STORE_GREETING + 14 };
	rb_options o = rbt_options(4, 1);
	rbt_store with = { .nkeys = 4,
			   .value_len = 4,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = 1,
			   .mute_login = 2 };
	uint64_t start;
	rb_status status;
	rbt_scene *s = rbt_scene_use(state);

	o.timeout_ms = 300;
	begin(s, with, &o);
	start = rbt_now_us();
	status = rbt_scene_read(s, 4, &o);
	assert_in_range(rbt_now_us() - start, 280000, 10000000);
	want_status(s->rb, status, RB_ERR_TIMEOUT);
	want_sound(s->res);
	want_filled(s->res, 0, 4, 0);
	want_failed(s->res, 1, RB_ERR_IO, RB_UNKNOWN);
	rbt_scene_rest(s);
	store.budgets = NULL;
}

static void test_the_deadline_holds_between_two_tries(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_store with = { .nkeys = 10, .value_len = 4, .closed = true };
	uint64_t start;
	rb_status status;
	rbt_scene *s = rbt_scene_use(state);

	begin(s, with, &o);
	o.on_chunk = stop_peer;
	o.on_chunk_arg = s;
	o.timeout_ms = 500;
	o.attempts = 1000000;
	start = rbt_now_us();
	status = rbt_scene_read(s, 10, &o);
	assert_in_range(rbt_now_us() - start, 480000, 10000000);
	want_status(s->rb, status, RB_ERR_TIMEOUT);
	want_sound(s->res);
	want_filled(s->res, 1, 4, 1);
	assert_int_equal(rb_result_failed(s->res), 8);
}

static void test_a_silent_handshake_counts_as_a_try(void **state)
{
	size_t budgets[] = { RBT_STORE_GREETING + 14 };
	rb_options o = rbt_options(4, 1);
	rbt_store with = { .nkeys = 4,
			   .value_len = 4,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = 1,
			   .mute_login = 2 };
	rbt_scene *s = rbt_scene_use(state);

	o.connect_timeout_ms = 400;
	begin(s, with, &o);
	want_status(s->rb, rbt_scene_read(s, 4, &o), RB_OK);
	want_loaded(s->res, 4, 4);
	assert_int_equal(stats_of(s->res).reconnects, 1);
	assert_int_equal(connections(s), 3);
	store.budgets = NULL;
}

/* ---------------------------------------------------------------- nodes -- */

static void test_reports_name_the_node(void **state)
{
	size_t budgets[] = { RBT_STORE_GREETING + 24 };
	rb_options o = rbt_options(1, 1);
	rbt_store with = { .nkeys = 6,
			   .value_len = 4,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = 1 };
	rbt_scene *s = rbt_scene_use(state);

	begin(s, with, &o);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_OK);
	for (size_t i = 0; i < rb_result_chunks(s->res); i++) {
		const char *node = rb_result_chunk(s->res, i)->node;

		assert_true(strncmp(node, "127.0.0.1:", 10) == 0);
		assert_non_null(strstr(s->uri, node));
	}
	assert_string_equal(rb_client_error(s->rb), "");
	rbt_scene_rest(s);
	store.budgets = NULL;
}

/* ------------------------------------------------------------- streams -- */

typedef struct flow {
	const rbt_keys *keys;
	size_t given, taken, value_len;
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

	assert_int_equal(first, f->taken);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(statuses[i], RB_OK);
		assert_int_equal(keys[i].len, f->keys->lens[first + i]);
		assert_memory_equal(keys[i].data, f->keys->keys[first + i],
				    keys[i].len);
		assert_true(rbt_value_is(values[i].data, values[i].len,
					 f->value_len, first + i));
	}
	f->taken += n;
	return 0;
}

/* 20 MB in all, over connections that end in the middle of chunks. */
static void test_a_stream_goes_on_over_new_connections(void **state)
{
	enum { N = RBT_STORE_KEYS, MOST = 8 * 1024 * 1024 };
	static const size_t budgets[] = { 1500000, 999999,  1234567, 100001,
					  2500000, 3333333, 70001,   500000 };
	rb_options o = rbt_options(50, 4);
	rb_stats stats = { .struct_size = sizeof(stats) };
	rbt_store with = { .nkeys = N,
			   .value_len = 1000,
			   .closed = true,
			   .budgets = budgets,
			   .nbudgets = COUNT(budgets) };
	flow f = { .value_len = 1000 };
	rbt_scene *s = rbt_scene_use(state);

	begin(s, with, &o);
	assert_true(rbt_keys_init(&s->keys, "key:", N));
	f.keys = &s->keys;
	o.attempts = 10;
	want_status(s->rb,
		    rb_mget_stream(s->rb, next_key, &f, take, &f, &o, &stats),
		    RB_OK);
	assert_int_equal(f.taken, N);
	assert_int_equal(stats.reconnects, COUNT(budgets));
	assert_in_range(stats.retries, 1, 1000);
	assert_in_range(s->count.peak_bytes, 1, MOST);
	assert_int_equal(connections(s), COUNT(budgets) + 1);
	assert_int_equal(store.again, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(
			test_a_connection_may_end_at_each_byte_of_the_answers),
		RBT_SCENE(test_the_new_connection_may_end_as_well),
		RBT_SCENE(test_a_reset_is_as_good_as_an_end),
		RBT_SCENE(test_an_entry_is_sent_no_more_often_than_asked_for),
		RBT_SCENE(test_a_failure_says_how_often_it_was_sent),
		RBT_SCENE(
			test_connections_that_bring_something_are_not_counted),
		RBT_SCENE(test_what_was_sent_again_is_counted),
		RBT_SCENE(test_no_entry_is_sent_too_often_whatever_comes),
		RBT_SCENE(test_a_new_server_that_is_not_ready_is_awaited),
		RBT_SCENE(test_a_server_without_room_is_no_answer),
		RBT_SCENE(test_a_password_that_was_changed_meanwhile_is_said),
		RBT_SCENE(test_a_server_that_is_gone_for_good_ends_the_call),
		RBT_SCENE(test_the_deadline_holds_while_connecting_anew),
		RBT_SCENE(test_the_deadline_holds_between_two_tries),
		RBT_SCENE(test_a_silent_handshake_counts_as_a_try),
		RBT_SCENE(test_reports_name_the_node),
		RBT_SCENE(test_a_stream_goes_on_over_new_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

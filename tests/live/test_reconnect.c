/*
 * Connections that are killed, and servers that end and come back, in the
 * middle of calls.
 */
#include "commands.h"
#include "live.h"
#include "replies.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------------------ the killer -- */

typedef struct killer {
	rbt_live *live;
	size_t calls, every, kills, most;
	size_t outcomes[8];
} killer;

static void kill_others(rbt_live *live)
{
	rbt_do(live->admin, "CLIENT KILL TYPE normal SKIPME yes");
}

static void count_call(killer *k)
{
	if (++k->calls % k->every != 0 || k->kills == k->most)
		return;
	k->kills++;
	kill_others(k->live);
}

static int hear(void *arg, const rb_chunk *chunk)
{
	killer *k = arg;

	k->outcomes[chunk->outcome] += chunk->count;
	count_call(k);
	return 0;
}

static killer every(rbt_live *live, size_t n, size_t most, rb_options *o)
{
	killer k = { .live = live, .every = n, .most = most };

	/* Each entry may be in flight at each of them. */
	o->attempts = (uint32_t)most + 2;
	return k;
}

/* A client that has to say who it is, to database 3, where the keys are. */
static void open_own(rbt_live *live, bool tcp, const rb_options *o)
{
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_do(live->admin, "SELECT 3");
	if (tcp)
		rbt_live_open_uri(live, o, "redis://:secret@127.0.0.1:%d/3",
				  rbt_server_port(live->server));
	else
		rbt_live_open_uri(live, o, "unix://:secret@%s?db=3",
				  rbt_server_socket(live->server));
}

static rb_stats stats_of(const rb_result *res)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(res, &stats), RB_OK);
	return stats;
}

/* ---------------------------------------------------------------- reads -- */

static const struct {
	size_t n, value_len, chunk_keys, window, every, most;
} reads[] = {
	{ 5000, 100, 100, 4, 7, 6 },
	{ 5000, 100, 0, 0, 3, 4 },
	{ 200, 300000, 10, 2, 4, 3 },
	{ 30, 3000000, 1, 3, 5, 3 },
};

static void test_a_read_goes_on_when_it_is_killed(void **state)
{
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < 2 * COUNT(reads); i++) {
		size_t row = i / 2;
		rb_options o =
			rbt_options(reads[row].chunk_keys, reads[row].window);
		killer k = every(live, reads[row].every, reads[row].most, &o);

		rbt_do(live->admin, "FLUSHALL");
		open_own(live, i % 2 == 0, &o);
		rbt_live_load(live, reads[row].n, reads[row].value_len);
		o.on_chunk = hear;
		o.on_chunk_arg = &k;
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, reads[row].n, reads[row].value_len);
		want_sound(live->res);
		assert_true(k.kills > 0);
		/* One may hit a connection that is dead already, or behind
		 * its last answer. */
		assert_in_range(stats_of(live->res).reconnects, 1, k.kills);
		assert_string_equal(rb_client_error(live->rb), "");
	}
}

static void test_a_killed_wrapped_read_ends_as_ever(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 1);
	killer k = every(live, 3, 1, &o);
	size_t failed;

	rbt_live_load(live, 1000, 100);
	o.on_chunk = hear;
	o.on_chunk_arg = &k;
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	want_sound(live->res);
	failed = rb_result_failed(live->res);
	assert_int_equal(failed, 700);
	assert_int_equal(stats_of(live->res).reconnects, 0);
	rbt_want_broken(live->ctx, live->rb);
}

/* -------------------------------------------------------------- streams -- */

typedef struct flow {
	killer killer;
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
		assert_memory_equal(keys[i].data, f->keys->keys[first + i],
				    keys[i].len);
		assert_true(rbt_value_is(values[i].data, values[i].len,
					 f->value_len, first + i));
	}
	f->taken += n;
	count_call(&f->killer);
	return 0;
}

static void test_a_stream_goes_on_when_it_is_killed(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 4);
	rb_stats stats = { .struct_size = sizeof(stats) };
	flow f = { .value_len = 1000 };

	f.killer = every(live, 60, 5, &o);
	o.on_chunk = NULL;
	rbt_count_init(&live->count);
	o.allocator = &live->count.allocator;
	open_own(live, true, &o);
	rbt_live_load(live, 20000, 1000);
	f.keys = &live->keys;
	want_status(
		live->rb,
		rb_mget_stream(live->rb, next_key, &f, take, &f, &o, &stats),
		RB_OK);
	assert_int_equal(f.taken, 20000);
	assert_int_equal(f.killer.kills, 5);
	assert_in_range(stats.reconnects, 1, 5);
	assert_in_range(live->count.peak_bytes, 1, 8 * 1024 * 1024);
}

/* --------------------------------------------------------------- servers -- */

/* A server at the same port, with what the first one knew. */
typedef struct successor {
	rbt_live *live;
	rbt_server *server;
	size_t calls;
} successor;

static int restart(void *arg, const rb_chunk *chunk)
{
	successor *s = arg;
	char port[16], why[256] = "";
	const char *const args[] = { "--port", port, NULL };
	redisContext *ctx;

	(void)chunk;
	if (++s->calls != 3)
		return 0;
	snprintf(port, sizeof(port), "%d", rbt_server_port(s->live->server));
	rbt_live_kill(s->live);
	s->server = rbt_server_start(args);
	if (!s->server)
		return 0;
	ctx = redisConnectUnix(rbt_server_socket(s->server));
	assert_non_null(ctx);
	assert_true(rbt_load(ctx, &s->live->keys, 100, why, sizeof(why)));
	redisFree(ctx);
	return 0;
}

static void test_a_read_goes_on_at_a_server_that_came_back(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 2);
	successor s = { .live = live };
	rb_status status;

	rbt_live_open_uri(live, &o, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
	rbt_live_load(live, 2000, 100);
	o.on_chunk = restart;
	o.on_chunk_arg = &s;
	status = rbt_live_read(live, &o);
	rbt_server_stop(s.server);
	want_status(live->rb, status, RB_OK);
	want_loaded(live->res, 2000, 100);
	assert_int_equal(stats_of(live->res).reconnects, 1);
}

static int kill_server(void *arg, const rb_chunk *chunk)
{
	killer *k = arg;

	(void)chunk;
	if (++k->calls == 3)
		rbt_live_kill(k->live);
	return 0;
}

static void test_a_server_that_is_gone_is_given_up(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 1);
	killer k = { .live = live };
	size_t fine;

	rbt_live_open_uri(live, &o, "unix://%s",
			  rbt_server_socket(live->server));
	rbt_live_load(live, 2000, 100);
	o.on_chunk = kill_server;
	o.on_chunk_arg = &k;
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	want_words(rb_client_error(live->rb), rbt_server_socket(live->server));
	want_words(rb_client_error(live->rb), "refused");
	want_sound(live->res);
	fine = rbt_count_status(live->res, RB_OK);
	assert_int_equal(fine, 300);
	for (size_t i = 0; i < fine; i++)
		want_filled(live->res, i, 100, i);
}

/* ------------------------------------------------------------ known cases -- */

/* A reconnect that loses SELECT, AUTH or the deadline. */
static void test_database_user_and_deadline_survive(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 1);
	killer k = every(live, 1, 4, &o);
	uint64_t start;
	rb_status status;

	rbt_do(live->admin, "SET key:00000001 zero");
	open_own(live, true, &o);
	rbt_live_load(live, 10, 20);
	o.on_chunk = hear;
	o.on_chunk_arg = &k;
	for (int round = 0; round < 10; round++) {
		k.kills = 0;
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, 10, 20);
	}
	o.timeout_ms = 300;
	o.on_chunk = NULL;
	rbt_live_stop(live);
	start = rbt_now_us();
	status = rbt_live_read(live, &o);
	rbt_live_go_on(live);
	assert_in_range(rbt_now_us() - start, 280000, 20000000);
	want_status(live->rb, status, RB_ERR_TIMEOUT);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	want_loaded(live->res, 10, 20);
}

/* Until no other connection is left. */
static void await_alone(const rbt_live *live)
{
	uint64_t end = rbt_now_us() + 20000000;

	while (rbt_live_info(live, "clients", "connected_clients") > 1 &&
	       rbt_now_us() < end)
		rbt_sleep_ms(2);
	assert_int_equal(rbt_live_info(live, "clients", "connected_clients"),
			 1);
}

/* A deadline that passes while a command is under way does not repeat it. */
static void test_a_command_that_took_too_long_is_run_once(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	rbt_commands c;
	rb_status status;
	char number[16];

	rbt_live_open_uri(live, &o, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
	want_status(live->rb, rb_client_connect(live->rb), RB_OK);
	redisFree(live->admin);
	o.timeout_ms = 200;
	rbt_commands_init(&c);
	rbt_commands_add(&c, "INCR n");
	rbt_live_stop(live);
	status = rb_pipeline_chunked(live->rb, c.list, 1, &o, &live->res);
	rbt_live_go_on(live);
	rbt_commands_fini(&c);
	live->admin = rbt_live_unix(live);
	want_status(live->rb, status, RB_ERR_TIMEOUT);
	want_failed(live->res, 0, RB_ERR_TIMEOUT, RB_UNKNOWN);
	/* What it had sent is run before its end is seen. */
	await_alone(live);
	rbt_ask(live->admin, number, sizeof(number), "GET n");
	assert_string_equal(number, "1");
}

/* An idle connection that the server has closed: nothing was sent on it. */
static void test_an_idle_connection_that_was_closed_is_made_anew(void **state)
{
	static const char *keys[] = { "i1", "i2" };
	static const char *values[] = { "v", "v" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	open_own(live, false, &o);
	want_status(live->rb, rb_client_connect(live->rb), RB_OK);
	rbt_do(live->admin, "CONFIG SET timeout 1");
	await_alone(live);
	rbt_do(live->admin, "CONFIG SET timeout 0");
	want_status(live->rb,
		    rb_mset_chunked(live->rb, keys, NULL, values, NULL, 2, &o,
				    &live->res),
		    RB_OK);
	want_written(live->res, 0, RB_ANSWERED);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS i1 i2"), 2);
	assert_int_equal(rbt_live_calls(live, "mset"), 1);
	kill_others(live);
	assert_true(rbt_keys_init(&live->keys, "i", 0));
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 2, &o, &live->res),
		    RB_OK);
	want_text(live->res, 0, "v");
}

static void test_an_idle_wrapped_context_that_was_closed_says_so(void **state)
{
	static const char *keys[] = { "i1" };
	static const char *values[] = { "v" };
	rbt_live *live = rbt_live_use(state);

	kill_others(live);
	want_status(live->rb,
		    rb_mset_chunked(live->rb, keys, NULL, values, NULL, 1, NULL,
				    &live->res),
		    RB_ERR_IO);
	assert_int_not_equal(rb_result_outcome(live->res, 0), RB_ANSWERED);
	want_words(rb_client_error(live->rb), "closed the connection");
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS i1"), 0);
}

/* The callback: hiredis's own way, and a database to choose again. */
static int reconnect_here(void *arg, redisContext *lost, redisContext **fresh)
{
	size_t *calls = arg;
	redisReply *reply;

	++*calls;
	if (redisReconnect(lost) != REDIS_OK)
		return -1;
	reply = redisCommand(lost, "SELECT 3");
	if (!reply)
		return -1;
	freeReplyObject(reply);
	*fresh = lost;
	return 0;
}

static void test_a_wrapped_context_is_reconnected_by_its_callback(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);
	killer k = every(live, 4, 5, &o);
	size_t calls = 0;

	rbt_do(live->admin, "SELECT 3");
	rbt_do(live->ctx, "SELECT 3");
	rbt_live_load(live, 400, 1000);
	o.on_chunk = hear;
	o.on_chunk_arg = &k;
	o.reconnect = reconnect_here;
	o.reconnect_arg = &calls;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 400, 1000);
	assert_int_equal(k.kills, 5);
	assert_in_range(calls, 1, 5);
	assert_int_equal(stats_of(live->res).reconnects, calls);
	/* Idle, and closed: at the beginning of the next. */
	kill_others(live);
	o.on_chunk = NULL;
	calls = 0;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 400, 1000);
	assert_int_equal(calls, 1);
	rbt_want_pong(live->ctx);
}

/* A server that ends connections which are slow to read so much. */
static void test_answers_the_server_cannot_hold_are_made_smaller(void **state)
{
	static const struct {
		size_t n, chunk_keys, window;
	} rows[] = { { 60, 0, 0 }, { 60, 6, 6 }, { 24, 24, 1 } };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(rows[i].chunk_keys, rows[i].window);

		rbt_do(live->admin, "FLUSHALL");
		rbt_live_load(live, rows[i].n, 400000);
		rbt_do(live->admin, "CONFIG SET client-output-buffer-limit %s",
		       "normal 1048576 0 0");
		rbt_live_open_uri(live, &o, "unix://%s",
				  rbt_server_socket(live->server));
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		want_loaded(live->res, rows[i].n, 400000);
		rbt_do(live->admin, "CONFIG SET client-output-buffer-limit %s",
		       "normal 0 0 0");
	}
}

/* A server that ends connections which send so much: nobody knows what became
 * of it, so it is not sent again unless that is asked for. */
static void test_a_value_above_the_query_buffer_is_given_up(void **state)
{
	static const char *keys[] = { "a", "large", "c" };
	static const uint32_t flags[] = { 0, RB_RETRY_WRITES };
	rbt_live *live = rbt_live_use(state);
	char *large = calloc(1, 2000000);
	const char *values[] = { "1", large, "3" };
	size_t lens[] = { 1, 2000000, 1 };

	assert_non_null(large);
	for (size_t i = 0; i < COUNT(flags); i++) {
		rb_options o = rbt_options(1, 1);

		rbt_do(live->admin, "FLUSHALL");
		rbt_do(live->admin, "CONFIG SET client-query-buffer-limit 1mb");
		rbt_live_drop(live);
		rbt_live_open_uri(live, &o, "redis://127.0.0.1:%d",
				  rbt_server_port(live->server));
		o.flags = flags[i];
		want_status(live->rb,
			    rb_mset_chunked(live->rb, keys, NULL, values, lens,
					    3, &o, &live->res),
			    RB_ERR_IO);
		want_sound(live->res);
		want_written(live->res, 0, RB_ANSWERED);
		want_failed(live->res, 1, RB_ERR_IO,
			    rb_result_outcome(live->res, 1));
		assert_int_not_equal(rb_result_outcome(live->res, 1),
				     RB_ANSWERED);
		assert_int_equal(rbt_ask_number(live->admin, "EXISTS large"),
				 0);
		assert_in_range(rb_result_chunk(live->res, 1)->attempts, 1, 3);
	}
	free(large);
}

/* ---------------------------------------------------------------- writes -- */

enum { WRITES = 3000 };

static rb_status write_all(rbt_live *live, rbt_pairs *p, const rb_options *o)
{
	rbt_live_drop(live);
	return rb_mset_chunked(live->rb, p->keys.keys, p->keys.lens, p->values,
			       p->lens, p->n, o, &live->res);
}

/* What the result says of each pair is what the server knows of it. */
static void want_true(rbt_live *live, const rbt_pairs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		long long there = rbt_ask_number(live->admin, "EXISTS %s",
						 p->keys.keys[i]);

		if (rb_result_outcome(live->res, i) == RB_ANSWERED)
			assert_int_equal(there, 1);
		if (rb_result_outcome(live->res, i) == RB_NOT_SENT)
			assert_int_equal(there, 0);
	}
}

static void test_a_killed_write_ends_or_goes_on_but_is_never_wrong(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_pairs p;

	rbt_pairs_init(&p, "w:", WRITES, 200);
	for (size_t window = 1; window <= 3; window++) {
		rb_options o = rbt_options(100, window);
		killer k = every(live, 5, 3, &o);
		rb_status status;

		rbt_do(live->admin, "FLUSHALL");
		open_own(live, window == 1, &o);
		o.on_chunk = hear;
		o.on_chunk_arg = &k;
		status = write_all(live, &p, &o);
		if (status != RB_OK)
			want_status(live->rb, status, RB_ERR_IO);
		assert_int_equal(rbt_count_outcome(live->res, RB_UNKNOWN) > 0,
				 status == RB_ERR_IO);
		want_sound(live->res);
		want_true(live, &p);
	}
	rbt_pairs_fini(&p);
}

static void test_a_killed_write_that_may_be_repeated_is_whole(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 3);
	killer k = every(live, 5, 4, &o);
	rbt_pairs p;

	rbt_pairs_init(&p, "key:", WRITES, 200);
	open_own(live, true, &o);
	o.on_chunk = hear;
	o.on_chunk_arg = &k;
	o.flags = RB_RETRY_WRITES;
	want_status(live->rb, write_all(live, &p, &o), RB_OK);
	assert_int_equal(rbt_count_outcome(live->res, RB_ANSWERED), WRITES);
	rbt_pairs_fini(&p);
	assert_int_equal(k.kills, 4);
	assert_int_equal(k.outcomes[RB_ANSWERED], WRITES);
	assert_true(rbt_keys_init(&live->keys, "key:", WRITES));
	o.on_chunk = NULL;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, WRITES, 200);
}

static void test_a_killed_pipeline_runs_no_command_twice(void **state)
{
	enum { N = 1000 };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(20, 3);
	killer k = every(live, 9, 1, &o);
	rbt_commands c;
	rb_status status;

	rbt_commands_init(&c);
	for (int i = 0; i < N; i++)
		rbt_commands_add(&c, "INCR n:%d", i);
	open_own(live, false, &o);
	o.on_chunk = hear;
	o.on_chunk_arg = &k;
	status = rb_pipeline_chunked(live->rb, c.list, N, &o, &live->res);
	rbt_commands_fini(&c);
	if (status != RB_OK)
		want_status(live->rb, status, RB_ERR_IO);
	want_sound(live->res);
	for (size_t i = 0; i < N; i++) {
		rb_outcome outcome = rb_result_outcome(live->res, i);
		char number[16];

		rbt_ask(live->admin, number, sizeof(number), "GET n:%d",
			(int)i);
		if (outcome == RB_ANSWERED)
			assert_string_equal(number, "1");
		else if (outcome == RB_NOT_SENT)
			assert_string_equal(number, "");
		else
			assert_true(strcmp(number, "1") == 0 ||
				    number[0] == '\0');
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_read_goes_on_when_it_is_killed),
		RBT_LIVE(test_a_killed_wrapped_read_ends_as_ever),
		RBT_LIVE(test_a_stream_goes_on_when_it_is_killed),
		RBT_LIVE(test_a_read_goes_on_at_a_server_that_came_back),
		RBT_LIVE(test_a_server_that_is_gone_is_given_up),
		RBT_LIVE(test_database_user_and_deadline_survive),
		RBT_LIVE(test_a_command_that_took_too_long_is_run_once),
		RBT_LIVE(test_an_idle_connection_that_was_closed_is_made_anew),
		RBT_LIVE(test_an_idle_wrapped_context_that_was_closed_says_so),
		RBT_LIVE(test_a_wrapped_context_is_reconnected_by_its_callback),
		RBT_LIVE(test_answers_the_server_cannot_hold_are_made_smaller),
		RBT_LIVE(test_a_value_above_the_query_buffer_is_given_up),
		RBT_LIVE(
			test_a_killed_write_ends_or_goes_on_but_is_never_wrong),
		RBT_LIVE(test_a_killed_write_that_may_be_repeated_is_whole),
		RBT_LIVE(test_a_killed_pipeline_runs_no_command_twice),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

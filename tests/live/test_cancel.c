/*
 * rb_client_cancel() against a real server: the result is exact, and the next
 * call is none the worse for it.
 */
#include "commands.h"
#include "live.h"
#include "replies.h"
#include "tick.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SOON_US = 2000000, ROUNDS = 30 };

static atomic_size_t heard; /* chunks of the call under way */
static atomic_ullong moment_us;
static uint64_t worst_us;

/* -------------------------------------------------------------- cancelling -- */

typedef struct canceller {
	pthread_t thread;
	rb_client *rb;
	size_t chunks;	       /* waits for so many */
	redisContext *blocked; /* waits until a client is blocked, says this */
} canceller;

static bool someone_is_blocked(redisContext *ctx)
{
	redisReply *reply = redisCommand(ctx, "INFO clients");
	const char *at = reply ? strstr(reply->str, "blocked_clients:") : NULL;
	bool is = at && at[strlen("blocked_clients:")] != '0';

	if (reply)
		freeReplyObject(reply);
	return is;
}

static void *cancel(void *arg)
{
	canceller *c = arg;
	uint64_t end = rbt_now_us() + 20000000;

	while (atomic_load(&heard) < c->chunks && rbt_now_us() < end)
		sched_yield();
	while (c->blocked && !someone_is_blocked(c->blocked) &&
	       rbt_now_us() < end)
		rbt_sleep_ms(1);
	atomic_store(&moment_us, rbt_now_us());
	rb_client_cancel(c->rb);
	return NULL;
}

static int hear(void *arg, const rb_chunk *chunk)
{
	(void)arg;
	(void)chunk;
	atomic_fetch_add(&heard, 1);
	return 0;
}

static void start(canceller *c)
{
	atomic_store(&heard, 0);
	assert_int_equal(pthread_create(&c->thread, NULL, cancel, c), 0);
}

/* Behind the call: how long it took to hear of it. */
static void join(canceller *c, rb_status status)
{
	uint64_t now = rbt_now_us();
	uint64_t then;

	assert_int_equal(pthread_join(c->thread, NULL), 0);
	then = atomic_load(&moment_us);
	if (status != RB_ERR_CANCELLED)
		return;
	assert_true(now > then);
	assert_in_range(now - then, 0, SOON_US);
	if (now - then > worst_us)
		worst_us = now - then;
}

static void tell_worst(const char *what)
{
	print_message("%s: back after %u.%03u ms at most\n", what,
		      (unsigned)(worst_us / 1000), (unsigned)(worst_us % 1000));
	worst_us = 0;
}

/* A request that came too late for its call ends the next one. */
static void take_late_request(rbt_live *live, rb_status status)
{
	static const char *keys[] = { "key:00000000" };

	if (status == RB_ERR_CANCELLED)
		return;
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_mget_chunked(live->rb, keys, NULL, 1, NULL, &live->res),
		    RB_ERR_CANCELLED);
}

static void open_own(rbt_live *live, const rb_options *o)
{
	rbt_live_open_uri(live, o, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
}

/* ---------------------------------------------------------------- reads -- */

static void want_exact(const rb_result *res, size_t n, size_t len)
{
	want_sound(res);
	for (size_t i = 0; i < n; i++) {
		rb_status status = rb_result_status(res, i);

		if (status == RB_OK)
			want_filled(res, i, len, i);
		else if (status == RB_ERR_CANCELLED)
			want_failed(res, i, status, rb_result_outcome(res, i));
		else
			want_failed(res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	}
}

static void cancel_reads(rbt_live *live, size_t n, size_t len,
			 const rb_options *o)
{
	rbt_live_load(live, n, len);
	open_own(live, o);
	for (size_t i = 0; i < ROUNDS; i++) {
		canceller c = { .rb = live->rb,
				.chunks = i * (n / o->chunk_keys) / ROUNDS };
		rb_options with = *o;
		rb_status status;

		with.on_chunk = hear;
		start(&c);
		status = rbt_live_read(live, &with);
		join(&c, status);
		if (status != RB_OK)
			want_status(live->rb, status, RB_ERR_CANCELLED);
		if (live->res)
			want_exact(live->res, n, len);
		take_late_request(live, status);
		want_status(live->rb, rbt_live_read(live, o), RB_OK);
		want_loaded(live->res, n, len);
	}
}

static void test_reads_are_ended_anywhere(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 4);

	cancel_reads(live, 3000, 100, &o);
	tell_worst("small values");
	o = rbt_options(2, 3);
	rbt_do(live->admin, "FLUSHALL");
	cancel_reads(live, 20, 200000, &o);
	tell_worst("large values");
}

static void test_a_wrapped_context_is_broken_or_in_step(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 2);

	rbt_live_load(live, 1000, 100);
	o.on_chunk = hear;
	for (size_t i = 0; i < ROUNDS; i++) {
		canceller c = { .chunks = i % 20 };
		rb_status status;

		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		c.rb = live->rb;
		start(&c);
		status = rbt_live_read(live, &o);
		join(&c, status);
		want_exact(live->res, 1000, 100);
		if (live->ctx->err == 0)
			rbt_want_pong(live->ctx);
		else
			rbt_want_broken(live->ctx, live->rb);
	}
	tell_worst("wrapped");
}

/* What had been sent is answered after that, to nobody. */
static void test_a_late_answer_is_never_taken(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);

	rbt_live_load(live, 500, 100);
	open_own(live, &o);
	want_status(live->rb, rb_client_connect(live->rb), RB_OK);
	for (int i = 0; i < 10; i++) {
		canceller c = { .rb = live->rb };
		static const char *other[] = { "key:00000499" };
		rb_status status;

		rbt_live_stop(live);
		start(&c);
		status = rbt_live_read(live, &o);
		join(&c, status);
		rbt_live_go_on(live);
		want_status(live->rb, status, RB_ERR_CANCELLED);
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_mget_chunked(live->rb, other, NULL, 1, &o,
					    &live->res),
			    RB_OK);
		want_filled(live->res, 0, 100, 499);
	}
	tell_worst("a server that is stopped");
}

/* --------------------------------------------------------------- commands -- */

static void test_a_blocking_command_is_ended(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	canceller c = { .blocked = rbt_live_unix(live) };
	rbt_commands list;
	rb_status status;

	open_own(live, &o);
	c.rb = live->rb;
	rbt_commands_init(&list);
	rbt_commands_add(&list, "SET k v");
	rbt_commands_add(&list, "BLPOP none 0");
	rbt_commands_add(&list, "SET l v");
	start(&c);
	status = rb_pipeline_chunked(live->rb, list.list, 3, &o, &live->res);
	join(&c, status);
	rbt_commands_fini(&list);
	redisFree(c.blocked);
	tell_worst("a command that blocks");
	want_status(live->rb, status, RB_ERR_CANCELLED);
	want_sound(live->res);
	want_reply(live->res, 0, "+OK");
	want_failed(live->res, 1, RB_ERR_CANCELLED, RB_UNKNOWN);
	want_failed(live->res, 2, RB_ERR_CANCELLED, RB_UNKNOWN);
	rbt_live_drop(live);
	assert_true(rbt_keys_init(&live->keys, "none", 3));
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	assert_int_equal(rbt_count_nil(live->res), 3);
}

/* Until the server has nothing more from us to run. */
static void await_alone(const rbt_live *live)
{
	uint64_t end = rbt_now_us() + 20000000;

	while (rbt_live_info(live, "clients", "connected_clients") > 1 &&
	       rbt_now_us() < end)
		rbt_sleep_ms(1);
}

static void test_writes_are_ended_and_told_exactly(void **state)
{
	enum { N = 1000 };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(20, 3);
	rbt_pairs p;

	rbt_pairs_init(&p, "w:", N, 200);
	for (size_t i = 0; i < 8; i++) {
		canceller c = { .chunks = i * 7 };
		rb_status status;

		rbt_do(live->admin, "FLUSHALL");
		rbt_live_drop(live);
		open_own(live, &o);
		want_status(live->rb, rb_client_connect(live->rb), RB_OK);
		c.rb = live->rb;
		o.on_chunk = hear;
		start(&c);
		status = rb_mset_chunked(live->rb, p.keys.keys, p.keys.lens,
					 p.values, p.lens, N, &o, &live->res);
		o.on_chunk = NULL;
		join(&c, status);
		rb_client_free(live->rb);
		live->rb = NULL;
		await_alone(live);
		if (!live->res)
			continue;
		want_sound(live->res);
		for (size_t k = 0; k < N; k++) {
			rb_outcome outcome = rb_result_outcome(live->res, k);
			long long there = rbt_ask_number(
				live->admin, "EXISTS %s", p.keys.keys[k]);

			if (outcome == RB_ANSWERED)
				assert_int_equal(there, 1);
			else if (outcome == RB_NOT_SENT)
				assert_int_equal(there, 0);
			else
				assert_int_equal(outcome, RB_UNKNOWN);
		}
	}
	rbt_pairs_fini(&p);
	tell_worst("writes");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_reads_are_ended_anywhere),
		RBT_LIVE(test_a_wrapped_context_is_broken_or_in_step),
		RBT_LIVE(test_a_late_answer_is_never_taken),
		RBT_LIVE(test_a_blocking_command_is_ended),
		RBT_LIVE(test_writes_are_ended_and_told_exactly),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

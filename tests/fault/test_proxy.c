/*
 * The library through a proxy that disturbs the line to a real server but
 * loses nothing: every value arrives, however the bytes travel.
 */
#include "through.h"
#include "tick.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void rule_both(rbt_through *t, const rbt_rule *rule)
{
	rbt_proxy_rule(t->proxy, RBT_UP, rule);
	rbt_proxy_rule(t->proxy, RBT_DOWN, rule);
}

/* A read of all keys that goes well, and leaves the context in step. */
static void want_read(rbt_through *t, const rb_options *o, size_t len)
{
	want_status(t->live->rb, rbt_live_read(t->live, o), RB_OK);
	want_loaded(t->live->res, t->live->keys.n, len);
	want_sound(t->live->res);
	if (t->live->ctx)
		rbt_want_pong(t->live->ctx);
}

/* ---------------------------------------------------------------- passing -- */

static void test_a_proxy_without_rules_changes_nothing(void **state)
{
	for (size_t i = 0; i < RBT_ENTRANCES; i++) {
		rbt_through *t = rbt_through_use(state);
		rb_stats stats = { .struct_size = sizeof(stats) };
		rb_options o = rbt_options(100, 4);

		rbt_live_load(t->live, 1000, 300);
		rbt_through_proxy(t, rbt_entrances[i].family);
		rbt_through_client(t, RBT_OWN, &o);
		want_read(t, NULL, 300);
		assert_int_equal(rb_result_stats(t->live->res, &stats), RB_OK);
		assert_int_equal(rbt_proxy_connections(t->proxy), 1);
		assert_int_equal(rbt_proxy_commands(t->proxy), stats.commands);
		/* What has arrived here has been counted there a moment
		 * later. */
		assert_true(rbt_proxy_await_bytes(t->proxy, RBT_DOWN,
						  stats.reply_bytes, 10000));
		assert_int_equal(rbt_proxy_bytes(t->proxy, RBT_DOWN),
				 stats.reply_bytes);
		assert_int_equal(rbt_proxy_bytes(t->proxy, RBT_UP),
				 stats.request_bytes);
	}
}

static void test_slices_of_any_size_are_put_together(void **state)
{
	for (size_t i = 0; i < RBT_ENTRANCES; i++) {
		for (size_t slice = 1; slice <= 7; slice++) {
			rbt_through *t = rbt_through_use(state);
			rbt_rule rule = { .slice = slice };
			rb_options o = rbt_options(7, 3);

			/* Lengths of one and of two digits. */
			rbt_live_load(t->live, 30, 3 * slice);
			rbt_through_proxy(t, rbt_entrances[i].family);
			rbt_through_client(t, rbt_entrances[i].owner, &o);
			rule_both(t, &rule);
			want_read(t, NULL, 3 * slice);
		}
	}
}

static void test_nil_and_empty_values_survive_slices(void **state)
{
	static const char *keys[] = { "none", "empty", "crlf", "none" };

	for (size_t slice = 1; slice <= 7; slice++) {
		rbt_through *t = rbt_through_use(state);
		rbt_rule rule = { .slice = slice };
		rb_options o = rbt_options(2, 2);

		rbt_do(t->live->admin, "SET empty %s", "");
		rbt_do(t->live->admin, "SET crlf %s", "\r\n$-1\r\n");
		rbt_through_proxy(t, RBT_UNIX);
		rbt_through_client(t, RBT_WRAPPED, &o);
		rule_both(t, &rule);
		rbt_live_drop(t->live);
		want_status(t->live->rb,
			    rb_mget_chunked(t->live->rb, keys, NULL, 4, NULL,
					    &t->live->res),
			    RB_OK);
		want_nil(t->live->res, 0);
		want_text(t->live->res, 1, "");
		want_text(t->live->res, 2, "\r\n$-1\r\n");
		want_nil(t->live->res, 3);
		rbt_want_pong(t->live->ctx);
	}
}

static void test_a_drip_is_drunk(void **state)
{
	rbt_through *t = rbt_through_use(state);
	rbt_rule rule = { .slice = 1, .pause_us = 500 };
	rb_options o = rbt_options(5, 2);

	rbt_live_load(t->live, 20, 8);
	rbt_through_proxy(t, RBT_TCP);
	rbt_through_client(t, RBT_WRAPPED, &o);
	rbt_proxy_rule(t->proxy, RBT_DOWN, &rule);
	want_read(t, NULL, 8);
}

static void test_a_drip_does_not_move_the_deadline(void **state)
{
	for (size_t i = 0; i < RBT_ENTRANCES; i++) {
		rbt_through *t = rbt_through_use(state);
		rbt_rule rule = { .slice = 1, .pause_us = 100000 };
		rb_options o = rbt_options(10, 2);
		uint64_t start;

		o.timeout_ms = 200;
		o.attempts = 1;
		rbt_live_load(t->live, 100, 50);
		rbt_through_proxy(t, rbt_entrances[i].family);
		rbt_through_client(t, rbt_entrances[i].owner, &o);
		rbt_proxy_rule(t->proxy, RBT_DOWN, &rule);
		start = rbt_now_us();
		/* At this pace the first value would take six seconds. */
		want_status(t->live->rb, rbt_live_read(t->live, NULL),
			    RB_ERR_TIMEOUT);
		assert_in_range(rbt_now_us() - start, 190000, 5000000);
		want_torn(t->live->res, 100, 50, 0, 0, RB_ERR_TIMEOUT);
		rbt_through_want_decided(t);
	}
}

static void test_a_throttle_is_kept_and_loses_nothing(void **state)
{
	enum { RATE = 1000000, N = 1000, LEN = 400 };
	rbt_through *t = rbt_through_use(state);
	rbt_rule rule = { .bytes_per_second = RATE };
	rb_options o = rbt_options(0, 0);
	uint64_t start;

	rbt_live_load(t->live, N, LEN);
	rbt_through_proxy(t, RBT_TCP);
	rbt_through_client(t, RBT_WRAPPED, &o);
	rbt_proxy_rule(t->proxy, RBT_DOWN, &rule);
	start = rbt_now_us();
	want_status(t->live->rb, rbt_live_read(t->live, NULL), RB_OK);
	assert_in_range(rbt_now_us() - start, 380000, 30000000);
	want_loaded(t->live->res, N, LEN);
	rbt_want_pong(t->live->ctx);
}

static void test_a_delay_holds_back_but_does_not_narrow(void **state)
{
	enum { DELAY_US = 50000, PINGS = 100 };
	rbt_through *t = rbt_through_use(state);
	rbt_rule rule = { .delay_us = DELAY_US };
	rb_options o = rbt_options(0, 0);
	uint64_t start;

	rbt_live_load(t->live, 5000, 1000);
	rbt_through_proxy(t, RBT_TCP);
	rbt_through_client(t, RBT_WRAPPED, &o);
	rule_both(t, &rule);
	start = rbt_now_us();
	for (int i = 0; i < PINGS; i++) {
		redisAppendCommand(t->live->ctx, "PING");
		redisBufferWrite(t->live->ctx, NULL);
	}
	for (int i = 0; i < PINGS; i++) {
		void *reply = NULL;

		redisGetReply(t->live->ctx, &reply);
		assert_non_null(reply);
		freeReplyObject(reply);
	}
	/* One after the other they would take ten seconds. */
	assert_in_range(rbt_now_us() - start, 2 * DELAY_US, 5000000);
	want_read(t, NULL, 1000);
}

#ifdef __linux__
static void test_a_slice_to_a_unix_socket_is_read_by_itself(void **state)
{
	rbt_through *t = rbt_through_use(state);
	rbt_rule rule = { .slice = 3 };
	char bytes[64];
	size_t n = 0;

	rbt_through_proxy(t, RBT_UNIX);
	rbt_through_client(t, RBT_WRAPPED, NULL);
	rbt_proxy_rule(t->proxy, RBT_DOWN, &rule);
	for (int i = 0; i < 3; i++)
		redisAppendCommand(t->live->ctx, "PING");
	redisBufferWrite(t->live->ctx, NULL);
	while (n < 21) {
		ssize_t r = recv(t->live->ctx->fd, bytes + n, 21 - n, 0);

		assert_in_range(r, 1, 3);
		n += (size_t)r;
	}
	assert_memory_equal(bytes, "+PONG\r\n+PONG\r\n+PONG\r\n", 21);
}
#endif

/* ------------------------------------------------------------ held up -- */

typedef struct lifting {
	pthread_t thread;
	rbt_proxy *proxy;
	rbt_way way;
	uint64_t after;
	bool reached;
} lifting;

/* Ends the stall once all has come that it lets pass. */
static void *lift(void *arg)
{
	lifting *l = arg;

	l->reached = rbt_proxy_await_bytes(l->proxy, l->way, l->after, 30000);
	rbt_proxy_rule(l->proxy, l->way, NULL);
	return NULL;
}

static void test_a_stall_that_ends_is_forgiven(void **state)
{
	static const rbt_way ways[] = { RBT_UP, RBT_DOWN };

	for (size_t i = 0; i < 2 * RBT_ENTRANCES; i++) {
		const rbt_entrance *at = &rbt_entrances[i / 2];
		rbt_through *t = rbt_through_use(state);
		rbt_rule rule = { .fault = RBT_FAULT_STALL, .after = 5000 };
		rb_options o = rbt_options(50, 3);
		lifting l = { .way = ways[i % 2], .after = rule.after };
		rb_status status;

		rbt_live_load(t->live, 1000, 200);
		rbt_through_proxy(t, at->family);
		rbt_through_client(t, at->owner, &o);
		l.proxy = t->proxy;
		rbt_proxy_rule(t->proxy, l.way, &rule);
		assert_int_equal(pthread_create(&l.thread, NULL, lift, &l), 0);
		status = rbt_live_read(t->live, NULL);
		pthread_join(l.thread, NULL);
		assert_true(l.reached);
		want_status(t->live->rb, status, RB_OK);
		want_loaded(t->live->res, 1000, 200);
		if (t->live->ctx)
			rbt_want_pong(t->live->ctx);
	}
}

/* ----------------------------------------------------------- many at once -- */

enum { READERS = 8 };

typedef struct reader {
	pthread_t thread;
	const rbt_keys *keys;
	redisContext *ctx;
	rb_result *res;
	rb_status status;
} reader;

static void *read_all(void *arg)
{
	reader *r = arg;
	rb_options o = rbt_options(50, 0);
	rb_client *rb;

	r->status = rb_client_wrap(&rb, r->ctx, &o);
	if (r->status != RB_OK)
		return NULL;
	r->status = rb_mget_chunked(rb, r->keys->keys, r->keys->lens,
				    r->keys->n, NULL, &r->res);
	rb_client_free(rb);
	return NULL;
}

static void test_connections_through_one_proxy_do_not_mix(void **state)
{
	rbt_through *t = rbt_through_use(state);
	rbt_rule rule = { .slice = 700, .delay_us = 1000 };
	reader readers[READERS];

	memset(readers, 0, sizeof(readers));
	rbt_live_load(t->live, 1000, 100);
	rbt_through_proxy(t, RBT_TCP);
	rule_both(t, &rule);
	for (size_t i = 0; i < READERS; i++) {
		readers[i].keys = &t->live->keys;
		readers[i].ctx = rbt_through_connect(t);
		assert_int_equal(pthread_create(&readers[i].thread, NULL,
						read_all, &readers[i]),
				 0);
	}
	for (size_t i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	for (size_t i = 0; i < READERS; i++) {
		assert_int_equal(readers[i].status, RB_OK);
		want_loaded(readers[i].res, 1000, 100);
		rbt_want_pong(readers[i].ctx);
		rb_result_free(readers[i].res);
		redisFree(readers[i].ctx);
	}
	assert_int_equal(rbt_proxy_connections(t->proxy), READERS);
	assert_true(rbt_proxy_await_ends(t->proxy, READERS, 20000));
}

static void test_a_rule_for_one_connection_spares_the_others(void **state)
{
	rbt_through *t = rbt_through_use(state);
	rbt_rule rule = { .fault = RBT_FAULT_CLOSE, .after = 3 };
	redisContext *contexts[3];

	rbt_through_proxy(t, RBT_UNIX);
	rbt_proxy_rule_of(t->proxy, 2, RBT_DOWN, &rule);
	for (size_t i = 0; i < 3; i++)
		contexts[i] = rbt_through_connect(t);
	for (size_t i = 0; i < 3; i++) {
		if (i != 1)
			rbt_want_pong(contexts[i]);
		else
			assert_null(redisCommand(contexts[i], "PING"));
		redisFree(contexts[i]);
	}
	assert_true(
		rbt_proxy_await_bytes(t->proxy, RBT_DOWN, 7 + 3 + 7, 10000));
	assert_int_equal(rbt_proxy_bytes(t->proxy, RBT_DOWN), 7 + 3 + 7);
}

/* ------------------------------------------------------- its own tidiness -- */

static size_t count_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_a_proxy_stops_at_once_whatever_it_holds(void **state)
{
	static const rbt_fault faults[] = {
		RBT_FAULT_NONE,	   RBT_FAULT_CLOSE, RBT_FAULT_RESET,
		RBT_FAULT_SWALLOW, RBT_FAULT_STALL, RBT_FAULT_HALF_OPEN,
	};
	size_t before = count_open_files();

	for (size_t i = 0; i < COUNT(faults); i++) {
		rbt_through *t = rbt_through_use(state);
		rbt_rule rule = { .fault = faults[i],
				  .after = 1,
				  .delay_us = i % 2 ? 3600000000u : 0 };
		redisContext *contexts[5];
		uint64_t start;

		rbt_through_proxy(t, i % 2 ? RBT_TCP : RBT_UNIX);
		rule_both(t, &rule);
		for (size_t k = 0; k < 5; k++) {
			contexts[k] = rbt_through_connect(t);
			redisAppendCommand(contexts[k], "PING");
			redisBufferWrite(contexts[k], NULL);
		}
		start = rbt_now_us();
		rbt_proxy_stop(t->proxy);
		t->proxy = NULL;
		assert_in_range(rbt_now_us() - start, 0, 10000000);
		for (size_t k = 0; k < 5; k++)
			redisFree(contexts[k]);
		assert_int_equal(count_open_files(), before);
	}
}

static void test_a_server_that_hung_up_is_noticed_through_it(void **state)
{
	for (size_t i = 0; i < RBT_ENTRANCES; i++) {
		rbt_through *t = rbt_through_use(state);
		rb_options o = rbt_options(0, 0);
		rb_status status;

		o.attempts = 1;
		rbt_live_load(t->live, 10, 10);
		rbt_through_proxy(t, rbt_entrances[i].family);
		rbt_through_client(t, rbt_entrances[i].owner, &o);
		want_read(t, NULL, 10);
		rbt_do(t->live->admin, "CLIENT KILL TYPE normal SKIPME yes");
		/* It may be noticed in time to dial anew. */
		status = rbt_live_read(t->live, NULL);
		if (rbt_entrances[i].owner == RBT_WRAPPED)
			assert_int_not_equal(status, RB_OK);
		rbt_through_want_decided(t);
		if (rbt_entrances[i].owner == RBT_OWN)
			want_read(t, NULL, 10);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_THROUGH(test_a_proxy_without_rules_changes_nothing),
		RBT_THROUGH(test_slices_of_any_size_are_put_together),
		RBT_THROUGH(test_nil_and_empty_values_survive_slices),
		RBT_THROUGH(test_a_drip_is_drunk),
		RBT_THROUGH(test_a_drip_does_not_move_the_deadline),
		RBT_THROUGH(test_a_throttle_is_kept_and_loses_nothing),
		RBT_THROUGH(test_a_delay_holds_back_but_does_not_narrow),
#ifdef __linux__
		RBT_THROUGH(test_a_slice_to_a_unix_socket_is_read_by_itself),
#endif
		RBT_THROUGH(test_a_stall_that_ends_is_forgiven),
		RBT_THROUGH(test_connections_through_one_proxy_do_not_mix),
		RBT_THROUGH(test_a_rule_for_one_connection_spares_the_others),
		RBT_THROUGH(test_a_proxy_stops_at_once_whatever_it_holds),
		RBT_THROUGH(test_a_server_that_hung_up_is_noticed_through_it),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

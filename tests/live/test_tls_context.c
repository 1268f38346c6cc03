/*
 * A caller's context with TLS, made by hiredis, wrapped: its bytes go through
 * hiredis's functions, and afterwards it is the caller's again, as it was.
 */
#include "live.h"
#include "proxy.h"
#include "tls.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MANY 2000

typedef struct scene {
	rbt_tls tls;
	rbt_proxy *proxy; /* NULL: none */
	redisContext *ctx;
	rb_client *rb;
	rb_result *res;
	rbt_keys keys;
} scene;

static scene the;

static int begin(void **state)
{
	(void)state;
	memset(&the, 0, sizeof(the));
	if (!rbt_tls_start(&the.tls, NULL, false))
		fail_msg("%s", rbt_server_why());
	return 0;
}

static int end(void **state)
{
	(void)state;
	rb_result_free(the.res);
	rb_client_free(the.rb);
	redisFree(the.ctx);
	rbt_keys_fini(&the.keys);
	rbt_proxy_stop(the.proxy);
	rbt_tls_stop(&the.tls);
	return 0;
}

static void wrap(int port)
{
	the.ctx = rbt_tls_connect(&the.tls, port);
	assert_non_null(the.ctx);
	assert_int_equal(rb_client_wrap(&the.rb, the.ctx, NULL), RB_OK);
}

/* As it was: hiredis gets its answer, and waits for it. */
static void want_usable(void)
{
	assert_int_equal(fcntl(the.ctx->fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_not_equal(the.ctx->flags & REDIS_BLOCK, 0);
	rbt_want_pong(the.ctx);
}

static void load(size_t n, size_t len)
{
	char why[256] = "";

	assert_true(rbt_keys_init(&the.keys, "tls", n));
	if (!rbt_load(the.ctx, &the.keys, len, why, sizeof(why)))
		fail_msg("%s", why);
}

static rb_status read_all(const rb_options *o)
{
	rb_result_free(the.res);
	the.res = NULL;
	return rb_mget_chunked(the.rb, the.keys.keys, the.keys.lens, the.keys.n,
			       o, &the.res);
}

/* ----------------------------------------------------------------- calls -- */

static void test_many_keys_are_read(void **state)
{
	(void)state;
	wrap(the.tls.port);
	load(MANY, 3000);
	want_status(the.rb, read_all(NULL), RB_OK);
	want_loaded(the.res, MANY, 3000);
	want_usable();
}

static void test_large_values_are_written_and_read(void **state)
{
	enum { N = 10, LEN = 5 << 20 };
	const char *values[N];
	size_t lens[N];
	rb_status status;
	size_t i;

	(void)state;
	wrap(the.tls.port);
	assert_true(rbt_keys_init(&the.keys, "big", N));
	for (i = 0; i < N; i++) {
		char *value = malloc(LEN);

		assert_non_null(value);
		rbt_value_fill(value, LEN, i);
		values[i] = value;
		lens[i] = LEN;
	}
	status = rb_mset_chunked(the.rb, the.keys.keys, the.keys.lens, values,
				 lens, N, NULL, &the.res);
	for (i = 0; i < N; i++)
		free((void *)(uintptr_t)values[i]);
	want_status(the.rb, status, RB_OK);
	want_status(the.rb, read_all(NULL), RB_OK);
	want_loaded(the.res, N, LEN);
	want_usable();
}

/* Both directions are full at the same time: who writes all before it reads
 * never comes to an end. */
static void fill_both_ways(void)
{
	enum { N = 50, LEN = 1 << 20 };
	rb_pipeline *pipeline;
	char *value = malloc(LEN);
	const char *argv[] = { "ECHO", value };
	const size_t lens[] = { 4, LEN };
	rb_options o;
	rb_status status;
	size_t i;

	assert_non_null(value);
	rbt_value_fill(value, LEN, 7);
	rb_options_init(&o);
	o.timeout_ms = 60000;
	assert_int_equal(rb_pipeline_new(&pipeline, the.rb), RB_OK);
	for (i = 0; i < N; i++)
		assert_int_equal(
			rb_pipeline_append_argv(pipeline, 2, argv, lens),
			RB_OK);
	status = rb_pipeline_run(pipeline, &o, &the.res);
	rb_pipeline_free(pipeline);
	free(value);
	want_status(the.rb, status, RB_OK);
	for (i = 0; i < N; i++) {
		const redisReply *reply = rb_result_reply(the.res, i);

		assert_non_null(reply);
		assert_true(rbt_value_is(reply->str, reply->len, LEN, 7));
	}
}

static void test_both_ways_are_full_at_once(void **state)
{
	rbt_proxy_options o = { .family = RBT_TCP,
				.server_port = the.tls.port,
				.sndbuf = 8192,
				.rcvbuf = 8192 };

	(void)state;
	the.proxy = rbt_proxy_start(&o);
	assert_non_null(the.proxy);
	wrap(rbt_proxy_port(the.proxy));
	fill_both_ways();
	want_usable();
}

static void test_pieces_of_records_are_awaited(void **state)
{
	rbt_proxy_options o = { .family = RBT_TCP,
				.server_port = the.tls.port };
	rbt_rule rule = { .slice = 700 };

	(void)state;
	the.proxy = rbt_proxy_start(&o);
	assert_non_null(the.proxy);
	wrap(rbt_proxy_port(the.proxy));
	rbt_proxy_rule(the.proxy, RBT_UP, &rule);
	rbt_proxy_rule(the.proxy, RBT_DOWN, &rule);
	load(MANY, 100);
	want_status(the.rb, read_all(NULL), RB_OK);
	want_loaded(the.res, MANY, 100);
	want_usable();
}

static void test_maps_of_RESP3_are_read(void **state)
{
	rb_pipeline *pipeline;
	const redisReply *reply;
	rb_status status;

	(void)state;
	wrap(the.tls.port);
	rbt_do(the.ctx, "HELLO 3");
	rbt_do(the.ctx, "HSET h f v");
	assert_int_equal(rb_pipeline_new(&pipeline, the.rb), RB_OK);
	assert_int_equal(rb_pipeline_append(pipeline, "HGETALL h"), RB_OK);
	status = rb_pipeline_run(pipeline, NULL, &the.res);
	rb_pipeline_free(pipeline);
	want_status(the.rb, status, RB_OK);
	reply = rb_result_reply(the.res, 0);
	assert_int_equal(reply->type, REDIS_REPLY_MAP);
	assert_int_equal(reply->elements, 2);
	want_usable();
}

static int next_key(void *arg, rb_slice *key)
{
	size_t *i = arg;

	if (*i == the.keys.n)
		return 0;
	key->data = the.keys.keys[*i];
	key->len = the.keys.lens[*i];
	++*i;
	return 1;
}

static int take_values(void *arg, size_t first, const rb_slice *keys,
		       const rb_slice *values, const rb_status *statuses,
		       size_t n)
{
	size_t *taken = arg;
	size_t i;

	(void)keys;
	(void)statuses;
	for (i = 0; i < n; i++)
		*taken += rbt_value_is(values[i].data, values[i].len, 500,
				       first + i);
	return 0;
}

static void test_streams_of_keys_are_read(void **state)
{
	size_t given = 0;
	size_t taken = 0;

	(void)state;
	wrap(the.tls.port);
	load(MANY, 500);
	want_status(the.rb,
		    rb_mget_stream(the.rb, next_key, &given, take_values,
				   &taken, NULL, NULL),
		    RB_OK);
	assert_int_equal(taken, MANY);
	want_usable();
}

/* ------------------------------------------------------------ busy, broken -- */

static void await_reply(void)
{
	struct pollfd pfd = { .fd = the.ctx->fd, .events = POLLIN };

	assert_int_equal(poll(&pfd, 1, 60000), 1);
}

static void test_replies_in_the_socket_are_the_callers(void **state)
{
	redisReply *reply = NULL;
	int done = 0;

	(void)state;
	wrap(the.tls.port);
	load(1, 10);
	redisAppendCommand(the.ctx, "ECHO mine");
	while (!done)
		assert_int_equal(redisBufferWrite(the.ctx, &done), REDIS_OK);
	await_reply();
	want_status(the.rb, read_all(NULL), RB_ERR_BUSY);
	assert_int_equal(redisGetReply(the.ctx, (void **)&reply), REDIS_OK);
	assert_string_equal(reply->str, "mine");
	freeReplyObject(reply);
	want_usable();
}

/* SIGPIPE is at its default action, which would end this program. */
static void test_a_killed_server_is_an_error(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_DFL);
	wrap(the.tls.port);
	load(MANY, 100);
	rbt_server_kill(the.tls.server);
	want_status(the.rb, read_all(NULL), RB_ERR_IO);
	rbt_want_broken(the.ctx, the.rb);
}

static void test_a_connection_is_cut_in_the_middle(void **state)
{
	rbt_proxy_options o = { .family = RBT_TCP,
				.server_port = the.tls.port };
	rbt_rule rule = { .fault = RBT_FAULT_CLOSE, .after = 2000000 };

	(void)state;
	the.proxy = rbt_proxy_start(&o);
	assert_non_null(the.proxy);
	wrap(rbt_proxy_port(the.proxy));
	load(MANY, 3000);
	rbt_proxy_rule(the.proxy, RBT_DOWN, &rule);
	want_status(the.rb, read_all(NULL), RB_ERR_IO);
	rbt_want_broken(the.ctx, the.rb);
}

#define TLS(function) cmocka_unit_test_setup_teardown((function), begin, end)

static const struct CMUnitTest tests[] = {
	TLS(test_many_keys_are_read),
	TLS(test_large_values_are_written_and_read),
	TLS(test_both_ways_are_full_at_once),
	TLS(test_pieces_of_records_are_awaited),
	TLS(test_maps_of_RESP3_are_read),
	TLS(test_streams_of_keys_are_read),
	TLS(test_replies_in_the_socket_are_the_callers),
	TLS(test_a_killed_server_is_an_error),
	TLS(test_a_connection_is_cut_in_the_middle),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}

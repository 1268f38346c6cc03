#include "through.h"

#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SETTLE_MS = 20000 };

const rbt_entrance rbt_entrances[RBT_ENTRANCES] = {
	{ RBT_UNIX, RBT_WRAPPED },
	{ RBT_TCP, RBT_WRAPPED },
	{ RBT_UNIX, RBT_OWN },
	{ RBT_TCP, RBT_OWN },
};

/* --------------------------------------------------------- around a test -- */

int rbt_through_begin(void **state)
{
	rbt_through *t = calloc(1, sizeof(*t));
	int r = rbt_live_begin(state);

	if (!t || r != 0) {
		free(t);
		return -1;
	}
	t->live = *state;
	*state = t;
	return 0;
}

int rbt_through_end(void **state)
{
	rbt_through *t = *state;
	void *live = t->live;
	int r;

	rbt_proxy_stop(t->proxy);
	free(t);
	r = rbt_live_end(&live);
	*state = live;
	return r;
}

rbt_through *rbt_through_use(void **state)
{
	rbt_through *t = *state;
	void *live = t->live;

	rbt_live_use(&live);
	return t;
}

/* ------------------------------------------------- the proxy and clients -- */

void rbt_through_start(rbt_through *t, const rbt_proxy_options *options)
{
	rbt_proxy_options o = *options;

	if (o.family == RBT_UNIX)
		o.server_path = rbt_server_socket(t->live->server);
	else
		o.server_port = rbt_server_port(t->live->server);
	rbt_proxy_stop(t->proxy);
	t->family = o.family;
	t->proxy = rbt_proxy_start(&o);
	assert_non_null(t->proxy);
}

void rbt_through_proxy(rbt_through *t, rbt_family family)
{
	rbt_proxy_options o = { .family = family };

	rbt_through_start(t, &o);
}

redisContext *rbt_through_connect(const rbt_through *t)
{
	struct timeval patience = { 20, 0 };
	redisContext *ctx;

	if (t->family == RBT_UNIX)
		ctx = redisConnectUnix(rbt_proxy_path(t->proxy));
	else
		ctx = redisConnect("127.0.0.1", rbt_proxy_port(t->proxy));
	assert_non_null(ctx);
	assert_int_equal(ctx->err, 0);
	/* A test that waits for an answer that never comes must end. */
	assert_int_equal(redisSetTimeout(ctx, patience), REDIS_OK);
	return ctx;
}

void rbt_through_client(rbt_through *t, rbt_owner owner,
			const rb_options *defaults)
{
	if (owner == RBT_WRAPPED)
		rbt_live_wrap(t->live, rbt_through_connect(t), defaults);
	else if (t->family == RBT_UNIX)
		rbt_live_open_uri(t->live, defaults, "unix://%s",
				  rbt_proxy_path(t->proxy));
	else
		rbt_live_open_uri(t->live, defaults, "redis://127.0.0.1:%d",
				  rbt_proxy_port(t->proxy));
}

void rbt_through_want_decided(rbt_through *t)
{
	redisContext *ctx = t->live->ctx;

	if (!ctx)
		return;
	if (ctx->err)
		rbt_want_broken(ctx, t->live->rb);
	else
		rbt_want_pong(ctx);
}

/* The server takes connections in their order, so that one of ours that it has
 * answered stands behind all that the proxy made. Until then it would not count
 * the last of them among its clients. */
static void await_accepted(const rbt_live *live)
{
	redisContext *last[] = { rbt_live_unix(live), rbt_live_tcp(live) };

	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		rbt_want_pong(last[i]);
		redisFree(last[i]);
	}
}

void rbt_through_settle(rbt_through *t)
{
	rbt_live *live = t->live;
	uint64_t end_us = rbt_now_us() + (uint64_t)SETTLE_MS * 1000;

	rb_client_free(live->rb);
	if (live->ctx)
		redisFree(live->ctx);
	live->rb = NULL;
	live->ctx = NULL;
	await_accepted(live);
	while (rbt_live_info(live, "clients", "connected_clients") > 1) {
		assert_true(rbt_now_us() < end_us);
		rbt_sleep_ms(1);
	}
}

/* --------------------------------------------------------------- results -- */

static bool failed_as(const rb_result *res, size_t i, rb_status status)
{
	rb_status got = rb_result_status(res, i);
	rb_outcome outcome = rb_result_outcome(res, i);

	if (rb_result_value(res, i).data || rb_result_message(res, i)[0] == 0)
		return false;
	if (got == RB_ERR_SKIPPED)
		return outcome == RB_NOT_SENT;
	return got == status &&
	       (outcome == RB_NOT_SENT || outcome == RB_UNKNOWN);
}

void rbt_want_torn(const rb_result *res, size_t n, size_t len, size_t sure,
		   size_t most, rb_status status, const char *file, int line)
{
	bool fine = rb_result_count(res) == n;

	rbt_want_sound(res, file, line);
	for (size_t i = 0; fine && i < n; i++) {
		if (rb_result_status(res, i) == RB_OK && i < most) {
			rbt_want_filled(res, i, len, i, file, line);
			continue;
		}
		fine = i >= sure && failed_as(res, i, status);
		if (!fine)
			print_error("entry %zu: %s, %s, \"%s\"; %zu to %zu "
				    "were to be fine\n",
				    i, rb_status_text(rb_result_status(res, i)),
				    rb_outcome_text(rb_result_outcome(res, i)),
				    rb_result_message(res, i), sure, most);
	}
	if (!fine)
		_fail(file, line);
}

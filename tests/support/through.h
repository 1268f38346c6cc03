/*
 * Tests of the library through a proxy to a real server: what live.h gives,
 * and a proxy that is taken down after the test.
 *
 *	static void test_something(void **state)
 *	{
 *		rbt_through *t = rbt_through_use(state);
 *
 *		rbt_through_proxy(t, RBT_TCP);
 *		rbt_through_client(t, RBT_WRAPPED, &o);
 *		rbt_proxy_rule(t->proxy, RBT_DOWN, &rule);
 *		want_status(t->live->rb, rbt_live_read(t->live, NULL), RB_OK);
 *	}
 *
 *	static const struct CMUnitTest tests[] = { RBT_THROUGH(test_something) };
 *	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
 */
#ifndef RBT_THROUGH_H
#define RBT_THROUGH_H

#include "live.h"
#include "proxy.h"

#include <stddef.h>

typedef struct rbt_through {
	rbt_live *live;
	rbt_proxy *proxy;
	rbt_family family;
} rbt_through;

#define RBT_THROUGH(function)                                          \
	cmocka_unit_test_setup_teardown((function), rbt_through_begin, \
					rbt_through_end)

typedef enum rbt_owner {
	RBT_WRAPPED = 0, /* a context that the test has connected */
	RBT_OWN		 /* rb_client_open() */
} rbt_owner;

/* All ways into the library there are. */
typedef struct rbt_entrance {
	rbt_family family;
	rbt_owner owner;
} rbt_entrance;

enum { RBT_ENTRANCES = 4 };
extern const rbt_entrance rbt_entrances[RBT_ENTRANCES];

/* For cmocka: around each test. */
int rbt_through_begin(void **state);
int rbt_through_end(void **state);

/* The first line of a test. */
rbt_through *rbt_through_use(void **state);

/* A new proxy without rules, in the place of the one before; it has the same
 * family towards the server as towards clients. */
void rbt_through_proxy(rbt_through *t, rbt_family family);
/* Likewise, as described but for the server. */
void rbt_through_start(rbt_through *t, const rbt_proxy_options *options);

/* A connection to the proxy, which must come about. */
redisContext *rbt_through_connect(const rbt_through *t);
/* A new client, in the place of live->rb, that goes through the proxy. */
void rbt_through_client(rbt_through *t, rbt_owner owner,
			const rb_options *defaults);

/* After a call: the context is in step, or it is broken. A client that
 * connects by itself is not asked. */
void rbt_through_want_decided(rbt_through *t);

/* Takes the client away and waits until the server has no connection but that
 * of the admin, so that it has done all that it was sent. */
void rbt_through_settle(rbt_through *t);

/* Of n keys of len bytes each that were read: the first `sure` have their
 * values, those from `most` on failed, and those between did either; nothing
 * is nil. Each failed with this status, or was skipped. */
#define want_torn(res, n, len, sure, most, status)                           \
	rbt_want_torn((res), (n), (len), (sure), (most), (status), __FILE__, \
		      __LINE__)
void rbt_want_torn(const rb_result *res, size_t n, size_t len, size_t sure,
		   size_t most, rb_status status, const char *file, int line);

#endif

/*
 * Tests against a cluster that is played: a ring, a client that was told of its
 * nodes, and what the test leaves behind.
 *
 *	static void test_something(void **state)
 *	{
 *		rbt_ring_options o = { .answer = answer };
 *		rbt_round *r = rbt_round_use(state, &o);
 *
 *		want_status(r->rb, rbt_round_read(r, keys, 2, NULL), RB_OK);
 *	}
 *
 *	static const struct CMUnitTest tests[] = { RBT_ROUND(test_something) };
 *	return cmocka_run_group_tests(tests, NULL, NULL);
 */
#ifndef RBT_ROUND_H
#define RBT_ROUND_H

#include "count.h"
#include "ring.h"
#include "want.h"

#include <redisbatch/redisbatch.h>

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_round {
	rbt_ring *ring;
	rb_client *rb; /* told of all nodes */
	rb_result *res;
	rbt_count count; /* the client allocates through it */
	char uri[512];
	uint64_t start_us;
} rbt_round;

#define RBT_ROUND(function)                                          \
	cmocka_unit_test_setup_teardown((function), rbt_round_begin, \
					rbt_round_end)

/* For cmocka: around each test. */
int rbt_round_begin(void **state);
int rbt_round_end(void **state);

/* The first line of a test, or of each round of it: what was there before is
 * taken down. NULL: no such ring can be, which is said. Bare: without a client. */
rbt_round *rbt_round_use(void **state, const rbt_ring_options *options);
rbt_round *rbt_round_bare(void **state, const rbt_ring_options *options);

/* A new client in place of r->rb, told of the first nseeds nodes (0: all), or of
 * what the URI says. defaults NULL: rbt_options(0, 0). */
void rbt_round_client(rbt_round *r, size_t nseeds, const rb_options *defaults);
void rbt_round_client_of(rbt_round *r, const rb_options *defaults,
			 const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Stops the ring, so that what its handler has seen can be looked at. */
void rbt_round_rest(rbt_round *r);

/* Reads n keys that end with a NUL into r->res; the result of the call before is
 * freed. */
rb_status rbt_round_read(rbt_round *r, const char **keys, size_t n,
			 const rb_options *o);
/* The same for writes; the values are the keys. */
rb_status rbt_round_write(rbt_round *r, const char **keys, size_t n,
			  const rb_options *o);

/* The values are the keys. */
void rbt_round_want_keys(const rbt_round *r, const char **keys, size_t n);

/* Milliseconds since the last call began. */
unsigned rbt_round_took(const rbt_round *r);

#endif

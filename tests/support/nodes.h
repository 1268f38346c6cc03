/*
 * Tests against a real cluster: one for the whole program, emptied and mended
 * before each test.
 *
 *	static int open_nodes(void **state)
 *	{
 *		static const rbt_cluster_options o = { .primaries = 3 };
 *
 *		return rbt_nodes_open(state, &o);
 *	}
 *
 *	static void test_something(void **state)
 *	{
 *		rbt_nodes *n = rbt_nodes_use(state);
 *		...
 *	}
 *
 *	static const struct CMUnitTest tests[] = { RBT_NODES(test_something) };
 *	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
 *
 * A test finds each node in its first role, with its first slots. What a test
 * leaves in the members is freed after it, whether it went well or not, and all
 * memory of the client must have been given back then. Where there is no server
 * at all the tests are skipped.
 */
#ifndef RBT_NODES_H
#define RBT_NODES_H

#include "cluster.h"
#include "cluster_slots.h"
#include "cluster_view.h"
#include "count.h"
#include "load.h"
#include "want.h"

#include <redisbatch/redisbatch.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbt_nodes {
	rbt_cluster_options options;
	rbt_cluster *cluster;
	/* Connects by itself, told of all nodes. */
	rb_client *rb;
	/* To be freed, if the test has put something here. */
	rb_result *res;
	rbt_keys keys;
	rbt_count count; /* the client allocates through it */
	char uri[512];
} rbt_nodes;

#define RBT_NODES(function)                                          \
	cmocka_unit_test_setup_teardown((function), rbt_nodes_begin, \
					rbt_nodes_end)

/* For cmocka: around the group and around each test. */
int rbt_nodes_open(void **state, const rbt_cluster_options *options);
int rbt_nodes_close(void **state);
int rbt_nodes_begin(void **state);
int rbt_nodes_end(void **state);

/* The first line of a test; without a client if it needs none. */
rbt_nodes *rbt_nodes_use(void **state);
rbt_nodes *rbt_nodes_bare(void **state);

/* The cluster has done it; otherwise the test ends with its reason. */
#define want_done(n, done) rbt_want_done((n), (done), #done, __FILE__, __LINE__)
void rbt_want_done(const rbt_nodes *n, bool done, const char *what,
		   const char *file, int line);

/* A new client in place of n->rb, told of the first nseeds nodes (0: of all),
 * or of what the URI says. defaults NULL: rbt_options(0, 0). */
void rbt_nodes_client(rbt_nodes *n, size_t nseeds, const rb_options *defaults);
void rbt_nodes_client_of(rbt_nodes *n, const rb_options *defaults,
			 const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes the result away, so that the next call may fill it in. */
void rbt_nodes_drop(rbt_nodes *n);

/* Keys "<prefix>00000000" and on in n->keys, and every step-th of them, from the
 * first, at the nodes with its value of rbt_value_fill(). 0: none of them. The
 * statistics of the nodes begin anew. */
void rbt_nodes_load(rbt_nodes *n, const char *prefix, size_t count, size_t step,
		    size_t value_len);

/* Reads n->keys into n->res. */
rb_status rbt_nodes_read(rbt_nodes *n, const rb_options *o);

/* The statistics of the nodes begin anew. */
void rbt_nodes_reset_stats(rbt_nodes *n);

/* SET and GET by hiredis at the node that owns the key, which answers a value, or
 * nil as "(nil)". */
void rbt_nodes_set(rbt_nodes *n, const char *key, const char *value);
void rbt_nodes_get(rbt_nodes *n, const char *key, char *out, size_t size);
/* Of a command that answers a number, with the key as its only argument. */
long long rbt_nodes_number(rbt_nodes *n, const char *command, const char *key);

/* The entries of n->res that are values of rbt_nodes_load() with this step, and
 * those that are nil, are right; no other failed. */
#define want_read(n, step, len) \
	rbt_want_read((n), (step), (len), __FILE__, __LINE__)
void rbt_want_read(const rbt_nodes *n, size_t step, size_t len,
		   const char *file, int line);

/* By hiredis: of n->keys, every step-th and no other is there with its value. */
#define want_stored(n, step, len) \
	want_done((n), rbt_nodes_stored((n), (step), (len)))
bool rbt_nodes_stored(const rbt_nodes *n, size_t step, size_t len);

/* The chunks of n->res name every entry exactly once, each by a list, and a node
 * of the cluster where they were sent; what they say agrees with what is said of
 * the entries. */
#define want_covered(n) rbt_want_covered((n), __FILE__, __LINE__)
void rbt_want_covered(const rbt_nodes *n, const char *file, int line);

#endif

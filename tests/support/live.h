/*
 * Tests against a real server: one for the whole program, emptied before each
 * test, and started anew if the test before has ended it.
 *
 *	static void test_something(void **state)
 *	{
 *		rbt_live *live = rbt_live_use(state);
 *		...
 *	}
 *
 *	static const struct CMUnitTest tests[] = { RBT_LIVE(test_something) };
 *	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
 *
 * What a test leaves in the members is freed after it, whether it went well
 * or not. Where there is no server at all the tests are skipped.
 */
#ifndef RBT_LIVE_H
#define RBT_LIVE_H

#include "count.h"
#include "load.h"
#include "server.h"
#include "want.h"

#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>

#include <stdint.h>

typedef struct rbt_live {
	rbt_server *server;
	/* The test's second connection, for everything about the server. */
	redisContext *admin;
	/* Over the unix socket, wrapped by rb. */
	redisContext *ctx;
	rb_client *rb;
	/* To be freed, if the test has put something here. */
	rb_result *res;
	rbt_keys keys;
	/* Here, since what it counts may outlive the test's function. */
	rbt_count count;
	char uri[512];
} rbt_live;

#define RBT_LIVE(function)                                          \
	cmocka_unit_test_setup_teardown((function), rbt_live_begin, \
					rbt_live_end)

/* For cmocka: around the group and around each test. */
int rbt_live_open(void **state);
int rbt_live_close(void **state);
int rbt_live_begin(void **state);
int rbt_live_end(void **state);

/* The first line of a test. */
rbt_live *rbt_live_use(void **state);

/* Takes the result away, so that the next call may fill it in. */
void rbt_live_drop(rbt_live *live);

/* n keys of value_len bytes each, in live->keys and at the server. */
void rbt_live_load(rbt_live *live, size_t n, size_t value_len);

/* Reads live->keys into live->res. */
rb_status rbt_live_read(rbt_live *live, const rb_options *o);

/* Replaces live->rb and live->ctx: by a client that connects by itself (defaults
 * NULL: rbt_options(0, 0)); by one over a context that the test has made, which
 * becomes the fixture's. */
void rbt_live_open_uri(rbt_live *live, const rb_options *defaults,
		       const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void rbt_live_wrap(rbt_live *live, redisContext *ctx,
		   const rb_options *defaults);

/* A new connection, which must come about. */
redisContext *rbt_live_unix(const rbt_live *live);
redisContext *rbt_live_tcp(const rbt_live *live);

/* Sends a command by hiredis, which must not fail. A NULL context: admin's. */
void rbt_do(redisContext *ctx, const char *format, ...);
/* The same, with its answer: an integer, or a text of any kind. An error is
 * an answer too. */
long long rbt_ask_number(redisContext *ctx, const char *format, ...);
void rbt_ask(redisContext *ctx, char *out, size_t size, const char *format,
	     ...);

/* hiredis gets a PONG, so that the context is in step. */
void rbt_want_pong(redisContext *ctx);
/* hiredis refuses the context, and the library does so too. */
void rbt_want_broken(redisContext *ctx, rb_client *rb);

/* From INFO: how often a command was called since the test began; a number by
 * its name. */
uint64_t rbt_live_calls(const rbt_live *live, const char *command);
uint64_t rbt_live_info(const rbt_live *live, const char *section,
		       const char *name);

/* Stops the server's process (SIGSTOP), lets it go on, kills it. */
void rbt_live_stop(const rbt_live *live);
void rbt_live_go_on(const rbt_live *live);
void rbt_live_kill(const rbt_live *live);

#endif

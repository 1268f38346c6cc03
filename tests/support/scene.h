/*
 * Tests against a scripted peer: a peer, a client that talks to it, and what
 * the test leaves behind.
 *
 *	static void test_something(void **state)
 *	{
 *		rbt_scene *s = rbt_scene_use(state);
 *
 *		rbt_scene_play(s, RBT_PAIR, script);
 *		want_status(s->rb, rbt_scene_read(s, 2, &o), RB_OK);
 *		want_text(s->res, 0, "a");
 *	}
 *
 *	static const struct CMUnitTest tests[] = { RBT_SCENE(test_something) };
 *	return cmocka_run_group_tests(tests, NULL, NULL);
 *
 * All of it is taken down after the test, whether it went well or not, and
 * before the next scene of the same test. A script is copied; what its steps
 * point to is borrowed.
 */
#ifndef RBT_SCENE_H
#define RBT_SCENE_H

#include "count.h"
#include "load.h"
#include "peer.h"
#include "want.h"

#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>

#include <stddef.h>
#include <stdint.h>

typedef struct rbt_scene {
	rbt_peer *peer;
	rbt_step *script;
	redisContext *ctx; /* NULL for a client that connects by itself */
	rb_client *rb;
	rb_result *res;
	rbt_keys keys;
	rbt_count count; /* the client allocates through it */
	char uri[160];
} rbt_scene;

#define RBT_SCENE(function)                                          \
	cmocka_unit_test_setup_teardown((function), rbt_scene_begin, \
					rbt_scene_end)

/* For cmocka: around each test. */
int rbt_scene_begin(void **state);
int rbt_scene_end(void **state);

/* The first line of a test. */
rbt_scene *rbt_scene_use(void **state);

/* A peer as described, with a client that wraps a connection to it. */
void rbt_scene_start(rbt_scene *s, const rbt_peer_options *options);
/* The same with a script; the first 4 KiB received are recorded. */
void rbt_scene_play(rbt_scene *s, rbt_family family, const rbt_step *script);
/* A peer on TCP with a client that connects by itself, as who ("user:password@"
 * or ""), to database db ("/3" or ""). options may be NULL. */
void rbt_scene_open(rbt_scene *s, const rbt_peer_options *peer, const char *who,
		    const char *db, const rb_options *options);
void rbt_scene_play_own(rbt_scene *s, const rbt_step *script, const char *who,
			const char *db, const rb_options *options);
/* Stops the peer, so that what its handler has seen can be looked at. */
void rbt_scene_rest(rbt_scene *s);

/* Reads n keys, "key:00000000" and on, into s->res; the result of the read
 * before is freed. */
rb_status rbt_scene_read(rbt_scene *s, size_t n, const rb_options *o);

/* The script was played to its end as written. */
void rbt_scene_want_over(rbt_scene *s);
/* hiredis refuses the context, and the library does so too. */
void rbt_scene_want_broken(rbt_scene *s);
/* hiredis sends PING on the context; the script answers +PONG. */
void rbt_scene_want_pong(rbt_scene *s);

/* Milliseconds since a moment of rbt_now_us(). */
unsigned rbt_scene_ms_since(uint64_t start_us);

#endif

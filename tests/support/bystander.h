/*
 * A server beside the test for programs that are run: who may log in is changed
 * from test to test, and each database has a key that tells it apart.
 *
 * Key "zero" is in database 0, "three" in 3; more are the test's to make.
 */
#ifndef RBT_BYSTANDER_H
#define RBT_BYSTANDER_H

#include "server.h"
#include "spawn.h"

#include <hiredis/hiredis.h>

typedef struct rbt_bystander {
	rbt_server *server;
	redisContext *admin;
	char port[16];
	const char *socket;
} rbt_bystander;

/* For cmocka, around a group; *state is a rbt_bystander. */
int rbt_bystander_open(void **state);
int rbt_bystander_close(void **state);
/* Around a test: takes back what was said of users. */
int rbt_bystander_reset(void **state);

/* The first line of a test; skipped where there is no server. */
rbt_bystander *rbt_bystander_use(void **state);

/* Sends a command, which must not fail. */
void rbt_bystander_do(const rbt_bystander *b, const char *format, ...);

/* Runs redisbatch with these arguments, at most 30, NULL at the end, and with env
 * as of rbt_spawn; REDIS_URL and REDISCLI_AUTH are only there if env has them. */
void rbt_bystander_run(const char *const *env, rbt_spawned *s,
		       const char *const *args);

#endif

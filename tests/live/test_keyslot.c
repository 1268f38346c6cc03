/*
 * The slots of keys, against a server that reckons them too.
 */
#include "keyslot.h"
#include "server.h"

#include <hiredis/hiredis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEYS 1000000
#define BATCH 5000
#define LEN_MAX 40

typedef struct asked {
	rbt_server *server;
	redisContext *ctx;
} asked;

/*
 * A server of a cluster listens on its port + 10000 too, which an ephemeral
 * port does not always leave room for: then it is started with another.
 */
static rbt_server *start_cluster(void)
{
	static const char *const args[] = { "--cluster-enabled", "yes", NULL };
	rbt_server *server = NULL;
	int i;

	for (i = 0; i < 5 && server == NULL; i++)
		server = rbt_server_start(args);
	return server;
}

static int open_asked(void **state)
{
	asked *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return -1;
	*state = a;
	if (!rbt_server_available())
		return 0;
	a->server = start_cluster();
	if (a->server == NULL) {
		print_error("%s\n", rbt_server_why());
		free(a);
		return -1;
	}
	a->ctx = redisConnectUnix(rbt_server_socket(a->server));
	return a->ctx != NULL && a->ctx->err == 0 ? 0 : -1;
}

static int close_asked(void **state)
{
	asked *a = *state;

	if (a->ctx != NULL)
		redisFree(a->ctx);
	rbt_server_stop(a->server);
	free(a);
	return 0;
}

static asked *use(void **state)
{
	asked *a = *state;

	if (a->server == NULL) {
		print_message("%s\n", rbt_server_why());
		skip();
	}
	return a;
}

/* ------------------------------------------------------------------ keys -- */

typedef struct key {
	size_t len;
	char data[LEN_MAX];
} key;

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 11;
}

/* A third of the bytes are braces in every other key, few in the others. */
static void make_key(key *k, uint64_t *seed)
{
	size_t rarity = next(seed) % 2 == 0 ? 6 : 40;
	size_t i;

	k->len = next(seed) % (LEN_MAX + 1);
	for (i = 0; i < k->len; i++) {
		uint64_t one = next(seed) % rarity;

		k->data[i] = one == 0 ? '{' : one == 1 ? '}' : (char)next(seed);
	}
}

static void ask_slots(asked *a, const key *keys, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const char *argv[] = { "CLUSTER", "KEYSLOT", keys[i].data };
		const size_t lens[] = { 7, 7, keys[i].len };

		assert_int_equal(redisAppendCommandArgv(a->ctx, 3, argv, lens),
				 REDIS_OK);
	}
}

/* The number of keys that have a tag. */
static size_t compare_slots(asked *a, const key *keys, size_t n)
{
	size_t tagged = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		void *any = NULL;
		redisReply *reply;

		assert_int_equal(redisGetReply(a->ctx, &any), REDIS_OK);
		reply = any;
		assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
		assert_int_equal(rbi_keyslot(keys[i].data, keys[i].len),
				 reply->integer);
		tagged += rbi_keyslot_has_tag(keys[i].data, keys[i].len);
		freeReplyObject(reply);
	}
	return tagged;
}

static void test_a_million_keys_have_the_slots_of_the_server(void **state)
{
	static key keys[BATCH];
	asked *a = use(state);
	uint64_t seed = 20261201;
	size_t tagged = 0;
	size_t done;
	size_t i;

	for (done = 0; done < KEYS; done += BATCH) {
		for (i = 0; i < BATCH; i++)
			make_key(&keys[i], &seed);
		ask_slots(a, keys, BATCH);
		tagged += compare_slots(a, keys, BATCH);
	}
	/* Both kinds were among them. */
	assert_in_range(tagged, KEYS / 10, KEYS - KEYS / 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_million_keys_have_the_slots_of_the_server),
	};

	return cmocka_run_group_tests(tests, open_asked, close_asked);
}

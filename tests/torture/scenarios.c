#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

bool scenario_is_absent(size_t i)
{
	return i % 7 == 3;
}

void scenario_load(torture *t, size_t n, size_t value_len)
{
	redisContext *admin = t->live->admin;
	char why[256] = "";

	assert_true(rbt_keys_init(&t->keys, "key:", n * t->scale));
	if (!rbt_load(admin, &t->keys, value_len, why, sizeof(why)))
		fail_msg("loading: %s", why);
	for (size_t i = 0; i < t->keys.n; i++)
		if (scenario_is_absent(i))
			redisAppendCommand(admin, "DEL %s", t->keys.keys[i]);
	for (size_t i = 0; i < t->keys.n; i++) {
		void *reply = NULL;

		if (!scenario_is_absent(i))
			continue;
		assert_int_equal(redisGetReply(admin, &reply), REDIS_OK);
		freeReplyObject(reply);
	}
}

void scenario_peer(torture *t, rbt_handler *handler, void *arg)
{
	rbt_peer_options o = { .family = RBT_PAIR,
			       .handler = handler,
			       .handler_arg = arg };

	t->peer = rbt_peer_start(&o);
	assert_non_null(t->peer);
	t->ctx = redisConnectFd(rbt_peer_take_fd(t->peer));
	assert_non_null(t->ctx);
}

redisReply *torture_ask(const torture *t, const char *command, const char *key,
			const rbt_keys *keys)
{
	const char **argv = malloc((keys->n + 2) * sizeof(*argv));
	redisReply *reply;
	int argc = 0;

	assert_non_null(argv);
	argv[argc++] = command;
	if (key)
		argv[argc++] = key;
	for (size_t i = 0; i < keys->n; i++)
		argv[argc++] = keys->keys[i];
	reply = redisCommandArgv(t->live->admin, argc, argv, NULL);
	free(argv);
	assert_non_null(reply);
	assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
	assert_int_equal(reply->elements, keys->n);
	return reply;
}

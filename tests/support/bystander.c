#include "bystander.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_ARGS = 32, MOST_ENV = 16 };

int rbt_bystander_open(void **state)
{
	rbt_bystander *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	*state = b;
	if (!rbt_server_available())
		return 0;
	b->server = rbt_server_start(NULL);
	if (b->server == NULL)
		fail_msg("%s", rbt_server_why());
	b->socket = rbt_server_socket(b->server);
	snprintf(b->port, sizeof(b->port), "%d", rbt_server_port(b->server));
	b->admin = redisConnectUnix(b->socket);
	assert_non_null(b->admin);
	rbt_bystander_do(b, "SET zero 0");
	rbt_bystander_do(b, "SELECT 3");
	rbt_bystander_do(b, "SET three 3");
	rbt_bystander_do(b, "SELECT 0");
	return 0;
}

int rbt_bystander_close(void **state)
{
	rbt_bystander *b = *state;

	if (b->admin != NULL)
		redisFree(b->admin);
	rbt_server_stop(b->server);
	free(b);
	return 0;
}

int rbt_bystander_reset(void **state)
{
	rbt_bystander *b = *state;

	if (b->server != NULL) {
		rbt_bystander_do(b, "ACL SETUSER default resetpass nopass");
		rbt_bystander_do(b, "ACL DELUSER ann");
	}
	return 0;
}

rbt_bystander *rbt_bystander_use(void **state)
{
	rbt_bystander *b = *state;

	if (b->server == NULL) {
		print_message("skipped: %s\n", rbt_server_why());
		skip();
	}
	return b;
}

void rbt_bystander_do(const rbt_bystander *b, const char *format, ...)
{
	redisReply *reply;
	va_list args;

	va_start(args, format);
	reply = redisvCommand(b->admin, format, args);
	va_end(args);
	assert_non_null(reply);
	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s: %s", format, reply->str);
	freeReplyObject(reply);
}

void rbt_bystander_run(const char *const *env, rbt_spawned *s,
		       const char *const *args)
{
	const char *argv[MOST_ARGS] = { rbt_tool() };
	const char *all[MOST_ENV] = { "REDIS_URL", "REDISCLI_AUTH" };

	for (size_t i = 0; args[i] != NULL; i++) {
		assert_in_range(i, 0, MOST_ARGS - 3);
		argv[i + 1] = args[i];
	}
	for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
		assert_in_range(i, 0, MOST_ENV - 4);
		all[i + 2] = env[i];
	}
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .env = all }, s);
}

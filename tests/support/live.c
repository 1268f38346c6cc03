#include "live.h"

#include "tick.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

/* What a test may have changed is set back by these. */
static const char *const settings[][2] = {
	{ "client-output-buffer-limit", "normal 0 0 0" },
	{ "client-query-buffer-limit", "1gb" },
	{ "lua-time-limit", "5000" },
	{ "maxclients", "200" },
	{ "maxmemory", "0" },
	{ "min-replicas-to-write", "0" },
	{ "proto-max-bulk-len", "512mb" },
	{ "requirepass", "" },
	{ "timeout", "0" },
};

/* ---------------------------------------------------------- connections -- */

static redisContext *must_connect(redisContext *ctx)
{
	struct timeval patience = { 60, 0 };

	if (ctx && ctx->err)
		print_error("connect: %s\n", ctx->errstr);
	assert_non_null(ctx);
	assert_int_equal(ctx->err, 0);
	/* A test that waits for an answer that never comes must end. */
	assert_int_equal(redisSetTimeout(ctx, patience), REDIS_OK);
	return ctx;
}

redisContext *rbt_live_unix(const rbt_live *live)
{
	return must_connect(redisConnectUnix(rbt_server_socket(live->server)));
}

redisContext *rbt_live_tcp(const rbt_live *live)
{
	return must_connect(
		redisConnect("127.0.0.1", rbt_server_port(live->server)));
}

void rbt_live_wrap(rbt_live *live, redisContext *ctx,
		   const rb_options *defaults)
{
	rb_client_free(live->rb);
	live->rb = NULL;
	if (live->ctx && live->ctx != ctx)
		redisFree(live->ctx);
	live->ctx = ctx;
	assert_int_equal(rb_client_wrap(&live->rb, ctx, defaults), RB_OK);
}

void rbt_live_open_uri(rbt_live *live, const rb_options *defaults,
		       const char *format, ...)
{
	rb_options own = rbt_options(0, 0);
	va_list args;

	rb_client_free(live->rb);
	live->rb = NULL;
	if (live->ctx)
		redisFree(live->ctx);
	live->ctx = NULL;
	va_start(args, format);
	vsnprintf(live->uri, sizeof(live->uri), format, args);
	va_end(args);
	assert_null(rb_uri_problem(live->uri));
	assert_int_equal(rb_client_open(&live->rb, live->uri,
					defaults ? defaults : &own),
			 RB_OK);
}

/* ------------------------------------------------------------- commands -- */

static redisReply *ask(redisContext *ctx, const char *format, va_list args)
{
	redisReply *reply = redisvCommand(ctx, format, args);

	if (!reply)
		print_error("%s: %s\n", format, ctx->errstr);
	assert_non_null(reply);
	return reply;
}

void rbt_do(redisContext *ctx, const char *format, ...)
{
	redisReply *reply;
	va_list args;
	int type;

	va_start(args, format);
	reply = ask(ctx, format, args);
	va_end(args);
	type = reply->type;
	if (type == REDIS_REPLY_ERROR)
		print_error("%s: %s\n", format, reply->str);
	freeReplyObject(reply);
	assert_int_not_equal(type, REDIS_REPLY_ERROR);
}

long long rbt_ask_number(redisContext *ctx, const char *format, ...)
{
	redisReply *reply;
	long long number;
	va_list args;
	int type;

	va_start(args, format);
	reply = ask(ctx, format, args);
	va_end(args);
	type = reply->type;
	number = reply->integer;
	freeReplyObject(reply);
	assert_int_equal(type, REDIS_REPLY_INTEGER);
	return number;
}

void rbt_ask(redisContext *ctx, char *out, size_t size, const char *format, ...)
{
	redisReply *reply;
	va_list args;

	va_start(args, format);
	reply = ask(ctx, format, args);
	va_end(args);
	snprintf(out, size, "%s", reply->str ? reply->str : "");
	freeReplyObject(reply);
}

void rbt_want_pong(redisContext *ctx)
{
	char answer[64];

	assert_int_equal(ctx->err, 0);
	rbt_ask(ctx, answer, sizeof(answer), "PING");
	assert_string_equal(answer, "PONG");
}

void rbt_want_broken(redisContext *ctx, rb_client *rb)
{
	const char *key = "any";
	rb_result *res = NULL;

	assert_int_not_equal(ctx->err, 0);
	assert_int_not_equal(ctx->errstr[0], '\0');
	assert_null(redisCommand(ctx, "PING"));
	assert_int_equal(rb_mget_chunked(rb, &key, NULL, 1, NULL, &res),
			 RB_ERR_INVALID);
	assert_null(res);
	assert_int_not_equal(rb_client_error(rb)[0], '\0');
}

/* ------------------------------------------------------------ the group -- */

static void disconnect(rbt_live *live)
{
	rb_result_free(live->res);
	rb_client_free(live->rb);
	if (live->ctx)
		redisFree(live->ctx);
	if (live->admin)
		redisFree(live->admin);
	rbt_keys_fini(&live->keys);
	live->res = NULL;
	live->rb = NULL;
	live->ctx = live->admin = NULL;
}

static rbt_server *start_server(void)
{
	const char *const args[] = { "--maxclients", "200", NULL };

	return rbt_server_start(args);
}

int rbt_live_open(void **state)
{
	rbt_live *live = calloc(1, sizeof(*live));

	if (!live)
		return -1;
	*state = live;
	if (!rbt_server_available())
		return 0;
	live->server = start_server();
	if (!live->server) {
		print_error("%s\n", rbt_server_why());
		free(live);
		return -1;
	}
	return 0;
}

int rbt_live_close(void **state)
{
	rbt_live *live = *state;

	rbt_server_stop(live->server);
	free(live);
	return 0;
}

/* --------------------------------------------------------- around a test -- */

static bool server_lives(const rbt_live *live)
{
	redisContext *ctx = redisConnectUnix(rbt_server_socket(live->server));
	redisReply *reply = NULL;

	if (ctx && !ctx->err)
		reply = redisCommand(ctx, "PING");
	if (ctx)
		redisFree(ctx);
	if (reply)
		freeReplyObject(reply);
	return reply != NULL;
}

int rbt_live_begin(void **state)
{
	rbt_live *live = *state;
	rb_options o = rbt_options(0, 0);

	if (!live->server)
		return 0;
	if (!server_lives(live)) {
		rbt_server_stop(live->server);
		live->server = start_server();
		assert_non_null(live->server);
	}
	rbt_count_init(&live->count);
	live->admin = rbt_live_unix(live);
	rbt_do(live->admin, "FLUSHALL");
	rbt_live_wrap(live, rbt_live_unix(live), &o);
	rbt_do(live->admin, "CONFIG RESETSTAT");
	/* What a program that has not thought about it has. */
	signal(SIGPIPE, SIG_DFL);
	return 0;
}

int rbt_live_end(void **state)
{
	rbt_live *live = *state;

	if (!live->server)
		return 0;
	/* The server may be gone, which hiredis finds out by writing. */
	signal(SIGPIPE, SIG_IGN);
	rbt_live_go_on(live);
	/* The admin's connection, if the test has not lost it, is one that
	 * needs no password. */
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		redisReply *reply = NULL;

		if (live->admin && !live->admin->err)
			reply = redisCommand(live->admin, "CONFIG SET %s %s",
					     settings[i][0], settings[i][1]);
		if (reply)
			freeReplyObject(reply);
	}
	disconnect(live);
	return 0;
}

rbt_live *rbt_live_use(void **state)
{
	rbt_live *live = *state;

	if (!live->server) {
		print_message("%s\n", rbt_server_why());
		skip();
	}
	return live;
}

/* ------------------------------------------------------- a test's work -- */

void rbt_live_drop(rbt_live *live)
{
	rb_result_free(live->res);
	live->res = NULL;
}

void rbt_live_load(rbt_live *live, size_t n, size_t value_len)
{
	char why[256] = "";

	rbt_keys_fini(&live->keys);
	assert_true(rbt_keys_init(&live->keys, "key:", n));
	if (!rbt_load(live->admin, &live->keys, value_len, why, sizeof(why)))
		fail_msg("loading: %s", why);
	rbt_do(live->admin, "CONFIG RESETSTAT");
}

rb_status rbt_live_read(rbt_live *live, const rb_options *o)
{
	rbt_live_drop(live);
	return rb_mget_chunked(live->rb, live->keys.keys, live->keys.lens,
			       live->keys.n, o, &live->res);
}

/* --------------------------------------------------------------- INFO -- */

/* The number behind "name" in the section; 0 if it is not there. */
static uint64_t find_number(const rbt_live *live, const char *section,
			    const char *name)
{
	redisReply *reply = redisCommand(live->admin, "INFO %s", section);
	const char *at = NULL;
	uint64_t number = 0;

	assert_non_null(reply);
	if (reply->str)
		at = strstr(reply->str, name);
	if (at)
		number = strtoull(at + strlen(name), NULL, 10);
	freeReplyObject(reply);
	return number;
}

uint64_t rbt_live_calls(const rbt_live *live, const char *command)
{
	char name[64];

	snprintf(name, sizeof(name), "cmdstat_%s:calls=", command);
	return find_number(live, "commandstats", name);
}

uint64_t rbt_live_info(const rbt_live *live, const char *section,
		       const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "\n%s:", name);
	return find_number(live, section, line);
}

/* ------------------------------------------------------------- signals -- */

void rbt_live_stop(const rbt_live *live)
{
	pid_t pid = rbt_server_pid(live->server);
	pid_t got;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	do
		got = waitpid(pid, NULL, WUNTRACED);
	while (got < 0 && errno == EINTR);
	assert_int_equal(got, pid);
}

void rbt_live_go_on(const rbt_live *live)
{
	kill(rbt_server_pid(live->server), SIGCONT);
}

void rbt_live_kill(const rbt_live *live)
{
	siginfo_t info;
	pid_t pid = rbt_server_pid(live->server);

	kill(pid, SIGKILL);
	/* Left to be reaped by whoever ends the server. */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		continue;
}

#include "target.h"

#include <redisbatch/redisbatch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_S = 5 };

static bool say_why(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return false;
}

void rbt_target_unix(rbt_target *target, const char *path)
{
	memset(target, 0, sizeof(*target));
	snprintf(target->path, sizeof(target->path), "%s", path);
}

void rbt_target_tcp(rbt_target *target, int port)
{
	memset(target, 0, sizeof(*target));
	snprintf(target->host, sizeof(target->host), "127.0.0.1");
	target->port = port;
}

/* ------------------------------------------------------------- parsing -- */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)((at - digits) % 16) : -1;
}

/* Copies n bytes without their percent signs. False: no room. */
static bool decode(char *out, size_t size, const char *in, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++, len++) {
		if (len + 1 >= size)
			return false;
		out[len] = in[i];
		if (in[i] != '%' || i + 2 >= n)
			continue;
		out[len] = (char)(hex_digit(in[i + 1]) * 16 +
				  hex_digit(in[i + 2]));
		i += 2;
	}
	out[len] = '\0';
	return true;
}

/* "user:password@", "user@" or nothing; *at is moved behind it. */
static bool parse_user(rbt_target *t, const char **at, size_t span)
{
	const char *end = NULL, *colon;

	for (size_t i = 0; i < span; i++)
		if ((*at)[i] == '@')
			end = *at + i;
	if (!end)
		return true;
	colon = memchr(*at, ':', (size_t)(end - *at));
	if (colon && !decode(t->password, sizeof(t->password), colon + 1,
			     (size_t)(end - colon - 1)))
		return false;
	if (!decode(t->user, sizeof(t->user), *at,
		    (size_t)((colon ? colon : end) - *at)))
		return false;
	*at = end + 1;
	return true;
}

static bool parse_unix(rbt_target *t, const char *at)
{
	const char *query;

	if (!parse_user(t, &at, strcspn(at, "/")))
		return false;
	query = strstr(at, "?db=");
	if (query)
		t->db = (int)strtol(query + 4, NULL, 10);
	return decode(t->path, sizeof(t->path), at, strcspn(at, "?"));
}

static bool parse_redis(rbt_target *t, const char *at)
{
	size_t n;

	if (!parse_user(t, &at, strcspn(at, "/?")))
		return false;
	if (*at == '[') {
		n = strcspn(++at, "]");
		if (!decode(t->host, sizeof(t->host), at, n))
			return false;
		at += n + (at[n] == ']');
	} else {
		n = strcspn(at, ":/?");
		if (!decode(t->host, sizeof(t->host), at, n))
			return false;
		at += n;
	}
	t->port = *at == ':' ? (int)strtol(at + 1, NULL, 10) : 6379;
	at += strcspn(at, "/");
	t->db = *at == '/' ? (int)strtol(at + 1, NULL, 10) : 0;
	return true;
}

bool rbt_target_parse(rbt_target *target, const char *uri, char *why,
		      size_t size)
{
	const char *problem = rb_uri_problem(uri);
	bool fits;

	memset(target, 0, sizeof(*target));
	if (problem)
		return say_why(why, size, problem);
	if (strncmp(uri, "unix://", 7) == 0)
		fits = parse_unix(target, uri + 7);
	else if (strncmp(uri, "redis://", 8) == 0)
		fits = parse_redis(target, uri + 8);
	else
		return say_why(why, size, "not a redis:// or unix:// URI");
	return fits || say_why(why, size, "a part of it is too long");
}

/* ---------------------------------------------------------- connecting -- */

static bool ask(redisContext *ctx, int argc, const char **argv, char *why,
		size_t size)
{
	redisReply *reply = redisCommandArgv(ctx, argc, argv, NULL);
	bool fine = reply && reply->type != REDIS_REPLY_ERROR;

	if (!fine)
		say_why(why, size, reply ? reply->str : ctx->errstr);
	if (reply)
		freeReplyObject(reply);
	return fine;
}

static bool greet(redisContext *ctx, const rbt_target *t, char *why,
		  size_t size)
{
	char db[16];
	const char *auth[] = { "AUTH", t->user, t->password };
	const char *plain[] = { "AUTH", t->password };
	const char *select[] = { "SELECT", db };
	const char *ping[] = { "PING" };

	snprintf(db, sizeof(db), "%d", t->db);
	if (t->password[0] && t->user[0] && !ask(ctx, 3, auth, why, size))
		return false;
	if (t->password[0] && !t->user[0] && !ask(ctx, 2, plain, why, size))
		return false;
	if (t->db != 0 && !ask(ctx, 2, select, why, size))
		return false;
	return ask(ctx, 1, ping, why, size);
}

redisContext *rbt_target_connect(const rbt_target *target, char *why,
				 size_t size)
{
	struct timeval limit = { CONNECT_S, 0 };
	redisContext *ctx;

	if (target->path[0])
		ctx = redisConnectUnixWithTimeout(target->path, limit);
	else
		ctx = redisConnectWithTimeout(target->host, target->port,
					      limit);
	if (!ctx) {
		say_why(why, size, "out of memory");
		return NULL;
	}
	if (ctx->err)
		say_why(why, size, ctx->errstr);
	else if (greet(ctx, target, why, size))
		return ctx;
	redisFree(ctx);
	return NULL;
}

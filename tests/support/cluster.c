/*
 * The processes of a cluster, and commands to them. How they are made one is
 * in cluster_make.c.
 */
#include "cluster.h"
#include "cluster_make.h"
#include "cluster_state.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ADMIN_S = 5 };

bool rbt_cluster_fail(rbt_cluster *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->why, sizeof(c->why), format, args);
	va_end(args);
	return false;
}

/* ----------------------------------------------------------- the nodes -- */

size_t rbt_cluster_size(const rbt_cluster *c)
{
	return c->n;
}

int rbt_cluster_port(const rbt_cluster *c, size_t node)
{
	return rbt_server_port(c->nodes[node].server);
}

pid_t rbt_cluster_pid(const rbt_cluster *c, size_t node)
{
	return rbt_server_pid(c->nodes[node].server);
}

const char *rbt_cluster_id(const rbt_cluster *c, size_t node)
{
	return c->nodes[node].id;
}

const char *rbt_cluster_why(const rbt_cluster *c)
{
	return c->why;
}

size_t rbt_cluster_at_port(const rbt_cluster *c, long long port)
{
	size_t i = 0;

	while (i < c->n && rbt_cluster_port(c, i) != port)
		i++;
	return i;
}

void rbt_cluster_uri(const rbt_cluster *c, size_t nseeds, char *out,
		     size_t size)
{
	const rbt_cluster_options *o = &c->options;
	size_t len = 0;
	int n;

	n = snprintf(out, size, "redis+cluster://%s%s%s%s",
		     o->user ? o->user : "", o->password ? ":" : "",
		     o->password ? o->password : "", o->password ? "@" : "");
	for (size_t i = 0; n > 0; i++) {
		len += (size_t)n;
		if (i == c->n || (nseeds > 0 && i == nseeds) || len >= size)
			break;
		n = snprintf(out + len, size - len, "%s127.0.0.1:%d",
			     i > 0 ? "," : "", rbt_cluster_port(c, i));
	}
}

/* ------------------------------------------------------------- commands -- */

static bool log_in(rbt_cluster *c, redisContext *ctx)
{
	const rbt_cluster_options *o = &c->options;
	redisReply *reply;
	bool fine;

	if (!o->password)
		return true;
	if (o->user)
		reply = redisCommand(ctx, "AUTH %s %s", o->user, o->password);
	else
		reply = redisCommand(ctx, "AUTH %s", o->password);
	fine = reply && reply->type != REDIS_REPLY_ERROR;
	if (reply)
		freeReplyObject(reply);
	return fine;
}

redisContext *rbt_cluster_admin(rbt_cluster *c, size_t node)
{
	struct timeval patience = { ADMIN_S, 0 };
	rbt_node *n = &c->nodes[node];
	redisContext *ctx = n->admin;

	if (ctx && !ctx->err)
		return ctx;
	if (ctx)
		redisFree(ctx);
	n->admin = NULL;
	ctx = redisConnectUnix(rbt_server_socket(n->server));
	if (ctx && !ctx->err && redisSetTimeout(ctx, patience) == REDIS_OK &&
	    log_in(c, ctx)) {
		n->admin = ctx;
		return ctx;
	}
	rbt_cluster_fail(c, "node %zu: %s", node,
			 ctx && ctx->err ? ctx->errstr : "no connection");
	if (ctx)
		redisFree(ctx);
	return NULL;
}

static redisReply *ask_once(rbt_cluster *c, size_t node, const char *format,
			    va_list args)
{
	redisContext *ctx = rbt_cluster_admin(c, node);
	redisReply *reply = ctx ? redisvCommand(ctx, format, args) : NULL;

	if (ctx && !reply)
		rbt_cluster_fail(c, "node %zu: %s: %s", node, format,
				 ctx->errstr);
	return reply;
}

/* Twice, since somebody may have ended the connection. What took so long that
 * it was given up is not asked again. */
static redisReply *ask(rbt_cluster *c, size_t node, const char *format,
		       va_list args)
{
	redisReply *reply;
	va_list again;

	va_copy(again, args);
	reply = ask_once(c, node, format, args);
	if (!reply && c->nodes[node].admin && errno != EAGAIN)
		reply = ask_once(c, node, format, again);
	va_end(again);
	return reply;
}

redisReply *rbt_cluster_ask(rbt_cluster *c, size_t node, const char *format,
			    ...)
{
	redisReply *reply;
	va_list args;

	va_start(args, format);
	reply = ask(c, node, format, args);
	va_end(args);
	return reply;
}

bool rbt_cluster_vdo(rbt_cluster *c, size_t node, const char *format,
		     va_list args)
{
	redisReply *reply = ask(c, node, format, args);
	bool fine = reply && reply->type != REDIS_REPLY_ERROR;

	if (reply && !fine)
		rbt_cluster_fail(c, "node %zu: %s: %s", node, format,
				 reply->str);
	if (reply)
		freeReplyObject(reply);
	return fine;
}

bool rbt_cluster_do(rbt_cluster *c, size_t node, const char *format, ...)
{
	va_list args;
	bool fine;

	va_start(args, format);
	fine = rbt_cluster_vdo(c, node, format, args);
	va_end(args);
	return fine;
}

bool rbt_cluster_do_all(rbt_cluster *c, const char *format, ...)
{
	bool fine = true;
	va_list args;

	for (size_t i = 0; i < c->n; i++) {
		va_start(args, format);
		if (rbt_cluster_runs(c, i))
			fine &= rbt_cluster_vdo(c, i, format, args);
		va_end(args);
	}
	return fine;
}

/* ----------------------------------------------------------------- INFO -- */

/* The number behind these words in a section; 0 if they are not there. */
static uint64_t find_number(rbt_cluster *c, size_t node, const char *section,
			    const char *words)
{
	redisReply *reply = rbt_cluster_ask(c, node, "INFO %s", section);
	const char *at = reply && reply->str ? strstr(reply->str, words) : NULL;
	uint64_t number = at ? strtoull(at + strlen(words), NULL, 10) : 0;

	if (reply)
		freeReplyObject(reply);
	return number;
}

uint64_t rbt_cluster_info(rbt_cluster *c, size_t node, const char *section,
			  const char *name)
{
	char words[64];

	snprintf(words, sizeof(words), "\n%s:", name);
	return find_number(c, node, section, words);
}

uint64_t rbt_cluster_calls_at(rbt_cluster *c, size_t node, const char *command)
{
	char words[64];

	snprintf(words, sizeof(words), "\ncmdstat_%s:calls=", command);
	return find_number(c, node, "commandstats", words);
}

uint64_t rbt_cluster_calls(rbt_cluster *c, const char *command)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->n; i++)
		if (rbt_cluster_runs(c, i))
			sum += rbt_cluster_calls_at(c, i, command);
	return sum;
}

uint64_t rbt_cluster_errors(rbt_cluster *c, const char *word)
{
	uint64_t sum = 0;
	char words[64];

	snprintf(words, sizeof(words), "\nerrorstat_%s:count=", word);
	for (size_t i = 0; i < c->n; i++)
		if (rbt_cluster_runs(c, i))
			sum += find_number(c, i, "errorstats", words);
	return sum;
}

/* -------------------------------------------------- what befalls them -- */

bool rbt_cluster_runs(const rbt_cluster *c, size_t node)
{
	return rbt_cluster_pid(c, node) > 0 && !c->nodes[node].frozen;
}

static void forget_admin(rbt_node *n)
{
	if (n->admin)
		redisFree(n->admin);
	n->admin = NULL;
}

void rbt_cluster_kill(rbt_cluster *c, size_t node)
{
	forget_admin(&c->nodes[node]);
	rbt_server_kill(c->nodes[node].server);
	c->nodes[node].frozen = false;
}

bool rbt_cluster_restart(rbt_cluster *c, size_t node)
{
	if (rbt_server_restart(c->nodes[node].server))
		return true;
	return rbt_cluster_fail(c, "node %zu: %s", node, rbt_server_why());
}

void rbt_cluster_freeze(rbt_cluster *c, size_t node)
{
	pid_t got, pid = rbt_cluster_pid(c, node);

	c->nodes[node].frozen = true;
	kill(pid, SIGSTOP);
	do
		got = waitpid(pid, NULL, WUNTRACED);
	while (got < 0 && errno == EINTR);
}

void rbt_cluster_thaw(rbt_cluster *c, size_t node)
{
	/* Never 0, which would be all of us. */
	if (rbt_cluster_pid(c, node) > 0)
		kill(rbt_cluster_pid(c, node), SIGCONT);
	c->nodes[node].frozen = false;
}

void rbt_cluster_stop(rbt_cluster *c)
{
	if (!c)
		return;
	/* There is nothing to be saved, and nodes that end one by one would
	 * only see each other fail. */
	for (size_t i = 0; i < RBT_MOST_NODES; i++) {
		forget_admin(&c->nodes[i]);
		if (c->nodes[i].server)
			rbt_server_kill(c->nodes[i].server);
		rbt_server_stop(c->nodes[i].server);
	}
	free(c);
}

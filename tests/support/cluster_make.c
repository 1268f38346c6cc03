/*
 * What redis-cli does for `--cluster create`, by commands of our own: it is not
 * everywhere where a server is, and it takes its time.
 */
#include "cluster_make.h"
#include "cluster_state.h"
#include "cluster_view.h"
#include "tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 64, MEET_MS = 15000, OK_MS = 30000, AT_ONCE = 1024 };

static char why_not[640];

const char *rbt_cluster_why_not(void)
{
	return why_not;
}

/* --------------------------------------------------------- the processes -- */

typedef struct arguments {
	const char *list[MAX_ARGS];
	size_t n;
	char timeout[16];
	char secret[128];
} arguments;

static void add(arguments *a, const char *name, const char *value)
{
	/* One is left for the NULL at the end. */
	if (a->n + 2 >= MAX_ARGS)
		abort();
	a->list[a->n++] = name;
	a->list[a->n++] = value;
}

static void add_secrets(arguments *a, const rbt_cluster_options *o)
{
	static const char *const rights[] = { "~*", "&*", "+@all" };

	if (!o->password)
		return;
	add(a, "--masterauth", o->password);
	if (!o->user) {
		add(a, "--requirepass", o->password);
		return;
	}
	snprintf(a->secret, sizeof(a->secret), ">%s", o->password);
	add(a, "--masteruser", o->user);
	add(a, "--user", o->user);
	add(a, "on", a->secret);
	for (size_t i = 0; i < 3; i++)
		a->list[a->n++] = rights[i];
	add(a, "--user", "default");
	a->list[a->n++] = "off";
}

static void list_arguments(arguments *a, const rbt_cluster_options *o)
{
	const char *const *extra = o->extra_args;

	a->n = 0;
	snprintf(a->timeout, sizeof(a->timeout), "%u", o->node_timeout_ms);
	add(a, "--cluster-enabled", "yes");
	add(a, "--cluster-config-file", "nodes.conf");
	add(a, "--cluster-node-timeout", a->timeout);
	add(a, "--cluster-require-full-coverage", o->partial ? "no" : "yes");
	/* Replicas are wanted at once, and are known to be fit by the pings
	 * that they have had. */
	add(a, "--repl-diskless-sync", "yes");
	add(a, "--repl-diskless-sync-delay", "0");
	add(a, "--repl-ping-replica-period", "1");
	add_secrets(a, o);
	for (; extra && *extra; extra++) {
		if (a->n + 1 >= MAX_ARGS)
			abort();
		a->list[a->n++] = *extra;
	}
	a->list[a->n] = NULL;
}

static bool learn_id(rbt_cluster *c, size_t node)
{
	redisReply *reply = rbt_cluster_ask(c, node, "CLUSTER MYID");
	bool fine = reply && reply->type == REDIS_REPLY_STRING &&
		    reply->len < sizeof(c->nodes[node].id);

	if (fine)
		memcpy(c->nodes[node].id, reply->str, reply->len + 1);
	if (reply)
		freeReplyObject(reply);
	return fine;
}

static bool start_nodes(rbt_cluster *c)
{
	arguments a;

	list_arguments(&a, &c->options);
	for (size_t i = 0; i < c->n; i++) {
		c->nodes[i].server = rbt_server_start_lasting(a.list);
		if (!c->nodes[i].server)
			return rbt_cluster_fail(c, "%s", rbt_server_why());
		if (!learn_id(c, i))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------- the slots -- */

void rbt_cluster_share(size_t i, size_t n, unsigned *first, unsigned *last)
{
	*first = (unsigned)(i * RBT_SLOTS / n);
	*last = (unsigned)((i + 1) * RBT_SLOTS / n - 1);
}

/* Before 7.0 there is no ADDSLOTSRANGE. */
static bool add_one_by_one(rbt_cluster *c, size_t node, unsigned first,
			   unsigned last)
{
	char *line = malloc(32 + (size_t)AT_ONCE * 6);
	bool fine = line != NULL;

	while (fine && first <= last) {
		size_t len = (size_t)sprintf(line, "CLUSTER ADDSLOTS");

		for (int i = 0; i < AT_ONCE && first <= last; i++)
			len += (size_t)sprintf(line + len, " %u", first++);
		fine = rbt_cluster_do(c, node, line);
	}
	free(line);
	return fine;
}

static bool give_slots(rbt_cluster *c)
{
	unsigned first, last;

	for (size_t i = 0; i < c->options.primaries; i++) {
		rbt_cluster_share(i, c->options.primaries, &first, &last);
		if (!rbt_cluster_do(c, i, "CLUSTER ADDSLOTSRANGE %d %d",
				    (int)first, (int)last) &&
		    !add_one_by_one(c, i, first, last))
			return false;
	}
	return true;
}

/* ----------------------------------------------------------- acquaintance -- */

/* Epochs of their own, or they would have to settle which is whose. */
static bool set_epochs(rbt_cluster *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!rbt_cluster_do(c, i, "CLUSTER SET-CONFIG-EPOCH %d",
				    (int)i + 1))
			return false;
	return true;
}

/* Each with each: rumours take longer. */
static bool introduce(rbt_cluster *c)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t j = i + 1; j < c->n; j++)
			if (!rbt_cluster_do(c, i, "CLUSTER MEET 127.0.0.1 %d",
					    rbt_cluster_port(c, j)))
				return false;
	return true;
}

static bool knows_all(rbt_cluster *c, size_t node)
{
	redisReply *reply = rbt_cluster_ask(c, node, "CLUSTER NODES");
	bool fine = reply && reply->str && !strstr(reply->str, "handshake");

	for (size_t i = 0; fine && i < c->n; i++)
		fine = strstr(reply->str, c->nodes[i].id) != NULL;
	if (reply)
		freeReplyObject(reply);
	return fine;
}

static bool await_acquaintance(rbt_cluster *c)
{
	uint64_t end = rbt_now_us() + (uint64_t)MEET_MS * 1000;
	size_t i = 0;

	while (i < c->n) {
		if (knows_all(c, i)) {
			i++;
			continue;
		}
		if (rbt_now_us() > end)
			return rbt_cluster_fail(
				c, "node %zu does not know all others", i);
		rbt_sleep_ms(10);
	}
	return true;
}

static bool make_replicas(rbt_cluster *c)
{
	size_t primaries = c->options.primaries;

	for (size_t i = primaries; i < c->n; i++)
		if (!rbt_cluster_do(c, i, "CLUSTER REPLICATE %s",
				    c->nodes[i - primaries].id))
			return false;
	return true;
}

/* -------------------------------------------------------------- all of it -- */

static void fill_options(rbt_cluster *c, const rbt_cluster_options *options)
{
	c->options = *options;
	if (c->options.primaries == 0)
		c->options.primaries = 1;
	if (c->options.node_timeout_ms == 0)
		c->options.node_timeout_ms = 2000;
	c->n = c->options.primaries * (1 + c->options.replicas);
}

rbt_cluster *rbt_cluster_start(const rbt_cluster_options *options)
{
	rbt_cluster *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	fill_options(c, options);
	if (c->n <= RBT_MOST_NODES && c->options.replicas <= 1 &&
	    start_nodes(c) && set_epochs(c) && give_slots(c) && introduce(c) &&
	    await_acquaintance(c) && make_replicas(c) &&
	    rbt_cluster_await_ok(c, OK_MS))
		return c;
	snprintf(why_not, sizeof(why_not), "no cluster: %s", c->why);
	rbt_cluster_stop(c);
	return NULL;
}

void rbt_cluster_migrate_auth(const rbt_cluster *c, char *out, size_t size)
{
	const rbt_cluster_options *o = &c->options;

	if (!o->password)
		out[0] = '\0';
	else if (o->user)
		snprintf(out, size, " AUTH2 %s %s", o->user, o->password);
	else
		snprintf(out, size, " AUTH %s", o->password);
}

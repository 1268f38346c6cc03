#include "cluster_view.h"

#include "cluster_state.h"
#include "tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 20 };

/* ------------------------------------------------------------- the map -- */

static bool read_address(const rbt_cluster *c, const redisReply *r,
			 size_t *node)
{
	if (r->type != REDIS_REPLY_ARRAY || r->elements < 2)
		return false;
	*node = rbt_cluster_at_port(c, r->element[1]->integer);
	return *node < c->n;
}

static bool read_range(const rbt_cluster *c, const redisReply *r,
		       rbt_view *view)
{
	long long first, last;
	size_t node;

	if (r->type != REDIS_REPLY_ARRAY || r->elements < 3)
		return false;
	first = r->element[0]->integer;
	last = r->element[1]->integer;
	if (first < 0 || last >= RBT_SLOTS || first > last ||
	    !read_address(c, r->element[2], &node))
		return false;
	memset(view->owner + first, (int)node, (size_t)(last - first + 1));
	view->owners |= UINT32_C(1) << node;
	for (size_t i = 3; i < r->elements; i++)
		if (read_address(c, r->element[i], &node))
			view->replicas |= UINT32_C(1) << node;
	return true;
}

bool rbt_cluster_view(rbt_cluster *c, size_t node, rbt_view *view)
{
	redisReply *reply = rbt_cluster_ask(c, node, "CLUSTER SLOTS");
	bool fine = reply && reply->type == REDIS_REPLY_ARRAY;

	memset(view, 0, sizeof(*view));
	memset(view->owner, RBT_MOST_NODES, sizeof(view->owner));
	for (size_t i = 0; fine && i < reply->elements; i++)
		fine = read_range(c, reply->element[i], view);
	if (reply)
		freeReplyObject(reply);
	return fine || rbt_cluster_fail(c, "node %zu gives no map", node);
}

size_t rbt_cluster_owner(rbt_cluster *c, unsigned slot)
{
	rbt_view view;

	/* Who was found the last time is likely to be asked for again. */
	for (size_t k = 0; k < c->n; k++) {
		size_t i = (c->found + k) % c->n;

		if (rbt_cluster_runs(c, i) && rbt_cluster_view(c, i, &view) &&
		    view.owner[slot] == i) {
			c->found = i;
			return i;
		}
	}
	return RBT_MOST_NODES;
}

/* ------------------------------------------------------------ the nodes -- */

/* A line of INFO or CLUSTER INFO is in the answer. */
static bool says(rbt_cluster *c, size_t node, const char *command,
		 const char *words)
{
	redisReply *reply = rbt_cluster_ask(c, node, command);
	bool found = reply && reply->str && strstr(reply->str, words);

	if (reply)
		freeReplyObject(reply);
	return found;
}

bool rbt_cluster_is_primary(rbt_cluster *c, size_t node)
{
	return says(c, node, "INFO replication", "role:master");
}

static bool serves(rbt_cluster *c, size_t node)
{
	return says(c, node, "CLUSTER INFO", "cluster_state:ok");
}

bool rbt_cluster_do_primaries(rbt_cluster *c, const char *format, ...)
{
	bool fine = true;
	va_list args;

	for (size_t i = 0; i < c->n; i++) {
		if (!rbt_cluster_runs(c, i) || !rbt_cluster_is_primary(c, i))
			continue;
		va_start(args, format);
		fine &= rbt_cluster_vdo(c, i, format, args);
		va_end(args);
	}
	return fine;
}

/* All slots have an owner that runs. */
static bool is_covered(rbt_cluster *c, const rbt_view *view)
{
	for (size_t slot = 0; slot < RBT_SLOTS; slot++)
		if (view->owner[slot] >= c->n ||
		    !rbt_cluster_runs(c, view->owner[slot]))
			return rbt_cluster_fail(c, "nobody serves slot %zu",
						slot);
	return true;
}

/* The node is what the view says, and can do it. */
static bool is_in_place(rbt_cluster *c, size_t node, const rbt_view *view)
{
	uint32_t bit = UINT32_C(1) << node;

	if (!serves(c, node))
		return rbt_cluster_fail(c, "node %zu does not serve", node);
	if (rbt_cluster_is_primary(c, node))
		return (view->replicas & bit) == 0 ||
		       rbt_cluster_fail(c, "node %zu was promoted unseen",
					node);
	return ((view->replicas & bit) != 0 &&
		says(c, node, "INFO replication", "master_link_status:up")) ||
	       rbt_cluster_fail(c, "node %zu is no replica yet", node);
}

bool rbt_cluster_is_ok(rbt_cluster *c)
{
	rbt_view first, view;
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		if (!rbt_cluster_runs(c, i))
			continue;
		if (!rbt_cluster_view(c, i, &view))
			return false;
		if (!any)
			first = view;
		any = true;
		if (memcmp(&first, &view, sizeof(view)) != 0)
			return rbt_cluster_fail(c, "node %zu sees another map",
						i);
		if (!is_covered(c, &view) || !is_in_place(c, i, &view))
			return false;
	}
	return any;
}

/* -------------------------------------------------------------- waiting -- */

typedef struct question {
	bool (*holds)(rbt_cluster *c, const struct question *q);
	unsigned slot;
	size_t than;
} question;

static bool await(rbt_cluster *c, const question *q, unsigned ms)
{
	uint64_t end = rbt_now_us() + (uint64_t)ms * 1000;

	/* What is soon true is not waited for long. */
	for (unsigned wait = 1; !q->holds(c, q); wait *= 2) {
		if (rbt_now_us() > end)
			return false;
		rbt_sleep_ms(wait < LOOK_MS ? wait : LOOK_MS);
		wait = wait < LOOK_MS ? wait : LOOK_MS;
	}
	return true;
}

static bool holds_ok(rbt_cluster *c, const question *q)
{
	(void)q;
	return rbt_cluster_is_ok(c);
}

bool rbt_cluster_await_ok(rbt_cluster *c, unsigned ms)
{
	const question q = { .holds = holds_ok };

	return await(c, &q, ms);
}

static bool holds_serving(rbt_cluster *c, const question *q)
{
	(void)q;
	for (size_t i = 0; i < c->n; i++)
		if (rbt_cluster_runs(c, i) && !serves(c, i))
			return rbt_cluster_fail(c, "node %zu does not serve",
						i);
	return true;
}

bool rbt_cluster_await_serving(rbt_cluster *c, unsigned ms)
{
	const question q = { .holds = holds_serving };

	return await(c, &q, ms);
}

/* The number behind a name in CLUSTER INFO. */
static long long epoch_of(rbt_cluster *c, size_t node)
{
	static const char name[] = "cluster_current_epoch:";
	redisReply *reply = rbt_cluster_ask(c, node, "CLUSTER INFO");
	const char *at = reply && reply->str ? strstr(reply->str, name) : NULL;
	long long epoch = at ? atoll(at + strlen(name)) : -1;

	if (reply)
		freeReplyObject(reply);
	return epoch;
}

static bool holds_settled(rbt_cluster *c, const question *q)
{
	long long epoch, first = -1;
	rbt_view view;

	for (size_t i = 0; i < c->n; i++) {
		if (!rbt_cluster_runs(c, i))
			continue;
		epoch = epoch_of(c, i);
		if (first < 0)
			first = epoch;
		if (epoch < 0 || epoch != first ||
		    !rbt_cluster_view(c, i, &view) ||
		    view.owner[q->slot] != q->than)
			return rbt_cluster_fail(
				c, "node %zu has not heard of slot %u yet", i,
				q->slot);
	}
	return true;
}

bool rbt_cluster_await_settled(rbt_cluster *c, unsigned slot, size_t owner,
			       unsigned ms)
{
	const question q = { holds_settled, slot, owner };

	return await(c, &q, ms);
}

static bool holds_other(rbt_cluster *c, const question *q)
{
	rbt_view view;

	for (size_t i = 0; i < c->n; i++) {
		if (!rbt_cluster_runs(c, i))
			continue;
		if (!rbt_cluster_view(c, i, &view))
			return false;
		if (view.owner[q->slot] == q->than ||
		    view.owner[q->slot] >= c->n ||
		    !rbt_cluster_runs(c, view.owner[q->slot]))
			return rbt_cluster_fail(
				c, "node %zu sees slot %u at %u", i, q->slot,
				(unsigned)view.owner[q->slot]);
	}
	return true;
}

bool rbt_cluster_await_other(rbt_cluster *c, unsigned slot, size_t than,
			     unsigned ms)
{
	const question q = { holds_other, slot, than };

	return await(c, &q, ms);
}

/* What the primary had been told when it was asked has come to the replica. */
static bool is_in_step(rbt_cluster *c, size_t node)
{
	size_t primary = rbt_cluster_at_port(
		c, (long long)rbt_cluster_info(c, node, "replication",
					       "master_port"));
	uint64_t told;

	if (primary == c->n || !rbt_cluster_runs(c, primary))
		return false;
	told = rbt_cluster_info(c, primary, "replication",
				"master_repl_offset");
	return rbt_cluster_info(c, node, "replication", "slave_repl_offset") >=
	       told;
}

static bool holds_replicated(rbt_cluster *c, const question *q)
{
	(void)q;
	for (size_t i = 0; i < c->n; i++)
		if (rbt_cluster_runs(c, i) && !rbt_cluster_is_primary(c, i) &&
		    !is_in_step(c, i))
			return rbt_cluster_fail(c, "node %zu is behind", i);
	return true;
}

bool rbt_cluster_await_replicated(rbt_cluster *c, unsigned ms)
{
	const question q = { .holds = holds_replicated };

	return await(c, &q, ms);
}

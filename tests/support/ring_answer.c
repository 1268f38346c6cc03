/*
 * What the nodes of a played cluster say.
 */
#include "cluster_make.h"
#include "cluster_slots.h"
#include "ring.h"
#include "ring_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------ commands -- */

static bool is_text(const rbt_arg *arg, const char *text)
{
	return arg->len == strlen(text) &&
	       strncasecmp(arg->data, text, arg->len) == 0;
}

bool rbt_visit_is(const rbt_visit *v, const char *name)
{
	return is_text(&v->argv[0], name);
}

bool rbt_visit_arg(const rbt_visit *v, size_t i, const char *text)
{
	return i < v->argc && is_text(&v->argv[i], text);
}

/* Every how many-th argument is a key; 0: none. */
static size_t key_step(const rbt_visit *v)
{
	static const struct {
		const char *name;
		size_t step;
	} rows[] = {
		{ "MSET", 2 },	 { "MGET", 1 },	 { "UNLINK", 1 },
		{ "EXISTS", 1 }, { "TOUCH", 1 }, { "GET", SIZE_MAX / 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rbt_visit_is(v, rows[i].name))
			return rows[i].step;
	/* One key behind the name, if anything. */
	return v->argc > 1 ? SIZE_MAX / 2 : 0;
}

static unsigned slot_of(const rbt_visit *v)
{
	return v->argc > 1 ? rbt_slot_of(v->argv[1].data, v->argv[1].len) : 0;
}

/* ----------------------------------------------------------------- maps -- */

void rbt_ring_range(rbt_reply *reply, long long first, long long last,
		    const char *host, long long port)
{
	char line[64];

	snprintf(line, sizeof(line), "*3\r\n:%lld\r\n:%lld\r\n*3\r\n", first,
		 last);
	rbt_reply_text(reply, line);
	rbt_reply_bulk(reply, host, strlen(host));
	snprintf(line, sizeof(line), ":%lld\r\n", port);
	rbt_reply_text(reply, line);
	rbt_reply_bulk(reply, "0123456789012345678901234567890123456789", 40);
}

void rbt_ring_map(const rbt_ring *ring, rbt_reply *reply)
{
	unsigned first, last;

	rbt_reply_array(reply, ring->options.nodes);
	for (size_t i = 0; i < ring->options.nodes; i++) {
		rbt_cluster_share(i, ring->options.nodes, &first, &last);
		rbt_ring_range(reply, first, last, ring->options.host,
			       ring->ports[i]);
	}
}

static size_t owner_of_slot(const rbt_ring *ring, unsigned slot)
{
	unsigned first, last;
	size_t i = 0;

	for (;; i++) {
		rbt_cluster_share(i, ring->options.nodes, &first, &last);
		if (slot <= last)
			return i;
	}
}

size_t rbt_ring_owner(const rbt_ring *ring, const char *key, size_t len)
{
	return owner_of_slot(ring, rbt_slot_of(key, len));
}

void rbt_ring_redirect(const rbt_visit *v, rbt_reply *reply, const char *word,
		       size_t to)
{
	char line[128];

	snprintf(line, sizeof(line), "-%s %u %s:%d\r\n", word, slot_of(v),
		 v->ring->options.host, v->ring->ports[to]);
	rbt_reply_text(reply, line);
}

/* -------------------------------------------------------------- serving -- */

static void remember(const rbt_visit *v, size_t step)
{
	rbt_ring *ring = rbt_ring_lock(v->ring);

	for (size_t i = 1; i + 1 < v->argc; i += step) {
		size_t room = sizeof(ring->written) - ring->nwritten;
		int n = snprintf(ring->written + ring->nwritten, room,
				 "%.*s=%.*s ", (int)v->argv[i].len,
				 v->argv[i].data, (int)v->argv[i + 1].len,
				 v->argv[i + 1].data);

		if (n > 0 && (size_t)n < room)
			ring->nwritten += (size_t)n;
	}
	rbt_ring_unlock(ring);
}

void rbt_ring_serve(const rbt_visit *v, rbt_reply *reply)
{
	char line[32];

	if (rbt_visit_is(v, "GET") && v->argc == 2) {
		rbt_reply_bulk(reply, v->argv[1].data, v->argv[1].len);
	} else if (rbt_visit_is(v, "MGET")) {
		rbt_reply_array(reply, v->argc - 1);
		for (size_t i = 1; i < v->argc; i++)
			rbt_reply_bulk(reply, v->argv[i].data, v->argv[i].len);
	} else if (rbt_visit_is(v, "SET") || rbt_visit_is(v, "MSET")) {
		remember(v, rbt_visit_is(v, "SET") ? v->argc : 2);
		rbt_reply_text(reply, "+OK\r\n");
	} else if (rbt_visit_is(v, "UNLINK") || rbt_visit_is(v, "EXISTS") ||
		   rbt_visit_is(v, "TOUCH")) {
		snprintf(line, sizeof(line), ":%zu\r\n", v->argc - 1);
		rbt_reply_text(reply, line);
	} else {
		rbt_reply_text(reply, "-ERR unknown command\r\n");
	}
}

static bool is_greeting(const rbt_visit *v)
{
	static const char *const names[] = { "AUTH", "SELECT", "READONLY",
					     "CLIENT", "ASKING" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rbt_visit_is(v, names[i]))
			return true;
	return false;
}

/* True: keys that are not all in one slot. */
static bool is_crossed(const rbt_visit *v)
{
	size_t step = key_step(v);

	for (size_t i = 1; step > 0 && i < v->argc; i += step)
		if (rbt_slot_of(v->argv[i].data, v->argv[i].len) != slot_of(v))
			return true;
	return false;
}

static void count(const rbt_visit *v, size_t *counter)
{
	rbt_ring *ring = rbt_ring_lock(v->ring);

	++*counter;
	rbt_ring_unlock(ring);
}

static void serve_keys(const rbt_visit *v, rbt_reply *reply,
		       rbt_ring_counts *counts)
{
	size_t owner = owner_of_slot(v->ring, slot_of(v));

	if (is_crossed(v)) {
		count(v, &counts->crossed);
		rbt_reply_text(reply,
			       "-CROSSSLOT Keys in request don't hash to the "
			       "same slot\r\n");
	} else if (v->argc > 1 && owner != v->node && !v->asking) {
		count(v, &counts->moved);
		rbt_ring_redirect(v, reply, "MOVED", owner);
	} else {
		rbt_ring_serve(v, reply);
	}
}

static void serve_by_itself(const rbt_visit *v, rbt_reply *reply,
			    rbt_ring_counts *counts)
{
	if (rbt_visit_is(v, "CLUSTER") && rbt_visit_arg(v, 1, "SLOTS"))
		rbt_ring_map(v->ring, reply);
	else if (rbt_visit_is(v, "PING"))
		rbt_reply_text(reply, "+PONG\r\n");
	else if (is_greeting(v))
		rbt_reply_text(reply, "+OK\r\n");
	else
		serve_keys(v, reply, counts);
}

static void count_visit(const rbt_visit *v, rbt_ring_counts *counts)
{
	if (rbt_visit_is(v, "CLUSTER")) {
		count(v, &counts->maps);
	} else if (rbt_visit_is(v, "ASKING")) {
		count(v, &counts->asking);
		if (!v->more)
			count(v, &counts->asking_alone);
	} else {
		count(v, &counts->commands);
	}
	if (v->asking && is_greeting(v))
		count(v, &counts->asking_vain);
}

void rbt_ring_answer(const rbt_visit *v, rbt_reply *reply)
{
	rbt_ring *ring = rbt_ring_lock(v->ring);
	rbt_ring_counts *counts = &ring->counts;

	rbt_ring_unlock(ring);
	count_visit(v, counts);
	if (ring->options.answer &&
	    ring->options.answer(ring->options.arg, v, reply))
		return;
	serve_by_itself(v, reply, counts);
}

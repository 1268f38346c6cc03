#include "storm.h"

#include "cluster_slots.h"
#include "cluster_view.h"
#include "tick.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KILL_EVERY_MS = 100, LOOK_MS = 50, LATE_MS = 30000, MIGRATE_TRIES = 20 };

struct storm {
	rbt_cluster *c;
	const ledger *l;
	unsigned calm_ms;
	pthread_t thread;
	uint64_t chance, kill_us;
	char why[600];

	/* Guarded by the mutex. */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	storm_sums sums;
	bool stop;  /* to the thread: no more of it */
	bool over;  /* from the thread: it is calm */
	bool leave; /* to the thread: its nodes may die */
};

/* ----------------------------------------------------------- small things -- */

static uint64_t chance(storm *s, uint64_t below)
{
	s->chance = s->chance * 6364136223846793005u + 1442695040888963407u;
	return (s->chance >> 33) % below;
}

static void add(storm *s, uint64_t *sum, uint64_t n)
{
	pthread_mutex_lock(&s->mutex);
	*sum += n;
	pthread_mutex_unlock(&s->mutex);
}

static bool is_stopped(storm *s)
{
	bool stop;

	pthread_mutex_lock(&s->mutex);
	stop = s->stop;
	pthread_mutex_unlock(&s->mutex);
	return stop;
}

static bool fail(storm *s, const char *what)
{
	snprintf(s->why, sizeof(s->why), "%s: %s", what, rbt_cluster_why(s->c));
	return false;
}

/* All connections of clients, when it is time. */
static void drizzle(storm *s)
{
	uint64_t killed = 0;

	if (rbt_now_us() - s->kill_us < KILL_EVERY_MS * 1000u)
		return;
	s->kill_us = rbt_now_us();
	for (size_t i = 0; i < rbt_cluster_size(s->c); i++) {
		redisReply *reply = NULL;

		if (rbt_cluster_runs(s->c, i))
			reply = rbt_cluster_ask(s->c, i,
						"CLIENT KILL TYPE normal");
		if (reply && reply->type == REDIS_REPLY_INTEGER)
			killed += (uint64_t)reply->integer;
		if (reply)
			freeReplyObject(reply);
	}
	add(s, &s->sums.connections, killed);
}

/* ------------------------------------------------------------------ moves -- */

/* One that runs, is a primary, and is not this one; RBT_MOST_NODES: none. */
static size_t pick_primary(storm *s, size_t but)
{
	size_t n = rbt_cluster_size(s->c), first = (size_t)chance(s, n);

	for (size_t k = 0; k < n; k++) {
		size_t i = (first + k) % n;

		if (i != but && rbt_cluster_runs(s->c, i) &&
		    rbt_cluster_is_primary(s->c, i))
			return i;
	}
	return RBT_MOST_NODES;
}

static bool migrate_key_by_key(storm *s, unsigned slot, size_t to)
{
	uint64_t keys = 0;
	int tries = 0;
	long n;

	do {
		n = rbt_cluster_migrate(s->c, slot, to, 1);
		/* The nodes' connection to each other was killed as well. */
		if (n < 0 && ++tries == MIGRATE_TRIES)
			return fail(s, "MIGRATE");
		keys += n > 0;
		drizzle(s);
	} while (n != 0);
	add(s, &s->sums.keys, keys);
	return true;
}

static bool move_a_slot(storm *s)
{
	size_t len, i = (size_t)chance(s, LEDGER_KEYS);
	const char *key = ledger_key(s->l, i, &len);
	unsigned slot = rbt_slot_of(key, len);
	size_t to = pick_primary(s, rbt_cluster_owner(s->c, slot));

	if (to == RBT_MOST_NODES || !rbt_cluster_begin_move(s->c, slot, to))
		return fail(s, "beginning a move");
	if (!migrate_key_by_key(s, slot, to))
		return false;
	if (!rbt_cluster_finish_move(s->c, slot, to))
		return fail(s, "finishing a move");
	add(s, &s->sums.moves, 1);
	return true;
}

/* ----------------------------------------------------------------- deaths -- */

typedef bool waiting(rbt_cluster *c, unsigned ms);

static bool wait_for(storm *s, waiting *condition, const char *what)
{
	uint64_t end = rbt_now_us() + (uint64_t)LATE_MS * 1000;

	while (!condition(s->c, LOOK_MS)) {
		if (rbt_now_us() > end)
			return fail(s, what);
		drizzle(s);
	}
	return true;
}

static bool is_whole(storm *s)
{
	return wait_for(s, rbt_cluster_await_ok, "a whole cluster") &&
	       wait_for(s, rbt_cluster_await_replicated, "replicas in step");
}

/* A slot that the node has. */
static unsigned slot_at(storm *s, size_t node)
{
	static rbt_view view;
	unsigned slot = 0;

	if (rbt_cluster_view(s->c, node, &view))
		while (slot < RBT_SLOTS - 1 && view.owner[slot] != node)
			slot++;
	return slot;
}

static bool await_successor(storm *s, unsigned slot, size_t node)
{
	uint64_t end = rbt_now_us() + (uint64_t)LATE_MS * 1000;

	while (!rbt_cluster_await_other(s->c, slot, node, LOOK_MS)) {
		if (rbt_now_us() > end)
			return fail(s, "a successor");
		drizzle(s);
	}
	return true;
}

static bool kill_a_primary(storm *s)
{
	size_t node;
	unsigned slot;

	if (!is_whole(s))
		return false;
	node = pick_primary(s, RBT_MOST_NODES);
	slot = slot_at(s, node);
	pthread_mutex_lock(&s->mutex);
	s->sums.deaths++;
	s->sums.death_us = rbt_now_us();
	s->sums.succession_ms = 0;
	pthread_mutex_unlock(&s->mutex);
	rbt_cluster_kill(s->c, node);
	if (!await_successor(s, slot, node))
		return false;
	add(s, &s->sums.succession_ms,
	    (rbt_now_us() - s->sums.death_us) / 1000);
	return (rbt_cluster_restart(s->c, node) || fail(s, "a restart")) &&
	       is_whole(s);
}

/* ------------------------------------------------------------- the thread -- */

static bool blow(storm *s)
{
	uint64_t next_us = rbt_now_us() + (uint64_t)s->calm_ms * 1000;

	while (!is_stopped(s)) {
		drizzle(s);
		if (!move_a_slot(s))
			return false;
		if (rbt_now_us() < next_us)
			continue;
		if (!kill_a_primary(s))
			return false;
		next_us = rbt_now_us() + (uint64_t)s->calm_ms * 1000;
	}
	return is_whole(s);
}

static void *run(void *arg)
{
	storm *s = arg;

	if (blow(s))
		s->why[0] = '\0';
	pthread_mutex_lock(&s->mutex);
	s->over = true;
	/* Nodes die with the thread that has started them. */
	while (!s->leave)
		pthread_cond_wait(&s->changed, &s->mutex);
	pthread_mutex_unlock(&s->mutex);
	return NULL;
}

storm *storm_begin(rbt_cluster *c, const ledger *l, unsigned calm_ms)
{
	storm *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->c = c;
	s->l = l;
	s->calm_ms = calm_ms;
	s->chance = rbt_now_ns();
	if (pthread_mutex_init(&s->mutex, NULL) == 0 &&
	    pthread_cond_init(&s->changed, NULL) == 0 &&
	    pthread_create(&s->thread, NULL, run, s) == 0)
		return s;
	free(s);
	return NULL;
}

storm_sums storm_look(storm *s)
{
	storm_sums sums;

	pthread_mutex_lock(&s->mutex);
	sums = s->sums;
	pthread_mutex_unlock(&s->mutex);
	return sums;
}

void storm_stop(storm *s)
{
	pthread_mutex_lock(&s->mutex);
	s->stop = true;
	pthread_mutex_unlock(&s->mutex);
}

bool storm_is_over(storm *s)
{
	bool over;

	pthread_mutex_lock(&s->mutex);
	over = s->over;
	pthread_mutex_unlock(&s->mutex);
	return over;
}

const char *storm_why(const storm *s)
{
	return s->why;
}

void storm_free(storm *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->mutex);
	s->stop = s->leave = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

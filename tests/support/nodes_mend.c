#include "nodes_mend.h"

#include "cluster_make.h"
#include "cluster_slots.h"
#include "cluster_state.h"
#include "cluster_view.h"

#include <stdlib.h>

/* More moves than that take longer than a new cluster. */
enum { MOST_MOVES = 200, SETTLE_MS = 1500, AT_ONCE = 2000 };

/* ------------------------------------------------------------- mending -- */

static bool all_run(const rbt_cluster *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!rbt_cluster_runs(c, i))
			return false;
	return true;
}

static bool in_first_roles(rbt_cluster *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (rbt_cluster_is_primary(c, i) != (i < c->options.primaries))
			return false;
	return true;
}

/* What a test may have changed. Not every server knows all of it. */
static void set_back(rbt_cluster *c)
{
	rbt_cluster_do_all(c, "CONFIG SET cluster-require-full-coverage %s",
			   c->options.partial ? "no" : "yes");
	rbt_cluster_do_all(c, "CONFIG SET cluster-preferred-endpoint-type ip");
	rbt_cluster_do_all(c, "CONFIG SET maxmemory 0");
	rbt_cluster_do_all(c, "SCRIPT FLUSH");
}

static bool go_home(rbt_cluster *c)
{
	size_t moves = 0;
	rbt_view view;

	if (!rbt_cluster_view(c, 0, &view))
		return false;
	for (size_t i = 0; i < c->options.primaries; i++) {
		unsigned first, last;

		rbt_cluster_share(i, c->options.primaries, &first, &last);
		for (unsigned slot = first; slot <= last; slot++)
			if (view.owner[slot] != i &&
			    (++moves > MOST_MOVES ||
			     !rbt_cluster_move(c, slot, i)))
				return false;
	}
	return true;
}

bool rbt_nodes_mend(rbt_cluster *c)
{
	if (!all_run(c) || !in_first_roles(c))
		return false;
	set_back(c);
	return rbt_cluster_close_slots(c) &&
	       rbt_cluster_await_ok(c, SETTLE_MS) &&
	       rbt_cluster_do_primaries(c, "FLUSHALL") && go_home(c) &&
	       rbt_cluster_await_ok(c, SETTLE_MS) &&
	       rbt_cluster_await_replicated(c, SETTLE_MS) &&
	       rbt_cluster_do_all(c, "CONFIG RESETSTAT");
}

/* -------------------------------------------------- many keys at a time -- */

/* A command for each key is sent to the node that owns it, and the answers are
 * taken in the same order. */
typedef struct errand {
	rbt_cluster *c;
	const rbt_keys *keys;
	size_t step, value_len;
	bool reads;
	char *value;
	rbt_view view;
} errand;

static bool is_stored(const errand *e, size_t i)
{
	return e->step > 0 && i % e->step == 0;
}

static redisContext *owner_of(errand *e, size_t i)
{
	size_t owner =
		e->view.owner[rbt_slot_of(e->keys->keys[i], e->keys->lens[i])];

	return owner < e->c->n ? rbt_cluster_admin(e->c, owner) : NULL;
}

static bool ask_for(errand *e, size_t i)
{
	redisContext *ctx = owner_of(e, i);
	const char *key = e->keys->keys[i];
	size_t len = e->keys->lens[i];

	if (!ctx)
		return false;
	if (e->reads)
		return redisAppendCommand(ctx, "GET %b", key, len) == REDIS_OK;
	rbt_value_fill(e->value, e->value_len, i);
	return redisAppendCommand(ctx, "SET %b %b", key, len, e->value,
				  e->value_len) == REDIS_OK;
}

static bool is_right(const errand *e, size_t i, const redisReply *reply)
{
	if (!e->reads)
		return reply->type == REDIS_REPLY_STATUS;
	if (!is_stored(e, i))
		return reply->type == REDIS_REPLY_NIL;
	return reply->type == REDIS_REPLY_STRING &&
	       rbt_value_is(reply->str, reply->len, e->value_len, i);
}

static bool take_answer(errand *e, size_t i)
{
	redisReply *reply = NULL;
	redisContext *ctx = owner_of(e, i);
	bool right = ctx && redisGetReply(ctx, (void **)&reply) == REDIS_OK &&
		     is_right(e, i, reply);

	if (reply)
		freeReplyObject(reply);
	return right;
}

/* False with the context in disorder: it is made anew by whoever asks next. */
static bool run_some(errand *e, size_t first, size_t end)
{
	bool fine = true;

	for (size_t i = first; i < end && fine; i++)
		fine = (!e->reads && !is_stored(e, i)) || ask_for(e, i);
	for (size_t i = first; i < end && fine; i++) {
		fine = (!e->reads && !is_stored(e, i)) || take_answer(e, i);
		if (!fine)
			rbt_cluster_fail(e->c, "key %s is not as it should be",
					 e->keys->keys[i]);
	}
	for (size_t i = 0; i < e->c->n && !fine; i++) {
		redisFree(e->c->nodes[i].admin);
		e->c->nodes[i].admin = NULL;
	}
	return fine;
}

static bool run_errand(errand *e)
{
	bool fine = rbt_cluster_view(e->c, 0, &e->view);

	e->value = malloc(e->value_len + 1);
	fine &= e->value != NULL;
	for (size_t i = 0; fine && i < e->keys->n; i += AT_ONCE)
		fine = run_some(e, i,
				i + AT_ONCE < e->keys->n ? i + AT_ONCE :
							   e->keys->n);
	free(e->value);
	return fine;
}

bool rbt_nodes_fill(rbt_cluster *c, const rbt_keys *keys, size_t step,
		    size_t value_len)
{
	errand e = {
		.c = c, .keys = keys, .step = step, .value_len = value_len
	};

	return run_errand(&e);
}

bool rbt_nodes_verify(rbt_cluster *c, const rbt_keys *keys, size_t step,
		      size_t value_len)
{
	errand e = { .c = c,
		     .keys = keys,
		     .step = step,
		     .value_len = value_len,
		     .reads = true };

	return run_errand(&e);
}

#include "nodes_mend.h"

#include "cluster_make.h"
#include "cluster_slots.h"
#include "cluster_state.h"
#include "cluster_view.h"

#include <stdlib.h>
#include <string.h>

/* More moves than that take longer than a new cluster. */
enum { MOST_MOVES = 200, SETTLE_MS = 1500, AT_ONCE = 500 };

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

/* ------------------------------------------------------------- filling -- */

typedef struct filling {
	rbt_cluster *c;
	size_t asked[RBT_MOST_NODES];
} filling;

static bool take_answers(filling *f)
{
	for (size_t i = 0; i < f->c->n; i++)
		for (; f->asked[i] > 0; f->asked[i]--) {
			redisReply *reply = NULL;
			bool fine =
				redisGetReply(f->c->nodes[i].admin,
					      (void **)&reply) == REDIS_OK &&
				reply->type != REDIS_REPLY_ERROR;

			if (reply)
				freeReplyObject(reply);
			if (!fine)
				return rbt_cluster_fail(f->c, "SET at node %zu",
							i);
		}
	return true;
}

static bool send_value(filling *f, const rbt_view *view, const rbt_keys *keys,
		       size_t i, char *value, size_t len)
{
	size_t owner = view->owner[rbt_slot_of(keys->keys[i], keys->lens[i])];
	redisContext *ctx =
		owner < f->c->n ? rbt_cluster_admin(f->c, owner) : NULL;

	rbt_value_fill(value, len, i);
	if (!ctx || redisAppendCommand(ctx, "SET %b %b", keys->keys[i],
				       keys->lens[i], value, len) != REDIS_OK)
		return rbt_cluster_fail(f->c, "SET %s", keys->keys[i]);
	f->asked[owner]++;
	return true;
}

bool rbt_nodes_fill(rbt_cluster *c, const rbt_keys *keys, size_t step,
		    size_t value_len)
{
	filling f = { .c = c };
	char *value = malloc(value_len + 1);
	rbt_view view;
	bool fine = value && rbt_cluster_view(c, 0, &view);

	for (size_t i = 0; fine && step > 0 && i < keys->n; i += step) {
		fine = send_value(&f, &view, keys, i, value, value_len);
		if (fine && i / step % AT_ONCE == AT_ONCE - 1)
			fine = take_answers(&f);
	}
	fine = fine && take_answers(&f);
	free(value);
	return fine;
}

#include "neighbour.h"

#include "series.h"
#include "tick.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NS = 100 * 1000, WARM_UP = 20, MAX_GETS = 1 << 20 };

typedef struct window {
	uint64_t start_ns;
	uint64_t end_ns;
} window;

typedef struct record {
	uint64_t *starts;
	uint64_t *took;
	size_t n;
} record;

static bool get_once(redisContext *ctx, const char *key)
{
	redisReply *reply = redisCommand(ctx, "GET %s", key);
	bool fine = reply && reply->type == REDIS_REPLY_STRING;

	if (reply)
		freeReplyObject(reply);
	return fine;
}

static bool get_timed(redisContext *ctx, const char *key, record *rec)
{
	uint64_t start = rbt_now_ns();

	if (rec->n >= MAX_GETS || !get_once(ctx, key))
		return false;
	rec->starts[rec->n] = start;
	rec->took[rec->n++] = rbt_now_ns() - start;
	return true;
}

/* Moves the times of those in the window to the front. */
static size_t select_window(record *rec, const window *w)
{
	size_t n = 0;

	for (size_t i = 0; i < rec->n; i++)
		if (rec->starts[i] <= w->end_ns &&
		    rec->starts[i] + rec->took[i] >= w->start_ns)
			rec->took[n++] = rec->took[i];
	return n;
}

static void watch(redisContext *ctx, const char *key, record *rec, int in,
		  int out)
{
	const struct timespec pause = { 0, PAUSE_NS };
	window w;
	rbt_view view;
	ssize_t r = -1;

	memset(&view, 0, sizeof(view));
	view.fine = true;
	for (size_t i = 0; i < WARM_UP && view.fine; i++)
		view.fine = get_once(ctx, key);
	if (!rbt_child_put(out, "", 1))
		return;
	fcntl(in, F_SETFL, O_NONBLOCK);
	while (view.fine && r < 0) {
		view.fine = get_timed(ctx, key, rec);
		nanosleep(&pause, NULL);
		r = read(in, &w, sizeof(w));
	}
	if (r < 0) /* it broke before it was asked */
		rbt_child_get(in, &w, sizeof(w));
	view.gets = rec->n + WARM_UP;
	view.seen = select_window(rec, &w);
	rbt_series_sort(rec->took, view.seen);
	view.slowest_ns = rbt_series_at(rec->took, view.seen, 100);
	view.p99_ns = rbt_series_at(rec->took, view.seen, 99);
	rbt_child_put(out, &view, sizeof(view));
}

static void run(void *arg, int in, int out)
{
	const rbt_neighbour *nb = arg;
	char why[160];
	redisContext *ctx = rbt_target_connect(nb->target, why, sizeof(why));
	record rec;

	rec.n = 0;
	rec.starts = calloc(MAX_GETS, sizeof(*rec.starts));
	rec.took = calloc(MAX_GETS, sizeof(*rec.took));
	if (ctx && rec.starts && rec.took)
		watch(ctx, nb->key, &rec, in, out);
}

bool rbt_neighbour_start(rbt_neighbour *nb, const rbt_target *target,
			 const char *key)
{
	char byte;

	nb->target = target;
	nb->key = key;
	if (!rbt_child_start(&nb->child, run, nb))
		return false;
	if (rbt_child_get(nb->child.in, &byte, 1))
		return true;
	rbt_child_end(&nb->child);
	return false;
}

bool rbt_neighbour_stop(rbt_neighbour *nb, uint64_t start_ns, uint64_t end_ns,
			rbt_view *view)
{
	window w = { start_ns, end_ns };
	bool fine;

	memset(view, 0, sizeof(*view));
	fine = rbt_child_put(nb->child.out, &w, sizeof(w)) &&
	       rbt_child_get(nb->child.in, view, sizeof(*view));
	rbt_child_end(&nb->child);
	return fine && view->fine;
}

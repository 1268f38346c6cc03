#include "watcher.h"

#include "tick.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NS = 500 * 1000, MAX_LOOKS = 1 << 18 };

typedef struct look {
	uint64_t at_ns;
	size_t most;
} look;

typedef struct window {
	uint64_t start_ns;
	uint64_t end_ns;
} window;

typedef struct sight {
	bool fine;
	size_t most;
} sight;

/* The largest of the numbers behind a name, one a line. */
static size_t largest(const char *list, const char *name)
{
	const char *at = list;
	size_t most = 0;

	for (;;) {
		size_t n;

		at = strstr(at, name);
		if (!at)
			return most;
		at += strlen(name);
		n = (size_t)strtoull(at, NULL, 10);
		most = n > most ? n : most;
	}
}

static bool look_once(redisContext *ctx, look *out)
{
	redisReply *reply;
	bool fine;

	out->at_ns = rbt_now_ns();
	reply = redisCommand(ctx, "CLIENT LIST");
	fine = reply && reply->type == REDIS_REPLY_STRING;
	if (fine)
		out->most = largest(reply->str, " omem=");
	if (reply)
		freeReplyObject(reply);
	return fine;
}

static size_t most_between(const look *looks, size_t n, const window *w)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (looks[i].at_ns >= w->start_ns &&
		    looks[i].at_ns <= w->end_ns && looks[i].most > most)
			most = looks[i].most;
	return most;
}

static void watch(redisContext *ctx, look *looks, int in, int out)
{
	const struct timespec pause = { 0, PAUSE_NS };
	sight seen = { look_once(ctx, looks), 0 };
	window w;
	size_t n = 0;
	ssize_t r = -1;

	if (!rbt_child_put(out, "", 1))
		return;
	fcntl(in, F_SETFL, O_NONBLOCK);
	while (seen.fine && r < 0) {
		seen.fine = n < MAX_LOOKS && look_once(ctx, &looks[n++]);
		nanosleep(&pause, NULL);
		r = read(in, &w, sizeof(w));
	}
	if (r < 0) /* it broke before it was asked */
		rbt_child_get(in, &w, sizeof(w));
	seen.most = most_between(looks, n, &w);
	rbt_child_put(out, &seen, sizeof(seen));
}

static void run(void *arg, int in, int out)
{
	const rbt_watcher *w = arg;
	char why[160];
	redisContext *ctx = rbt_target_connect(w->target, why, sizeof(why));
	look *looks = calloc(MAX_LOOKS, sizeof(*looks));

	if (ctx && looks)
		watch(ctx, looks, in, out);
}

bool rbt_watcher_start(rbt_watcher *w, const rbt_target *target)
{
	char byte;

	w->target = target;
	if (!rbt_child_start(&w->child, run, w))
		return false;
	if (rbt_child_get(w->child.in, &byte, 1))
		return true;
	rbt_child_end(&w->child);
	return false;
}

bool rbt_watcher_stop(rbt_watcher *w, uint64_t start_ns, uint64_t end_ns,
		      size_t *most)
{
	window between = { start_ns, end_ns };
	sight seen = { false, 0 };
	bool fine;

	fine = rbt_child_put(w->child.out, &between, sizeof(between)) &&
	       rbt_child_get(w->child.in, &seen, sizeof(seen));
	rbt_child_end(&w->child);
	*most = seen.most;
	return fine && seen.fine;
}

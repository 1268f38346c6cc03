#include "bench_probe.h"

#include "say.h"
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAUSE_NS = 100 * 1000, WARM_UP = 20, LOOK_MS = 50, MOST_GETS = 1 << 20 };

typedef struct span {
	uint64_t start_ns;
	uint64_t end_ns;
} span;

/* ---------------------------------------------------------- the child -- */

typedef struct record {
	rb_client *client;
	rb_command get;
	span *gets;
	size_t n;
	/* For an answer. */
	uint64_t *times;
} record;

static bool get_once(const record *r)
{
	rb_result *res = NULL;
	bool fine =
		rb_pipeline_chunked(r->client, &r->get, 1, NULL, &res) == RB_OK;

	rb_result_free(res);
	return fine;
}

static bool get_timed(record *r)
{
	span s = { .start_ns = bench_now_ns() };

	if (!get_once(r))
		return false;
	s.end_ns = bench_now_ns();
	if (r->n < MOST_GETS)
		r->gets[r->n++] = s;
	return true;
}

static bool overlaps(const span *a, const span *b)
{
	return a->start_ns <= b->end_ns && a->end_ns >= b->start_ns;
}

/* How many GETs were within the span, and their times; what was before is
 * over. */
static bool answer(record *r, const span *asked, int to)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const span *get = &r->gets[i];

		if (overlaps(get, asked))
			r->times[n++] = get->end_ns - get->start_ns;
	}
	r->n = 0;
	return bench_child_put(to, &n, sizeof(n)) &&
	       bench_child_put(to, r->times, (size_t)n * sizeof(*r->times));
}

static void watch(record *r, int from, int to)
{
	const struct timespec rest = { .tv_nsec = PAUSE_NS };
	struct pollfd p = { .fd = from, .events = POLLIN };
	span asked;

	for (int i = 0; i < WARM_UP; i++) {
		if (!get_once(r))
			return;
	}
	if (!bench_child_put(to, "", 1))
		return;
	while (get_timed(r)) {
		nanosleep(&rest, NULL);
		if (poll(&p, 1, 0) <= 0)
			continue;
		if (!bench_child_get(from, &asked, sizeof(asked)) ||
		    !answer(r, &asked, to))
			return;
	}
}

static void run(void *arg, int from, int to)
{
	const bench_probe *probe = arg;
	const char *argv[] = { "GET", probe->key };
	record r = { .get = { .argc = 2, .argv = argv } };
	rb_options o;

	rb_options_init(&o);
	r.gets = malloc(MOST_GETS * sizeof(*r.gets));
	r.times = malloc(MOST_GETS * sizeof(*r.times));
	if (r.gets != NULL && r.times != NULL &&
	    connection_open(probe->connection, &o, &r.client) == EXITS_FINE) {
		watch(&r, from, to);
		signals_watch(NULL);
		rb_client_free(r.client);
	}
	free(r.gets);
	free(r.times);
}

/* --------------------------------------------------------- the parent -- */

exits bench_probe_start(bench_probe *probe)
{
	char ready;

	if (!bench_child_start(&probe->child, run, probe)) {
		say("no process for another client: %s", strerror(errno));
		return EXITS_LOCAL;
	}
	if (bench_child_get(probe->child.from, &ready, 1))
		return EXITS_FINE;
	bench_child_end(&probe->child);
	if (signals_caught() == 0)
		say("another client could not read from the server");
	return EXITS_SERVER;
}

bool bench_probe_ask(bench_probe *probe, uint64_t start_ns, uint64_t end_ns,
		     bench_series *into)
{
	span asked = { start_ns, end_ns };
	uint64_t n;
	uint64_t *room;

	if (probe->child.pid == 0 ||
	    !bench_child_put(probe->child.to, &asked, sizeof(asked)) ||
	    !bench_child_get(probe->child.from, &n, sizeof(n)))
		return false;
	room = n > MOST_GETS ? NULL : bench_series_room(into, (size_t)n);
	if (room == NULL || !bench_child_get(probe->child.from, room,
					     (size_t)n * sizeof(*room)))
		return false;
	into->n += (size_t)n;
	return true;
}

bool bench_probe_rest(bench_probe *probe, unsigned ms, bench_series *into)
{
	uint64_t start = bench_now_ns();
	uint64_t end = start + (uint64_t)ms * 1000000;

	while (bench_now_ns() < end && signals_caught() == 0)
		(void)poll(NULL, 0, LOOK_MS);
	return bench_probe_ask(probe, start, bench_now_ns(), into);
}

void bench_probe_end(bench_probe *probe)
{
	bench_child_end(&probe->child);
}

/*
 * A look at a setting is a stream of keys that ends when the look's time is
 * over, so that all looks take alike, however far the server is.
 */
#include "tune_run.h"

#include "bench_child.h"
#include "bench_probe.h"
#include "say.h"
#include "signals.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	IDLE_MS = 500,
	/* So many looks are made of the budget; within these bounds. */
	LOOKS = 50,
	LEAST_LOOK_MS = 20,
	MOST_LOOK_MS = 1000
};

/* What most settings are held back by: the bounds of the library, when the
 * command line gives no others. */
static const size_t reply_bytes = (size_t)4 << 20;
static const size_t window_bytes = (size_t)8 << 20;
/* Of each value in an answer: its length and ends of lines, roughly. */
enum { FRAME = 16 };

typedef struct state {
	const bench_work *work;
	const tune_plan *plan;
	tune_report *report;
	rb_client *client;
	bench_probe probe;
	uint64_t look_ns;
} state;

/* ----------------------------------------------------------------- a look -- */

typedef struct look {
	const bench_work *work;
	size_t next;
	uint64_t until_ns;
	uint64_t right;
	uint64_t wrong;
} look;

/* The same keys again and again, until the time is over. */
static int give_key(void *arg, rb_slice *key)
{
	look *l = arg;
	const bench_keys *keys = &l->work->keys;

	if (bench_now_ns() >= l->until_ns)
		return 0;
	*key = (rb_slice){ keys->names[l->next], keys->lens[l->next] };
	l->next = (l->next + 1) % keys->n;
	return 1;
}

static int take_values(void *arg, size_t first, const rb_slice *keys,
		       const rb_slice *values, const rb_status *statuses,
		       size_t n)
{
	look *l = arg;

	(void)first;
	(void)keys;
	(void)statuses;
	for (size_t i = 0; i < n; i++) {
		if (values[i].data != NULL &&
		    values[i].len == l->work->value_size)
			l->right++;
		else
			l->wrong++;
	}
	return 0;
}

static exits look_at(state *st, tune_setting t)
{
	tune_report *r = st->report;
	rb_options o = st->work->options;
	bench_series others = { .n = 0 };
	uint64_t start = bench_now_ns();
	look l = { .work = st->work, .until_ns = start + st->look_ns };
	uint64_t end;

	o.chunk_keys = t.chunk;
	o.window = t.window;
	if (rb_mget_stream(st->client, give_key, &l, take_values, &l, &o,
			   NULL) != RB_OK &&
	    r->why[0] == '\0')
		snprintf(r->why, sizeof(r->why), "%s",
			 rb_client_error(st->client));
	end = bench_now_ns();
	r->failed += l.wrong;
	if (!bench_probe_ask(&st->probe, start, end, &others)) {
		bench_series_fini(&others);
		if (signals_caught() == 0)
			say("another client lost the server%s%s",
			    r->why[0] != '\0' ? ": " : "", r->why);
		return EXITS_SERVER;
	}
	bench_series_sort(&others);
	tune_search_tell(
		&r->search, t,
		(uint64_t)((double)l.right * 1e9 / (double)(end - start + 1)),
		bench_series_at(&others, 990));
	bench_series_fini(&others);
	return EXITS_FINE;
}

/* -------------------------------------------------------------------- all -- */

static size_t either(size_t given, size_t otherwise)
{
	return given > 0 ? given : otherwise;
}

static void begin_search(state *st)
{
	const rb_options *o = &st->work->options;
	size_t each = st->work->value_size + FRAME;
	uint64_t idle = bench_series_at(&st->report->idle, 990);

	tune_search_init(&st->report->search,
			 either(o->chunk_reply_bytes, reply_bytes) / each,
			 either(o->window_reply_bytes, window_bytes) / each,
			 idle + st->plan->guard_ms * 1000000);
}

static void show(const tune_setting *t)
{
	if (isatty(STDERR_FILENO) != 1)
		return;
	if (t == NULL)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r\033[K%zu keys a chunk, %zu in flight",
			t->chunk, t->window);
	fflush(stderr);
}

static exits look_around(state *st)
{
	uint64_t until = bench_now_ns() + st->plan->budget_ms * 1000000;
	exits status = EXITS_FINE;
	tune_setting t;

	while (status == EXITS_FINE &&
	       tune_search_next(&st->report->search, &t)) {
		if (bench_now_ns() + st->look_ns > until &&
		    st->report->search.nseen > 0) {
			st->report->cut = true;
			break;
		}
		show(&t);
		status = look_at(st, t);
		show(NULL);
	}
	return signals_caught() != 0 ? EXITS_SERVER : status;
}

static uint64_t look_of(const tune_plan *plan)
{
	uint64_t ms = plan->budget_ms / LOOKS;

	ms = ms < LEAST_LOOK_MS ? LEAST_LOOK_MS : ms;
	return (ms > MOST_LOOK_MS ? MOST_LOOK_MS : ms) * 1000000;
}

static exits watch(state *st)
{
	exits status;

	st->probe.connection = st->work->connection;
	st->probe.key = st->work->keys.names[0];
	status = bench_probe_start(&st->probe);
	if (status != EXITS_FINE)
		return status;
	status = EXITS_SERVER;
	if (bench_probe_rest(&st->probe, IDLE_MS, &st->report->idle)) {
		bench_series_sort(&st->report->idle);
		begin_search(st);
		status = look_around(st);
	}
	bench_probe_end(&st->probe);
	return status;
}

exits tune_run(const bench_work *work, const tune_plan *plan,
	       tune_report *report)
{
	state st = { .work = work,
		     .plan = plan,
		     .report = report,
		     .look_ns = look_of(plan) };
	exits status = bench_work_open(work, &work->options, &st.client);

	if (status != EXITS_FINE)
		return status;
	status = watch(&st);
	signals_watch(NULL);
	rb_client_free(st.client);
	return status;
}

void tune_report_fini(tune_report *report)
{
	bench_series_fini(&report->idle);
}

/*
 * Only numbers of one run can be compared. So the methods take turns, each
 * round begins with another one, and what is told is the median of the rounds.
 */
#include "bench_run.h"

#include "bench_child.h"
#include "bench_probe.h"
#include "say.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { IDLE_MS = 300 };

/* A method whose run takes longer has one round only. */
static const uint64_t long_run_ns = 10ull * 1000000000u;

/* ------------------------------------------------------------ the child -- */

typedef struct sample {
	/* False: it was said why, and there is nothing else. */
	bool connected;
	uint64_t start_ns;
	uint64_t end_ns;
	/* Bytes, beyond what the process had before it began to read. */
	uint64_t memory;
	bench_outcome outcome;
} sample;

typedef struct task {
	const bench_work *work;
	const bench_row *row;
} task;

static uint64_t peak_memory(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
#ifdef __APPLE__
	return (uint64_t)u.ru_maxrss;
#else
	return (uint64_t)u.ru_maxrss * 1024;
#endif
}

/* What is there once and for every method is not counted: the code that
 * reads, and a connection that was used. It learns nothing of values. */
static void warm_up(rb_client *client, const bench_job *job)
{
	rb_result *res;

	if (rb_exists_chunked(client, job->keys->names, job->keys->lens, 1,
			      NULL, &res) == RB_OK)
		rb_result_free(res);
}

static void measure(rb_client *client, const task *t, const bench_job *job,
		    sample *s)
{
	uint64_t before;

	warm_up(client, job);
	before = peak_memory();
	s->start_ns = bench_now_ns();
	t->row->method->run(client, job, &s->outcome);
	s->end_ns = bench_now_ns();
	s->memory = peak_memory() - before;
}

static void run_task(void *arg, int from, int to)
{
	const task *t = arg;
	const bench_work *w = t->work;
	rb_command *gets = NULL;
	rb_client *client;
	sample s = { .start_ns = 0 };

	(void)from;
	if (t->row->method->needs_commands) {
		gets = bench_method_gets(&w->keys, t->row->nkeys);
		if (gets == NULL) {
			say("out of memory");
			return;
		}
	}
	if (bench_work_open(w, &w->options, &client) == EXITS_FINE) {
		bench_job job = { &w->keys, t->row->nkeys, w->value_size,
				  &w->options, gets };

		s.connected = true;
		measure(client, t, &job, &s);
		signals_watch(NULL);
		rb_client_free(client);
	}
	bench_child_put(to, &s, sizeof(s));
	free(gets);
}

/* ----------------------------------------------------------- the rounds -- */

typedef struct state {
	const bench_work *work;
	const bench_plan *plan;
	bench_report *report;
	bench_probe probe;
} state;

static bool keep(state *st, bench_row *row, const sample *s)
{
	const bench_outcome *o = &s->outcome;
	bool kept = true;

	row->right += o->right;
	row->wrong += o->wrong;
	if (row->why[0] == '\0')
		memcpy(row->why, o->why, sizeof(row->why));
	row->commands =
		o->commands > row->commands ? o->commands : row->commands;
	row->memory = s->memory > row->memory ? s->memory : row->memory;
	/* How long a run took that read nothing says nothing. */
	if (o->right > 0)
		kept = bench_series_add(&row->times, s->end_ns - s->start_ns);
	(void)bench_probe_ask(&st->probe, s->start_ns, s->end_ns, &row->others);
	return kept;
}

static exits run_once(state *st, bench_row *row)
{
	task t = { st->work, row };
	bench_child child;
	sample s;
	bool done;

	if (!bench_child_start(&child, run_task, &t)) {
		say("no process for a run: %s", strerror(errno));
		return EXITS_LOCAL;
	}
	done = bench_child_get(child.from, &s, sizeof(s));
	bench_child_end(&child);
	if (!done && signals_caught() == 0)
		say("the process of a run ended before it was done: is there "
		    "memory for it?");
	if (!done || !s.connected)
		return EXITS_SERVER;
	return keep(st, row, &s) ? EXITS_FINE : EXITS_LOCAL;
}

static bool is_over(const bench_row *row)
{
	return row->times.n > 0 && row->times.values[0] > long_run_ns;
}

/* How far it is, for somebody who waits before a terminal. */
static void show(const state *st, unsigned round, const bench_row *row)
{
	if (isatty(STDERR_FILENO) != 1)
		return;
	if (row == NULL)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r\033[Kround %u of %u: %s, %zu keys", round,
			st->plan->rounds, row->method->title, row->nkeys);
	fflush(stderr);
}

static exits run_rounds(state *st)
{
	bench_report *r = st->report;
	exits status = EXITS_FINE;

	for (unsigned round = 0; round < st->plan->rounds; round++) {
		for (size_t i = 0; i < r->nrows && status == EXITS_FINE; i++) {
			bench_row *row = &r->rows[(i + round) % r->nrows];

			if (is_over(row))
				continue;
			show(st, round + 1, row);
			status = run_once(st, row);
			show(st, round + 1, NULL);
		}
	}
	return status;
}

static void make_rows(const bench_plan *plan, bench_report *r)
{
	r->nrows = 0;
	for (size_t s = 0; s < plan->nsizes; s++) {
		for (unsigned m = 0; m < BENCH_METHODS; m++) {
			if ((plan->methods & 1u << m) == 0)
				continue;
			r->rows[r->nrows++] =
				(bench_row){ .method = &bench_methods[m],
					     .nkeys = plan->sizes[s] };
		}
	}
}

/* What a signal or a server that went away left undone is not told of. */
static void drop_untried(bench_report *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nrows; i++) {
		if (bench_row_tried(&r->rows[i]))
			r->rows[kept++] = r->rows[i];
	}
	r->nrows = kept;
}

static exits judge(bench_report *r, exits status)
{
	uint64_t right = 0;
	uint64_t wrong = 0;

	drop_untried(r);
	for (size_t i = 0; i < r->nrows; i++) {
		bench_series_sort(&r->rows[i].times);
		bench_series_sort(&r->rows[i].others);
		right += r->rows[i].right;
		wrong += r->rows[i].wrong;
	}
	bench_series_sort(&r->idle);
	if (status == EXITS_FINE && wrong > 0)
		status = right > 0 ? EXITS_PARTIAL : EXITS_SERVER;
	return status;
}

exits bench_run(const bench_work *work, const bench_plan *plan,
		bench_report *report)
{
	state st = { .work = work, .plan = plan, .report = report };
	exits status;

	make_rows(plan, report);
	st.probe.connection = work->connection;
	st.probe.key = work->keys.names[0];
	status = bench_probe_start(&st.probe);
	if (status != EXITS_FINE)
		return judge(report, status);
	if (bench_probe_rest(&st.probe, IDLE_MS, &report->idle))
		status = run_rounds(&st);
	else
		status = EXITS_SERVER;
	bench_probe_end(&st.probe);
	return judge(report, status);
}

bool bench_row_tried(const bench_row *row)
{
	return row->right + row->wrong > 0;
}

double bench_row_rate(const bench_row *row)
{
	uint64_t ns = bench_series_median(&row->times);

	if (ns == 0)
		return 0;
	return (double)row->right / (double)row->times.n * 1e9 / (double)ns;
}

double bench_row_cost(const bench_row *row, double price)
{
	if (row->nkeys == 0)
		return 0;
	return (double)row->commands / (double)row->nkeys * price;
}

void bench_report_fini(bench_report *r)
{
	for (size_t i = 0; i < r->nrows; i++) {
		bench_series_fini(&r->rows[i].times);
		bench_series_fini(&r->rows[i].others);
	}
	bench_series_fini(&r->idle);
}

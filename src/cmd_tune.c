/*
 * redisbatch tune: the size of chunks and the window that are fastest on the
 * server of whoever asks, without making others wait.
 */
#include "commands.h"

#include "bench_end.h"
#include "number.h"
#include "say.h"
#include "signals.h"
#include "tune_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	KEY_KEYS = 256,
	KEY_GUARD,
	KEY_BUDGET,
	KEY_JSON,
	KEYS = 10000,
	MOST_KEYS = 100 * 1000 * 1000,
	GUARD_MS = 1,
	BUDGET_MS = 20 * 1000,
	MOST_MS = 3600 * 1000
};

typedef struct settings {
	size_t nkeys;
	tune_plan plan;
	bool json;
} settings;

static const args_option options[] = {
	{ KEY_GUARD, "guard", "TIME",
	  "how much longer than without us another client's p99 may be (1ms)" },
	{ KEY_BUDGET, "budget", "TIME", "how long to try settings for (20s)" },
	{ KEY_KEYS, "keys", "N", "how many keys there are to read (10k)" },
	{ KEY_JSON, "json", NULL, "JSON instead of a table" },
};

static exits take_keys(settings *s, const char *value)
{
	uint64_t n;

	if (!number_many(value, MOST_KEYS, &n) || n == 0)
		return args_bad("keys", value,
				"a number from 1 to 100M, as 10k");
	s->nkeys = (size_t)n;
	return EXITS_FINE;
}

static exits take_time(const char *name, const char *value, uint64_t *out)
{
	if (!number_time(value, MOST_MS, out) || *out == 0)
		return args_bad(name, value, "a time from 1ms to 1h, as 5ms");
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	settings *s = to;

	switch (key) {
	case KEY_KEYS:
		return take_keys(s, value);
	case KEY_GUARD:
		return take_time("guard", value, &s->plan.guard_ms);
	case KEY_BUDGET:
		return take_time("budget", value, &s->plan.budget_ms);
	default:
		s->json = true;
		return EXITS_FINE;
	}
}

static const args_usage usage = {
	"tune [OPTION...]",
	"Tries sizes of chunks and windows, and prints those that read fastest "
	"while\nanother client waits hardly longer than without them.\n",
	"It writes keys of its own, refuses to if there are keys with their "
	"prefix, and\nremoves them at the end, also after SIGINT and SIGTERM.\n"
	"Exit status: as redisbatch --help has it; 1 if nothing keeps to the "
	"bound or some\nreads failed, 3 if all did.\n"
};

static exits judge(const tune_report *r)
{
	if (tune_search_gentlest(&r->search) == NULL) {
		say("no key could be read: %s", r->why);
		return EXITS_SERVER;
	}
	if (r->failed > 0)
		say("%" PRIu64 " reads failed: %s", r->failed,
		    r->why[0] != '\0' ? r->why : "keys are missing");
	return r->failed > 0 || tune_search_best(&r->search) == NULL ?
		       EXITS_PARTIAL :
		       EXITS_FINE;
}

static exits put_report(const settings *s, const bench_work *w,
			const tune_report *r)
{
	exits status = EXITS_FINE;

	if (s->json)
		status = tune_print_json(w, &s->plan, r);
	else
		tune_print_table(w, &s->plan, r);
	return bench_end_output(status);
}

static exits measure(const settings *s, bench_work *w)
{
	tune_report *report = calloc(1, sizeof(*report));
	exits status;
	exits ended;

	if (report == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	status = bench_work_begin(w, s->nkeys);
	if (status == EXITS_FINE)
		status = tune_run(w, &s->plan, report);
	ended = bench_work_end(w);
	if (report->search.nseen > 0) {
		if (status == EXITS_FINE)
			status = judge(report);
		status = bench_end_worse(status, put_report(s, w, report));
	}
	tune_report_fini(report);
	free(report);
	return bench_end_worse(status, ended);
}

static exits tune(settings *s, bench_work *w, int argc, char **argv)
{
	const args_group own = { "Search", options,
				 sizeof(options) / sizeof(options[0]), take,
				 s };
	bool done;
	exits status = bench_work_args(w, &usage, &own, argc, argv, &done);

	if (status != EXITS_FINE || done)
		return status;
	return bench_end_signal(measure(s, w));
}

int cmd_tune(int argc, char **argv)
{
	settings s = { .nkeys = KEYS,
		       .plan = { .guard_ms = GUARD_MS,
				 .budget_ms = BUDGET_MS } };
	bench_work w;
	exits status = bench_work_init(&w);

	if (status == EXITS_FINE)
		status = tune(&s, &w, argc, argv);
	bench_work_fini(&w);
	return (int)status;
}

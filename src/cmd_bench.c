/*
 * redisbatch bench: the ways to read many keys, side by side, on the server of
 * whoever asks.
 */
#include "commands.h"

#include "bench_data.h"
#include "bench_end.h"
#include "bench_plot.h"
#include "bench_run.h"
#include "bench_table.h"
#include "number.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_KEYS = 256,
	KEY_ROUNDS,
	KEY_METHODS,
	KEY_PRICE,
	KEY_JSON,
	KEY_CSV,
	KEY_PLOT,
	KEYS = 10000,
	MOST_KEYS = 100 * 1000 * 1000,
	ROUNDS = 3,
	MOST_ROUNDS = 1000
};

typedef enum form { FORM_TABLE, FORM_JSON, FORM_CSV } form;

typedef struct settings {
	bench_plan plan;
	form form;
	double price;
	const char *plot;
} settings;

static const args_option options[] = {
	{ KEY_KEYS, "keys", "N[,N...]",
	  "how many keys are read, once or in turn (10k)" },
	{ KEY_ROUNDS, "rounds", "N", "how often each method runs (3)" },
	{ KEY_METHODS, "methods", "NAME[,NAME...]",
	  "only these: get, pipeline, pipeline-chunks, mget, mget-chunks, "
	  "window, stream" },
	{ KEY_PRICE, "price", "PRICE",
	  "what a million commands cost, to tell what a million keys do" },
	{ KEY_JSON, "json", NULL, "JSON instead of a table" },
	{ KEY_CSV, "csv", NULL, "CSV instead of a table" },
	{ KEY_PLOT, "plot", "FILE.svg", "draw a picture too, with gnuplot" },
};

/* --------------------------------------------------------- command line -- */

static exits take_keys(bench_plan *plan, const char *value)
{
	static const char must[] = "numbers from 1 to 100M, at most 16, as 10k "
				   "or 1k,10k,100k";
	const char *at = value;

	plan->nsizes = 0;
	for (;;) {
		size_t len = strcspn(at, ",");
		char text[32];
		uint64_t n;

		if (len >= sizeof(text) || plan->nsizes == BENCH_SIZES)
			return args_bad("keys", value, must);
		memcpy(text, at, len);
		text[len] = '\0';
		if (!number_many(text, MOST_KEYS, &n) || n == 0)
			return args_bad("keys", value, must);
		plan->sizes[plan->nsizes++] = (size_t)n;
		if (at[len] == '\0')
			return EXITS_FINE;
		at += len + 1;
	}
}

static exits take_rounds(bench_plan *plan, const char *value)
{
	uint64_t n;

	if (!number_count(value, 1, MOST_ROUNDS, &n))
		return args_bad("rounds", value, "a number from 1 to 1000");
	plan->rounds = (unsigned)n;
	return EXITS_FINE;
}

static exits take_methods(bench_plan *plan, const char *value)
{
	plan->methods = bench_method_set(value);
	if (plan->methods == 0)
		return args_bad("methods", value,
				"some of get, pipeline, pipeline-chunks, mget, "
				"mget-chunks, window, stream");
	return EXITS_FINE;
}

static exits take_price(settings *s, const char *value)
{
	char *end;
	double price = strtod(value, &end);

	/* So that nan is refused, too. */
	if (end == value || *end != '\0' || !(price >= 0 && price < 1e9))
		return args_bad("price", value, "a number, as 0.20");
	s->price = price;
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	settings *s = to;

	switch (key) {
	case KEY_KEYS:
		return take_keys(&s->plan, value);
	case KEY_ROUNDS:
		return take_rounds(&s->plan, value);
	case KEY_METHODS:
		return take_methods(&s->plan, value);
	case KEY_PRICE:
		return take_price(s, value);
	case KEY_JSON:
		s->form = FORM_JSON;
		return EXITS_FINE;
	case KEY_CSV:
		s->form = FORM_CSV;
		return EXITS_FINE;
	default:
		s->plot = value;
		return EXITS_FINE;
	}
}

static const args_usage usage = {
	"bench [OPTION...]",
	"Reads keys by the methods that people argue about, and tells what each "
	"takes:\ntime, commands, memory, and how long another client waits "
	"meanwhile.\n",
	"It writes keys of its own, refuses to if there are keys with their "
	"prefix, and\nremoves them at the end, also after SIGINT and SIGTERM. "
	"Chunks have 1,000 keys\nunless --chunk-keys says otherwise; the other "
	"tuning options are for the last two\nmethods. A method that takes "
	"longer than 10 s runs once only.\nExit status: as redisbatch --help "
	"has it; 1 if some reads failed, 3 if all did,\n4 if there is no "
	"gnuplot for --plot (all else is done).\n"
};

/* ------------------------------------------------------------------ run -- */

static size_t most_keys(const bench_plan *plan)
{
	size_t most = 0;

	for (size_t i = 0; i < plan->nsizes; i++)
		most = plan->sizes[i] > most ? plan->sizes[i] : most;
	return most;
}

static exits put_report(const settings *s, const bench_sheet *sheet)
{
	exits status = EXITS_FINE;

	if (s->form == FORM_JSON)
		status = bench_data_put_json(sheet);
	else if (s->form == FORM_CSV)
		bench_data_put_csv(sheet);
	else
		bench_table_put(sheet);
	return bench_end_output(status);
}

static exits plot(const settings *s, const bench_sheet *sheet)
{
	if (s->plot == NULL)
		return EXITS_FINE;
	if (!bench_plot_possible()) {
		say("%s is not drawn: there is no gnuplot in PATH", s->plot);
		return EXITS_LOCAL;
	}
	return bench_plot_put(sheet, s->plot);
}

static exits measure(const settings *s, bench_work *w)
{
	bench_report *report = calloc(1, sizeof(*report));
	bench_sheet sheet = { w, &s->plan, report, s->price };
	exits status;
	exits ended;

	if (report == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	status = bench_work_begin(w, most_keys(&s->plan));
	if (status == EXITS_FINE)
		status = bench_run(w, &s->plan, report);
	ended = bench_work_end(w);
	if (report->nrows > 0) {
		status = bench_end_worse(status, put_report(s, &sheet));
		status = bench_end_worse(status, plot(s, &sheet));
	}
	bench_report_fini(report);
	free(report);
	return bench_end_worse(status, ended);
}

static exits bench(settings *s, bench_work *w, int argc, char **argv)
{
	const args_group own = { "Benchmark", options,
				 sizeof(options) / sizeof(options[0]), take,
				 s };
	bool done;
	exits status = bench_work_args(w, &usage, &own, argc, argv, &done);

	if (status != EXITS_FINE || done)
		return status;
	if (s->plot != NULL && bench_plot_possible())
		status = bench_plot_check(s->plot);
	if (status != EXITS_FINE)
		return status;
	return bench_end_signal(measure(s, w));
}

int cmd_bench(int argc, char **argv)
{
	settings s = { .plan = { .sizes = { KEYS },
				 .nsizes = 1,
				 .methods = (1u << BENCH_METHODS) - 1,
				 .rounds = ROUNDS },
		       .price = -1 };
	bench_work w;
	exits status = bench_work_init(&w);

	if (status == EXITS_FINE)
		status = bench(&s, &w, argc, argv);
	bench_work_fini(&w);
	return (int)status;
}

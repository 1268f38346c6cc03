#include "tune_print.h"

#include "bench_data.h"
#include "bench_table.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELL = 32, LINE = 80 };

static double ms_of(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* The winner, or what comes closest; NULL: nothing was read at all. */
static const tune_seen *choose(const tune_report *r)
{
	const tune_seen *best = tune_search_best(&r->search);

	return best != NULL ? best : tune_search_gentlest(&r->search);
}

static void put_options(char out[LINE], const tune_seen *e)
{
	snprintf(out, LINE, "--chunk-keys %zu --window %zu", e->setting.chunk,
		 e->setting.window);
}

static void put_chunk(char out[LINE], const tune_seen *e)
{
	snprintf(out, LINE, "o.chunk_keys = %zu;", e->setting.chunk);
}

static void put_window(char out[LINE], const tune_seen *e)
{
	snprintf(out, LINE, "o.window = %zu;", e->setting.window);
}

/* In the order of a curve: by chunk, then by window. */
static int compare(const void *a, const void *b)
{
	const tune_setting *x = &((const tune_seen *)a)->setting;
	const tune_setting *y = &((const tune_seen *)b)->setting;

	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return (x->window > y->window) - (x->window < y->window);
}

static tune_search in_order(const tune_search *s)
{
	tune_search sorted = *s;

	qsort(sorted.seen, sorted.nseen, sizeof(sorted.seen[0]), compare);
	return sorted;
}

/* --------------------------------------------------------------- table -- */

static const char *mark(const tune_report *r, const tune_seen *e)
{
	const tune_seen *chosen = choose(r);

	if (chosen != NULL && compare(e, chosen) == 0)
		return "  <-";
	if (e->rate == 0)
		return "  failed";
	return e->p99_ns > r->search.bound_ns ? "  above the bound" : "";
}

static void put_curve(const tune_report *r)
{
	tune_search s = in_order(&r->search);
	char rate[CELL];

	printf("\n%10s%10s%14s%10s\n", "chunk", "window", "keys/s", "p99 ms");
	for (size_t i = 0; i < s.nseen; i++) {
		const tune_seen *e = &s.seen[i];

		printf("%10zu%10zu%14s%10.2f%s\n", e->setting.chunk,
		       e->setting.window,
		       bench_table_grouped(e->rate, rate, sizeof(rate)),
		       ms_of(e->p99_ns), mark(r, e));
	}
}

static void put_choice(const tune_report *r)
{
	const tune_seen *e = choose(r);
	char options[LINE];
	char chunk[LINE];
	char window[LINE];

	if (e == NULL) {
		printf("\nNo key could be read.\n");
		return;
	}
	put_options(options, e);
	put_chunk(chunk, e);
	put_window(window, e);
	printf("\n%s%s\n\n  %s\n\n  rb_options o;\n\n  rb_options_init(&o);\n"
	       "  %s\n  %s\n",
	       tune_search_best(&r->search) != NULL ?
		       "The fastest within the bound" :
		       "Nothing keeps to the bound. What comes closest",
	       r->cut ? ", of what there was time for:" : ":", options, chunk,
	       window);
}

void tune_print_table(const bench_work *w, const tune_plan *plan,
		      const tune_report *r)
{
	printf("Values of %zu bytes, %s", w->value_size,
	       connection_name(w->connection));
	if (w->rtt_ms > 0)
		printf(" and %" PRIu64 " ms further away", w->rtt_ms);
	printf("\nAnother client's p99: %.2f ms without us; the bound is %.2f "
	       "ms.\n",
	       ms_of(bench_series_at(&r->idle, 990)),
	       ms_of(r->search.bound_ns));
	(void)plan;
	put_curve(r);
	put_choice(r);
}

/* ---------------------------------------------------------------- JSON -- */

static json_t *seen_of(const tune_report *r, const tune_seen *e)
{
	return json_pack("{s:I, s:I, s:I, s:f, s:I, s:b}", "chunk_keys",
			 (json_int_t)e->setting.chunk, "window",
			 (json_int_t)e->setting.window, "keys_per_second",
			 (json_int_t)e->rate, "p99_ms", ms_of(e->p99_ns),
			 "looks", (json_int_t)e->looks, "within_bound",
			 e->rate > 0 && e->p99_ns <= r->search.bound_ns);
}

static json_t *curve_of(const tune_report *r)
{
	tune_search s = in_order(&r->search);
	json_t *curve = json_array();

	for (size_t i = 0; i < s.nseen; i++) {
		if (json_array_append_new(curve, seen_of(r, &s.seen[i])) != 0) {
			json_decref(curve);
			return NULL;
		}
	}
	return curve;
}

static json_t *choice_of(const tune_report *r)
{
	const tune_seen *e = choose(r);
	char options[LINE];
	char chunk[LINE];
	char window[LINE];

	if (e == NULL)
		return json_null();
	put_options(options, e);
	put_chunk(chunk, e);
	put_window(window, e);
	return json_pack("{s:o, s:s, s:[s, s, s, s]}", "setting", seen_of(r, e),
			 "options", options, "c", "rb_options o;",
			 "rb_options_init(&o);", chunk, window);
}

exits tune_print_json(const bench_work *w, const tune_plan *plan,
		      const tune_report *r)
{
	json_t *all = json_pack(
		"{s:s, s:I, s:I, s:o, s:I, s:f, s:b, s:o, s:o, s:I}", "server",
		connection_name(w->connection), "value_size",
		(json_int_t)w->value_size, "rtt_ms", (json_int_t)w->rtt_ms,
		"idle", bench_data_others(&r->idle), "guard_ms",
		(json_int_t)plan->guard_ms, "bound_ms",
		ms_of(r->search.bound_ns), "complete", !r->cut, "curve",
		curve_of(r), "choice", choice_of(r), "failed",
		(json_int_t)r->failed);

	return bench_data_dump(all);
}

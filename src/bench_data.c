#include "bench_data.h"

#include "say.h"

#include <inttypes.h>
#include <stdio.h>

static double ms_of(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* ----------------------------------------------------------------- JSON -- */

/* null where there are no numbers. */
static json_t *time_of(const bench_series *s, uint64_t ns)
{
	return s->n == 0 ? json_null() : json_real(ms_of(ns));
}

json_t *bench_data_others(const bench_series *s)
{
	return json_pack("{s:I, s:o, s:o, s:o}", "gets", (json_int_t)s->n,
			 "p50_ms", time_of(s, bench_series_at(s, 500)),
			 "p99_ms", time_of(s, bench_series_at(s, 990)),
			 "slowest_ms", time_of(s, bench_series_at(s, 1000)));
}

static json_t *times_of(const bench_series *s)
{
	return json_pack("{s:o, s:o, s:o}", "median",
			 time_of(s, bench_series_median(s)), "least",
			 time_of(s, bench_series_at(s, 0)), "most",
			 time_of(s, bench_series_at(s, 1000)));
}

static json_t *price_of(const bench_sheet *sheet, const bench_row *row)
{
	return sheet->price < 0 ? json_null() :
				  json_real(bench_row_cost(row, sheet->price));
}

/* A server may say what is no UTF-8. */
static json_t *text_of(const char *text)
{
	json_t *s = text[0] == '\0' ? json_null() : json_string(text);

	return s != NULL ? s : json_string("(not UTF-8)");
}

static json_t *row_of(const bench_sheet *sheet, const bench_row *row)
{
	return json_pack(
		"{s:s, s:I, s:I, s:o, s:f, s:I, s:I, s:o, s:I, s:I, s:o, s:o}",
		"method", row->method->name, "keys", (json_int_t)row->nkeys,
		"runs", (json_int_t)row->times.n, "time_ms",
		times_of(&row->times), "keys_per_second", bench_row_rate(row),
		"commands", (json_int_t)row->commands, "memory_bytes",
		(json_int_t)row->memory, "other",
		bench_data_others(&row->others), "answered",
		(json_int_t)row->right, "failed", (json_int_t)row->wrong,
		"error", text_of(row->why), "price_of_million_keys",
		price_of(sheet, row));
}

static json_t *rows_of(const bench_sheet *sheet)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < sheet->report->nrows; i++) {
		if (json_array_append_new(
			    rows, row_of(sheet, &sheet->report->rows[i])) !=
		    0) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}

exits bench_data_dump(json_t *all)
{
	if (all == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(all);
	return EXITS_FINE;
}

exits bench_data_put_json(const bench_sheet *sheet)
{
	json_t *all =
		json_pack("{s:o, s:I, s:I, s:I, s:o, s:o}", "server",
			  text_of(connection_name(sheet->work->connection)),
			  "value_size", (json_int_t)sheet->work->value_size,
			  "rounds", (json_int_t)sheet->plan->rounds, "rtt_ms",
			  (json_int_t)sheet->work->rtt_ms, "idle",
			  bench_data_others(&sheet->report->idle), "results",
			  rows_of(sheet));

	return bench_data_dump(all);
}

/* ------------------------------------------------------------------ CSV -- */

static void put_ms(const bench_series *s, uint64_t ns)
{
	if (s->n > 0)
		printf("%.6f", ms_of(ns));
	putchar(',');
}

static void put_text(const char *text)
{
	if (text[0] == '\0')
		return;
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

static void put_row(const bench_sheet *sheet, const char *name, size_t nkeys,
		    const bench_row *row)
{
	printf("%s,%zu,%zu,%zu,", name, nkeys, sheet->work->value_size,
	       row->times.n);
	put_ms(&row->times, bench_series_median(&row->times));
	put_ms(&row->times, bench_series_at(&row->times, 0));
	put_ms(&row->times, bench_series_at(&row->times, 1000));
	printf("%.0f,%" PRIu64 ",%" PRIu64 ",%zu,", bench_row_rate(row),
	       row->commands, row->memory, row->others.n);
	put_ms(&row->others, bench_series_at(&row->others, 500));
	put_ms(&row->others, bench_series_at(&row->others, 990));
	put_ms(&row->others, bench_series_at(&row->others, 1000));
	if (sheet->price >= 0)
		printf("%.6f", bench_row_cost(row, sheet->price));
	printf(",%" PRIu64 ",%" PRIu64 ",", row->right, row->wrong);
	put_text(row->why);
	fputs("\r\n", stdout);
}

void bench_data_put_csv(const bench_sheet *sheet)
{
	const bench_report *r = sheet->report;
	const bench_row idle = { .others = r->idle };

	fputs("method,keys,value_size,runs,time_ms,least_ms,most_ms,"
	      "keys_per_second,commands,memory_bytes,other_gets,other_p50_ms,"
	      "other_p99_ms,other_slowest_ms,price_of_million_keys,answered,"
	      "failed,error\r\n",
	      stdout);
	put_row(sheet, "idle", 0, &idle);
	for (size_t i = 0; i < r->nrows; i++)
		put_row(sheet, r->rows[i].method->name, r->rows[i].nkeys,
			&r->rows[i]);
}

#include "bench_table.h"

#include "meter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 32 };

const char *bench_table_grouped(uint64_t n, char *out, size_t size)
{
	char digits[CELL];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n);
	size_t at = 0;

	for (size_t i = 0; i < len && at + 2 < size; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

/* Three digits are enough, and one unit, so that numbers can be compared. */
static void put_ms(char *out, uint64_t ns)
{
	double ms = (double)ns / 1e6;

	snprintf(out, CELL,
		 ms < 9.995 ? "%.2f" :
		 ms < 99.95 ? "%.1f" :
			      "%.0f",
		 ms);
}

static void put_others(const bench_series *s)
{
	static const unsigned marks[] = { 500, 990, 1000 };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		char cell[CELL] = "-";

		if (s->n > 0)
			put_ms(cell, bench_series_at(s, marks[i]));
		printf("%9s", cell);
	}
}

static bool any_failed(const bench_report *r)
{
	for (size_t i = 0; i < r->nrows; i++) {
		if (r->rows[i].wrong > 0)
			return true;
	}
	return false;
}

static void put_time(const bench_row *row)
{
	char median[CELL] = "-";
	char least[CELL];
	char most[CELL];
	char range[2 * CELL + 8] = "";

	if (row->times.n > 0)
		put_ms(median, bench_series_median(&row->times));
	if (row->times.n > 1) {
		put_ms(least, bench_series_at(&row->times, 0));
		put_ms(most, bench_series_at(&row->times, 1000));
		snprintf(range, sizeof(range), "%s-%s", least, most);
	}
	printf("%9s %-13s", median, range);
}

static void put_row(const bench_sheet *sheet, const bench_row *row, bool failed)
{
	char cell[CELL];
	uint64_t rate = (uint64_t)bench_row_rate(row);

	printf("%-25s", row->method->title);
	put_time(row);
	printf("%11s", rate > 0 ? bench_table_grouped(rate, cell, CELL) : "-");
	printf("%10s", bench_table_grouped(row->commands, cell, CELL));
	meter_put_bytes(row->memory, cell, sizeof(cell));
	printf("%9s", cell);
	put_others(&row->others);
	if (sheet->price >= 0)
		printf("%10.3g", bench_row_cost(row, sheet->price));
	if (failed)
		printf("%10s", bench_table_grouped(row->wrong, cell, CELL));
	if (row->why[0] != '\0')
		printf("  %s", row->why);
	putchar('\n');
}

static void put_heading(const bench_sheet *sheet, size_t nkeys, bool failed)
{
	char cell[CELL];

	printf("\n%s keys of %zu bytes, %s",
	       bench_table_grouped(nkeys, cell, sizeof(cell)),
	       sheet->work->value_size,
	       connection_name(sheet->work->connection));
	if (sheet->work->rtt_ms > 0)
		printf(" and %" PRIu64 " ms further away", sheet->work->rtt_ms);
	printf("\n\n%-25s%9s %-13s%11s%10s%9s%9s%9s%9s", "", "time ms",
	       "least-most", "keys/s", "commands", "memory", "p50 ms", "p99 ms",
	       "slowest");
	if (sheet->price >= 0)
		printf("%10s", "price");
	if (failed)
		printf("%10s", "failed");
	putchar('\n');
}

static void put_idle(const bench_report *r)
{
	printf("%-77s", "nothing");
	put_others(&r->idle);
	putchar('\n');
}

static size_t most_runs(const bench_report *r)
{
	size_t most = 0;

	for (size_t i = 0; i < r->nrows; i++)
		most = r->rows[i].times.n > most ? r->rows[i].times.n : most;
	return most;
}

void bench_table_put(const bench_sheet *sheet)
{
	const bench_report *r = sheet->report;
	bool failed = any_failed(r);

	for (size_t i = 0; i < r->nrows; i++) {
		if (i == 0 || r->rows[i].nkeys != r->rows[i - 1].nkeys) {
			put_heading(sheet, r->rows[i].nkeys, failed);
			put_idle(r);
		}
		put_row(sheet, &r->rows[i], failed);
	}
	printf("\nThe median of %zu rounds. Memory: what the client's process "
	       "grew by. p50, p99,\nslowest: one GET of another client "
	       "meanwhile%s.\n",
	       most_runs(r),
	       sheet->work->rtt_ms > 0 ? ", which has no such distance" : "");
	if (sheet->price >= 0)
		printf("Price: of a million keys, at %g for a million "
		       "commands.\n",
		       sheet->price);
}

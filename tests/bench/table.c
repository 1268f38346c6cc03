#include "table.h"

#include "series.h"

#include <stdio.h>

enum { ROUNDS = 9 };

typedef struct row {
	const rbt_method *method;
	rbt_sample samples[RBT_MAX_ROUNDS];
	size_t server;
} row;

static row rows[RBT_TABLE_METHODS];

static double least(const uint64_t *values, size_t n)
{
	uint64_t low = values[0];

	for (size_t i = 1; i < n; i++)
		low = values[i] < low ? values[i] : low;
	return (double)low;
}

static double median_mega(uint64_t *values, size_t n)
{
	return (double)rbt_series_median(values, n) / 1e6;
}

/* Noise only ever adds: on a busy machine the best round against the best
 * round of the floor says more than the median. */
static void print_row(const row *line, size_t rounds)
{
	uint64_t wall[RBT_MAX_ROUNDS], floor[RBT_MAX_ROUNDS];
	uint64_t cpu[RBT_MAX_ROUNDS], growth[RBT_MAX_ROUNDS];
	double ratio[RBT_MAX_ROUNDS], mid;

	for (size_t r = 0; r < rounds; r++) {
		wall[r] = line->samples[r].wall_ns;
		floor[r] = rows[0].samples[r].wall_ns;
		cpu[r] = line->samples[r].cpu_ns;
		growth[r] = line->samples[r].growth;
		ratio[r] = (double)wall[r] / (double)floor[r];
	}
	mid = rbt_series_median_of(ratio, rounds);
	printf("%-23s %6.1f %5.2f %5.2f..%-5.2f %5.2f %6.1f %6.1f %6.2f %8s\n",
	       line->method->name, median_mega(wall, rounds), mid, ratio[0],
	       ratio[rounds - 1], least(wall, rounds) / least(floor, rounds),
	       median_mega(cpu, rounds), median_mega(growth, rounds),
	       (double)line->server / 1e6,
	       rbt_series_grouped(line->samples[0].commands));
}

static void print_rows(const rbt_job *job, size_t n, size_t rounds,
		       const char *what, const char *line)
{
	printf("\n%s %s of %zu bytes, %s, %zu rounds\n",
	       rbt_series_grouped(job->keys->n), what, job->value_len, line,
	       rounds);
	printf("%-23s %6s %-18s %5s %6s %6s %6s %8s\n", "", "", " time / floor",
	       "best", "CPU", "memory", "server", "");
	printf("%-23s %6s %5s %5s..%-5s %5s %6s %6s %6s %8s\n", "", "ms", "mid",
	       "min", "max", "/best", "ms", "MB", "MB", "commands");
	for (size_t m = 0; m < n; m++)
		print_row(&rows[m], rounds);
	fflush(stdout);
}

static bool run_first(rbt_job *job, size_t n)
{
	rbt_sample sample;
	bool fine = true;

	job->whole = true;
	for (size_t m = 0; fine && m < n; m++)
		fine = rbt_run_checked(rows[m].method, job, &sample,
				       &rows[m].server);
	job->whole = false;
	return fine;
}

static bool measure(rbt_job *job, size_t n, size_t rounds)
{
	if (!run_first(job, n))
		return false;
	for (size_t r = 0; r < rounds; r++) {
		for (size_t i = 0; i < n; i++) {
			row *line = &rows[(i + r) % n];

			if (!rbt_run_checked(line->method, job,
					     &line->samples[r], NULL))
				return false;
		}
	}
	return true;
}

bool rbt_table_print(const rbt_setup *s, rbt_job *job,
		     const rbt_table_methods methods, const char *what)
{
	size_t rounds = rbt_either(s->rounds, ROUNDS), n = 0;

	while (n < RBT_TABLE_METHODS && methods[n]) {
		rows[n].method = methods[n];
		n++;
	}
	if (!measure(job, n, rounds))
		return false;
	print_rows(job, n, rounds, what, "unix socket");
	if (!s->tcp)
		return true;
	job->target = &s->tcp_target;
	if (!measure(job, n, rounds))
		return false;
	print_rows(job, n, rounds, what, "TCP on loopback");
	job->target = &s->unix_target;
	return true;
}

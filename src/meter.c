#include "meter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 32, CELLS = 20, SECOND_US = 1000000 };

int meter_permille(const meter *m)
{
	double part;

	if (m->expected > 0)
		part = (double)m->done / (double)m->expected;
	else if (m->input_size > 0)
		part = (double)m->input_taken / (double)m->input_size;
	else
		return -1;
	return part >= 1 ? 1000 : (int)(part * 1000);
}

uint64_t meter_left_us(const meter *m)
{
	int permille = meter_permille(m);

	if (permille <= 0)
		return 0;
	return (uint64_t)((double)m->elapsed_us * (1000 - permille) / permille);
}

uint64_t meter_rate(uint64_t n, uint64_t us)
{
	if (us == 0)
		return 0;
	return (uint64_t)((double)n * SECOND_US / (double)us);
}

void meter_put_bytes(uint64_t bytes, char *out, size_t size)
{
	static const char *const units[] = {
		"B", "kB", "MB", "GB", "TB", "PB"
	};
	double n = (double)bytes;
	size_t unit = 0;

	/* What would be rounded to 1000 is one of the next unit. */
	while (n >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		n /= 1000;
		unit++;
	}
	if (unit == 0)
		snprintf(out, size, "%" PRIu64 " B", bytes);
	else
		snprintf(out, size,
			 n < 9.995 ? "%.2f %s" :
			 n < 99.95 ? "%.1f %s" :
				     "%.0f %s",
			 n, units[unit]);
}

void meter_put_time(uint64_t us, char *out, size_t size)
{
	uint64_t seconds = us / SECOND_US;

	if (us < SECOND_US)
		snprintf(out, size, "%" PRIu64 " ms", us / 1000);
	else if (seconds < 60)
		snprintf(out, size, "%.1f s", (double)us / SECOND_US);
	else if (seconds < 3600)
		snprintf(out, size, "%" PRIu64 "m%02" PRIu64 "s", seconds / 60,
			 seconds % 60);
	else
		snprintf(out, size, "%" PRIu64 "h%02" PRIu64 "m",
			 seconds / 3600, seconds / 60 % 60);
}

/* "[####------]  42% ", or nothing when the end is not known. */
static void put_cells(const meter *m, char *out, size_t size)
{
	int permille = meter_permille(m);
	char cells[CELLS + 1];
	int full;

	out[0] = '\0';
	if (permille < 0)
		return;
	full = permille * CELLS / 1000;
	memset(cells, '-', CELLS);
	memset(cells, '#', (size_t)full);
	cells[CELLS] = '\0';
	snprintf(out, size, "[%s] %3d%% ", cells, permille / 10);
}

static void put_left(const meter *m, char *out, size_t size)
{
	uint64_t left = meter_left_us(m);
	char time[TEXT];

	out[0] = '\0';
	if (left == 0)
		return;
	meter_put_time(left, time, sizeof(time));
	snprintf(out, size, ", %s left", time);
}

static void put_failed(const meter *m, char *out, size_t size)
{
	out[0] = '\0';
	if (m->failed > 0)
		snprintf(out, size, ", %" PRIu64 " failed", m->failed);
}

void meter_bar(const meter *m, size_t columns, char *out, size_t size)
{
	char cells[CELLS + TEXT];
	char failed[TEXT];
	char left[TEXT + 16];
	char rate[TEXT];

	put_cells(m, cells, sizeof(cells));
	put_failed(m, failed, sizeof(failed));
	put_left(m, left, sizeof(left));
	meter_put_bytes(meter_rate(m->bytes, m->elapsed_us), rate,
			sizeof(rate));
	snprintf(out, size, "%s%" PRIu64 " %s, %" PRIu64 " %s/s, %s/s%s%s",
		 cells, m->done, m->what, meter_rate(m->done, m->elapsed_us),
		 m->what, rate, failed, left);
	if (columns < size)
		out[columns] = '\0';
}

void meter_plain(const meter *m, char *out, size_t size)
{
	int permille = meter_permille(m);
	char line[256];
	char time[TEXT];
	char part[TEXT] = "";
	meter open = *m;

	/* The same words, with the part done as a number. */
	open.expected = 0;
	open.input_size = 0;
	meter_bar(&open, sizeof(line), line, sizeof(line));
	meter_put_time(m->elapsed_us, time, sizeof(time));
	if (permille >= 0)
		snprintf(part, sizeof(part), ", %d%%", permille / 10);
	snprintf(out, size, "%s: %s%s", time, line, part);
}

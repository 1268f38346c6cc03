#include "series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void rbt_series_sort(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_u64);
}

uint64_t rbt_series_at(const uint64_t *sorted, size_t n, unsigned percent)
{
	size_t rank = (n * percent + 99) / 100;

	return n == 0 ? 0 : sorted[rank > 0 ? rank - 1 : 0];
}

uint64_t rbt_series_median(uint64_t *values, size_t n)
{
	rbt_series_sort(values, n);
	return rbt_series_at(values, n, 50);
}

double rbt_series_median_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_double);
	return n == 0 ? 0.0 : values[(n - 1) / 2];
}

const char *rbt_series_grouped(size_t n)
{
	static char buffers[8][32];
	static size_t turn;
	char digits[32], *out = buffers[turn++ % 8];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%zu", n), o = 0;

	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			out[o++] = ',';
		out[o++] = digits[i];
	}
	out[o] = '\0';
	return out;
}

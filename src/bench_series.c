#include "bench_series.h"

#include <stdlib.h>

uint64_t *bench_series_room(bench_series *s, size_t n)
{
	size_t need;
	uint64_t *grown;

	if (n > SIZE_MAX / sizeof(*grown) / 2 - s->n)
		return NULL;
	need = s->n + n;
	if (need > s->capacity || s->values == NULL) {
		need = need + need / 2 + 8;
		grown = realloc(s->values, need * sizeof(*grown));
		if (grown == NULL)
			return NULL;
		s->values = grown;
		s->capacity = need;
	}
	return s->values + s->n;
}

bool bench_series_add(bench_series *s, uint64_t value)
{
	uint64_t *room = bench_series_room(s, 1);

	if (room == NULL)
		return false;
	*room = value;
	s->n++;
	return true;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void bench_series_sort(bench_series *s)
{
	if (s->n > 1)
		qsort(s->values, s->n, sizeof(*s->values), compare);
}

uint64_t bench_series_at(const bench_series *s, unsigned permille)
{
	size_t rank =
		s->n / 1000 * permille + (s->n % 1000 * permille + 999) / 1000;

	if (s->n == 0)
		return 0;
	return s->values[rank > 0 ? rank - 1 : 0];
}

uint64_t bench_series_median(const bench_series *s)
{
	uint64_t low;
	uint64_t high;

	if (s->n == 0)
		return 0;
	low = s->values[(s->n - 1) / 2];
	high = s->values[s->n / 2];
	return low + (high - low) / 2;
}

void bench_series_fini(bench_series *s)
{
	free(s->values);
	*s = (bench_series){ .values = NULL };
}

#include "clock.h"

#include <time.h>

static uint64_t monotonic_now(void *arg)
{
	struct timespec ts;

	(void)arg;
	if (clock_gettime(CLOCK_MONOTONIC, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

const rbi_clock rbi_clock_monotonic = { .now_us = monotonic_now, .arg = NULL };

uint64_t rbi_clock_after(uint64_t now_us, uint32_t ms)
{
	return ms == 0 ? RBI_NEVER : now_us + (uint64_t)ms * 1000;
}

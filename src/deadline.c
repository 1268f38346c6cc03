#include "deadline.h"

#include <time.h>

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

deadline deadline_begin(uint32_t timeout_ms)
{
	return (deadline){ timeout_ms == 0 ? 0 : now_ms() + timeout_ms };
}

uint32_t deadline_left(const deadline *d)
{
	uint64_t now;

	if (d->at_ms == 0)
		return 0;
	now = now_ms();
	return now < d->at_ms ? (uint32_t)(d->at_ms - now) : 1;
}

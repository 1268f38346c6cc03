#include "tick.h"

#include <errno.h>
#include <time.h>

uint64_t rbt_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t rbt_now_us(void)
{
	return rbt_now_ns() / 1000;
}

void rbt_sleep_ms(unsigned ms)
{
	struct timespec left;
	int r;

	left.tv_sec = (time_t)(ms / 1000);
	left.tv_nsec = (long)(ms % 1000) * 1000000;
	do
		r = nanosleep(&left, &left);
	while (r < 0 && errno == EINTR);
}

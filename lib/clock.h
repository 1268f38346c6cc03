/*
 * The time, in microseconds of the monotonic clock. Who needs the time is
 * given a clock, so that a test can give one that it turns by hand.
 */
#ifndef RBI_CLOCK_H
#define RBI_CLOCK_H

#include "internal.h"

/* A time that never comes. */
#define RBI_NEVER UINT64_MAX

typedef struct rbi_clock {
	uint64_t (*now_us)(void *arg);
	void *arg;
} rbi_clock;

extern const rbi_clock rbi_clock_monotonic;

static inline uint64_t rbi_clock_now(const rbi_clock *clock)
{
	return clock->now_us(clock->arg);
}

/* The first of two times, or the shorter of two whiles. */
static inline uint64_t rbi_clock_earlier(uint64_t a_us, uint64_t b_us)
{
	return a_us < b_us ? a_us : b_us;
}

/* ms milliseconds after now; 0 ms is never. */
uint64_t rbi_clock_after(uint64_t now_us, uint32_t ms);

#endif

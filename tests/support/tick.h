/*
 * Monotonic time for tests and benchmarks.
 */
#ifndef RBT_TICK_H
#define RBT_TICK_H

#include <stdint.h>

/* Microseconds since some moment in the past; never goes back. */
uint64_t rbt_now_us(void);

/* The same in nanoseconds. */
uint64_t rbt_now_ns(void);

/* Sleeps for ms milliseconds, interrupted or not. For waiting between two
 * looks at something that cannot be waited upon, never instead of waiting. */
void rbt_sleep_ms(unsigned ms);

#endif

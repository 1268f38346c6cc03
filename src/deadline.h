/*
 * The deadline of a run that makes several calls.
 */
#ifndef REDISBATCH_SRC_DEADLINE_H
#define REDISBATCH_SRC_DEADLINE_H

#include <stdint.h>

typedef struct deadline {
	/* Of the monotonic clock; 0: there is none. */
	uint64_t at_ms;
} deadline;

/* From now on; 0: none. */
deadline deadline_begin(uint32_t timeout_ms);

/* For rb_options.timeout_ms: what is left of it, at least 1; 0: there is
 * none. */
uint32_t deadline_left(const deadline *d);

#endif

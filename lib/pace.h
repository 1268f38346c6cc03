/*
 * No more commands a second than asked for. A token bucket that holds one
 * chunk: after a chunk of n commands the next one waits n / rate seconds, and
 * idle time is not saved up.
 */
#ifndef RBI_PACE_H
#define RBI_PACE_H

#include "internal.h"

typedef struct rbi_pace {
	uint32_t rate; /* commands a second; 0: any */
	uint64_t next_us;
} rbi_pace;

static inline void rbi_pace_init(rbi_pace *p, uint32_t rate)
{
	p->rate = rate;
	p->next_us = 0;
}

/* Commands have been sent at now_us. */
void rbi_pace_spend(rbi_pace *p, uint64_t commands, uint64_t now_us);

/* When the next chunk may go; 0: at any time. */
static inline uint64_t rbi_pace_next(const rbi_pace *p)
{
	return p->next_us;
}

#endif

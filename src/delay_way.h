/*
 * One direction of a connection that is delayed: bytes that came from one
 * descriptor, and wait for the moment to leave by another.
 */
#ifndef REDISBATCH_SRC_DELAY_WAY_H
#define REDISBATCH_SRC_DELAY_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct delay_block delay_block;

typedef struct delay_way {
	int from;
	int to;
	uint64_t delay_ns;
	/* Oldest first. */
	delay_block *first;
	delay_block *last;
	size_t held;
	/* Nothing more comes; that too is told only after the delay. */
	bool ended;
	uint64_t ended_ns;
	/* The end was passed on, or an error made it pointless. */
	bool done;
} delay_way;

void delay_way_init(delay_way *w, int from, int to, uint64_t delay_ns);

bool delay_way_wants_in(const delay_way *w);
/* Something is due, and must leave. */
bool delay_way_wants_out(const delay_way *w, uint64_t now_ns);
/* When the next bytes are due, or the end is; UINT64_MAX: never. */
uint64_t delay_way_due_ns(const delay_way *w);

/* Take what has come; pass on what is due. The descriptors do not block. False:
 * the connection is over. */
bool delay_way_take(delay_way *w, uint64_t now_ns);
bool delay_way_give(delay_way *w, uint64_t now_ns);

void delay_way_fini(delay_way *w);

#endif

/*
 * How another thread, or a signal handler, ends a call: a flag that is looked
 * at, and a pipe that ends the wait in which nobody looks.
 *
 * A request stays until a call has taken it, so that none is lost which comes
 * right before the call.
 */
#ifndef RBI_WAKE_H
#define RBI_WAKE_H

#include "internal.h"

#include <stdatomic.h>

typedef struct rbi_wake {
	atomic_int requested;
	int fds[2]; /* to read from, to write to; -1: none */
} rbi_wake;

/* False: no pipe is to be had. */
bool rbi_wake_init(rbi_wake *w) RBI_MUST_CHECK;
void rbi_wake_fini(rbi_wake *w);

/* From any thread or signal handler. */
void rbi_wake_request(rbi_wake *w);

/* Whether an end was asked for. NULL: nobody can ask. */
static inline bool rbi_wake_is_requested(rbi_wake *w)
{
	return w != NULL &&
	       atomic_load_explicit(&w->requested, memory_order_acquire) != 0;
}

/* It was heard. */
void rbi_wake_clear(rbi_wake *w);

/* A wait was ended by what is polled: look for a request behind this. A byte
 * may come late, after its request was heard, and must not end every wait. */
void rbi_wake_drain(rbi_wake *w);

/* What to poll for reading; -1: nothing. */
static inline int rbi_wake_fd(const rbi_wake *w)
{
	return w != NULL ? w->fds[0] : -1;
}

#endif

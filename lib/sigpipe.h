/*
 * Keeps the SIGPIPE away that somebody else's code raises when it writes to a
 * connection whose peer is gone: what moves the bytes of TLS writes plainly, and
 * even when it is asked to read. The signal is blocked for this thread between
 * begin and end, and one that was raised in between is taken away; one that was
 * pending before is not ours, and stays. errno is left alone.
 */
#ifndef RBI_SIGPIPE_H
#define RBI_SIGPIPE_H

#include "internal.h"

#include <signal.h>

typedef struct rbi_sigpipe {
	sigset_t before;
	bool pending;
} rbi_sigpipe;

void rbi_sigpipe_begin(rbi_sigpipe *s);
void rbi_sigpipe_end(const rbi_sigpipe *s);

#endif

/*
 * Inside a cluster that is played. The thread owns all sockets and parsers;
 * what other threads ask for is guarded by the mutex.
 */
#ifndef RBT_RING_STATE_H
#define RBT_RING_STATE_H

#include "ring.h"

#include <pthread.h>

enum { RBT_RING_LINES = 64, RBT_RING_MEMORY = 65536 };

typedef struct ring_line {
	int fd; /* -1: none */
	size_t node, number;
	bool asking;
	rbt_request request;
} ring_line;

struct rbt_ring {
	rbt_ring_options options;
	int listeners[RBT_RING_NODES];
	int ports[RBT_RING_NODES];
	int stop[2];
	pthread_t thread;
	ring_line lines[RBT_RING_LINES];

	/* Guarded by the mutex. */
	pthread_mutex_t mutex;
	rbt_ring_counts counts;
	char written[RBT_RING_MEMORY];
	size_t nwritten;
};

/* Reading a counter changes nothing that a caller can see, but a lock is not
 * const. */
rbt_ring *rbt_ring_lock(const rbt_ring *ring);
void rbt_ring_unlock(rbt_ring *ring);

/* Answers by the handler or else by itself. */
void rbt_ring_answer(const rbt_visit *v, rbt_reply *reply);

#endif

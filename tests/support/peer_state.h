/*
 * Inside a scripted peer.
 *
 * The peer's thread owns the wire and the parser. What other threads ask for
 * (the counters, the problem) is guarded by the mutex; the condition is
 * signalled whenever any of it changes. Stop and release are pipes, since the
 * thread waits in poll().
 */
#ifndef RBT_PEER_STATE_H
#define RBT_PEER_STATE_H

#include "peer.h"

#include <pthread.h>

typedef struct peer_counts {
	size_t commands;
	size_t bytes;
	size_t connections;
	size_t ends;
	size_t step;
	bool over; /* the thread has nothing more to do */
} peer_counts;

struct rbt_peer {
	rbt_peer_options options;
	rbt_wire wire;
	rbt_request request;
	pthread_t thread;
	int release[2];

	/* Guarded by the mutex. */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	peer_counts counts;
	char *record;
	size_t nrecord;
	char problem[160];
};

/* Locks, and gives the peer back without its const: reading a counter changes
 * nothing that a caller can see, but a lock is not const. */
rbt_peer *rbt_peer_lock(const rbt_peer *peer);
void rbt_peer_unlock_changed(rbt_peer *peer);

void rbt_peer_count_received(rbt_peer *peer, const char *bytes, size_t n);
void rbt_peer_count_command(rbt_peer *peer);
void rbt_peer_count_end(rbt_peer *peer);

/* The peer's thread; arg is the peer. */
void *rbt_peer_run(void *arg);

#endif

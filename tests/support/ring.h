/*
 * A cluster that is played: the nodes listen on 127.0.0.1, and one thread
 * answers for all of them, any number of connections at a time.
 *
 *	static bool answer(void *arg, const rbt_visit *v, rbt_reply *reply)
 *	{
 *		if (!rbt_visit_is(v, "GET"))
 *			return false;
 *		rbt_reply_text(reply, "-MOVED 1 127.0.0.1:1\r\n");
 *		return true;
 *	}
 *
 *	rbt_ring_options o = { .nodes = 2, .answer = answer };
 *	rbt_ring *ring = rbt_ring_start(&o);
 *
 * What the test's handler leaves to the ring, it does as a cluster would in
 * which the slots are shared out evenly: a node gives the map, says MOVED of
 * keys that are another's unless it was told ASKING, and CROSSSLOT of keys of
 * several slots. What it reads of a key is the key itself; what is written it
 * remembers, in order: rbt_ring_written().
 *
 * The counters may be read at any time.
 */
#ifndef RBT_RING_H
#define RBT_RING_H

#include "peer_reply.h"
#include "peer_request.h"

#include <stdbool.h>
#include <stddef.h>

enum { RBT_RING_NODES = 4 };

typedef struct rbt_ring rbt_ring;

/* A command that has come. */
typedef struct rbt_visit {
	const rbt_ring *ring;
	size_t node;
	size_t connection; /* the number of it at this node, from 0 */
	bool asking;	   /* the command before it was ASKING */
	bool more;	   /* others had come behind it when it was read */
	size_t argc;
	const rbt_arg *argv;
} rbt_visit;

/* False: the ring is to answer. Runs in the ring's thread, one at a time. */
typedef bool rbt_ring_fn(void *arg, const rbt_visit *v, rbt_reply *reply);

/* Zero in a member: its default. */
typedef struct rbt_ring_options {
	size_t nodes; /* 2 */
	rbt_ring_fn *answer;
	void *arg;
	/* What the map says of the nodes' addresses, with their ports:
	 * "127.0.0.1". */
	const char *host;
	bool ipv6; /* they listen on ::1 */
} rbt_ring_options;

typedef struct rbt_ring_counts {
	size_t connections[RBT_RING_NODES];
	size_t commands; /* but for ASKING and those that ask for the map */
	size_t moved;	 /* MOVED that the ring gave by itself */
	size_t crossed;	 /* CROSSSLOT likewise */
	size_t maps;	 /* CLUSTER SLOTS */
	size_t asking;
	size_t asking_alone; /* with nothing behind it yet */
	size_t asking_vain;  /* and then came what needs none */
} rbt_ring_counts;

/* NULL: errno. */
rbt_ring *rbt_ring_start(const rbt_ring_options *options);
void rbt_ring_stop(rbt_ring *ring); /* NULL is fine */

int rbt_ring_port(const rbt_ring *ring, size_t node);
/* A URI with the first nseeds nodes; 0: all. */
void rbt_ring_uri(const rbt_ring *ring, size_t nseeds, char *out, size_t size);
/* The node that has the slot of this key. */
size_t rbt_ring_owner(const rbt_ring *ring, const char *key, size_t len);
rbt_ring_counts rbt_ring_look(const rbt_ring *ring);
/* The writes as they were done, each "key=value " . Copies at most size bytes,
 * with a NUL. */
void rbt_ring_written(const rbt_ring *ring, char *out, size_t size);

/* ------------------------------------------------------- for a handler -- */

bool rbt_visit_is(const rbt_visit *v, const char *name);
/* The argument is this text. */
bool rbt_visit_arg(const rbt_visit *v, size_t i, const char *text);

/* The map as it is; one range of one node of it. */
void rbt_ring_map(const rbt_ring *ring, rbt_reply *reply);
void rbt_ring_range(rbt_reply *reply, long long first, long long last,
		    const char *host, long long port);
/* "-MOVED slot host:port", "-ASK ..." to a node. */
void rbt_ring_redirect(const rbt_visit *v, rbt_reply *reply, const char *word,
		       size_t to);
/* What the ring does with a command whose keys are here, wherever they are. */
void rbt_ring_serve(const rbt_visit *v, rbt_reply *reply);

#endif

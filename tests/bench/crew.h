/*
 * What a careful user of plain hiredis has for a cluster: a connection to each
 * node, and commands that go to the node of their key and are all in flight at
 * once.
 *
 * Commands leave while more are put in, and replies are taken as they come, from
 * whichever node has some: nobody waits for one node while another is at rest.
 */
#ifndef RBT_CREW_H
#define RBT_CREW_H

#include "method.h"
#include "places.h"

typedef struct rbt_crew rbt_crew;

/* NULL, and why. */
rbt_crew *rbt_crew_new(const rbt_places *places, char *why, size_t size);
void rbt_crew_free(rbt_crew *crew);

/* Begins with the first of n commands, each with a number below n. False: out
 * of memory. */
bool rbt_crew_begin(rbt_crew *crew, rbt_held *held, size_t n);

/* Puts in command i, for the node of this key. False: held->why. */
bool rbt_crew_append(rbt_crew *crew, rbt_held *held, size_t i, const char *key,
		     size_t len, int argc, const char **argv,
		     const size_t *lens);

/* Awaits all replies: held->replies[i] is that of command i. False: held->why. */
bool rbt_crew_finish(rbt_crew *crew, rbt_held *held);

/* The processor time of all nodes so far. False: one did not say. */
bool rbt_crew_server_cpu(rbt_crew *crew, uint64_t *ns);

#endif

/*
 * Answers that are meant to do harm, each with the status that the call must
 * end in. Some have no end by themselves: the peer goes on until the client
 * closes.
 */
#ifndef RBT_HOSTILE_H
#define RBT_HOSTILE_H

#include "peer.h"

#include <redisbatch/redisbatch.h>

#include <stddef.h>

/* The call of two entries that is answered so. */
typedef enum rbt_victim {
	RBT_VICTIM_MGET,
	RBT_VICTIM_MSET,
	RBT_VICTIM_SETNX, /* two commands */
	RBT_VICTIM_UNLINK,
	RBT_VICTIM_PIPELINE, /* two commands */
	RBT_VICTIM_GROUP     /* a transaction: four commands */
} rbt_victim;

enum { RBT_HOSTILE_STEPS = 4 };

typedef struct rbt_hostile {
	const char *what;
	rbt_victim victim;
	rbt_step steps[RBT_HOSTILE_STEPS];
	/* A call that was answered in full, however badly, ends with
	 * RB_ERR_PARTIAL or RB_ERR_SERVER, and the connection in step. With
	 * all else it is broken. RB_ERR_TIMEOUT: it never ends. */
	rb_status status;
	size_t fine; /* entries that were answered well */
} rbt_hostile;

extern const rbt_hostile rbt_hostiles[];
extern const size_t rbt_nhostiles;

#endif

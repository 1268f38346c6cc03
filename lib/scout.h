/*
 * Asks a cluster which node serves which slot, as a step: a node that is known,
 * beginning with any, and then the seeds, until one answers.
 *
 * It has a connection of its own, which is closed behind the answer: what is
 * under way on the others must not wait for this, nor this for them. It asks
 * no more than once a second for all calls of a client together.
 */
#ifndef RBI_SCOUT_H
#define RBI_SCOUT_H

#include "client.h"
#include "dial.h"
#include "pool.h"

typedef enum rbi_scout_state {
	RBI_SCOUT_IDLE,
	RBI_SCOUT_ASKING,
	RBI_SCOUT_LEARNED, /* the pool knows more */
	RBI_SCOUT_FAILED   /* nobody answered; status and why */
} rbi_scout_state;

typedef struct rbi_scout {
	rb_client *client;
	rbi_pool *pool;
	const rb_options *options;
	rbi_scout_state state;
	size_t tried; /* nodes and seeds */
	size_t first; /* of the nodes */
	bool dialed;
	rbi_uri uri;
	rbi_dialer dialer;
	struct redisContext *ctx;
	rbi_transport transport;
	rbi_ask ask;
	uint64_t until_us;
	bool early; /* who failed may answer later */
	rb_status status;
	char why[320];
} rbi_scout;

void rbi_scout_init(rbi_scout *s, rb_client *client, rbi_pool *pool,
		    const rb_options *options);
void rbi_scout_fini(rbi_scout *s);

/* Begins to ask, unless it is asking, or has asked too short a time ago. */
void rbi_scout_begin(rbi_scout *s, uint64_t now_us);

/* Does what can be done now. LEARNED and FAILED are said once. */
rbi_scout_state rbi_scout_step(rbi_scout *s, uint64_t now_us);

/* What to poll for, if anything, and until when. */
uint64_t rbi_scout_wants(const rbi_scout *s, struct pollfd *fd,
			 uint64_t now_us);

/* When it may ask again. */
uint64_t rbi_scout_next(const rbi_scout *s);

/*
 * Asks for the first time, and waits for it; where the cluster is not ready,
 * for patience_us. RB_OK: the map is known. Otherwise rb_client_error() says
 * why.
 */
rb_status rbi_scout_wait(rb_client *client, rbi_pool *pool,
			 const rb_options *options, uint64_t deadline_us,
			 uint64_t patience_us) RBI_MUST_CHECK;

#endif

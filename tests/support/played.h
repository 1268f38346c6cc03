/*
 * A client whose connection is played: its context is real, over a socketpair,
 * but bytes and time go through the library's own seams. So a call takes
 * microseconds, and any moment of it can be had exactly.
 *
 *	rbt_played_begin(&p, NULL);
 *	p.bytes = stream;
 *	p.len = n;
 *	p.end = RBT_PLAYED_END;
 *	status = rb_mget_chunked(p.rb, ...);
 *	rbt_played_end(&p);
 *
 * What the library sends is taken whole and read as commands; answers come
 * once so many commands were heard. Waiting turns the clock to the next thing
 * that happens; a wait without an end for nothing fails the test. One at a
 * time.
 */
#ifndef RBT_PLAYED_H
#define RBT_PLAYED_H

#include "clock.h"
#include "count.h"
#include "peer_request.h"

#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is behind the bytes, besides an errno. */
enum { RBT_PLAYED_SILENCE = 0, RBT_PLAYED_END = -1 };

typedef struct rbt_played rbt_played;
struct rbt_played {
	const char *bytes; /* what arrives, borrowed */
	size_t len;
	size_t commands; /* heard before anything arrives */
	size_t pause;	 /* nothing comes for a while behind this byte */
	bool dribble;	 /* one byte at a time, with a while in between */
	int end;
	/* Called once, when the bytes before hook_at were received and dealt
	 * with, and more is asked for. hook_at 0: never. */
	void (*hook)(rbt_played *p);
	size_t hook_at;

	redisContext *ctx;
	rb_client *rb;
	rbt_count count; /* the client allocates through it */
	size_t taken;	 /* bytes received */
	size_t heard;	 /* commands */
	bool waiting;	 /* until the next wait nothing can be received */
	uint64_t now_us;
	rbi_clock clock;
	rbt_request request;
	int peer;
};

/* defaults of the client; NULL: the library's. Their allocator is ours. */
void rbt_played_begin(rbt_played *p, const rb_options *defaults);

/* All memory must have been given back, but for that of p itself. */
void rbt_played_end(rbt_played *p);

/* hiredis refuses the context, and the library does so too. */
void rbt_played_want_broken(rbt_played *p);

#endif

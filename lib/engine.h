/*
 * One call under way: fills the window, sends, receives, settles, until every
 * entry of the batch is accounted for.
 *
 * The engine is a step, not a loop. It says what it waits for and until when
 * (rbi_engine_wants), it is told what time it is (rbi_engine_step), and it
 * never sleeps. rbi_engine_run is the loop that poll() drives.
 *
 * Every chunk ends in exactly one of these ways, and its report says which:
 *	answered	whatever the answer was;
 *	lost		its connection ended first: unknown if its last byte
 *			had left, not sent otherwise;
 *	skipped		the batch had stopped before it was sent.
 * A chunk of many commands of which some had left when the connection ended is
 * reported in two halves.
 *
 * A batch stops when a failure leaves no hope for other chunks, when it is
 * told to, or when a callback says so. What is in flight then is still
 * awaited, so that the connection stays in step. A connection that cannot be
 * kept in step is marked broken; there is nothing in between.
 */
#ifndef RBI_ENGINE_H
#define RBI_ENGINE_H

#include "clock.h"
#include "lane.h"
#include "pace.h"
#include "transport.h"
#include "window.h"

typedef struct rbi_engine {
	/* Set by the caller before rbi_engine_begin(). */
	const rb_options *options;
	const rbi_batch *batch; /* what all chunks have in common */
	rbi_feed *feed;
	rb_result *result; /* bytes, messages and stats go here */
	rbi_lane *lane;
	rbi_transport *transport;
	uint64_t deadline_us;
	size_t *entry_reply; /* predicted bytes of one entry's answer: learned
				here, kept by the client */

	rbi_window window;
	rbi_pace pace;
	bool stopped; /* nothing more is cut and sent */
	bool closing; /* the server closes after what it said */
	bool over;
	bool unwritable;	 /* sending failed; reading on for last words */
	rb_status status;	 /* what stopped the batch; RB_OK: nothing */
	uint64_t words_until_us; /* how long last words are waited for */
	char why[256];		 /* the words for status */
	char words[160];	 /* the last error that the server sent */
} rbi_engine;

/* What the engine waits for. */
typedef struct rbi_wants {
	bool write;
	uint64_t until_us; /* RBI_NEVER: no end */
} rbi_wants;

void rbi_engine_begin(rbi_engine *e);

/* The connection had ended before the call: error is an errno, or 0. */
void rbi_engine_lost(rbi_engine *e, int error);

/* Does what can be done now. True: the call is over. */
bool rbi_engine_step(rbi_engine *e, uint64_t now_us);

rbi_wants rbi_engine_wants(const rbi_engine *e);

/* Steps until the call is over. */
void rbi_engine_run(rbi_engine *e, const rbi_clock *clock);

#endif

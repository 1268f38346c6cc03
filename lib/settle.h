/*
 * A call under way: its state, and what becomes of its chunks.
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
#ifndef RBI_SETTLE_H
#define RBI_SETTLE_H

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

/* The bounds of the next chunk, with what is known by now. */
rbi_bounds rbi_settle_bounds(const rbi_engine *e);

/* Sends nothing more. The first reason is the one that is told. */
void rbi_settle_stop(rbi_engine *e, rb_status status, const char *why);

/* The lane's oldest flight is answered: reports it and takes it out. */
void rbi_settle_answered(rbi_engine *e, uint64_t now_us);

/* The connection ends here, out of step or gone; the call is over. */
void rbi_settle_lost(rbi_engine *e, rb_status status, const char *why);

/* As above, for an end of the connection; error is an errno, or 0. */
void rbi_settle_lost_io(rbi_engine *e, int error);

/* Nothing is in flight any more: skips what is left; the call is over. */
void rbi_settle_finish(rbi_engine *e);

#endif

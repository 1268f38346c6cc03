/*
 * One call under way: fills the window, sends, receives, settles, until every
 * entry of the batch is accounted for.
 *
 * The engine is a step, not a loop. It says what it waits for and until when
 * (rbi_engine_wants), it is told what time it is (rbi_engine_step), and it
 * never sleeps. rbi_engine_run is the loop that poll() drives, and that makes
 * new connections, which blocks.
 */
#ifndef RBI_ENGINE_H
#define RBI_ENGINE_H

#include "clock.h"
#include "recover.h"
#include "revive.h"
#include "sift.h"

/* What the engine waits for. */
typedef struct rbi_wants {
	bool write;
	uint64_t until_us; /* RBI_NEVER: no end */
} rbi_wants;

void rbi_engine_begin(rbi_engine *e);

/* The connection had ended before the call: error is an errno, or 0. */
void rbi_engine_lost(rbi_engine *e, int error, uint64_t now_us);

/* Ends the call early: by a deadline, or because somebody said so. */
void rbi_engine_end(rbi_engine *e, rb_status status, const char *why);

/* Does what can be done now. True: the call is over. */
bool rbi_engine_step(rbi_engine *e, uint64_t now_us);

rbi_wants rbi_engine_wants(const rbi_engine *e);

/* Steps until the call is over. Connects anew where the engine is down. */
void rbi_engine_run(rbi_engine *e, const rbi_clock *clock);

#endif

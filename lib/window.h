/*
 * How many chunks to keep in flight.
 *
 * Given a number, that. Otherwise the window follows the line: what an answer
 * takes at the shortest is the distance, how fast answers follow each other is
 * what the server and the line give, and their quotient is the number of
 * chunks that covers the distance. Two more keep the server from waiting for
 * us; still more would only make others wait. The window moves by one step at
 * an answer, so it doubles each round trip while it grows.
 */
#ifndef RBI_WINDOW_H
#define RBI_WINDOW_H

#include "internal.h"

typedef struct rbi_window {
	bool fixed;
	size_t chunks;	      /* the most in flight now */
	uint64_t shortest_us; /* last byte sent to last byte read; 0: none */
	uint64_t service_us;  /* between two answers, smoothed; 0: none */
	uint64_t answered_us; /* when the last answers were complete; 0: none */
	uint64_t before_us;   /* when those before were */
	size_t together;      /* answers at answered_us */
	bool fair;	      /* the server had all of them at before_us */
	unsigned gaps;	      /* measured, while they are few */
} rbi_window;

/* chunks 0: by itself, beginning with about 1,000 entries in flight. */
void rbi_window_init(rbi_window *w, size_t chunks, size_t chunk_keys);

/* A chunk whose last byte was sent at sent_us has been answered at now_us. */
void rbi_window_answered(rbi_window *w, uint64_t sent_us, uint64_t now_us);

#endif

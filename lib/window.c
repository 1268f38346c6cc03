#include "window.h"

#include "options.h"

#define START_ENTRIES 1000
#define WAITING 2

/* The first gaps count for half each, so that a hiccup at the beginning is soon
 * forgotten; the later ones for an eighth, and for no more than so many times
 * the pace. */
#define FIRST_GAPS 8
#define LONGEST_GAP 4

void rbi_window_init(rbi_window *w, size_t chunks, size_t chunk_keys)
{
	w->fixed = chunks != 0;
	w->chunks = chunks;
	w->shortest_us = 0;
	w->service_us = 0;
	w->answered_us = 0;
	w->before_us = 0;
	w->together = 0;
	w->fair = false;
	w->gaps = 0;
	if (w->fixed)
		return;
	w->chunks = chunk_keys != 0 ? START_ENTRIES / chunk_keys : 1;
	w->chunks = rbi_max(1, rbi_min(w->chunks, RBI_OPTIONS_WINDOW_MAX));
}

static uint64_t at_least_one(uint64_t us)
{
	return us > 0 ? us : 1;
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void learn_pace(rbi_window *w, uint64_t gap)
{
	if (w->gaps == 0) {
		w->service_us = gap;
	} else if (w->gaps < FIRST_GAPS) {
		w->service_us = (w->service_us + gap) / 2;
	} else {
		gap = shorter(gap, LONGEST_GAP * w->service_us);
		w->service_us = (7 * w->service_us + gap) / 8;
	}
	w->service_us = at_least_one(w->service_us);
	w->gaps = w->gaps < FIRST_GAPS ? w->gaps + 1 : w->gaps;
}

/*
 * Answers that are found at the same time have come one after the other while
 * nobody looked: each took its share of the time since the answers before. It
 * says what the server takes for a chunk only if it had all of them by then.
 */
static void measure(rbi_window *w, uint64_t sent_us, uint64_t now_us)
{
	uint64_t took = at_least_one(now_us - sent_us);

	if (w->shortest_us == 0 || took < w->shortest_us)
		w->shortest_us = took;
	if (now_us != w->answered_us) {
		if (w->fair)
			learn_pace(w, at_least_one(
					      (w->answered_us - w->before_us) /
					      w->together));
		w->before_us = w->answered_us;
		w->answered_us = now_us;
		w->together = 0;
		w->fair = w->before_us != 0;
	}
	w->together++;
	w->fair = w->fair && sent_us < w->before_us;
}

void rbi_window_answered(rbi_window *w, uint64_t sent_us, uint64_t now_us)
{
	uint64_t target = RBI_OPTIONS_WINDOW_MAX;

	if (w->fixed)
		return;
	measure(w, sent_us, now_us);
	if (w->service_us != 0)
		target = w->shortest_us / w->service_us + WAITING;
	if (w->chunks < target && w->chunks < RBI_OPTIONS_WINDOW_MAX)
		w->chunks++;
	else if (w->chunks > target)
		w->chunks--;
}

/*
 * Which setting to try next, and which one wins: keys a chunk, and chunks in
 * flight. Pure: it is told what a setting did, and never measures.
 *
 * First come all sizes of chunks with two of them in flight, then all windows
 * with the best of these, then what is next to the best, as long as that gets
 * better; and at the end the best ones again, since a single look may be luck.
 * What makes another client wait for longer than the bound is looked at twice;
 * if it is as bad again, and worse than others are, nothing that is larger in
 * both is tried any more.
 */
#ifndef REDISBATCH_SRC_TUNE_SEARCH_H
#define REDISBATCH_SRC_TUNE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TUNE_CHUNKS = 7, TUNE_WINDOWS = 7, TUNE_LOOKS = 3 };

typedef struct tune_setting {
	size_t chunk;
	size_t window;
} tune_setting;

typedef struct tune_seen {
	tune_setting setting;
	/* Keys a second; another client's 99th percentile. Of all looks, the
	 * middle one, the lower of two. */
	uint64_t rate;
	uint64_t p99_ns;
	unsigned looks;
	uint64_t rates[TUNE_LOOKS];
	uint64_t p99s[TUNE_LOOKS];
} tune_seen;

typedef struct tune_search {
	/* Going up. */
	size_t chunks[TUNE_CHUNKS];
	size_t nchunks;
	size_t windows[TUNE_WINDOWS];
	size_t nwindows;
	/* Keys in flight that a setting may have, unless it is one chunk. */
	size_t most_flight;
	uint64_t bound_ns;
	/* In the order in which they were tried. */
	tune_seen seen[TUNE_CHUNKS * TUNE_WINDOWS];
	size_t nseen;
} tune_search;

/* No chunk above most_chunk keys (1 at least) is tried, and nothing with more
 * than most_flight keys in flight; bound_ns is for the other client. */
void tune_search_init(tune_search *s, size_t most_chunk, size_t most_flight,
		      uint64_t bound_ns);

/* False: there is nothing left to try. */
bool tune_search_next(const tune_search *s, tune_setting *out);

/* What a look at a setting that was asked for has shown. */
void tune_search_tell(tune_search *s, tune_setting setting, uint64_t rate,
		      uint64_t p99_ns);

/* The fastest that keeps to the bound; of those that are as fast but for 3 in
 * 100, the one with the fewest keys in flight. NULL: none keeps to it. */
const tune_seen *tune_search_best(const tune_search *s);

/* The one that is kindest to the other client. NULL: nothing was told. */
const tune_seen *tune_search_gentlest(const tune_search *s);

#endif

/*
 * What the library will send for some pairs: chunks and their exact bytes, by
 * the rules of its public options. Pure arithmetic; one server, no cluster.
 */
#ifndef REDISBATCH_SRC_FORECAST_H
#define REDISBATCH_SRC_FORECAST_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>

typedef struct forecast {
	/* How it is sent. */
	bool each; /* by a SET for each pair, not by an MSET for a chunk */
	size_t max_pairs;
	size_t max_bytes;
	size_t tail; /* what each SET has besides its key and its value */
	size_t tail_args;
	size_t frame; /* MULTI and EXEC */
	/* The chunk that is being filled. */
	size_t npairs;
	size_t body;
	/* What it comes to. */
	uint64_t records;
	uint64_t chunks;
	uint64_t commands;
	uint64_t bytes;
	size_t largest_chunk;
	/* The bytes of a key and its value together. */
	size_t largest_record;
} forecast;

forecast forecast_begin(const rb_options *o);

/* True: it is the largest record so far. */
bool forecast_add(forecast *f, size_t key_len, size_t value_len);

/* Nothing more goes into the chunk that is being filled. */
void forecast_end(forecast *f);

#endif

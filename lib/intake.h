/*
 * A feed of entries that come from a source one by one and whose answers go to
 * a sink chunk by chunk, so that a batch of any length takes the memory of its
 * window.
 *
 * What the source gives is copied into a crate, the memory of one chunk, which
 * is used again once the sink had all of it, which it gets in order even if
 * chunks are answered in another. An entry that does not fit into
 * the chunk being filled is the first of the next one; the source is not asked
 * again before it was copied.
 */
#ifndef RBI_INTAKE_H
#define RBI_INTAKE_H

#include "crate.h"
#include "feed.h"

typedef struct rbi_intake rbi_intake;

struct rbi_intake {
	rbi_feed feed;
	/* Set by the caller before rbi_intake_init(). */
	rb_source *next_key;
	rb_pair_source *next_pair;
	rb_command_source *next_command;
	void *next_arg;
	rb_sink *take_values;
	rb_reply_sink *take_replies;
	void *take_arg;
	const rbi_batch *batch; /* the form of all chunks; no entries */
	const rb_allocator *allocator;
	const char *node;
	size_t max_value;

	rbi_crate **crates;
	size_t ncrates;
	size_t given;	/* entries given out */
	size_t handed;	/* and how many of them the sink had */
	size_t failed;	/* entries whose status is not RB_OK */
	bool cancelled; /* the sink asked to stop */
	bool pending;	/* item holds an entry that is in no crate yet */
	rbi_batch item; /* of one entry, which is these: */
	const char *strings[2];
	size_t lens[2];
	rb_command command;
	rb_chunk report;
	char why[160];
};

void rbi_intake_init(rbi_intake *in);
void rbi_intake_fini(rbi_intake *in);

#endif

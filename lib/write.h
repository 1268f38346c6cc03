/*
 * The public verbs that write, or count, by whole keys. What a write of pairs
 * is sent as depends on the options and on what the server knows, which is
 * decided here for arrays and streams alike.
 */
#ifndef RBI_WRITE_H
#define RBI_WRITE_H

#include "call.h"

/* Texts that a batch of pairs points to. */
typedef struct rbi_write_texts {
	char expire[24];
} rbi_write_texts;

/*
 * Sets up b, without its entries, for writing pairs as o asks for; may ask the
 * server whether it knows MSETEX, the time for which is taken off that of o.
 * texts must outlive b.
 */
rb_status rbi_write_pairs(rb_client *client, rb_options *o, rbi_batch *b,
			  rbi_write_texts *texts) RBI_MUST_CHECK;

#endif

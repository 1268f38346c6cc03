/*
 * One call from its options to its status: what all verbs have in common.
 */
#ifndef RBI_CALL_H
#define RBI_CALL_H

#include "client.h"
#include "feed.h"
#include "intake.h"

/*
 * Begins a call: forgets the last failure, and fills in its options. Every
 * verb does this first, since the options shape what it sends.
 */
rb_status rbi_call_begin(rb_client *client, const rb_options *opts,
			 rb_options *o) RBI_MUST_CHECK;

/* As above, for calls that answer through *out, which is set to NULL. */
rb_status rbi_call_begin_result(rb_client *client, const rb_options *opts,
				rb_options *o, rb_result **out) RBI_MUST_CHECK;

/* A question asked on the way is a part of the call: leaves the rest what is
 * left of its time. */
void rbi_call_spend(const rb_client *client, rb_options *o,
		    uint64_t deadline_us);

/* Checks and runs a batch of entries in memory. */
rb_status rbi_call_batch(rb_client *client, const rb_options *o,
			 const rbi_batch *batch, rb_result **out);

/*
 * Runs a batch whose entries come from the intake, of which the caller has set
 * the source, the sink and the batch's form.
 */
rb_status rbi_call_stream(rb_client *client, const rb_options *o,
			  rbi_intake *in, rb_stats *stats);

#endif

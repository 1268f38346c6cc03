/*
 * Reads that ask for the size of every value first, so that chunks are cut by
 * what their answers are going to take and not by a prediction. It costs a
 * command for each entry.
 */
#ifndef RBI_SIZES_H
#define RBI_SIZES_H

#include "call.h"

/*
 * Runs a batch of reads, with the sizes if options.flags say so. strlen is the
 * command that gives the size of one.
 */
rb_status rbi_sizes_call(rb_client *client, rb_options *o, rbi_batch *batch,
			 const char *strlen_command, rb_result **out);

#endif

/*
 * What the two ways of reading share: keys by rb_mget_stream(), the fields of a
 * hash by rb_hmget_chunked() block by block.
 */
#ifndef REDISBATCH_SRC_MGET_H
#define REDISBATCH_SRC_MGET_H

#include "connection.h"
#include "format.h"
#include "keys.h"
#include "out.h"
#include "report.h"
#include "scan.h"

#include <redisbatch/redisbatch.h>

typedef struct mget {
	/* As the command line has it. */
	rb_options options;
	const char *format_name;
	const char *path;
	const char *hash;
	const char *missing;
	scan_order order;
	bool no_missing;
	bool null_in;
	bool null_out;

	connection *connection;
	rb_client *client;
	report *report;
	keys *keys;
	scan *scan;
	out *out;
	format format;
	uint64_t taken; /* of the input, as far as it was told to the report */
	rb_stats stats;
	/* What ended the run before its time, if anything did. */
	exits status;
} mget;

/* Writes what was answered, and tells the report. -1: it is of no use to go
 * on, since it cannot be written or a signal came. */
int mget_take(mget *m, const format_rows *rows);

/* Sets the status to what a call of the library means that ended so, and says
 * why unless it was said already or goes without saying. */
void mget_end(mget *m, rb_status status);

void mget_run_stream(mget *m);
void mget_run_hash(mget *m);

#endif

/*
 * What the user is told of a run on standard error: how far it is while it
 * runs, what failed, and what it all came to.
 */
#ifndef REDISBATCH_SRC_REPORT_H
#define REDISBATCH_SRC_REPORT_H

#include "args.h"

#include <redisbatch/redisbatch.h>

typedef struct report report;

/* One entry that failed, or one record of the input that was bad. */
typedef struct report_failure {
	/* The key, or the command as one line; what a second run needs. */
	rb_slice key;
	/* For --failed, if it is more than the key and a newline: the whole
	 * record as it stood in the input, with its delimiter. */
	rb_slice record;
	/* Where it stood: file may be NULL, line 0. */
	const char *file;
	size_t line;
	/* host:port, or "" if it was never sent. */
	const char *node;
	/* The server's words or ours. */
	const char *words;
	/* Only for writes: may it have been applied all the same? */
	bool unknown;
} report_failure;

/* NULL: out of memory. what names the entries: "keys", "commands". */
report *report_new(const char *what);
void report_free(report *r);

/* --progress, --failed, --price, --quiet. */
args_group report_group(report *r);

/* Opens the --failed file and starts the clock. delimiter ends a record in
 * the --failed file. EXITS_LOCAL if it cannot be made. */
exits report_begin(report *r, char delimiter);

/* The summary tells found and missing apart, not only how many were answered:
 * for reads. */
void report_tells_missing(report *r);

/* How many entries there are, and how many bytes of input, if known: for the
 * bar and the time left. 0: not known. */
void report_expect(report *r, uint64_t nentries, uint64_t nbytes);

/* What happened since the last call. Draws the progress when it is time to;
 * cheap enough to be called for each chunk. */
typedef struct report_step {
	uint64_t answered; /* entries the server answered, missing among them */
	uint64_t missing;  /* keys that do not exist */
	uint64_t bytes;	   /* of values or of input */
	uint64_t input_bytes; /* taken from the input */
} report_step;
void report_advance(report *r, const report_step *step);

/* Lists it on standard error (the first few dozen, the rest is counted) and in
 * the --failed file. */
void report_fail(report *r, const report_failure *failure);

/* Bytes for the --failed file that are no failure, as the names of columns. */
void report_keep(report *r, rb_slice bytes);
/* There is such a file. */
bool report_keeps(const report *r);

uint64_t report_failed(const report *r);

/* --quiet was given: no words on what is no failure. */
bool report_is_quiet(const report *r);
/* As if it were from now on: for a run that sends nothing. */
void report_hush(report *r);

/* A line for standard error, which does not tear the bar apart. */
__attribute__((format(printf, 2, 3))) void report_say(report *r,
						      const char *format, ...);

/* Ends the bar, prints the summary (keys, found, missing, failed, commands and
 * what they cost, bytes, time), and completes the --failed file. EXITS_FINE,
 * EXITS_PARTIAL if anything failed, EXITS_LOCAL if the --failed file could not
 * be written. */
exits report_end(report *r, const rb_stats *stats);

#endif

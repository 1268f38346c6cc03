/*
 * The records of some files, one file after the other, gathered to blocks that
 * are handed on. Records that are bad are told to the report and are in no
 * block.
 */
#ifndef REDISBATCH_SRC_READING_H
#define REDISBATCH_SRC_READING_H

#include "block.h"
#include "exits.h"
#include "report.h"

/* No server takes a longer key or value. */
#define READING_MOST ((size_t)512 * 1024 * 1024)

/* Takes a block, whose records it may keep no longer than the call. What is
 * not EXITS_FINE ends the reading. */
typedef exits reading_take(void *to, const block *b);

typedef struct reading {
	pairs_options options;
	char **paths;
	size_t npaths;
	/* Longer values are bad records. */
	size_t max_value;
	report *report;

	/* Counted meanwhile. */
	uint64_t nrecords;
	uint64_t nbad;
	uint64_t nmissing;
} reading;

/* Checks before anything else is done that all files are there and can be
 * read, tells the report how long they are, and says what is wrong. */
exits reading_check(const reading *r);

/* Reads all, and hands it to take. EXITS_LOCAL, when a file could not be read to its end, was said. A
 * signal ends the reading, what was read is handed on. */
exits reading_run(reading *r, reading_take *take, void *to);

#endif

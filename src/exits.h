/*
 * What the program's exit status says. They are documented in redisbatch(1),
 * and scripts rely on them.
 */
#ifndef REDISBATCH_SRC_EXITS_H
#define REDISBATCH_SRC_EXITS_H

#include <redisbatch/redisbatch.h>

typedef enum exits {
	/* Everything was answered. A key that does not exist is no failure. */
	EXITS_FINE = 0,
	/* The run went to its end, but some entries failed or some records of
	 * the input were bad: they were listed. */
	EXITS_PARTIAL = 1,
	/* The command line, or the content of a setting, is wrong; nothing was
	 * sent. */
	EXITS_USAGE = 2,
	/* No server could be reached or logged in to, or it ended the run. */
	EXITS_SERVER = 3,
	/* A file could not be read or written. */
	EXITS_LOCAL = 4,
	/* A signal ended the run: 130 for SIGINT, 143 for SIGTERM, 141 when
	 * nobody reads the output any more. */
	EXITS_SIGNAL = 128
} exits;

/* What the status of a call to the library makes of the run. Entries that failed
 * are counted elsewhere: RB_ERR_PARTIAL is fine. */
exits exits_of(rb_status status);

#endif

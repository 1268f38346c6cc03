/*
 * Why keys of a stream failed. The sink of rb_mget_stream() tells which, and
 * options.on_chunk tells why; which of the two comes first depends:
 *
 * A chunk is handed to the sink before it is reported. But one that was
 * answered before an earlier one, or of which other parts are still under way,
 * is reported first, and held until it is its turn. What was never sent is not
 * reported at all.
 *
 * So words without their keys are kept, and keys without their words too: until
 * the report of their chunk, or until the source is asked again, by which time
 * it would have come. Both are bounded by what the library has in flight.
 */
#ifndef REDISBATCH_SRC_BLAME_H
#define REDISBATCH_SRC_BLAME_H

#include "keys.h"
#include "report.h"

#include <redisbatch/redisbatch.h>

typedef struct blame blame;

/* What fails is told to report, with the place that keys knows: both are
 * borrowed. NULL: out of memory, which was said. */
blame *blame_new(report *r, const keys *k);
void blame_free(blame *b);

/* From the sink: n entries from first on, of which some may have failed. */
void blame_entries(blame *b, size_t first, const rb_slice *names,
		   const rb_status *statuses, size_t n);

/* From on_chunk. */
void blame_chunk(blame *b, const rb_chunk *chunk);

/* From the source, and when the stream is over: what has no words by now is
 * reported with these, "" for those of its status. */
void blame_settle(blame *b, const char *words);

#endif

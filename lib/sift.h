/*
 * The answer to a chunk whose commands may be refused one by one, since it went
 * to one of several nodes.
 *
 * What was answered, or failed for good, is reported. A command that another
 * node can answer, or this one later, leaves the chunk and is taken over by
 * whoever knows the nodes, or is sent again from here as a chunk would be that
 * was refused as a whole.
 */
#ifndef RBI_SIFT_H
#define RBI_SIFT_H

#include "recover.h"

/* The lane's oldest flight is answered: takes it out. */
void rbi_sift_answered(rbi_engine *e, uint64_t now_us);

#endif

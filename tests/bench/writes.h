/*
 * Ways to set the same keys with MSET. The job has values ready in memory; a
 * shift that differs from run to run makes sure that what is found afterwards
 * was written by the run, and all keys exist before, so that each run does the
 * same work at the server.
 */
#ifndef RBT_WRITES_H
#define RBT_WRITES_H

#include "method.h"

extern const rbt_method rbt_write_floor;
extern const rbt_method rbt_write_library; /* rb_mset_chunked */
extern const rbt_method rbt_write_loop;	   /* one chunk after the other */

#endif

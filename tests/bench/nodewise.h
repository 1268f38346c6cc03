/*
 * Methods on a cluster, whose entries have slots all over: by the library, and
 * by hand through plain hiredis.
 */
#ifndef RBT_NODEWISE_H
#define RBT_NODEWISE_H

#include "method.h"

/* Sets all keys, in random order. */
extern const rbt_method rbt_nodewise_load;

extern const rbt_method rbt_nodewise_gets;     /* by hand */
extern const rbt_method rbt_nodewise_mget;     /* rb_mget_chunked */
extern const rbt_method rbt_nodewise_pipeline; /* rb_pipeline_chunked of GETs */

extern const rbt_method rbt_nodewise_sets; /* by hand */
extern const rbt_method rbt_nodewise_mset; /* rb_mset_chunked */
extern const rbt_method
	rbt_nodewise_pipe_sets; /* rb_pipeline_chunked of SETs */

#endif

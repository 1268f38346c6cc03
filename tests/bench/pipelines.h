/*
 * Ways to send a GET for each key.
 */
#ifndef RBT_PIPELINES_H
#define RBT_PIPELINES_H

#include "method.h"

extern const rbt_method rbt_gets_floor;
extern const rbt_method rbt_gets_library; /* rb_pipeline_chunked */
extern const rbt_method rbt_gets_stream;  /* rb_pipeline_stream */
/* Plain hiredis, chunk after chunk: all replies kept, or freed when they were
 * looked at; and all GETs appended before the first reply is read. */
extern const rbt_method rbt_gets_chunks;
extern const rbt_method rbt_gets_chunks_freed;
extern const rbt_method rbt_gets_one_pipeline;

#endif

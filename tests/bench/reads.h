/*
 * Ways to read the same keys with MGET, and GETs in one pipeline to compare.
 */
#ifndef RBT_READS_H
#define RBT_READS_H

#include "method.h"

extern const rbt_method rbt_read_floor;
extern const rbt_method rbt_read_library;  /* rb_mget_chunked */
extern const rbt_method rbt_read_stream;   /* rb_mget_stream */
extern const rbt_method rbt_read_loop;	   /* one chunk after the other */
extern const rbt_method rbt_read_appended; /* all chunks appended first */
extern const rbt_method rbt_read_one_mget;

#endif

/*
 * How many allocations rb_mget_chunked makes.
 */
#ifndef RBT_ALLOCATIONS_H
#define RBT_ALLOCATIONS_H

#include "method.h"

#include <stdbool.h>

/* Reads the job's keys once with an allocator that counts, and prints a line.
 * False: it failed, or memory was left behind, and that is printed. */
bool rbt_allocations_print(const rbt_job *job);

#endif

/*
 * The floor under every client: the same commands, encoded beforehand, a window
 * of chunks in flight, and a reader that only counts the bytes of the answers,
 * whose number is known. Nobody who really looks at the answers can do less.
 */
#ifndef RBT_FLOOR_H
#define RBT_FLOOR_H

#include "method.h"

#include <stdbool.h>

typedef struct rbt_floor rbt_floor;

enum { RBT_FLOOR_WINDOW = 4 };

/* The keys of the job in chunks of job->chunk: an MGET each, an MSET each, a
 * GET for each key. NULL: out of memory. */
rbt_floor *rbt_floor_new_mgets(const rbt_job *job);
rbt_floor *rbt_floor_new_msets(const rbt_job *job);
rbt_floor *rbt_floor_new_gets(const rbt_job *job);
void rbt_floor_free(rbt_floor *f);

/* For methods: sends all of held->floor and reads all. */
bool rbt_floor_run(const rbt_job *job, rbt_held *held);

#endif

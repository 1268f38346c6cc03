/*
 * The floor under every client: the same MGETs, encoded beforehand, a window
 * of them in flight, and a reader that only counts the bytes of the answers,
 * whose number is known. Nobody who really looks at the answers can do less.
 */
#ifndef RBT_FLOOR_H
#define RBT_FLOOR_H

#include "load.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct rbt_floor rbt_floor;

enum { RBT_FLOOR_WINDOW = 4 };

/* NULL: out of memory. */
rbt_floor *rbt_floor_new(const rbt_keys *keys, size_t value_len, size_t chunk);
void rbt_floor_free(rbt_floor *f);

/* Sends all and reads all, over a connected blocking socket. False: lost. */
bool rbt_floor_read(rbt_floor *f, int fd);

#endif

/*
 * How far memory grows with many keys, and that it does not with a stream.
 */
#ifndef RBT_MEMORY_H
#define RBT_MEMORY_H

#include "setup.h"

#include <stdbool.h>

/* False: a run failed, which was said. */
bool rbt_memory_print(const rbt_setup *s);

#endif

/*
 * Where the first key of a command stands, which says to what node of a cluster
 * it belongs. Known is where it is not the first argument: that is where it
 * stands in most commands, and in commands that are not known.
 */
#ifndef RBI_FIRSTKEY_H
#define RBI_FIRSTKEY_H

#include "internal.h"

#include <redisbatch/redisbatch.h>

/*
 * The first key of a command whose arguments are known to be good, in *key.
 * False: it has none, and may go to any node.
 */
bool rbi_first_key(const rb_command *c, rb_slice *key) RBI_MUST_CHECK;

#endif

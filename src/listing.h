/*
 * Bytes of keys and commands as people can read them in a message: control
 * bytes and what is no UTF-8 escaped, and cut where it gets too long.
 */
#ifndef REDISBATCH_SRC_LISTING_H
#define REDISBATCH_SRC_LISTING_H

#include <redisbatch/redisbatch.h>

/* At most size - 1 bytes, of which the last three are "..." when the text was
 * cut. size is at least 8. */
void listing_put(rb_slice bytes, char *out, size_t size);

#endif

/*
 * Options: the caller's structure, of whatever release, made into one in
 * which every number is set.
 */
#ifndef RBI_OPTIONS_H
#define RBI_OPTIONS_H

#include "internal.h"

#include <redisbatch/redisbatch.h>

/* The most chunks in flight of a window that sets itself. */
#define RBI_OPTIONS_WINDOW_MAX 64

/* More connections to one node than this help nobody. */
#define RBI_OPTIONS_CONNECTIONS_MAX 64

/* A flag of our own: the caller leaves it to us how many entries a chunk has. */
#define RBI_OPTIONS_AUTO_KEYS (UINT32_C(1) << 31)

/*
 * Copies what the caller gave (NULL: all defaults, as zeros) into *out.
 * NULL: fine. Otherwise what is wrong with it, a static text that names the
 * member.
 */
const char *rbi_options_read(rb_options *out,
			     const rb_options *given) RBI_MUST_CHECK;

/* Sets each 0 of o from the defaults: the client's, then the library's. */
void rbi_options_fill(rb_options *o, const rb_options *defaults);

#endif

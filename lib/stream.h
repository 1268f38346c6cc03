/*
 * The public verbs over a source and a sink.
 */
#ifndef RBI_STREAM_H
#define RBI_STREAM_H

#include <redisbatch/redisbatch.h>

#endif

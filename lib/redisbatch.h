/*
 * The public verbs. They check their arguments, say what to send, and leave
 * the rest to the engine.
 */
#ifndef RBI_REDISBATCH_H
#define RBI_REDISBATCH_H

#include <redisbatch/redisbatch.h>

#endif

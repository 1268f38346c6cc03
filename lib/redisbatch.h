/*
 * The public verbs that read. As all verbs they say what to send, and leave
 * the rest to the call.
 */
#ifndef RBI_REDISBATCH_H
#define RBI_REDISBATCH_H

#include <redisbatch/redisbatch.h>

#endif

/*
 * The public verbs over commands of any kind: pipelines, transactions, and the
 * builder of commands.
 */
#ifndef RBI_PIPELINE_H
#define RBI_PIPELINE_H

#include <redisbatch/redisbatch.h>

#endif

/*
 * What a run that ended early had not read of its input: it goes to the --failed
 * file behind what failed, so that a second run completes the job.
 */
#ifndef REDISBATCH_SRC_REST_H
#define REDISBATCH_SRC_REST_H

#include "report.h"

#include <stdint.h>

/* Keeps the bytes of a file from this one on, and says that they were not
 * tried. What is no regular file, as a pipe, cannot be kept: that is said. */
void rest_keep(report *r, const char *path, uint64_t from);

#endif

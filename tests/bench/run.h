/*
 * One method in a process of its own, with another client watching if asked.
 */
#ifndef RBT_RUN_H
#define RBT_RUN_H

#include "method.h"
#include "neighbour.h"

/* Runs it. view, if given, is what another client saw meanwhile. False: it
 * failed, or was interrupted; sample->why says so. */
bool rbt_run(const rbt_method *method, const rbt_job *job, rbt_sample *sample,
	     rbt_view *view);

/* What another client sees while nothing goes on for so long. */
bool rbt_run_idle(const rbt_job *job, unsigned ms, rbt_view *view);

/* Sets, or deletes, the keys of a job, in a process of its own. */
bool rbt_run_load(const rbt_job *job, char *why, size_t size);
bool rbt_run_unload(const rbt_job *job, char *why, size_t size);

#endif

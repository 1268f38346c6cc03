/*
 * What callgrind counts: reading a number of keys and giving the values back,
 * and nothing else. instructions.sh runs it and does the arithmetic.
 */
#ifndef RBT_INSTRUCTIONS_H
#define RBT_INSTRUCTIONS_H

#include "method.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the first nread keys of the job, once. The counted part is the
 * function rbt_instructions_counted(), by which callgrind is switched on. */
bool rbt_instructions_run(const rbt_method *method, const rbt_job *job,
			  size_t nread, char *why, size_t size);

bool rbt_instructions_counted(const rbt_method *method, const rbt_job *job,
			      rbt_held *held);

#endif

/*
 * What callgrind counts: the work of a method for a number of keys with giving
 * back what it left, and nothing else. instructions.sh runs it and does the
 * arithmetic.
 */
#ifndef RBT_INSTRUCTIONS_H
#define RBT_INSTRUCTIONS_H

#include "method.h"
#include "setup.h"

#include <stdbool.h>
#include <stddef.h>

/* The work of the method of that name, for the first n of the keys, once. The
 * counted part is rbt_instructions_counted(), by which callgrind is switched
 * on. False: it failed, or there is no such method, which was said. */
bool rbt_instructions_run(const rbt_setup *s, const char *name, size_t n);

/* The same for a method and a job that stands ready. */
bool rbt_instructions_of(const rbt_method *method, const rbt_job *whole,
			 size_t n);

bool rbt_instructions_counted(const rbt_method *method, const rbt_job *job,
			      rbt_held *held);

#endif

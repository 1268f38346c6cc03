/*
 * What the two programs have in common: each scenario is a test, and each test
 * goes over all points of one kind.
 */
#ifndef TORTURE_PROGRAM_H
#define TORTURE_PROGRAM_H

#include "torture.h"

/*
 * Runs every scenario through fn, in nsettings ways to cut and send (all there
 * are in the long form). fn has to count on until a point is not reached any
 * more; so many points in sum are the least. argv[1], if given, is
 * the name of the one scenario to run, with * and ?.
 *
 * RBT_TORTURE in the environment makes the scenarios longer. Without it, and
 * with a sanitizer, some points are left out.
 */
int program_main(int argc, char **argv, void (*fn)(torture *t),
		 size_t nsettings, size_t least);

/* All points that differ in one number, from 1 on: *at, a member of p. */
void program_count(torture *t, torture_point *p, size_t *at);

/* The environment asks for all there is. */
bool program_is_long(void);

#endif

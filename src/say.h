/*
 * Words for the user, on standard error: one line each, with the names of the
 * program and of its command before them. Control bytes in what comes from
 * elsewhere are escaped, so that no server and no key can play with a terminal.
 */
#ifndef REDISBATCH_SRC_SAY_H
#define REDISBATCH_SRC_SAY_H

#include "exits.h"

/* The command that speaks from now on, "" for none; borrowed. */
void say_command(const char *name);

__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Says what is wrong with the command line, and where to find help.
 * EXITS_USAGE. */
__attribute__((format(printf, 1, 2))) exits say_usage(const char *format, ...);

#endif

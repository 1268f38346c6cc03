/*
 * Commands and pairs for tests to hand to the library.
 */
#ifndef RBT_COMMANDS_H
#define RBT_COMMANDS_H

#include "load.h"

#include <redisbatch/redisbatch.h>

#include <stddef.h>

/* A list of commands that grows; all arguments end with a NUL. */
typedef struct rbt_commands {
	rb_command *list;
	size_t n;
	size_t cap;
} rbt_commands;

void rbt_commands_init(rbt_commands *c);
void rbt_commands_fini(rbt_commands *c);

/* Adds one command, printed and then cut at its blanks. */
void rbt_commands_add(rbt_commands *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds n commands, each a line that is cut at its blanks. */
void rbt_commands_lines(rbt_commands *c, const char *const *lines, size_t n);

/* n keys, "<prefix>00000000" and on, with their values of rbt_value_fill(). */
typedef struct rbt_pairs {
	size_t n;
	rbt_keys keys;
	const char **values;
	size_t *lens;
	char *bytes;
} rbt_pairs;

void rbt_pairs_init(rbt_pairs *p, const char *prefix, size_t n, size_t len);
void rbt_pairs_fini(rbt_pairs *p);

#endif

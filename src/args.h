/*
 * The command line of one command. Options stand in tables, in groups that
 * several commands share, and both getopt_long() and --help go by the tables.
 *
 * --help and --version belong to every command and are answered here.
 */
#ifndef REDISBATCH_SRC_ARGS_H
#define REDISBATCH_SRC_ARGS_H

#include "exits.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct args_option {
	/* The letter of the short form, or a number from 256 on that is
	 * unique within the group. */
	int key;
	const char *name;
	/* What --help calls the argument; NULL: it takes none. */
	const char *value;
	const char *help;
} args_option;

/* Takes one option, whose value is NULL if it takes none and lives as long as
 * argv. What is wrong is said by say_usage(). */
typedef exits args_take(void *to, int key, const char *value);

typedef struct args_group {
	const char *title;
	const args_option *options;
	size_t noptions;
	args_take *take;
	void *to;
} args_group;

typedef struct args_usage {
	/* "mget [OPTION...] [KEY...]" */
	const char *synopsis;
	/* What it does, in a sentence or two, lines ended. */
	const char *about;
	/* More below the options, or NULL. */
	const char *notes;
} args_usage;

typedef struct args_rest {
	/* --help or --version was answered: nothing is left to do. */
	bool done;
	/* The operands. */
	char **operands;
	size_t noperands;
} args_rest;

/* Gives each option to its group, then the operands to rest. Options and
 * operands may be mixed; behind "--" all are operands. */
exits args_parse(const args_usage *usage, const args_group *groups,
		 size_t ngroups, int argc, char **argv, args_rest *rest);

/* Says that the value of --name is not what it must be. */
exits args_bad(const char *name, const char *value, const char *must);

#endif

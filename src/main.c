/*
 * redisbatch: many keys at once, from a shell.
 */
#include "args.h"
#include "commands.h"
#include "say.h"
#include "signals.h"

#include <stdio.h>
#include <string.h>

typedef int run(int argc, char **argv);

typedef struct command {
	const char *name;
	run *run;
	const char *about;
} command;

static const command commands[] = {
	{ "mset", cmd_mset, "set keys to values from files" },
	{ "mget", cmd_mget, "read keys, and write them with their values" },
	{ "pipeline", cmd_pipeline, "send the commands of a file" },
	{ "del", cmd_del, "remove keys" },
	{ "exists", cmd_exists, "tell how many keys there are" },
	{ "touch", cmd_touch, "touch keys, so that they are not evicted" },
	{ "bench", cmd_bench, "compare ways to read keys on your server" },
	{ "tune", cmd_tune, "find the fastest chunks and window for it" },
};

enum { NCOMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const char about[] =
	"Reads and writes many Redis or Valkey keys at once, in chunks, and says "
	"what\nbecame of each.\n\nCommands:\n";

static int put_help(void)
{
	printf("Usage: redisbatch COMMAND [OPTION...] [ARGUMENT...]\n%s",
	       about);
	for (size_t i = 0; i < NCOMMANDS; i++)
		printf("  %-12s%s\n", commands[i].name, commands[i].about);
	printf("\n      --help     show this help and exit\n"
	       "      --version  show the version and exit\n\n"
	       "'redisbatch COMMAND --help' tells the options of a command.\n"
	       "Exit status: 0 all was answered, 1 some entries failed, 2 wrong "
	       "usage,\n3 no server or it ended the run, 4 a file could not be "
	       "read or written,\n128 + N ended by signal N.\n");
	return fflush(stdout) == 0 ? EXITS_FINE : EXITS_LOCAL;
}

static int put_version(void)
{
	printf("redisbatch %s\n", rb_version());
	return fflush(stdout) == 0 ? EXITS_FINE : EXITS_LOCAL;
}

static const command *find_command(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const command *c;

	signals_init();
	if (argc < 2)
		return (int)say_usage("a command is missing");
	if (strcmp(argv[1], "--help") == 0)
		return put_help();
	if (strcmp(argv[1], "--version") == 0)
		return put_version();
	c = find_command(argv[1]);
	if (c == NULL)
		return (int)say_usage("unknown command '%s'", argv[1]);
	say_command(c->name);
	return c->run(argc - 1, argv + 1);
}

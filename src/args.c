#include "args.h"

#include "say.h"

#include <getopt.h>
#include <redisbatch/redisbatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_HELP = 256,
	KEY_VERSION,
	/* getopt_long() answers with the group above these bits and the key
	 * within it below. */
	GROUP_SHIFT = 16,
	KEY_MASK = (1 << GROUP_SHIFT) - 1,
	HELP_COLUMN = 28,
	HELP_WIDTH = 79
};

static const args_option general[] = {
	{ KEY_HELP, "help", NULL, "show this help and exit" },
	{ KEY_VERSION, "version", NULL, "show the version and exit" },
};

/* The tables in the form that getopt_long() wants. */
typedef struct tables {
	struct option *longs;
	size_t nlongs;
	char *shorts;
} tables;

static size_t count_options(const args_group *groups, size_t ngroups)
{
	size_t n = 0;

	for (size_t g = 0; g < ngroups; g++)
		n += groups[g].noptions;
	return n;
}

static void add_option(tables *t, size_t group, const args_option *o)
{
	int argument = o->value == NULL ? no_argument : required_argument;
	size_t len = strlen(t->shorts);

	t->longs[t->nlongs++] = (struct option){
		.name = o->name,
		.has_arg = argument,
		.val = (int)((group + 1) << GROUP_SHIFT) | o->key,
	};
	if (o->key < 256) {
		t->shorts[len++] = (char)o->key;
		if (argument == required_argument)
			t->shorts[len++] = ':';
		t->shorts[len] = '\0';
	}
}

static bool make_tables(const args_group *groups, size_t ngroups, tables *t)
{
	size_t n = count_options(groups, ngroups) + 2;

	t->longs = calloc(n + 1, sizeof(*t->longs));
	t->shorts = calloc(2 * n + 2, 1);
	t->nlongs = 0;
	if (t->longs == NULL || t->shorts == NULL) {
		say("out of memory");
		return false;
	}
	/* A missing argument is told from an unknown option. */
	t->shorts[0] = ':';
	for (size_t g = 0; g < ngroups; g++) {
		for (size_t i = 0; i < groups[g].noptions; i++)
			add_option(t, g, &groups[g].options[i]);
	}
	add_option(t, ngroups, &general[0]);
	add_option(t, ngroups, &general[1]);
	return true;
}

static void free_tables(tables *t)
{
	free(t->longs);
	free(t->shorts);
}

/* ------------------------------------------------------------- --help -- */

/* The words of an option's help, folded below each other. */
static void put_folded(const char *text, int column)
{
	const char *gap = "";

	while (*text != '\0') {
		int word = (int)strcspn(text, " ");

		if (column + 1 + word > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
			gap = "";
		}
		column += printf("%s%.*s", gap, word, text);
		gap = " ";
		text += word;
		text += *text == ' ';
	}
	putchar('\n');
}

static void put_option(const args_option *o)
{
	int column;

	if (o->key < 256)
		column = printf("  -%c, --%s", o->key, o->name);
	else
		column = printf("      --%s", o->name);
	if (o->value != NULL)
		column += printf(o->key < 256 ? " %s" : "=%s", o->value);
	if (column >= HELP_COLUMN - 1) {
		putchar('\n');
		column = 0;
	}
	printf("%*s", HELP_COLUMN - column, "");
	put_folded(o->help, HELP_COLUMN);
}

static void put_group(const args_group *group)
{
	printf("\n%s:\n", group->title);
	for (size_t i = 0; i < group->noptions; i++)
		put_option(&group->options[i]);
}

static exits put_help(const args_usage *usage, const args_group *groups,
		      size_t ngroups)
{
	const args_group rest = { "General", general, 2, NULL, NULL };

	printf("Usage: redisbatch %s\n%s", usage->synopsis, usage->about);
	for (size_t g = 0; g < ngroups; g++)
		put_group(&groups[g]);
	put_group(&rest);
	if (usage->notes != NULL)
		printf("\n%s", usage->notes);
	return fflush(stdout) == 0 ? EXITS_FINE : EXITS_LOCAL;
}

static exits put_version(void)
{
	printf("redisbatch %s\n", rb_version());
	return fflush(stdout) == 0 ? EXITS_FINE : EXITS_LOCAL;
}

/* ------------------------------------------------------------ parsing -- */

/* Which group a short option belongs to; ngroups if to none. */
static size_t group_of(const args_group *groups, size_t ngroups, int key)
{
	for (size_t g = 0; g < ngroups; g++) {
		for (size_t i = 0; i < groups[g].noptions; i++) {
			if (groups[g].options[i].key == key)
				return g;
		}
	}
	return ngroups;
}

/* A value behind the name may be a password, and is not repeated. */
static exits refuse_option(int problem, char **argv)
{
	const char *given = argv[optind - 1];
	int name = (int)strcspn(given, "=");

	if (problem == ':' && optopt > 0 && optopt < 256)
		return say_usage("option -%c needs an argument", optopt);
	if (problem == ':')
		return say_usage("option %.*s needs an argument", name, given);
	if (optopt > 0 && optopt < 256)
		return say_usage("unknown option -%c", optopt);
	if (optopt != 0)
		return say_usage("option %.*s takes no argument", name, given);
	return say_usage("unknown option %.*s", name, given);
}

static exits take_option(const args_usage *usage, const args_group *groups,
			 size_t ngroups, int got, args_rest *rest)
{
	size_t group = (size_t)(got >> GROUP_SHIFT);
	int key = got & KEY_MASK;

	group = group > 0 ? group - 1 : group_of(groups, ngroups, key);
	if (group < ngroups)
		return groups[group].take(groups[group].to, key, optarg);
	rest->done = true;
	return key == KEY_HELP ? put_help(usage, groups, ngroups) :
				 put_version();
}

exits args_parse(const args_usage *usage, const args_group *groups,
		 size_t ngroups, int argc, char **argv, args_rest *rest)
{
	exits status = EXITS_FINE;
	tables t;
	int got;

	*rest = (args_rest){ .done = false };
	if (!make_tables(groups, ngroups, &t)) {
		free_tables(&t);
		return EXITS_LOCAL;
	}
	opterr = 0;
	optind = 1;
	while (status == EXITS_FINE && !rest->done) {
		got = getopt_long(argc, argv, t.shorts, t.longs, NULL);
		if (got == -1)
			break;
		status = got == '?' || got == ':' ?
				 refuse_option(got, argv) :
				 take_option(usage, groups, ngroups, got, rest);
	}
	rest->operands = argv + optind;
	rest->noperands = (size_t)(argc - optind);
	free_tables(&t);
	return status;
}

exits args_bad(const char *name, const char *value, const char *must)
{
	return say_usage("--%s must be %s, not '%s'", name, must, value);
}

/*
 * redisbatch del, exists and touch: one number for many keys.
 */
#include "commands.h"

#include "args.h"
#include "connection.h"
#include "report.h"
#include "say.h"
#include "signals.h"
#include "tuning.h"

#include <inttypes.h>
#include <stdio.h>

typedef rb_status verb(rb_client *client, const char **keys,
		       const size_t *keylens, size_t nkeys,
		       const rb_options *opts, rb_result **out);

static exits ask(rb_client *client, verb *ask_for, const args_rest *rest)
{
	const char **keys = (const char **)rest->operands;
	rb_result *res = NULL;
	rb_status status;

	status = ask_for(client, keys, NULL, rest->noperands, NULL, &res);
	if (status == RB_OK)
		printf("%" PRId64 "\n", rb_result_total(res));
	else
		say("%s", rb_client_error(client));
	rb_result_free(res);
	return status == RB_OK ? EXITS_FINE : EXITS_PARTIAL;
}

static int run(const args_usage *usage, verb *ask_for, int argc, char **argv)
{
	connection *c = connection_new();
	rb_client *client;
	rb_options o;
	args_rest rest;
	exits status;

	if (c == NULL)
		return EXITS_LOCAL;
	tuning_init(&o);
	const args_group groups[] = { connection_group(c), tuning_group(&o) };
	status = args_parse(usage, groups, 2, argc, argv, &rest);
	if (status == EXITS_FINE && !rest.done)
		status = connection_open(c, &o, &client);
	if (status == EXITS_FINE && !rest.done) {
		status = ask(client, ask_for, &rest);
		signals_watch(NULL);
		rb_client_free(client);
	}
	connection_free(c);
	return (int)status;
}

int cmd_del(int argc, char **argv)
{
	static const args_usage usage = {
		"del [OPTION...] KEY...",
		"Removes keys (UNLINK), and prints how many there were.\n", NULL
	};

	return run(&usage, rb_unlink_chunked, argc, argv);
}

int cmd_exists(int argc, char **argv)
{
	static const args_usage usage = {
		"exists [OPTION...] KEY...",
		"Prints how many of the keys exist; a key given twice counts "
		"twice.\n",
		NULL
	};

	return run(&usage, rb_exists_chunked, argc, argv);
}

int cmd_touch(int argc, char **argv)
{
	static const args_usage usage = {
		"touch [OPTION...] KEY...",
		"Touches keys, so that they count as used, and prints how many "
		"there were.\n",
		NULL
	};

	return run(&usage, rb_touch_chunked, argc, argv);
}

/*
 * redisbatch del, exists and touch: one number for many keys.
 */
#include "commands.h"

#include "args.h"
#include "connection.h"
#include "keys.h"
#include "load.h"
#include "report.h"
#include "say.h"
#include "signals.h"
#include "tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const args_option options[] = {
	{ 'k', "keys", "FILE",
	  "keys from a file, one a line; - is standard input; may be repeated" },
	{ '0', "null", NULL, "keys in files end with NUL instead" },
};

typedef struct counting {
	keys *keys;
	bool nul;
	report *report;
	rb_options tuning;
	/* The bytes of the files that the report knows of. */
	uint64_t told;
} counting;

static exits take(void *to, int key, const char *value)
{
	counting *c = to;

	if (key == 'k')
		return keys_add_file(c->keys, value);
	c->nul = true;
	return EXITS_FINE;
}

/* ---------------------------------------------------------------- blocks -- */

static exits hand_on(counting *c, load *l, block *b)
{
	uint64_t taken = keys_taken(c->keys);
	const report_step step = { .input_bytes = taken - c->told };

	c->told = taken;
	report_advance(c->report, &step);
	if (b->n > 0)
		(void)load_block(l, b);
	block_clear(b);
	return EXITS_FINE;
}

static exits take_key(counting *c, load *l, block *b, rb_slice key)
{
	keys_place place = keys_find(c->keys, keys_given(c->keys) - 1);
	const pair p = { .key = key, .file = place.file, .line = place.line };
	block_added added = block_add(b, &p);

	if (added == BLOCK_FULL) {
		hand_on(c, l, b);
		added = block_add(b, &p);
	}
	if (added == BLOCK_ADDED)
		return EXITS_FINE;
	say("out of memory");
	return EXITS_LOCAL;
}

static exits send_keys(counting *c, load *l, block *b)
{
	exits status = EXITS_FINE;
	int got = 1;

	while (status == EXITS_FINE && got > 0) {
		rb_slice key;

		got = keys_next(c->keys, &key);
		if (got > 0)
			status = take_key(c, l, b, key);
	}
	hand_on(c, l, b);
	return got < 0 ? keys_status(c->keys) : status;
}

/* A number that lacks what failed is not given out for the whole. */
static exits print(const load *l, exits status)
{
	if (status != EXITS_FINE)
		printf("at least ");
	printf("%" PRIu64 "\n", load_result(l)->number);
	if (fflush(stdout) == 0)
		return status;
	if (errno == EPIPE)
		return (exits)((int)EXITS_SIGNAL + SIGPIPE);
	say("cannot write standard output: %s", strerror(errno));
	return EXITS_LOCAL;
}

static exits count(counting *c, load *l, block *b)
{
	exits status = send_keys(c, l, b);
	exits ended;

	if (load_verdict(l) != EXITS_FINE)
		status = load_verdict(l);
	if (report_failed(c->report) > 0 || signals_caught() != 0)
		status = status == EXITS_FINE ? EXITS_PARTIAL : status;
	status = print(l, status);
	if (signals_caught() != 0)
		keys_keep_rest(c->keys, c->report);
	ended = report_end(c->report, load_stats(l));
	if (signals_caught() != 0)
		return (exits)((int)EXITS_SIGNAL + signals_caught());
	return status == EXITS_FINE || ended == EXITS_LOCAL ? ended : status;
}

static exits with_client(counting *c, const load_verb *verb, rb_client *client)
{
	load *l = load_new(client, verb, &c->tuning, c->report);
	block *b = block_new();
	exits status = EXITS_LOCAL;

	if (l != NULL && b != NULL)
		status = count(c, l, b);
	else
		say("out of memory");
	block_free(b);
	load_free(l);
	return status;
}

/* ------------------------------------------------------------- beginning -- */

/* Without any keys it is standard input, unless somebody sits there. */
static exits prepare(counting *c, const args_rest *rest)
{
	exits status = EXITS_FINE;

	if (rest->noperands == 0 && !keys_has_files(c->keys)) {
		if (isatty(STDIN_FILENO) == 1)
			return say_usage("no keys: name some, or use "
					 "--keys");
		status = keys_add_file(c->keys, "-");
	}
	if (status == EXITS_FINE)
		status = keys_open(c->keys, rest->operands, rest->noperands,
				   c->nul ? '\0' : '\n');
	if (status == EXITS_FINE)
		status = report_begin(c->report, c->nul ? '\0' : '\n');
	if (status != EXITS_FINE)
		return status;
	report_expect(c->report, keys_count(c->keys), keys_size(c->keys));
	report_tells_missing(c->report);
	return EXITS_FINE;
}

static exits start(counting *c, connection *to, const args_usage *usage,
		   const load_verb *verb, int argc, char **argv)
{
	const args_group groups[] = {
		{ "Keys", options, sizeof(options) / sizeof(options[0]), take,
		  c },
		connection_group(to),
		tuning_group(&c->tuning),
		report_group(c->report),
	};
	rb_client *client;
	args_rest rest;
	exits status = args_parse(usage, groups, 4, argc, argv, &rest);

	if (status != EXITS_FINE || rest.done)
		return status;
	status = prepare(c, &rest);
	if (status == EXITS_FINE)
		status = connection_open(to, &c->tuning, &client);
	if (status != EXITS_FINE)
		return status;
	status = with_client(c, verb, client);
	signals_watch(NULL);
	rb_client_free(client);
	return status;
}

static int run(const args_usage *usage, const load_verb *verb, int argc,
	       char **argv)
{
	counting c = { .keys = keys_new(), .report = report_new("keys") };
	connection *to = connection_new();
	exits status = EXITS_LOCAL;

	tuning_init(&c.tuning);
	if (c.keys != NULL && c.report != NULL && to != NULL)
		status = start(&c, to, usage, verb, argc, argv);
	keys_free(c.keys);
	report_free(c.report);
	connection_free(to);
	return (int)status;
}

/* -------------------------------------------------------------- commands -- */

#define NOTES                                                                \
	"Without keys they are read from standard input. Where some of the " \
	"keys failed,\n\"at least\" stands before the number.\n"

static rb_status send_unlink(rb_client *client, const block *b,
			     const rb_options *o, rb_result **out)
{
	return rb_unlink_chunked(client, b->keys, b->keylens, b->n, o, out);
}

static rb_status send_exists(rb_client *client, const block *b,
			     const rb_options *o, rb_result **out)
{
	return rb_exists_chunked(client, b->keys, b->keylens, b->n, o, out);
}

static rb_status send_touch(rb_client *client, const block *b,
			    const rb_options *o, rb_result **out)
{
	return rb_touch_chunked(client, b->keys, b->keylens, b->n, o, out);
}

int cmd_del(int argc, char **argv)
{
	static const load_verb verb = { send_unlink, true, true };
	static const args_usage usage = {
		"del [OPTION...] [KEY...]",
		"Removes keys (UNLINK), and prints how many there were.\n",
		NOTES
	};

	return run(&usage, &verb, argc, argv);
}

int cmd_exists(int argc, char **argv)
{
	static const load_verb verb = { send_exists, false, true };
	static const args_usage usage = {
		"exists [OPTION...] [KEY...]",
		"Prints how many of the keys exist; a key given twice counts "
		"twice.\n",
		NOTES
	};

	return run(&usage, &verb, argc, argv);
}

int cmd_touch(int argc, char **argv)
{
	static const load_verb verb = { send_touch, false, true };
	static const args_usage usage = {
		"touch [OPTION...] [KEY...]",
		"Touches keys, so that they count as used, and prints how many "
		"there were.\n",
		NOTES
	};

	return run(&usage, &verb, argc, argv);
}

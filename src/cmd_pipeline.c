/*
 * redisbatch pipeline: commands of a file, each answered with its line.
 */
#include "commands.h"

#include "args.h"
#include "pipeline.h"
#include "say.h"
#include "signals.h"
#include "tuning.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_FORMAT = 256,
	KEY_FORMAT_OUT,
	KEY_TRANSACTION,
	KEY_RETRY_WRITES,
	KEY_STRICT,
	KEY_STOP_ON_ERROR
};

/* Commands in flight are in memory twice, in the library and with their lines:
 * so a chunk is half of what the library would take. */
#define CHUNK_BYTES ((size_t)256 * 1024)

static const args_option options[] = {
	{ KEY_FORMAT, "format", "FORMAT",
	  "what the input is: text or resp (told by its first byte)" },
	{ KEY_FORMAT_OUT, "format-out", "FORMAT",
	  "text, tsv, json or raw (text)" },
	{ 'o', "output", "FILE", "write the replies to FILE" },
	{ 'Q', "quiet-replies", NULL, "print only what failed" },
	{ KEY_TRANSACTION, "transaction", NULL,
	  "all commands in one MULTI and EXEC" },
	{ KEY_RETRY_WRITES, "retry-writes", NULL,
	  "send commands again whose fate a lost connection left unknown" },
	{ KEY_STRICT, "strict", NULL, "stop at the first line that is bad" },
	{ KEY_STOP_ON_ERROR, "stop-on-error", NULL,
	  "send no more once a command has failed" },
};

static const args_usage usage = {
	"pipeline [OPTION...] [FILE...]",
	"Sends the commands of files, or of standard input, one a line, and "
	"prints\neach reply with the line of its command.\n",
	"Words are quoted as in redis-cli: \"...\" with \\n \\r \\t \\b \\a "
	"\\\" \\\\ and \\xHH,\n'...' with \\'. Blank lines and lines that "
	"begin with # are skipped. A line that\ncannot be read or sent is "
	"listed, and the rest goes on. Input that begins with\n* is RESP; "
	"there nothing behind the first fault is sent.\n"
};

typedef struct command {
	connection *connection;
	pipeline run;
	script_format format;
	const char *output;
	bool transaction;
} command;

/* ------------------------------------------------------------- options -- */

/* Which of the names the value is; n: none. */
static size_t choose(const char *value, const char *const *names, size_t n)
{
	size_t i = 0;

	while (i < n && strcmp(value, names[i]) != 0)
		i++;
	return i;
}

static exits take_format(command *c, const char *value)
{
	static const char *const names[] = { "text", "resp" };
	size_t i = choose(value, names, 2);

	if (i == 2)
		return args_bad("format", value, "text or resp");
	c->format = i == 0 ? SCRIPT_TEXT : SCRIPT_RESP;
	return EXITS_FINE;
}

static exits take_format_out(command *c, const char *value)
{
	static const char *const names[] = { "text", "tsv", "json", "raw" };
	size_t i = choose(value, names, 4);

	if (i == 4)
		return args_bad("format-out", value, "text, tsv, json or raw");
	c->run.format = (reply_format)i;
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	command *c = to;

	switch (key) {
	case KEY_FORMAT:
		return take_format(c, value);
	case KEY_FORMAT_OUT:
		return take_format_out(c, value);
	case 'o':
		c->output = value;
		break;
	case 'Q':
		c->run.only_failures = true;
		break;
	case KEY_TRANSACTION:
		c->transaction = true;
		break;
	case KEY_RETRY_WRITES:
		c->run.options.flags |= RB_RETRY_WRITES;
		break;
	case KEY_STRICT:
		c->run.strict = true;
		break;
	default:
		c->run.options.flags |= RB_STOP_ON_ERROR;
		break;
	}
	return EXITS_FINE;
}

static args_group pipeline_group(command *c)
{
	return (args_group){ "Commands and replies", options,
			     sizeof(options) / sizeof(options[0]), take, c };
}

/* ----------------------------------------------------------------- run -- */

/* Files that are not there are told of before anything is sent. */
static exits check_files(const args_rest *rest)
{
	for (size_t i = 0; i < rest->noperands; i++) {
		const char *path = rest->operands[i];

		if (strcmp(path, "-") != 0 && access(path, R_OK) != 0) {
			say("cannot read %s: %s", path, strerror(errno));
			return EXITS_LOCAL;
		}
	}
	return EXITS_FINE;
}

static exits open_files(command *c, const args_rest *rest)
{
	exits status = check_files(rest);

	if (status != EXITS_FINE)
		return status;
	c->run.script = script_new(rest->operands, rest->noperands, c->format);
	if (c->run.script == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	c->run.out = out_open(c->output);
	if (c->run.out == NULL) {
		say("cannot write %s: %s", c->output, strerror(errno));
		return EXITS_LOCAL;
	}
	return report_begin(c->run.report, '\n');
}

static void set_bounds(pipeline *p, bool transaction)
{
	p->refusal.max_word = p->options.max_value_bytes != 0 ?
				      p->options.max_value_bytes :
				      (size_t)512 * 1024 * 1024;
	if (p->options.chunk_request_bytes == 0 && !transaction)
		p->options.chunk_request_bytes = CHUNK_BYTES;
	p->stats.struct_size = sizeof(p->stats);
}

static exits run_script(command *c)
{
	pipeline *p = &c->run;
	exits status;

	status = connection_open(c->connection, &p->options, &p->client);
	if (status != EXITS_FINE)
		return status;
	p->server = connection_name(c->connection);
	status = c->transaction ? pipeline_transaction(p) : pipeline_stream(p);
	signals_watch(NULL);
	rb_client_free(p->client);
	return status;
}

/* The replies are kept whatever ended the run: what they tell of is done. */
static exits complete_output(const pipeline *p)
{
	int error = out_commit(p->out);

	if (error == 0)
		return EXITS_FINE;
	if (error == EPIPE)
		return EXITS_SIGNAL + 13;
	if (signals_caught() == 0)
		report_say(p->report, "cannot write %s: %s", out_name(p->out),
			   strerror(error));
	return EXITS_LOCAL;
}

static exits run(command *c, const args_rest *rest)
{
	exits status = open_files(c, rest);
	exits written = EXITS_FINE;
	exits listed = EXITS_FINE;

	if (status != EXITS_FINE)
		return status;
	c->run.names_files = rest->noperands > 1;
	set_bounds(&c->run, c->transaction);
	status = run_script(c);
	if (c->run.server != NULL && !c->run.given_up) {
		written = complete_output(&c->run);
		listed = report_end(c->run.report, &c->run.stats);
	}
	if (signals_caught() != 0)
		return (exits)(EXITS_SIGNAL + signals_caught());
	if (written != EXITS_FINE)
		return written;
	return status != EXITS_FINE ? status : listed;
}

static exits run_args(command *c, int argc, char **argv)
{
	const args_group groups[] = { pipeline_group(c),
				      connection_group(c->connection),
				      tuning_group(&c->run.options),
				      report_group(c->run.report) };
	args_rest rest;
	exits status = args_parse(&usage, groups, 4, argc, argv, &rest);

	if (status == EXITS_FINE && !rest.done)
		status = run(c, &rest);
	return status;
}

int cmd_pipeline(int argc, char **argv)
{
	command c = { .connection = connection_new(),
		      .run = { .report = report_new("commands") } };
	exits status = EXITS_LOCAL;

	tuning_init(&c.run.options);
	if (c.connection != NULL && c.run.report != NULL)
		status = run_args(&c, argc, argv);
	script_free(c.run.script);
	out_free(c.run.out);
	report_free(c.run.report);
	connection_free(c.connection);
	return (int)status;
}

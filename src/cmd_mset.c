/*
 * redisbatch mset: sets the keys of files to their values.
 */
#include "commands.h"

#include "args.h"
#include "connection.h"
#include "load.h"
#include "number.h"
#include "reading.h"
#include "rehearsal.h"
#include "report.h"
#include "say.h"
#include "signals.h"
#include "tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_NO_ESCAPES = 256,
	KEY_HEADER,
	KEY_TTL,
	KEY_NX,
	KEY_XX,
	KEY_TRANSACTION,
	KEY_RETRY_WRITES,
	KEY_DRY_RUN
};

static const args_option options[] = {
	{ 'f', "format", "FORMAT",
	  "tsv, csv or json; by itself it goes by the suffix of the first file "
	  "(.tsv, .csv, .json, .jsonl, .ndjson), tsv if it has none of these" },
	{ KEY_NO_ESCAPES, "no-escapes", NULL,
	  "tsv: every byte is literal, also a backslash" },
	{ KEY_HEADER, "header", NULL,
	  "tsv, csv: skip the first record of each file" },
	{ KEY_TTL, "ttl", "TIME", "the keys expire after it (never)" },
	{ KEY_NX, "nx", NULL, "set only keys that do not exist" },
	{ KEY_XX, "xx", NULL, "set only keys that exist" },
	{ KEY_TRANSACTION, "transaction", NULL,
	  "apply each chunk as a whole, by MULTI and EXEC" },
	{ KEY_RETRY_WRITES, "retry-writes", NULL,
	  "send again what may have been applied when a connection was lost" },
	{ KEY_DRY_RUN, "dry-run", NULL,
	  "connect to nothing, and tell what would be sent" },
};

typedef struct mset {
	rb_options *tuning;
	bool has_format;
	bool dry_run;
	reading reading;
} mset;

static exits take_format(mset *m, const char *value)
{
	m->has_format = true;
	if (!pairs_format_named(value, &m->reading.options.format))
		return args_bad("format", value, "tsv, csv or json");
	return EXITS_FINE;
}

static exits take_ttl(mset *m, const char *value)
{
	if (!number_time(value, INT64_MAX, &m->tuning->expire_ms) ||
	    m->tuning->expire_ms == 0)
		return args_bad("ttl", value,
				"a time above 0, as 30, 250ms, 1.5s or 10m");
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	mset *m = to;

	switch (key) {
	case 'f':
		return take_format(m, value);
	case KEY_TTL:
		return take_ttl(m, value);
	case KEY_NO_ESCAPES:
		m->reading.options.literal = true;
		break;
	case KEY_HEADER:
		m->reading.options.header = true;
		break;
	case KEY_NX:
		m->tuning->flags |= RB_IF_ABSENT;
		break;
	case KEY_XX:
		m->tuning->flags |= RB_IF_PRESENT;
		break;
	case KEY_TRANSACTION:
		m->tuning->flags |= RB_TRANSACTION;
		break;
	case KEY_RETRY_WRITES:
		m->tuning->flags |= RB_RETRY_WRITES;
		break;
	default:
		m->dry_run = true;
	}
	return EXITS_FINE;
}

/* -------------------------------------------------------------- operands -- */

/* One format for all of them, so that the --failed file has one too. */
static exits choose_format(mset *m)
{
	const reading *r = &m->reading;

	if (m->has_format)
		return EXITS_FINE;
	m->reading.options.format = pairs_format_of(r->paths[0]);
	for (size_t i = 1; i < r->npaths; i++) {
		if (pairs_format_of(r->paths[i]) != r->options.format)
			return say_usage("%s and %s seem to have different "
					 "formats; --format says which it is",
					 r->paths[0], r->paths[i]);
	}
	return EXITS_FINE;
}

static exits check(mset *m)
{
	const uint32_t both = RB_IF_ABSENT | RB_IF_PRESENT;
	const pairs_options *o = &m->reading.options;
	size_t nstdin = 0;

	if ((m->tuning->flags & both) == both)
		return say_usage("--nx and --xx exclude each other");
	if (o->literal && o->format != PAIRS_TSV)
		return say_usage("--no-escapes is for tsv only");
	if (o->header && o->format == PAIRS_JSON)
		return say_usage("--header is not for json");
	for (size_t i = 0; i < m->reading.npaths; i++)
		nstdin += strcmp(m->reading.paths[i], "-") == 0;
	if (nstdin > 1)
		return say_usage("standard input can be read only once");
	return EXITS_FINE;
}

static exits prepare(mset *m, const args_rest *rest)
{
	static char dash[] = "-";
	static char *only_stdin[] = { dash };
	exits status;

	if (rest->noperands == 0 && isatty(STDIN_FILENO) == 1)
		return say_usage("no records: name a file, or - for standard "
				 "input");
	m->reading.paths = rest->noperands > 0 ? rest->operands : only_stdin;
	m->reading.npaths = rest->noperands > 0 ? rest->noperands : 1;
	m->reading.max_value = m->tuning->max_value_bytes > 0 ?
				       m->tuning->max_value_bytes :
				       READING_MOST;
	status = choose_format(m);
	if (status == EXITS_FINE)
		status = check(m);
	return status == EXITS_FINE ? reading_check(&m->reading) : status;
}

/* --------------------------------------------------------------- the run -- */

/* What the summary of the report does not know of. */
static void tell(const mset *m, const load_counts *c)
{
	const reading *in = &m->reading;

	if (report_is_quiet(in->report))
		return;
	if (c->given != c->acknowledged + c->not_set)
		report_say(in->report,
			   "%" PRIu64 " sent, %" PRIu64
			   " acknowledged, %" PRIu64
			   " of which nobody knows whether they are set",
			   c->sent, c->acknowledged, c->unknown);
	if (in->nmissing > 0)
		report_say(in->report,
			   "%" PRIu64 " without a value, which were skipped",
			   in->nmissing);
	if (c->not_set > 0)
		report_say(in->report, "%" PRIu64 " not set, since the key %s",
			   c->not_set,
			   (m->tuning->flags & RB_IF_ABSENT) != 0 ?
				   "exists" :
				   "does not exist");
}

static exits worse(exits a, exits b)
{
	return a == EXITS_FINE || a == EXITS_PARTIAL ?
		       (b == EXITS_FINE ? a : b) :
		       a;
}

static rb_status send_pairs(rb_client *client, const block *b,
			    const rb_options *o, rb_result **out)
{
	return rb_mset_chunked(client, b->keys, b->keylens, b->values,
			       b->valuelens, b->n, o, out);
}

static exits send_all(mset *m, rb_client *client)
{
	static const load_verb verb = { .send = send_pairs, .writes = true };
	load *l = load_new(client, &verb, m->tuning, m->reading.report);
	exits status;

	if (l == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	status = reading_run(&m->reading, load_block, l);
	tell(m, load_result(l));
	status = worse(load_verdict(l), status);
	status = worse(status, report_end(m->reading.report, load_stats(l)));
	load_free(l);
	if (signals_caught() != 0)
		return (exits)((int)EXITS_SIGNAL + signals_caught());
	return status;
}

static exits run(mset *m, connection *c)
{
	rb_client *client;
	exits status = report_begin(m->reading.report, '\n');

	if (status == EXITS_FINE && m->dry_run)
		return rehearsal_run(&m->reading, m->tuning,
				     connection_is_cluster(c));
	if (status == EXITS_FINE)
		status = connection_open(c, m->tuning, &client);
	if (status != EXITS_FINE)
		return status;
	status = send_all(m, client);
	signals_watch(NULL);
	rb_client_free(client);
	return status;
}

static const char notes[] =
	"Formats, which are those that mget writes\n"
	"  tsv    key, tab, value, split at the first tab; \\b \\f \\n \\r \\t \\v "
	"\\\\, \\xHH and\n"
	"         octal \\NNN as in PostgreSQL's COPY; other escapes are bad. "
	"The value\n"
	"         \\N is none. A carriage return at the end of a line is the "
	"value's.\n"
	"  csv    RFC 4180, two fields. An empty value without quotes is "
	"none.\n"
	"  json   {\"key\":...,\"value\":...} in each line, or \"key_base64\" and\n"
	"         \"value_base64\"; null is none. Blank lines are skipped.\n"
	"\n"
	"Records without a value are skipped and counted. A bad record is "
	"listed and not\nsent, and the rest goes on. Where a key is given more "
	"than once its last value\nstands. A key that --nx or --xx leaves as it "
	"is counts as no failure.\n"
	"\n"
	"Records are sent by 50,000, or 8 MB, or when the input ends. What "
	"--failed keeps\ncan be read again with the same options and the same "
	"--format.\n";

int cmd_mset(int argc, char **argv)
{
	static const args_usage usage = {
		"mset [OPTION...] [FILE...]",
		"Sets keys to values, read from files or, without any or for "
		"\"-\", from\nstandard input.\n",
		notes
	};
	rb_options tuning;
	mset m = { .tuning = &tuning };
	connection *c = connection_new();
	report *r = report_new("records");
	exits status = EXITS_LOCAL;
	args_rest rest = { .done = true };

	m.reading.report = r;
	tuning_init(&tuning);
	if (c != NULL && r != NULL) {
		const args_group groups[] = {
			{ "Records", options,
			  sizeof(options) / sizeof(options[0]), take, &m },
			connection_group(c),
			tuning_group(&tuning),
			report_group(r),
		};

		status = args_parse(&usage, groups, 4, argc, argv, &rest);
	}
	if (status == EXITS_FINE && !rest.done)
		status = prepare(&m, &rest);
	if (status == EXITS_FINE && !rest.done)
		status = run(&m, c);
	report_free(r);
	connection_free(c);
	return (int)status;
}

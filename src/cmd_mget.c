/*
 * redisbatch mget: the values of many keys.
 */
#include "commands.h"

#include "args.h"
#include "mget.h"
#include "number.h"
#include "say.h"
#include "signals.h"
#include "tuning.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { KEY_SCAN = 256, KEY_COUNT, KEY_HASH, KEY_NO_MISSING, KEY_MISSING };

static const args_option options[] = {
	{ 'k', "keys", "FILE",
	  "keys from a file, one a line; - is standard input; may be repeated" },
	{ '0', "null", NULL, "keys in files end with NUL instead" },
	{ KEY_SCAN, "scan", "PATTERN", "the keys that SCAN finds" },
	{ KEY_COUNT, "count", "N",
	  "how many keys SCAN looks at for each answer (1k)" },
	{ KEY_HASH, "hash", "KEY", "read fields of this hash instead of keys" },
	{ 'f', "format", "FORMAT",
	  "tsv, json, csv, raw or table (table on a terminal, otherwise tsv)" },
	{ 'o', "output", "FILE",
	  "write to this file, which gets its name when it is whole" },
	{ KEY_NO_MISSING, "no-missing", NULL,
	  "leave out keys without a value" },
	{ KEY_MISSING, "missing", "TEXT",
	  "what --format=raw writes for a missing value (\\N)" },
	{ 'Z', "null-out", NULL, "values of --format=raw end with NUL" },
};

static const char about[] =
	"Reads many keys at once, and writes them with their values in the "
	"order they\nwere given. Without keys they are read from standard "
	"input.\n";

static const char notes[] =
	"Keys: every byte of a line is the key's, blanks and quotes too; an "
	"empty line is\nthe empty key. A byte order mark at the beginning is "
	"dropped, but not with -0.\n"
	"\n"
	"Formats\n"
	"  tsv    key, tab, value; \\b \\f \\n \\r \\t \\v \\\\ as in PostgreSQL's "
	"COPY. A missing\n"
	"         value is \\N; a value that is literally \\N is \\\\N.\n"
	"  json   {\"key\":...,\"value\":...} in each line; null is missing. "
	"What is no UTF-8\n"
	"         is in \"key_base64\" or \"value_base64\" instead.\n"
	"  csv    RFC 4180, lines end with CR LF. A missing value is nothing, "
	"an empty\n         one is \"\".\n"
	"  raw    the values alone, as they are. A missing value is \\N, and "
	"cannot be told\n"
	"         from a value \\N: choose another text with --missing, or "
	"another format.\n"
	"  table  for people: aligned, cut to the width of the terminal.\n"
	"\n"
	"A key of another type than string counts as missing, as MGET has it. "
	"Keys that\nfailed are not written: they are listed, and go to "
	"--failed.\n"
	"\n"
	"SCAN gives each key that is there all the time at least once; it may "
	"repeat a\nkey, and a key may be gone when it is read, which is then "
	"missing. In a cluster\neach primary is scanned in turn; slots that "
	"move meanwhile may be missed or read\ntwice.\n";

static exits take_count(mget *m, const char *value)
{
	if (!number_many(value, INT32_MAX, &m->order.count) ||
	    m->order.count == 0)
		return args_bad("count", value,
				"a number above 0, as 500 or "
				"10k");
	return EXITS_FINE;
}

static exits take_format(mget *m, const char *value)
{
	format f;

	if (!format_init(&f, value))
		return args_bad("format", value,
				"tsv, json, csv, raw or table");
	m->format_name = value;
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	mget *m = to;

	switch (key) {
	case 'k':
		return keys_add_file(m->keys, value);
	case 'f':
		return take_format(m, value);
	case KEY_COUNT:
		return take_count(m, value);
	case 'o':
		m->path = value;
		return EXITS_FINE;
	case '0':
		m->null_in = true;
		return EXITS_FINE;
	case 'Z':
		m->null_out = true;
		return EXITS_FINE;
	case KEY_SCAN:
		m->order.pattern = value;
		return EXITS_FINE;
	case KEY_HASH:
		m->hash = value;
		return EXITS_FINE;
	case KEY_MISSING:
		m->missing = value;
		return EXITS_FINE;
	default:
		m->no_missing = true;
		return EXITS_FINE;
	}
}

/* ------------------------------------------------------- before the run -- */

/* Options that do not go together; and standard input where nothing else names
 * keys. */
static exits check(mget *m, const args_rest *rest)
{
	bool raw = m->format_name != NULL && strcmp(m->format_name, "raw") == 0;
	bool given = rest->noperands > 0 || keys_has_files(m->keys);

	if (!raw && m->null_out)
		return say_usage("--null-out is for --format=raw");
	if (!raw && m->missing != NULL)
		return say_usage("--missing is for --format=raw");
	if (m->order.pattern != NULL && m->hash != NULL)
		return say_usage("--scan finds keys, and --hash reads fields: "
				 "not both");
	if (m->order.pattern != NULL && given)
		return say_usage("--scan finds the keys: none can be given");
	if (given || m->order.pattern != NULL)
		return EXITS_FINE;
	if (isatty(STDIN_FILENO) == 1)
		return say_usage("no keys: name some, or use --keys or --scan");
	return keys_add_file(m->keys, "-");
}

static size_t terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

static void choose_format(mget *m)
{
	bool terminal = out_is_terminal(m->out);
	const char *name = m->format_name;

	if (name == NULL)
		name = terminal ? "table" : "tsv";
	(void)format_init(&m->format, name);
	m->format.no_missing = m->no_missing;
	m->format.end = m->null_out ? '\0' : '\n';
	if (m->missing != NULL)
		m->format.missing = m->missing;
	m->format.width = terminal ? terminal_width() : 0;
}

/* Files first: what is wrong with them is known before anything is sent. */
static exits open_all(mget *m, const args_rest *rest)
{
	char delimiter = m->null_in ? '\0' : '\n';
	exits status =
		keys_open(m->keys, rest->operands, rest->noperands, delimiter);

	if (status != EXITS_FINE)
		return status;
	m->out = out_open(m->path);
	if (m->out == NULL) {
		say("cannot write '%s': %s",
		    m->path == NULL ? "standard output" : m->path,
		    strerror(errno));
		return EXITS_LOCAL;
	}
	choose_format(m);
	status = report_begin(m->report, delimiter);
	if (status != EXITS_FINE)
		return status;
	report_tells_missing(m->report);
	report_expect(m->report, keys_count(m->keys), keys_size(m->keys));
	return connection_open(m->connection, &m->options, &m->client);
}

static exits open_scan(mget *m)
{
	exits status;

	if (m->order.pattern == NULL)
		return EXITS_FINE;
	status = scan_open(m->connection, m->client, &m->options, &m->order,
			   &m->scan);
	if (status == EXITS_FINE)
		keys_use_scan(m->keys, m->scan);
	return status;
}

/* ------------------------------------------------------------- the run -- */

int mget_take(mget *m, const format_rows *rows)
{
	uint64_t taken = keys_taken(m->keys);
	report_step step = { .input_bytes = taken - m->taken };

	for (size_t i = 0; i < rows->n; i++) {
		if (rows->statuses[i] != RB_OK)
			continue;
		step.answered++;
		step.missing += rows->values[i].data == NULL;
		step.bytes += rows->values[i].len;
	}
	m->taken = taken;
	format_put(&m->format, m->out, rows);
	if (out_is_terminal(m->out))
		(void)out_flush(m->out);
	report_advance(m->report, &step);
	return out_error(m->out) != 0 || signals_caught() != 0 ? -1 : 0;
}

void mget_end(mget *m, rb_status status)
{
	const char *words = rb_client_error(m->client);

	if (status == RB_ERR_CANCELLED) {
		m->status = keys_status(m->keys);
		return;
	}
	m->status = exits_of(status);
	if (m->status != EXITS_FINE && signals_caught() == 0)
		report_say(m->report, "%s",
			   words[0] == '\0' ? rb_status_text(status) : words);
}

static void run(mget *m)
{
	m->status = open_scan(m);
	if (m->status != EXITS_FINE)
		return;
	if (m->hash != NULL)
		mget_run_hash(m);
	else
		mget_run_stream(m);
	if (m->scan != NULL)
		scan_add_stats(m->scan, &m->stats);
}

/* ------------------------------------------------------- after the run -- */

/* A file gets its name only if nothing ended the run before its time. */
static void finish_output(mget *m)
{
	bool whole = m->status == EXITS_FINE && signals_caught() == 0;
	int error = whole || m->path == NULL ? out_commit(m->out) : 0;

	if (error == EPIPE)
		m->status = (exits)(EXITS_SIGNAL + SIGPIPE);
	else if (error != 0 && signals_caught() == 0)
		m->status = EXITS_LOCAL;
	if (m->status == EXITS_LOCAL && error != 0)
		report_say(m->report, "cannot write %s: %s", out_name(m->out),
			   strerror(error));
	else if (error == EINTR)
		report_say(m->report,
			   "nobody reads what is still to be written of the "
			   "answers: it was dropped");
	else if (!whole && m->path != NULL)
		report_say(m->report, "'%s' was not written", m->path);
	if (signals_caught() != 0)
		m->status = (exits)(EXITS_SIGNAL + signals_caught());
}

static exits execute(mget *m, const args_rest *rest)
{
	exits status = check(m, rest);
	exits reported;

	if (status == EXITS_FINE)
		status = open_all(m, rest);
	if (status != EXITS_FINE)
		return signals_caught() == 0 ?
			       status :
			       (exits)(EXITS_SIGNAL + signals_caught());
	run(m);
	/* Whoever closed the pipe wants no more, and no words either. */
	if ((m->status != EXITS_FINE || signals_caught() != 0) &&
	    out_error(m->out) != EPIPE)
		keys_keep_rest(m->keys, m->report);
	finish_output(m);
	signals_watch(NULL);
	reported = report_end(m->report, &m->stats);
	return m->status != EXITS_FINE ? m->status : reported;
}

int cmd_mget(int argc, char **argv)
{
	static const args_usage usage = { "mget [OPTION...] [KEY...]", about,
					  notes };
	mget m = { .order = { NULL, 1000 },
		   .stats = { .struct_size = sizeof(rb_stats) } };
	exits status = EXITS_LOCAL;
	args_rest rest;

	m.connection = connection_new();
	m.report = report_new("keys");
	m.keys = keys_new();
	tuning_init(&m.options);
	if (m.connection != NULL && m.report != NULL && m.keys != NULL) {
		const args_group own = { "Keys and values", options,
					 sizeof(options) / sizeof(options[0]),
					 take, &m };
		const args_group groups[] = { own,
					      connection_group(m.connection),
					      tuning_group(&m.options),
					      report_group(m.report) };

		status = args_parse(&usage, groups, 4, argc, argv, &rest);
		if (status == EXITS_FINE && !rest.done)
			status = execute(&m, &rest);
	}
	signals_watch(NULL);
	scan_free(m.scan);
	rb_client_free(m.client);
	out_free(m.out);
	keys_free(m.keys);
	report_free(m.report);
	connection_free(m.connection);
	return (int)status;
}

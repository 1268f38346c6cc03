/*
 * The commands as a stream. The library asks for the next command when it has
 * room for it, and hands over the replies in order; the ledger knows the lines.
 *
 * The stream is ended by its source, never by its sink: a source that has no
 * more lets the library await all that was sent, and every command gets its
 * reply or its reason.
 */
#include "pipeline.h"

#include "asides.h"
#include "ledger.h"
#include "rest.h"
#include "signals.h"

#include <stdint.h>
#include <stdio.h>

typedef struct stream {
	pipeline *p;
	ledger *ledger;
	/* Commands that were given to the library. */
	size_t given;
	asides asides;
	/* The source has said that there is no more. */
	bool ended;
	/* Bytes of the input that the report was told of. */
	uint64_t told;
	/* The first bad line has ended it. */
	bool strictly;
} stream;

/* ------------------------------------------------------------- records -- */

static pipeline_failure not_sent(const script_item *item, const char *words)
{
	return (pipeline_failure){
		/* RESP that is broken is nothing for a second run. */
		.raw = item->raw.data != NULL ? item->raw : (rb_slice){ "", 0 },
		.file = item->file,
		.line = item->line,
		.node = "",
		.words = words,
		.outcome = RB_NOT_SENT,
	};
}

/* Listed at once, and printed behind the replies to what came before it. */
static void list_bad(stream *s, const script_item *item, const char *words)
{
	const pipeline_failure failure = not_sent(item, words);
	const aside bad = { s->given, item->file, item->line, words };

	pipeline_list(s->p, &failure);
	asides_add(&s->asides, &bad);
}

static void put_aside(void *arg, const aside *bad)
{
	pipeline_put_none(arg, bad->file, bad->line, RB_NOT_SENT, bad->why);
}

static void stop(pipeline *p, exits why)
{
	if (p->stopped == EXITS_FINE)
		p->stopped = why;
}

static void refuse(stream *s, const script_item *item, const char *words)
{
	list_bad(s, item, words);
	if (!s->p->strict)
		return;
	report_say(s->p->report,
		   "stopped at line %zu: what follows it was not sent",
		   item->line);
	s->strictly = true;
	stop(s->p, EXITS_PARTIAL);
}

/*
 * The next command that may be sent, whatever comes before it is listed. False:
 * there is none, and p->stopped says whether that is the end of the input.
 */
static bool take_command(stream *s, script_item *item)
{
	pipeline *p = s->p;

	while (p->stopped == EXITS_FINE) {
		script_got got = script_next(p->script, item);
		const char *why = item->why;

		switch (got) {
		case SCRIPT_COMMAND:
			why = refusal_of(&p->refusal, &item->command);
			if (why == NULL)
				return true;
			refuse(s, item, why);
			break;
		case SCRIPT_BAD:
			refuse(s, item, why);
			break;
		case SCRIPT_BROKEN:
			list_bad(s, item, why);
			stop(p, EXITS_PARTIAL);
			break;
		case SCRIPT_FAILED:
			if (why[0] != '\0')
				report_say(p->report, "%s", why);
			stop(p, EXITS_LOCAL);
			break;
		case SCRIPT_END:
			return false;
		}
	}
	return false;
}

/* ----------------------------------------------------------- callbacks -- */

static int next_command(void *arg, rb_command *command)
{
	stream *s = arg;
	script_item item;

	if (signals_caught() != 0 || out_error(s->p->out) != 0 ||
	    !take_command(s, &item)) {
		s->ended = true;
		return 0;
	}
	if (!ledger_add(s->ledger, &item)) {
		report_say(s->p->report, "out of memory");
		list_bad(s, &item, "out of memory");
		stop(s->p, EXITS_LOCAL);
		s->ended = true;
		return 0;
	}
	s->given++;
	*command = item.command;
	return 1;
}

static bool take_reply(stream *s, size_t number, const redisReply *reply,
		       rb_status status)
{
	const redisReply *error;
	const char *file;
	size_t line;

	if (reply == NULL) {
		ledger_unanswered(s->ledger, number, status);
		return false;
	}
	ledger_place(s->ledger, number, &file, &line);
	pipeline_put(s->p, file, line, reply);
	error = reply_error(reply);
	if (error == NULL) {
		ledger_answered(s->ledger, number);
		return true;
	}
	/* An error inside of a reply is in no report. */
	ledger_refused(s->ledger, number, reply_string(error), status == RB_OK);
	return false;
}

static void advance(stream *s, uint64_t answered)
{
	uint64_t taken = script_taken(s->p->script);
	const report_step step = {
		.answered = answered,
		.bytes = taken - s->told,
		.input_bytes = taken - s->told,
	};

	s->told = taken;
	report_advance(s->p->report, &step);
}

static int take_replies(void *arg, size_t first,
			const struct redisReply *const *replies,
			const rb_status *statuses, size_t n)
{
	stream *s = arg;
	uint64_t answered = 0;

	for (size_t i = 0; i < n; i++) {
		asides_pass(&s->asides, first + i);
		if (take_reply(s, first + i, replies[i], statuses[i]))
			answered++;
	}
	advance(s, answered);
	/* Whoever reads along sees what there is; the source finds an error. */
	(void)out_flush(s->p->out);
	return 0;
}

static int take_report(void *arg, const rb_chunk *chunk)
{
	stream *s = arg;

	ledger_report(s->ledger, chunk);
	return 0;
}

static void take_failure(void *arg, const ledger_failure *f)
{
	stream *s = arg;
	bool asked = f->outcome == RB_ANSWERED && f->node[0] == '\0';
	const pipeline_failure failure = {
		.raw = f->raw,
		.file = f->file,
		.line = f->line,
		.node = asked ? s->p->server : f->node,
		.words = f->words,
		.outcome = f->outcome,
	};

	pipeline_fail(s->p, &failure);
}

/* ---------------------------------------------------------------- rest -- */

/* What nobody asked for: a server that is gone, or a command that failed, has
 * ended the stream. A signal waits for nothing. */
static void list_rest(stream *s, const char *words)
{
	script_item item;

	while (signals_caught() == 0 && out_error(s->p->out) == 0) {
		pipeline_failure failure;

		if (!take_command(s, &item))
			break;
		asides_pass(&s->asides, SIZE_MAX);
		failure = not_sent(&item, words);
		pipeline_fail(s->p, &failure);
		if (report_failed(s->p->report) % 1000 == 0)
			advance(s, 0);
	}
}

/* What was not even read, for a second run. */
static void keep_rest(stream *s)
{
	const char *path;
	uint64_t from;

	while (script_skip(s->p->script, &path, &from))
		rest_keep(s->p->report, path, from);
}

static void tell_rest(stream *s, rb_status status)
{
	if (!s->ended && signals_caught() == 0) {
		list_rest(s, status == RB_ERR_PARTIAL ?
				     "a command before it failed" :
				     rb_client_error(s->p->client));
	}
	if (signals_caught() != 0 || out_error(s->p->out) != 0 || s->strictly)
		keep_rest(s);
}

exits pipeline_stream(pipeline *p)
{
	stream s = { .p = p, .asides = { .put = put_aside, .arg = p } };
	char words[512];
	rb_status status;
	exits ended;

	s.ledger = ledger_new(take_failure, &s);
	if (s.ledger == NULL) {
		report_say(p->report, "out of memory");
		return EXITS_LOCAL;
	}
	report_expect(p->report, 0, script_size(p->script));
	p->options.on_chunk = take_report;
	p->options.on_chunk_arg = &s;
	status = rb_pipeline_stream(p->client, next_command, &s, take_replies,
				    &s, &p->options, &p->stats);
	snprintf(words, sizeof(words), "%s", rb_client_error(p->client));
	ledger_end(s.ledger, words);
	ledger_free(s.ledger);
	ended = pipeline_conclude(p, status);
	asides_pass(&s.asides, SIZE_MAX);
	tell_rest(&s, status);
	asides_pass(&s.asides, SIZE_MAX);
	advance(&s, 0);
	return p->stopped == EXITS_LOCAL ? EXITS_LOCAL : ended;
}

#include "pipeline.h"

#include "label.h"
#include "signals.h"

#include <stdio.h>

static reply_place place_of(const pipeline *p, const char *file, size_t line)
{
	return (reply_place){ p->names_files ? file : NULL, line };
}

void pipeline_put(pipeline *p, const char *file, size_t line,
		  const redisReply *reply)
{
	const reply_place place = place_of(p, file, line);

	if (!p->only_failures || reply_error(reply) != NULL)
		reply_put(p->out, p->format, &place, reply);
}

void pipeline_put_none(pipeline *p, const char *file, size_t line,
		       rb_outcome outcome, const char *why)
{
	const reply_place place = place_of(p, file, line);

	reply_put_none(p->out, p->format, &place, outcome, why);
}

void pipeline_list(pipeline *p, const pipeline_failure *f)
{
	const rb_command command = script_command(p->script, f->raw);
	char label[LABEL_SIZE];
	char words[512];
	const report_failure failure = {
		.key = label_make(&command, label),
		.record = f->raw,
		.file = f->file,
		.line = f->line,
		.node = f->node,
		.words = words,
		.unknown = f->outcome == RB_UNKNOWN,
	};

	snprintf(words, sizeof(words), "%s%s",
		 f->outcome == RB_NOT_SENT ? "not sent: " : "", f->words);
	report_fail(p->report, &failure);
}

void pipeline_fail(pipeline *p, const pipeline_failure *f)
{
	if (f->outcome != RB_ANSWERED)
		pipeline_put_none(p, f->file, f->line, f->outcome, f->words);
	pipeline_list(p, f);
}

exits pipeline_conclude(pipeline *p, rb_status status)
{
	exits ended = exits_of(status);

	if (ended == EXITS_FINE ||
	    (status == RB_ERR_CANCELLED && signals_caught() != 0))
		return EXITS_FINE;
	report_say(p->report, "%s", rb_client_error(p->client));
	return ended;
}

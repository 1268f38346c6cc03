#include "load.h"

#include "deadline.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>

struct load {
	rb_client *client;
	const load_verb *verb;
	rb_options options;
	report *report;
	deadline deadline;
	load_counts counts;
	rb_stats stats;
	/* Why nothing more is sent. */
	exits verdict;
	/* Of each entry of the block: who was asked. */
	const char *nodes[BLOCK_RECORDS];
};

load *load_new(rb_client *client, const load_verb *verb,
	       const rb_options *options, report *r)
{
	load *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->client = client;
	l->verb = verb;
	l->options = *options;
	l->report = r;
	l->deadline = deadline_begin(options->timeout_ms);
	l->stats.struct_size = sizeof(l->stats);
	return l;
}

void load_free(load *l)
{
	free(l);
}

static void fail(load *l, const block *b, size_t i, const char *node,
		 const char *words, bool unknown)
{
	const block_origin *from = &b->origins[i];

	report_fail(l->report,
		    &(report_failure){ .key = { b->keys[i], b->keylens[i] },
				       .record = from->record,
				       .file = from->file,
				       .line = from->line,
				       .node = node,
				       .words = words,
				       .unknown = unknown });
}

static void fail_all(load *l, const block *b, const char *words)
{
	for (size_t i = 0; i < b->n; i++)
		fail(l, b, i, "", words, false);
}

/* --------------------------------------------------------------- answers -- */

static void find_nodes(load *l, const rb_result *res)
{
	for (size_t c = 0; c < rb_result_chunks(res); c++) {
		const rb_chunk *chunk = rb_result_chunk(res, c);

		for (size_t i = 0; i < chunk->count; i++) {
			size_t entry = chunk->entries != NULL ?
					       chunk->entries[i] :
					       chunk->first + i;

			l->nodes[entry] = chunk->node;
		}
	}
}

static void count_outcome(load_counts *c, rb_outcome outcome, bool fine)
{
	if (outcome != RB_NOT_SENT)
		c->sent++;
	if (outcome == RB_UNKNOWN || outcome == RB_PARTLY)
		c->unknown++;
	else if (outcome == RB_ANSWERED && fine)
		c->acknowledged++;
	else if (outcome == RB_REJECTED && fine)
		c->not_set++;
}

static void list_failure(load *l, const block *b, const rb_result *res,
			 size_t i)
{
	rb_outcome outcome = rb_result_outcome(res, i);
	const char *words = rb_result_message(res, i);
	bool unknown = outcome == RB_UNKNOWN || outcome == RB_PARTLY;

	if (words[0] == '\0')
		words = rb_status_text(rb_result_status(res, i));
	fail(l, b, i, outcome == RB_NOT_SENT ? "" : l->nodes[i], words,
	     unknown && l->verb->writes);
}

static void judge(load *l, const block *b, const rb_result *res)
{
	uint64_t number = (uint64_t)rb_result_total(res);
	report_step step = { .answered = 0 };

	if (rb_result_failed(res) > 0)
		find_nodes(l, res);
	for (size_t i = 0; i < b->n; i++) {
		bool fine = rb_result_status(res, i) == RB_OK;

		count_outcome(&l->counts, rb_result_outcome(res, i), fine);
		if (!fine) {
			list_failure(l, b, res, i);
			continue;
		}
		step.answered++;
		step.bytes += b->valuelens[i];
	}
	l->counts.number += number;
	if (l->verb->counts && number < step.answered)
		step.missing = step.answered - number;
	report_advance(l->report, &step);
}

static void add_stats(rb_stats *sum, const rb_result *res)
{
	rb_stats one = { .struct_size = sizeof(one) };

	if (rb_result_stats(res, &one) != RB_OK)
		return;
	sum->commands += one.commands;
	sum->keys += one.keys;
	sum->request_bytes += one.request_bytes;
	sum->reply_bytes += one.reply_bytes;
	sum->round_trips += one.round_trips;
	sum->retries += one.retries;
	sum->splits += one.splits;
	sum->redirects += one.redirects;
	sum->reconnects += one.reconnects;
}

/* --------------------------------------------------------------- sending -- */

/* Whether a call's status ends the run, and as what. */
static exits verdict_on(rb_status status)
{
	/* By a signal, which has a status of its own. */
	if (status == RB_ERR_CANCELLED)
		return EXITS_FINE;
	/* It is there, and refuses all the same, as without memory: a later
	 * run may do. */
	if (status == RB_ERR_SERVER)
		return EXITS_PARTIAL;
	if (status == RB_ERR_UNSUPPORTED)
		return EXITS_USAGE;
	return exits_of(status);
}

static void send_block(load *l, const block *b)
{
	rb_options o = l->options;
	rb_result *res = NULL;
	rb_status status;

	o.timeout_ms = deadline_left(&l->deadline);
	status = l->verb->send(l->client, b, &o, &res);
	l->verdict = verdict_on(status);
	if (l->verdict != EXITS_FINE)
		report_say(l->report, "nothing more is sent: %s",
			   rb_client_error(l->client));
	if (res == NULL) {
		fail_all(l, b, rb_client_error(l->client));
		return;
	}
	judge(l, b, res);
	add_stats(&l->stats, res);
	rb_result_free(res);
}

exits load_block(void *to, const block *b)
{
	load *l = to;

	l->counts.given += b->n;
	if (signals_caught() != 0 || l->verdict != EXITS_FINE)
		fail_all(l, b, "not sent, since the run was ended");
	else
		send_block(l, b);
	return EXITS_FINE;
}

const load_counts *load_result(const load *l)
{
	return &l->counts;
}

const rb_stats *load_stats(const load *l)
{
	return &l->stats;
}

exits load_verdict(const load *l)
{
	return l->verdict;
}

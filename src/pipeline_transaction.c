/*
 * All commands as one transaction: it has to be in memory, and one bad record
 * means that nothing is sent.
 */
#include "pipeline.h"

#include "signals.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000, LISTED = 20 };
#define MOST_BYTES ((size_t)64 * 1024 * 1024)

/* Where a command stood, and how. */
typedef struct origin {
	const char *file;
	size_t line;
	rb_slice raw;
} origin;

/* The words of a command are one block of memory, with their lengths and
 * bytes, and with its raw form. */
typedef struct batch {
	rb_command *commands;
	origin *places;
	size_t n;
	size_t capacity;
	size_t bytes;
	size_t nbad;
} batch;

static void free_batch(batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->commands[i].argv);
	free(b->commands);
	free(b->places);
}

static bool grow(batch *b)
{
	size_t capacity = b->capacity == 0 ? 64 : 2 * b->capacity;
	rb_command *commands;
	origin *places;

	if (b->n < b->capacity)
		return true;
	commands = realloc(b->commands, capacity * sizeof(*commands));
	if (commands != NULL)
		b->commands = commands;
	places = realloc(b->places, capacity * sizeof(*places));
	if (places != NULL)
		b->places = places;
	if (commands == NULL || places == NULL)
		return false;
	b->capacity = capacity;
	return true;
}

static size_t words_size(const rb_command *c)
{
	size_t size = 0;

	for (size_t i = 0; i < (size_t)c->argc; i++)
		size += c->argvlen[i];
	return size;
}

/* The words of the command, copied to bytes. */
static void copy_words(const rb_command *c, const char **argv, size_t *lens,
		       char *bytes)
{
	for (size_t i = 0; i < (size_t)c->argc; i++) {
		argv[i] = bytes;
		lens[i] = c->argvlen[i];
		if (lens[i] > 0)
			memcpy(bytes, c->argv[i], lens[i]);
		bytes += lens[i];
	}
}

static bool add(batch *b, const script_item *item)
{
	const rb_command *c = &item->command;
	size_t argc = (size_t)c->argc;
	size_t words = words_size(c);
	const char **argv;
	size_t *lens;
	char *bytes;

	if (!grow(b))
		return false;
	argv = malloc(argc * (sizeof(*argv) + sizeof(*lens)) + words +
		      item->raw.len);
	if (argv == NULL)
		return false;
	lens = (size_t *)(void *)(argv + argc);
	bytes = (char *)(lens + argc);
	copy_words(c, argv, lens, bytes);
	memcpy(bytes + words, item->raw.data, item->raw.len);
	b->commands[b->n] = (rb_command){ c->argc, argv, lens };
	b->places[b->n] = (origin){ item->file,
				    item->line,
				    { bytes + words, item->raw.len } };
	b->n++;
	b->bytes += words;
	return true;
}

/* ------------------------------------------------------------- reading -- */

static void say_bad(pipeline *p, batch *b, const script_item *item,
		    const char *why)
{
	if (b->nbad++ < LISTED)
		report_say(p->report, "%s:%zu: %s", item->file, item->line,
			   why);
}

/* EXITS_FINE: go on. */
static exits take(pipeline *p, batch *b, const script_item *item)
{
	const rb_options *o = &p->options;
	const char *why = refusal_of(&p->refusal, &item->command);

	if (why != NULL) {
		say_bad(p, b, item, why);
		return EXITS_FINE;
	}
	if (!add(b, item)) {
		report_say(p->report, "out of memory");
		return EXITS_LOCAL;
	}
	if (b->n <= o->chunk_keys && b->bytes <= o->chunk_request_bytes)
		return EXITS_FINE;
	report_say(p->report,
		   "the transaction is too large: more than %zu commands "
		   "(--chunk-keys) or %zu bytes (--chunk-bytes); nothing was "
		   "sent",
		   o->chunk_keys, o->chunk_request_bytes);
	return EXITS_USAGE;
}

static exits take_all(pipeline *p, batch *b)
{
	exits status = EXITS_FINE;
	script_got got;
	script_item item;

	do {
		got = script_next(p->script, &item);
		if (got == SCRIPT_COMMAND)
			status = take(p, b, &item);
		else if (got == SCRIPT_BAD || got == SCRIPT_BROKEN)
			say_bad(p, b, &item, item.why);
	} while (status == EXITS_FINE &&
		 (got == SCRIPT_COMMAND || got == SCRIPT_BAD));
	if (got == SCRIPT_FAILED) {
		if (item.why[0] != '\0')
			report_say(p->report, "%s", item.why);
		return EXITS_LOCAL;
	}
	if (status == EXITS_FINE && b->nbad > 0) {
		report_say(p->report, "%zu records are bad; nothing was sent",
			   b->nbad);
		return EXITS_USAGE;
	}
	return status;
}

/* ------------------------------------------------------------- replies -- */

static void list(pipeline *p, const batch *b, const rb_result *res, size_t i,
		 bool printed)
{
	const rb_chunk *chunk = rb_result_chunk(res, 0);
	const pipeline_failure failure = {
		.raw = b->places[i].raw,
		.file = b->places[i].file,
		.line = b->places[i].line,
		.node = chunk == NULL ? "" : chunk->node,
		.words = rb_result_message(res, i),
		.outcome = printed ? RB_ANSWERED : rb_result_outcome(res, i),
	};

	pipeline_fail(p, &failure);
}

/* An error inside of a reply is the reply's own. */
static void list_inner(pipeline *p, const batch *b, const rb_result *res,
		       size_t i, const redisReply *error)
{
	const rb_chunk *chunk = rb_result_chunk(res, 0);
	const rb_slice words = reply_string(error);
	char text[256];
	size_t len = words.len < sizeof(text) ? words.len : sizeof(text) - 1;
	const pipeline_failure failure = {
		.raw = b->places[i].raw,
		.file = b->places[i].file,
		.line = b->places[i].line,
		.node = chunk == NULL ? "" : chunk->node,
		.words = text,
		.outcome = RB_ANSWERED,
	};

	memcpy(text, words.data, len);
	text[len] = '\0';
	pipeline_fail(p, &failure);
}

static bool put_reply(pipeline *p, const batch *b, const rb_result *res,
		      size_t i)
{
	const origin *o = &b->places[i];
	const redisReply *reply = rb_result_reply(res, i);
	bool fine = rb_result_status(res, i) == RB_OK;
	bool is_error = reply != NULL && reply->type == REDIS_REPLY_ERROR;

	/* QUEUED is no answer. */
	if (reply != NULL && (fine || is_error))
		pipeline_put(p, o->file, o->line, reply);
	if (!fine) {
		list(p, b, res, i, is_error);
		return false;
	}
	if (reply != NULL && reply_error(reply) != NULL) {
		list_inner(p, b, res, i, reply_error(reply));
		return false;
	}
	return true;
}

static void put_replies(pipeline *p, const batch *b, const rb_result *res)
{
	report_step step = { .answered = 0 };

	for (size_t i = 0; i < b->n; i++)
		step.answered += put_reply(p, b, res, i);
	step.bytes = script_taken(p->script);
	step.input_bytes = step.bytes;
	report_advance(p->report, &step);
	(void)rb_result_stats(res, &p->stats);
}

/* Nothing was applied, or some commands failed: the list says so. */
static bool is_listed(rb_status status, const rb_result *res)
{
	return res != NULL && status == RB_ERR_SERVER &&
	       rb_result_outcome(res, 0) != RB_UNKNOWN;
}

static exits run(pipeline *p, const batch *b)
{
	rb_result *res = NULL;
	rb_status status =
		rb_transaction(p->client, b->commands, b->n, &p->options, &res);
	exits ended = EXITS_FINE;

	p->given_up = status == RB_ERR_INVALID || status == RB_ERR_LIMIT;
	if (p->given_up) {
		report_say(p->report, "nothing was sent: %s",
			   rb_client_error(p->client));
		return EXITS_USAGE;
	}
	if (is_listed(status, res))
		report_say(p->report, "nothing was applied: %s",
			   rb_client_error(p->client));
	else
		ended = pipeline_conclude(p, status);
	if (res != NULL)
		put_replies(p, b, res);
	rb_result_free(res);
	return ended;
}

exits pipeline_transaction(pipeline *p)
{
	batch b = { .n = 0 };
	exits status;

	p->refusal.transaction = true;
	if (p->options.chunk_keys == 0)
		p->options.chunk_keys = MOST;
	if (p->options.chunk_request_bytes == 0)
		p->options.chunk_request_bytes = MOST_BYTES;
	status = take_all(p, &b);
	p->given_up = status != EXITS_FINE || signals_caught() != 0;
	if (!p->given_up)
		status = run(p, &b);
	free_batch(&b);
	return status;
}

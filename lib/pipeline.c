#include "pipeline.h"

#include "alloc.h"
#include "call.h"
#include "firstkey.h"
#include "keyslot.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdlib.h>

static rbi_batch batch_of(const rb_command *commands, size_t n)
{
	rbi_batch batch = {
		.form = RBI_FORM_COMMANDS,
		.shape = RBI_SHAPE_REPLIES,
		.command = { "a transaction", 13 },
		.commands = commands,
		.n = n,
	};

	return batch;
}

rb_status rb_pipeline_chunked(rb_client *client, const rb_command *commands,
			      size_t ncommands, const rb_options *opts,
			      rb_result **out)
{
	rbi_batch batch = batch_of(commands, ncommands);
	rb_options o;
	rb_status status = rbi_call_begin_result(client, opts, &o, out);

	if (status != RB_OK)
		return status;
	batch.transaction = (o.flags & RB_TRANSACTION) != 0;
	return rbi_call_batch(client, &o, &batch, out);
}

/* --------------------------------------------------------- transactions -- */

/* Whether all commands go into one chunk. The predicted answer is no reason
 * to refuse. */
static rb_status check_bounds(rb_client *client, const rb_options *o,
			      const rbi_batch *batch)
{
	const rbi_bounds bounds = {
		.keys = SIZE_MAX,
		.args = SIZE_MAX,
		.request_bytes = SIZE_MAX,
	};
	size_t bytes;

	if (batch->n > o->chunk_keys)
		return rbi_client_fail(client, RB_ERR_LIMIT,
				       "ncommands is %zu, above chunk_keys %zu",
				       batch->n, o->chunk_keys);
	bytes = rbi_plan_cut(batch, 0, &bounds).request_bytes;
	if (bytes > o->chunk_request_bytes)
		return rbi_client_fail(client, RB_ERR_LIMIT,
				       "the commands take %zu bytes, above "
				       "chunk_request_bytes %zu",
				       bytes, o->chunk_request_bytes);
	return RB_OK;
}

/* The nodes of a cluster know nothing of each other's transactions. */
static rb_status check_slots(rb_client *client, const rbi_batch *batch)
{
	uint16_t first = 0;
	bool known = false;
	rb_slice key;
	size_t i;

	for (i = 0; i < batch->n; i++) {
		uint16_t slot;

		if (!rbi_first_key(&batch->commands[i], &key))
			continue;
		slot = rbi_keyslot(key.data, key.len);
		if (known && slot != first)
			return rbi_client_fail(
				client, RB_ERR_INVALID,
				"commands[%zu] has a key of another slot than "
				"those before it",
				i);
		first = slot;
		known = true;
	}
	return RB_OK;
}

rb_status rb_transaction(rb_client *client, const rb_command *commands,
			 size_t ncommands, const rb_options *opts,
			 rb_result **out)
{
	rbi_batch batch = batch_of(commands, ncommands);
	const rb_chunk *chunk;
	rb_options o;
	rb_status status = rbi_call_begin_result(client, opts, &o, out);

	if (status != RB_OK)
		return status;
	batch.transaction = true;
	status = rbi_batch_check(&batch, o.max_value_bytes, client->error,
				 sizeof(client->error));
	if (status == RB_OK && ncommands > 0)
		status = check_bounds(client, &o, &batch);
	if (status == RB_OK && client->uri.cluster)
		status = check_slots(client, &batch);
	if (status != RB_OK)
		return status;
	o.chunk_reply_bytes = SIZE_MAX;
	o.commands_per_second = 0;
	status = rbi_call_batch(client, &o, &batch, out);
	if (status != RB_ERR_PARTIAL)
		return status;
	/* All or nothing: what befell the chunk befell the call. */
	chunk = rb_result_chunk(*out, 0);
	return chunk->status;
}

/* -------------------------------------------------------------- builder -- */

/* Each command is one block of memory: its argv, its lengths, its bytes. */
struct rb_pipeline {
	rb_client *client;
	const rb_allocator *allocator;
	rb_command *commands;
	size_t n;
	size_t cap;
};

rb_status rb_pipeline_new(rb_pipeline **out, rb_client *client)
{
	rb_pipeline *p;

	if (out != NULL)
		*out = NULL;
	if (client == NULL)
		return RB_ERR_INVALID;
	client->error[0] = '\0';
	if (out == NULL)
		return rbi_client_fail(client, RB_ERR_INVALID, "out is NULL");
	p = rbi_alloc_zero(client->allocator, sizeof(*p));
	if (p == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	p->client = client;
	p->allocator = client->allocator;
	*out = p;
	return RB_OK;
}

static rb_status no_memory(rb_pipeline *p)
{
	return rbi_client_fail(p->client, RB_ERR_NOMEM, "out of memory");
}

static bool reserve_command(rb_pipeline *p)
{
	size_t cap = rbi_max(8, 2 * p->cap);
	rb_command *commands;

	if (p->n < p->cap)
		return true;
	commands = rbi_alloc_array(p->allocator, p->commands, cap,
				   sizeof(*commands));
	if (commands == NULL)
		return false;
	p->commands = commands;
	p->cap = cap;
	return true;
}

/* The bytes of a block for the command; 0: too many. */
static size_t block_size(const rb_command *c)
{
	size_t argc = (size_t)c->argc;
	size_t size = argc * (sizeof(char *) + sizeof(size_t));
	size_t i;

	for (i = 0; i < argc; i++)
		size = rbi_add_sat(size, rbi_command_arglen(c, i) + 1);
	return size == SIZE_MAX ? 0 : size;
}

/* Appends a copy of a command that is known to be good. */
static rb_status append_copy(rb_pipeline *p, const rb_command *c)
{
	size_t argc = (size_t)c->argc;
	size_t size = block_size(c);
	const char **argv;
	size_t *lens;
	char *bytes;
	size_t i;

	if (size == 0 || !reserve_command(p))
		return no_memory(p);
	argv = rbi_alloc(p->allocator, size);
	if (argv == NULL)
		return no_memory(p);
	lens = (size_t *)(void *)(argv + argc);
	bytes = (char *)(lens + argc);
	for (i = 0; i < argc; i++) {
		lens[i] = rbi_command_arglen(c, i);
		argv[i] = bytes;
		if (lens[i] > 0)
			memcpy(bytes, c->argv[i], lens[i]);
		bytes[lens[i]] = '\0';
		bytes += lens[i] + 1;
	}
	p->commands[p->n].argc = c->argc;
	p->commands[p->n].argv = argv;
	p->commands[p->n].argvlen = lens;
	p->n++;
	return RB_OK;
}

rb_status rb_pipeline_append_argv(rb_pipeline *pipeline, int argc,
				  const char **argv, const size_t *argvlen)
{
	const rb_command command = { argc, argv, argvlen };
	const char *why;
	int i;

	if (pipeline == NULL)
		return RB_ERR_INVALID;
	pipeline->client->error[0] = '\0';
	why = argc < 1 ? "argc is below 1" : argv == NULL ? "argv is NULL" : "";
	for (i = 0; *why == '\0' && i < argc; i++) {
		if (argv[i] == NULL && (argvlen == NULL || argvlen[i] > 0))
			why = "an argument is NULL";
		else if (argvlen != NULL && argvlen[i] > RBI_ENCODE_MAX_ARG)
			why = "an argument is above 512 MiB";
	}
	if (*why != '\0')
		return rbi_client_fail(pipeline->client, RB_ERR_INVALID, "%s",
				       why);
	return append_copy(pipeline, &command);
}

/* The arguments of a command that hiredis has formatted, *argc of them, into
 * argv and lens if those are not NULL. */
static void split_formatted(const char *p, size_t *argc, const char **argv,
			    size_t *lens)
{
	size_t n = strtoul(p + 1, NULL, 10);
	size_t i;

	*argc = n;
	if (argv == NULL)
		return;
	for (i = 0; i < n; i++) {
		p = strchr(p, '\n') + 1;
		lens[i] = strtoul(p + 1, NULL, 10);
		argv[i] = strchr(p, '\n') + 1;
		p = argv[i] + lens[i];
	}
}

static rb_status append_formatted(rb_pipeline *p, const char *formatted)
{
	rb_status status = RB_ERR_NOMEM;
	const char **argv;
	size_t *lens;
	size_t argc;

	split_formatted(formatted, &argc, NULL, NULL);
	argv = rbi_alloc_array(p->allocator, NULL, argc + 1, sizeof(*argv));
	lens = rbi_alloc_array(p->allocator, NULL, argc + 1, sizeof(*lens));
	if (argv != NULL && lens != NULL) {
		split_formatted(formatted, &argc, argv, lens);
		status = rb_pipeline_append_argv(p, (int)argc, argv, lens);
	} else {
		status = no_memory(p);
	}
	rbi_free(p->allocator, argv);
	rbi_free(p->allocator, lens);
	return status;
}

rb_status rb_pipeline_append(rb_pipeline *pipeline, const char *format, ...)
{
	char *formatted = NULL;
	rb_status status;
	va_list args;
	int len;

	if (pipeline == NULL)
		return RB_ERR_INVALID;
	if (format == NULL)
		return rbi_client_fail(pipeline->client, RB_ERR_INVALID,
				       "format is NULL");
	va_start(args, format);
	len = redisvFormatCommand(&formatted, format, args);
	va_end(args);
	if (len == -1)
		return no_memory(pipeline);
	if (len < 0)
		return rbi_client_fail(pipeline->client, RB_ERR_INVALID,
				       "hiredis refuses the format");
	status = append_formatted(pipeline, formatted);
	redisFreeCommand(formatted);
	return status;
}

size_t rb_pipeline_count(const rb_pipeline *pipeline)
{
	return pipeline != NULL ? pipeline->n : 0;
}

rb_status rb_pipeline_run(rb_pipeline *pipeline, const rb_options *opts,
			  rb_result **out)
{
	if (out != NULL)
		*out = NULL;
	if (pipeline == NULL)
		return RB_ERR_INVALID;
	return rb_pipeline_chunked(pipeline->client, pipeline->commands,
				   pipeline->n, opts, out);
}

void rb_pipeline_clear(rb_pipeline *pipeline)
{
	size_t i;

	if (pipeline == NULL)
		return;
	for (i = 0; i < pipeline->n; i++)
		rbi_free(pipeline->allocator, pipeline->commands[i].argv);
	pipeline->n = 0;
}

void rb_pipeline_free(rb_pipeline *pipeline)
{
	if (pipeline == NULL)
		return;
	rb_pipeline_clear(pipeline);
	rbi_free(pipeline->allocator, pipeline->commands);
	rbi_free(pipeline->allocator, pipeline);
}

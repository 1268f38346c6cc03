#include "bench_method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a chunk is when the command line does not say. */
enum { CHUNK = 1000 };

/* No bound but the one on keys. */
static const size_t endless = SIZE_MAX / 4;

/* Chunks of so many keys, one after the other, each awaited. */
static rb_options one_by_one(const bench_job *job, size_t chunk)
{
	rb_options o = *job->options;

	o.chunk_keys = chunk;
	o.window = 1;
	return o;
}

static rb_options all_at_once(const bench_job *job)
{
	rb_options o = one_by_one(job, job->n);

	o.chunk_args = endless;
	o.chunk_request_bytes = endless;
	o.chunk_reply_bytes = endless;
	o.window_reply_bytes = endless;
	return o;
}

static size_t chunk_of(const bench_job *job)
{
	return job->options->chunk_keys > 0 ? job->options->chunk_keys : CHUNK;
}

/* ------------------------------------------------------------- counting -- */

static void note(bench_outcome *out, const char *why)
{
	if (out->why[0] == '\0')
		snprintf(out->why, sizeof(out->why), "%s", why);
}

static const char *failure_of(const rb_result *res, size_t i)
{
	return rb_result_status(res, i) == RB_OK ?
		       "a value is missing or of another length" :
		       rb_result_message(res, i);
}

/* An entry counts for what the server said of it, not for having been sent. */
static void count(const bench_job *job, const rb_result *res,
		  bench_outcome *out)
{
	for (size_t i = 0; i < job->n; i++) {
		rb_slice v = rb_result_value(res, i);

		if (v.data != NULL && v.len == job->value_size)
			out->right++;
		else
			note(out, failure_of(res, i));
	}
}

static void finish(const rb_client *client, const bench_job *job,
		   rb_status status, rb_result *res, bench_outcome *out)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	if (res != NULL)
		count(job, res, out);
	if (status != RB_OK)
		note(out, rb_client_error(client));
	if (rb_result_stats(res, &stats) == RB_OK)
		out->commands = stats.commands;
	out->wrong = job->n - out->right;
	rb_result_free(res);
}

/* -------------------------------------------------------------- methods -- */

static void run_gets(rb_client *client, const bench_job *job,
		     const rb_options *o, bench_outcome *out)
{
	rb_result *res;
	rb_status status =
		rb_pipeline_chunked(client, job->commands, job->n, o, &res);

	finish(client, job, status, res, out);
}

static void run_mget(rb_client *client, const bench_job *job,
		     const rb_options *o, bench_outcome *out)
{
	rb_result *res;
	rb_status status = rb_mget_chunked(client, job->keys->names,
					   job->keys->lens, job->n, o, &res);

	finish(client, job, status, res, out);
}

static void get_awaited(rb_client *client, const bench_job *job,
			bench_outcome *out)
{
	rb_options o = one_by_one(job, 1);

	run_gets(client, job, &o, out);
}

static void pipeline_whole(rb_client *client, const bench_job *job,
			   bench_outcome *out)
{
	rb_options o = all_at_once(job);

	run_gets(client, job, &o, out);
}

static void pipeline_chunks(rb_client *client, const bench_job *job,
			    bench_outcome *out)
{
	rb_options o = one_by_one(job, chunk_of(job));

	run_gets(client, job, &o, out);
}

static void mget_whole(rb_client *client, const bench_job *job,
		       bench_outcome *out)
{
	rb_options o = all_at_once(job);

	run_mget(client, job, &o, out);
}

static void mget_chunks(rb_client *client, const bench_job *job,
			bench_outcome *out)
{
	rb_options o = one_by_one(job, chunk_of(job));

	run_mget(client, job, &o, out);
}

static void mget_window(rb_client *client, const bench_job *job,
			bench_outcome *out)
{
	run_mget(client, job, job->options, out);
}

typedef struct flow {
	const bench_job *job;
	size_t next;
	bench_outcome *out;
} flow;

static int give_key(void *arg, rb_slice *key)
{
	flow *f = arg;

	if (f->next == f->job->n)
		return 0;
	*key = (rb_slice){ f->job->keys->names[f->next],
			   f->job->keys->lens[f->next] };
	f->next++;
	return 1;
}

static int take_values(void *arg, size_t first, const rb_slice *keys,
		       const rb_slice *values, const rb_status *statuses,
		       size_t n)
{
	flow *f = arg;

	(void)first;
	(void)keys;
	for (size_t i = 0; i < n; i++) {
		if (values[i].data != NULL &&
		    values[i].len == f->job->value_size)
			f->out->right++;
		else if (statuses[i] == RB_OK)
			note(f->out, "a value is missing or of another length");
	}
	return 0;
}

static void mget_stream(rb_client *client, const bench_job *job,
			bench_outcome *out)
{
	flow f = { job, 0, out };
	rb_stats stats = { .struct_size = sizeof(stats) };

	if (rb_mget_stream(client, give_key, &f, take_values, &f, job->options,
			   &stats) != RB_OK)
		note(out, rb_client_error(client));
	out->commands = stats.commands;
	out->wrong = job->n - out->right;
}

const bench_method bench_methods[BENCH_METHODS] = {
	{ "get", "GETs, each awaited", true, get_awaited },
	{ "pipeline", "one pipeline of GETs", true, pipeline_whole },
	{ "pipeline-chunks", "GETs in chunks, awaited", true, pipeline_chunks },
	{ "mget", "one MGET", false, mget_whole },
	{ "mget-chunks", "MGETs in chunks, awaited", false, mget_chunks },
	{ "window", "MGETs in a window", false, mget_window },
	{ "stream", "the same, as a stream", false, mget_stream },
};

/* A bit, 0 if there is no such method. */
static unsigned bit_of(const char *name, size_t len)
{
	for (unsigned m = 0; m < BENCH_METHODS; m++) {
		if (strlen(bench_methods[m].name) == len &&
		    memcmp(bench_methods[m].name, name, len) == 0)
			return 1u << m;
	}
	return 0;
}

unsigned bench_method_set(const char *list)
{
	unsigned set = 0;

	for (;;) {
		size_t len = strcspn(list, ",");
		unsigned bit = bit_of(list, len);

		if (bit == 0)
			return 0;
		set |= bit;
		if (list[len] == '\0')
			return set;
		list += len + 1;
	}
}

/* One block: the commands, their arguments, and the lengths of these. */
rb_command *bench_method_gets(const bench_keys *keys, size_t n)
{
	const size_t each =
		sizeof(rb_command) + 2 * sizeof(char *) + 2 * sizeof(size_t);
	rb_command *commands;
	const char **argv;
	size_t *lens;

	if (n == 0 || n > SIZE_MAX / each)
		return NULL;
	commands = malloc(n * each);
	if (commands == NULL)
		return NULL;
	argv = (const char **)(void *)(commands + n);
	lens = (size_t *)(void *)(argv + 2 * n);
	for (size_t i = 0; i < n; i++) {
		argv[2 * i] = "GET";
		argv[2 * i + 1] = keys->names[i];
		lens[2 * i] = 3;
		lens[2 * i + 1] = keys->lens[i];
		commands[i] = (rb_command){ 2, argv + 2 * i, lens + 2 * i };
	}
	return commands;
}

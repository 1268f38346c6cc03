#include "pipelines.h"

#include "floor.h"
#include "flow.h"
#include "replies.h"

#include <stdlib.h>

/* ------------------------------------------------------- plain hiredis -- */

static bool append_gets(const rbt_job *job, rbt_held *held, size_t first,
			size_t n)
{
	const char *argv[2] = { "GET", NULL };
	size_t lens[2] = { 3, 0 };
	bool fine = true;

	for (size_t i = first; fine && i < first + n; i++) {
		argv[1] = job->keys->keys[i];
		lens[1] = job->keys->lens[i];
		fine = rbt_replies_append(held, 2, argv, lens);
	}
	return fine;
}

/* The next n replies; those that are not kept are looked at and freed. */
static bool take_gets(const rbt_job *job, rbt_held *held, size_t first,
		      size_t n, bool keep)
{
	for (size_t i = first; i < first + n; i++) {
		redisReply *reply;

		if (!rbt_replies_take(held))
			return false;
		if (keep)
			continue;
		reply = rbt_replies_untake(held);
		rbt_flow_look(job, held, reply->str, reply->len, i);
		freeReplyObject(reply);
	}
	return true;
}

static bool run_gets(const rbt_job *job, rbt_held *held, size_t chunk,
		     bool keep)
{
	const size_t nkeys = job->keys->n;
	bool fine = rbt_replies_init(held, keep ? nkeys : 1);

	for (size_t i = 0; fine && i < nkeys; i += chunk) {
		size_t n = nkeys - i < chunk ? nkeys - i : chunk;

		fine = append_gets(job, held, i, n) &&
		       take_gets(job, held, i, n, keep);
	}
	return fine;
}

static bool run_chunks(const rbt_job *job, rbt_held *held)
{
	return run_gets(job, held, job->chunk, true);
}

static bool run_chunks_freed(const rbt_job *job, rbt_held *held)
{
	return run_gets(job, held, job->chunk, false);
}

static bool run_one_pipeline(const rbt_job *job, rbt_held *held)
{
	return run_gets(job, held, job->keys->n, true);
}

/* --------------------------------------------------------- the library -- */

/* The array of commands is the caller's, and stands before the clock starts. */
static bool prepare_library(const rbt_job *job, rbt_held *held)
{
	const size_t n = job->keys->n;

	held->gets = calloc(n + 1, sizeof(*held->gets));
	held->argv = calloc(2 * n + 1, sizeof(*held->argv));
	held->lens = calloc(2 * n + 1, sizeof(*held->lens));
	if (!held->gets || !held->argv || !held->lens)
		return rbt_method_fail(held, "out of memory");
	for (size_t i = 0; i < n; i++) {
		held->argv[2 * i] = "GET";
		held->lens[2 * i] = 3;
		held->argv[2 * i + 1] = job->keys->keys[i];
		held->lens[2 * i + 1] = job->keys->lens[i];
		held->gets[i].argc = 2;
		held->gets[i].argv = held->argv + 2 * i;
		held->gets[i].argvlen = held->lens + 2 * i;
	}
	return rbt_method_wrap(job, held);
}

static bool run_library(const rbt_job *job, rbt_held *held)
{
	rb_status st = rb_pipeline_chunked(held->client, held->gets,
					   job->keys->n, NULL, &held->result);

	return st == RB_OK ||
	       rbt_method_fail(held, rb_client_error(held->client));
}

static size_t count_result(const rbt_job *job, rbt_held *held)
{
	size_t right = 0;

	if (rb_result_count(held->result) != job->keys->n)
		return 0;
	for (size_t i = 0; i < job->keys->n; i++)
		right += rb_result_status(held->result, i) == RB_OK &&
			 rbt_replies_is(rb_result_reply(held->result, i), job,
					i);
	return right;
}

static bool run_stream(const rbt_job *job, rbt_held *held)
{
	rbt_flow flow = { .job = job, .held = held };
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_status st =
		rb_pipeline_stream(held->client, rbt_flow_get, &flow,
				   rbt_flow_replies, &flow, NULL, &stats);

	held->commands = (size_t)stats.commands;
	return st == RB_OK ||
	       rbt_method_fail(held, rb_client_error(held->client));
}

/* ----------------------------------------------------------- the floor -- */

static bool prepare_floor(const rbt_job *job, rbt_held *held)
{
	held->floor = rbt_floor_new_gets(job);
	return held->floor || rbt_method_fail(held, "out of memory");
}

const rbt_method rbt_gets_floor = { "floor", prepare_floor, rbt_floor_run,
				    rbt_replies_in_step };
const rbt_method rbt_gets_library = { "rb_pipeline_chunked", prepare_library,
				      run_library, count_result };
const rbt_method rbt_gets_stream = { "rb_pipeline_stream", rbt_method_wrap,
				     run_stream, rbt_flow_count };
const rbt_method rbt_gets_chunks = { "hiredis, chunks", NULL, run_chunks,
				     rbt_replies_count };
const rbt_method rbt_gets_chunks_freed = { "hiredis, chunks, freed", NULL,
					   run_chunks_freed, rbt_flow_count };
const rbt_method rbt_gets_one_pipeline = { "hiredis, one pipeline", NULL,
					   run_one_pipeline,
					   rbt_replies_count };

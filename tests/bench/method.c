#include "method.h"

#include "floor.h"
#include "resident.h"
#include "tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static bool fail(rbt_held *held, const char *why)
{
	snprintf(held->why, sizeof(held->why), "%s", why);
	return false;
}

/* ------------------------------------------------------- plain hiredis -- */

static size_t chunk_count(const rbt_job *job)
{
	return (job->keys->n + job->chunk - 1) / job->chunk;
}

static bool make_replies(rbt_held *held, size_t n)
{
	held->replies = calloc(n + 1, sizeof(*held->replies));
	return held->replies || fail(held, "out of memory");
}

static bool take_reply(rbt_held *held)
{
	void *got = NULL;
	redisReply *reply;

	if (redisGetReply(held->ctx, &got) != REDIS_OK)
		return fail(held, held->ctx->errstr);
	reply = got;
	held->replies[held->nreplies++] = reply;
	held->commands++;
	if (reply->type == REDIS_REPLY_ERROR)
		return fail(held, reply->str);
	return true;
}

/* MGET of n keys from first on, into the context's buffer. argv and lens have
 * room for n + 1. */
static bool append_mget(const rbt_job *job, rbt_held *held, size_t first,
			size_t n, const char **argv, size_t *lens)
{
	argv[0] = "MGET";
	lens[0] = 4;
	memcpy(argv + 1, job->keys->keys + first, n * sizeof(*argv));
	memcpy(lens + 1, job->keys->lens + first, n * sizeof(*lens));
	if (redisAppendCommandArgv(held->ctx, (int)(n + 1), argv, lens) !=
	    REDIS_OK)
		return fail(held, held->ctx->errstr);
	return true;
}

/* All keys in MGETs of so many, each awaited or all appended first. */
static bool read_mgets(const rbt_job *job, rbt_held *held, size_t chunk,
		       bool await)
{
	const size_t n = job->keys->n;
	const char **argv = calloc(chunk + 1, sizeof(*argv));
	size_t *lens = calloc(chunk + 1, sizeof(*lens));
	bool fine = argv && lens && make_replies(held, n / chunk + 1);
	size_t appended = 0;

	for (size_t i = 0; fine && i < n; i += chunk) {
		fine = append_mget(job, held, i, n - i < chunk ? n - i : chunk,
				   argv, lens);
		appended++;
		if (fine && await)
			fine = take_reply(held);
	}
	while (fine && held->nreplies < appended)
		fine = take_reply(held);
	free(argv);
	free(lens);
	return fine;
}

static bool read_one_mget(const rbt_job *job, rbt_held *held)
{
	return read_mgets(job, held, job->keys->n, true);
}

static bool read_mget_loop(const rbt_job *job, rbt_held *held)
{
	return read_mgets(job, held, job->chunk, true);
}

static bool read_mget_pipeline(const rbt_job *job, rbt_held *held)
{
	return read_mgets(job, held, job->chunk, false);
}

static bool read_get_pipeline(const rbt_job *job, rbt_held *held)
{
	const char *argv[2] = { "GET", NULL };
	size_t lens[2] = { 3, 0 };
	bool fine = make_replies(held, job->keys->n);

	for (size_t i = 0; fine && i < job->keys->n; i++) {
		argv[1] = job->keys->keys[i];
		lens[1] = job->keys->lens[i];
		if (redisAppendCommandArgv(held->ctx, 2, argv, lens) !=
		    REDIS_OK)
			fine = fail(held, held->ctx->errstr);
	}
	while (fine && held->nreplies < job->keys->n)
		fine = take_reply(held);
	return fine;
}

static bool reply_is(const redisReply *reply, const rbt_job *job, size_t i)
{
	return reply->type == REDIS_REPLY_STRING &&
	       rbt_value_is(reply->str, reply->len, job->value_len, i);
}

/* Of replies that are values, or arrays of values, or both. */
static size_t count_replies(const rbt_job *job, const rbt_held *held)
{
	size_t right = 0, i = 0;

	for (size_t r = 0; r < held->nreplies; r++) {
		const redisReply *reply = held->replies[r];

		if (reply->type != REDIS_REPLY_ARRAY) {
			right += reply_is(reply, job, i++);
			continue;
		}
		for (size_t e = 0; e < reply->elements; e++)
			right += reply_is(reply->element[e], job, i++);
	}
	return i == job->keys->n ? right : 0;
}

/* --------------------------------------------------------- the library -- */

static bool prepare_library(const rbt_job *job, rbt_held *held)
{
	rb_status st = rb_client_wrap(&held->client, held->ctx, job->options);

	return st == RB_OK || fail(held, rb_status_text(st));
}

static bool read_library(const rbt_job *job, rbt_held *held)
{
	rb_status st =
		rb_mget_chunked(held->client, job->keys->keys, job->keys->lens,
				job->keys->n, NULL, &held->result);

	return st == RB_OK || fail(held, rb_client_error(held->client));
}

static size_t count_result(const rbt_job *job, const rbt_held *held)
{
	size_t right = 0;

	if (rb_result_count(held->result) != job->keys->n)
		return 0;
	for (size_t i = 0; i < job->keys->n; i++) {
		rb_slice v = rb_result_value(held->result, i);

		right += rb_result_status(held->result, i) == RB_OK &&
			 rbt_value_is(v.data, v.len, job->value_len, i);
	}
	return right;
}

/* ----------------------------------------------------------- the floor -- */

static bool prepare_floor(const rbt_job *job, rbt_held *held)
{
	held->floor = rbt_floor_new(job->keys, job->value_len, job->chunk);
	return held->floor || fail(held, "out of memory");
}

static bool read_floor(const rbt_job *job, rbt_held *held)
{
	held->commands = chunk_count(job);
	return rbt_floor_read(held->floor, held->ctx->fd) ||
	       fail(held, "the floor lost its connection");
}

/* It looks at no value: all that can be said is that nothing is left over, so
 * that the count of bytes was right. */
static size_t count_floor(const rbt_job *job, const rbt_held *held)
{
	redisReply *reply = redisCommand(held->ctx, "PING");
	bool in_step = reply && reply->type == REDIS_REPLY_STATUS &&
		       strcmp(reply->str, "PONG") == 0;

	if (reply)
		freeReplyObject(reply);
	return in_step ? job->keys->n : 0;
}

const rbt_method rbt_method_get_pipeline = { "GETs in one pipeline", NULL,
					     read_get_pipeline, count_replies };
const rbt_method rbt_method_one_mget = { "one MGET", NULL, read_one_mget,
					 count_replies };
const rbt_method rbt_method_mget_loop = { "hiredis, MGET loop", NULL,
					  read_mget_loop, count_replies };
const rbt_method rbt_method_mget_pipeline = { "hiredis, MGETs pipelined", NULL,
					      read_mget_pipeline,
					      count_replies };
const rbt_method rbt_method_library = { "rb_mget_chunked", prepare_library,
					read_library, count_result };
const rbt_method rbt_method_floor = { "floor", prepare_floor, read_floor,
				      count_floor };

/* ----------------------------------------------------------- measuring -- */

void rbt_method_release(rbt_held *held)
{
	for (size_t i = 0; i < held->nreplies; i++)
		freeReplyObject(held->replies[i]);
	free(held->replies);
	held->replies = NULL;
	held->nreplies = 0;
	rb_result_free(held->result);
	held->result = NULL;
}

void rbt_method_end(rbt_held *held)
{
	rb_client_free(held->client);
	rbt_floor_free(held->floor);
	if (held->ctx)
		redisFree(held->ctx);
}

static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) *
		       1000000000u +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) *
		       1000u;
}

bool rbt_method_begin(const rbt_method *method, const rbt_job *job,
		      rbt_held *held)
{
	memset(held, 0, sizeof(*held));
	held->ctx =
		rbt_target_connect(job->target, held->why, sizeof(held->why));
	if (!held->ctx)
		return false;
	return !method->prepare || method->prepare(job, held);
}

static void time_read(const rbt_method *method, const rbt_job *job,
		      rbt_held *held, rbt_sample *out)
{
	size_t before, after;
	uint64_t cpu;

	rbt_memory_trim();
	rbt_memory_reset_peak();
	before = rbt_memory_resident();
	cpu = cpu_ns();
	out->start_ns = rbt_now_ns();
	out->done = method->read(job, held);
	out->wall_ns = rbt_now_ns() - out->start_ns;
	out->cpu_ns = cpu_ns() - cpu;
	after = rbt_memory_peak();
	out->growth = after > before ? after - before : 0;
}

static size_t count_commands(const rbt_held *held)
{
	rb_stats stats;

	stats.struct_size = sizeof(stats);
	if (held->result && rb_result_stats(held->result, &stats) == RB_OK)
		return (size_t)stats.commands;
	return held->commands;
}

void rbt_method_measure(const rbt_method *method, const rbt_job *job,
			void (*wait)(void *arg), void *arg, rbt_sample *out)
{
	rbt_held held;
	uint64_t cpu;

	memset(out, 0, sizeof(*out));
	if (rbt_method_begin(method, job, &held)) {
		if (wait)
			wait(arg);
		time_read(method, job, &held, out);
	}
	out->commands = count_commands(&held);
	if (out->done)
		out->right = method->count_right(job, &held);
	cpu = cpu_ns();
	rbt_method_release(&held);
	out->cpu_ns += cpu_ns() - cpu;
	memcpy(out->why, held.why, sizeof(out->why));
	rbt_method_end(&held);
}

#include "method.h"

#include "crew.h"
#include "floor.h"
#include "resident.h"
#include "tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

size_t rbt_job_entries(const rbt_job *job)
{
	return job->keys->n * (job->laps ? job->laps : 1);
}

bool rbt_method_fail(rbt_held *held, const char *why)
{
	snprintf(held->why, sizeof(held->why), "%s", why);
	return false;
}

bool rbt_method_wrap(const rbt_job *job, rbt_held *held)
{
	rb_status st = rb_client_wrap(&held->client, held->ctx, job->options);

	return st == RB_OK || rbt_method_fail(held, rb_status_text(st));
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
	rbt_crew_free(held->crew);
	free(held->gets);
	free(held->argv);
	free(held->lens);
	if (held->ctx)
		redisFree(held->ctx);
}

uint64_t rbt_method_cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) *
		       1000000000u +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) *
		       1000u;
}

static void time_run(const rbt_method *method, const rbt_job *job,
		     rbt_held *held, rbt_sample *out)
{
	size_t before, after;
	uint64_t cpu;

	rbt_memory_trim();
	rbt_memory_reset_peak();
	before = rbt_memory_resident();
	cpu = rbt_method_cpu_ns();
	out->start_ns = rbt_now_ns();
	out->done = method->run(job, held);
	out->wall_ns = rbt_now_ns() - out->start_ns;
	out->cpu_ns = rbt_method_cpu_ns() - cpu;
	after = rbt_memory_peak();
	out->growth = after > before ? after - before : 0;
}

size_t rbt_method_commands(const rbt_held *held)
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
		time_run(method, job, &held, out);
	}
	out->commands = rbt_method_commands(&held);
	if (out->done)
		out->right = method->count_right(job, &held);
	cpu = rbt_method_cpu_ns();
	rbt_method_release(&held);
	out->cpu_ns += rbt_method_cpu_ns() - cpu;
	memcpy(out->why, held.why, sizeof(out->why));
	rbt_method_end(&held);
}

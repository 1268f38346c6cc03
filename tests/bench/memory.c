#include "memory.h"

#include "reads.h"
#include "series.h"

#include <stdint.h>
#include <stdio.h>

/* A stream goes through its keys so often: ten million in all. */
enum { NKEYS = 1000000, VALUE_LEN = 100, ROUNDS = 3, LAPS = 10 };

/* What a stream may grow by. */
static const double STREAM_BOUND = 8.0 * 1024 * 1024;

/* Of the answer to all keys, whose values are there. */
static size_t reply_bytes(const rbt_job *job)
{
	char line[32];
	int header = snprintf(line, sizeof(line), "$%zu\r\n", job->value_len);
	size_t n = job->keys->n, whole = n / job->chunk, rest = n % job->chunk;
	size_t bytes = n * ((size_t)header + job->value_len + 2);

	header = snprintf(line, sizeof(line), "*%zu\r\n", job->chunk);
	bytes += whole * (size_t)header;
	if (rest)
		bytes += (size_t)snprintf(line, sizeof(line), "*%zu\r\n", rest);
	return bytes;
}

static bool print_kept(const rbt_method *method, rbt_job *job, size_t rounds)
{
	rbt_sample sample;
	uint64_t growth[RBT_MAX_ROUNDS];
	double reply = (double)reply_bytes(job), mid;

	for (size_t r = 0; r < rounds; r++) {
		if (!rbt_run_checked(method, job, &sample, NULL))
			return false;
		growth[r] = sample.growth;
	}
	mid = (double)rbt_series_median(growth, rounds);
	printf("%-23s grew by %6.1f MB: %.3f times the reply, or the reply "
	       "and %.1f bytes a key\n",
	       method->name, mid / 1e6, mid / reply,
	       (mid - reply) / (double)job->keys->n);
	fflush(stdout);
	return true;
}

static bool print_stream(rbt_job *job)
{
	rbt_sample sample;
	size_t server;

	job->laps = LAPS;
	job->whole = true;
	if (!rbt_run_checked(&rbt_read_stream, job, &sample, &server))
		return false;
	printf("%-23s grew by %6.1f MB with %s keys, bound %.1f MB; the "
	       "server held\n%-23s at most %.2f MB for it; %.1f s\n",
	       rbt_read_stream.name, (double)sample.growth / 1e6,
	       rbt_series_grouped(rbt_job_entries(job)), STREAM_BOUND / 1e6, "",
	       (double)server / 1e6, (double)sample.wall_ns / 1e9);
	fflush(stdout);
	return true;
}

bool rbt_memory_print(const rbt_setup *s)
{
	rbt_task task;
	size_t rounds = rbt_either(s->rounds, ROUNDS);
	bool fine = rbt_task_begin(&task, s, rbt_either(s->nkeys, NKEYS),
				   rbt_either(s->value_len, VALUE_LEN), false);

	if (fine) {
		double reply = (double)reply_bytes(&task.job);
		double keys = (double)task.keys.n;

		printf("\n%s keys of %zu bytes: the reply is %.1f MB, the "
		       "bound 1.1 x reply + 24 x keys\nis %.1f MB\n",
		       rbt_series_grouped(task.keys.n), task.job.value_len,
		       reply / 1e6, (1.1 * reply + 24.0 * keys) / 1e6);
		fine = print_kept(&rbt_read_library, &task.job, rounds) &&
		       print_kept(&rbt_read_loop, &task.job, rounds) &&
		       print_stream(&task.job);
	}
	rbt_task_end(&task);
	return fine;
}

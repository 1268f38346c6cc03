#include "reads.h"

#include "floor.h"
#include "flow.h"
#include "replies.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------- plain hiredis -- */

/* MGET of n keys from first on, into the context's buffer. argv and lens have
 * room for n + 1. */
static bool append_mget(const rbt_job *job, rbt_held *held, size_t first,
			size_t n, const char **argv, size_t *lens)
{
	argv[0] = "MGET";
	lens[0] = 4;
	memcpy(argv + 1, job->keys->keys + first, n * sizeof(*argv));
	memcpy(lens + 1, job->keys->lens + first, n * sizeof(*lens));
	return rbt_replies_append(held, n + 1, argv, lens);
}

/* All keys in MGETs of so many, each awaited or all appended first. */
static bool read_mgets(const rbt_job *job, rbt_held *held, size_t chunk,
		       bool await)
{
	const size_t n = job->keys->n;
	const char **argv = calloc(chunk + 1, sizeof(*argv));
	size_t *lens = calloc(chunk + 1, sizeof(*lens));
	bool fine = argv && lens && rbt_replies_init(held, n / chunk + 1);
	size_t appended = 0;

	for (size_t i = 0; fine && i < n; i += chunk) {
		fine = append_mget(job, held, i, n - i < chunk ? n - i : chunk,
				   argv, lens);
		appended++;
		if (fine && await)
			fine = rbt_replies_take(held);
	}
	while (fine && held->nreplies < appended)
		fine = rbt_replies_take(held);
	free(argv);
	free(lens);
	return fine;
}

static bool read_one_mget(const rbt_job *job, rbt_held *held)
{
	return read_mgets(job, held, job->keys->n, true);
}

static bool read_loop(const rbt_job *job, rbt_held *held)
{
	return read_mgets(job, held, job->chunk, true);
}

static bool read_appended(const rbt_job *job, rbt_held *held)
{
	return read_mgets(job, held, job->chunk, false);
}

/* --------------------------------------------------------- the library -- */

static bool read_library(const rbt_job *job, rbt_held *held)
{
	rb_status st =
		rb_mget_chunked(held->client, job->keys->keys, job->keys->lens,
				job->keys->n, NULL, &held->result);

	return st == RB_OK ||
	       rbt_method_fail(held, rb_client_error(held->client));
}

static size_t count_result(const rbt_job *job, rbt_held *held)
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

static bool read_stream(const rbt_job *job, rbt_held *held)
{
	rbt_flow flow = { .job = job, .held = held };
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_status st = rb_mget_stream(held->client, rbt_flow_key, &flow,
				      rbt_flow_values, &flow, NULL, &stats);

	held->commands = (size_t)stats.commands;
	return st == RB_OK ||
	       rbt_method_fail(held, rb_client_error(held->client));
}

/* ----------------------------------------------------------- the floor -- */

static bool prepare_floor(const rbt_job *job, rbt_held *held)
{
	held->floor = rbt_floor_new_mgets(job);
	return held->floor || rbt_method_fail(held, "out of memory");
}

const rbt_method rbt_read_floor = { "floor", prepare_floor, rbt_floor_run,
				    rbt_replies_in_step };
const rbt_method rbt_read_library = { "rb_mget_chunked", rbt_method_wrap,
				      read_library, count_result };
const rbt_method rbt_read_stream = { "rb_mget_stream", rbt_method_wrap,
				     read_stream, rbt_flow_count };
const rbt_method rbt_read_loop = { "hiredis, MGET loop", NULL, read_loop,
				   rbt_replies_count };
const rbt_method rbt_read_appended = { "hiredis, all appended", NULL,
				       read_appended, rbt_replies_count };
const rbt_method rbt_read_one_mget = { "one MGET", NULL, read_one_mget,
				       rbt_replies_count };

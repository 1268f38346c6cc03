#include "writes.h"

#include "floor.h"
#include "replies.h"

#include <stdlib.h>

/* ------------------------------------------------------- plain hiredis -- */

/* argv and lens have room for 1 + 2n. */
static bool set_chunk(const rbt_job *job, rbt_held *held, size_t first,
		      size_t n, const char **argv, size_t *lens)
{
	argv[0] = "MSET";
	lens[0] = 4;
	for (size_t i = 0; i < n; i++) {
		size_t v = first + i + job->shift;

		argv[1 + 2 * i] = job->keys->keys[first + i];
		lens[1 + 2 * i] = job->keys->lens[first + i];
		argv[2 + 2 * i] = job->values->values[v];
		lens[2 + 2 * i] = job->values->lens[v];
	}
	return rbt_replies_append(held, 1 + 2 * n, argv, lens) &&
	       rbt_replies_take(held);
}

static bool write_loop(const rbt_job *job, rbt_held *held)
{
	const size_t n = job->keys->n, chunk = job->chunk;
	const char **argv = calloc(1 + 2 * chunk, sizeof(*argv));
	size_t *lens = calloc(1 + 2 * chunk, sizeof(*lens));
	bool fine = argv && lens && rbt_replies_init(held, n / chunk + 1);

	for (size_t i = 0; fine && i < n; i += chunk)
		fine = set_chunk(job, held, i, n - i < chunk ? n - i : chunk,
				 argv, lens);
	free(argv);
	free(lens);
	return fine;
}

/* --------------------------------------------------------- the library -- */

static bool write_library(const rbt_job *job, rbt_held *held)
{
	rb_status st =
		rb_mset_chunked(held->client, job->keys->keys, job->keys->lens,
				job->values->values + job->shift,
				job->values->lens + job->shift, job->keys->n,
				NULL, &held->result);

	return st == RB_OK ||
	       rbt_method_fail(held, rb_client_error(held->client));
}

/* ----------------------------------------------------------- the floor -- */

static bool prepare_floor(const rbt_job *job, rbt_held *held)
{
	held->floor = rbt_floor_new_msets(job);
	return held->floor || rbt_method_fail(held, "out of memory");
}

/* ---------------------------------------------------------- afterwards -- */

static size_t count_array(const redisReply *reply, const rbt_job *job,
			  size_t first)
{
	size_t right = 0;

	if (!reply || reply->type != REDIS_REPLY_ARRAY)
		return 0;
	for (size_t i = 0; i < reply->elements; i++)
		right += rbt_replies_is(reply->element[i], job,
					first + i + job->shift);
	return right;
}

/* Reads all keys again, by plain hiredis and one array at a time. */
static size_t count_written(const rbt_job *job, rbt_held *held)
{
	const rbt_keys *keys = job->keys;
	const char **argv = calloc(1 + job->chunk, sizeof(*argv));
	size_t *lens = calloc(1 + job->chunk, sizeof(*lens));
	size_t right = 0;

	for (size_t i = 0; argv && lens && i < keys->n; i += job->chunk) {
		size_t n = keys->n - i < job->chunk ? keys->n - i : job->chunk;
		redisReply *reply;

		argv[0] = "MGET";
		lens[0] = 4;
		for (size_t k = 0; k < n; k++) {
			argv[1 + k] = keys->keys[i + k];
			lens[1 + k] = keys->lens[i + k];
		}
		reply = redisCommandArgv(held->ctx, (int)n + 1, argv, lens);
		right += count_array(reply, job, i);
		if (reply)
			freeReplyObject(reply);
	}
	free(argv);
	free(lens);
	return right;
}

const rbt_method rbt_write_floor = { "floor", prepare_floor, rbt_floor_run,
				     count_written };
const rbt_method rbt_write_library = { "rb_mset_chunked", rbt_method_wrap,
				       write_library, count_written };
const rbt_method rbt_write_loop = { "hiredis, MSET loop", NULL, write_loop,
				    count_written };

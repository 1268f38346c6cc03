#include "nodewise.h"

#include "crew.h"
#include "replies.h"

#include <stdlib.h>
#include <string.h>

/* Keys of the call that connects to all nodes before the clock starts. */
enum { FIRST_KEYS = 100 };

/* ------------------------------------------------------- plain hiredis -- */

static bool prepare_crew(const rbt_job *job, rbt_held *held)
{
	held->crew = rbt_crew_new(job->places, held->why, sizeof(held->why));
	return held->crew != NULL;
}

static bool run_gets(const rbt_job *job, rbt_held *held)
{
	const rbt_keys *keys = job->keys;
	const char *argv[2] = { "GET", NULL };
	size_t lens[2] = { 3, 0 };
	bool fine = rbt_crew_begin(held->crew, held, keys->n);

	for (size_t i = 0; fine && i < keys->n; i++) {
		argv[1] = keys->keys[i];
		lens[1] = keys->lens[i];
		fine = rbt_crew_append(held->crew, held, i, argv[1], lens[1], 2,
				       argv, lens);
	}
	return fine && rbt_crew_finish(held->crew, held);
}

/* In this order; NULL: as they are. */
static bool set_all(const rbt_job *job, rbt_held *held, const size_t *order)
{
	const rbt_keys *keys = job->keys;
	const char *argv[3] = { "SET", NULL, NULL };
	size_t lens[3] = { 3, 0, 0 };
	bool fine = rbt_crew_begin(held->crew, held, keys->n);

	for (size_t k = 0; fine && k < keys->n; k++) {
		size_t i = order ? order[k] : k;

		argv[1] = keys->keys[i];
		lens[1] = keys->lens[i];
		argv[2] = job->values->values[i + job->shift];
		lens[2] = job->values->lens[i + job->shift];
		fine = rbt_crew_append(held->crew, held, k, argv[1], lens[1], 3,
				       argv, lens);
	}
	return fine && rbt_crew_finish(held->crew, held);
}

static bool run_sets(const rbt_job *job, rbt_held *held)
{
	return set_all(job, held, NULL);
}

/* Whoever reads keys in the order in which they were written has the server's
 * memory in its order too, which takes a third less of its time. */
static bool run_load(const rbt_job *job, rbt_held *held)
{
	const size_t n = job->keys->n;
	size_t *order = malloc((n + 1) * sizeof(*order));
	uint64_t state = 1;
	bool fine;

	if (!order)
		return rbt_method_fail(held, "out of memory");
	for (size_t i = 0; i < n; i++) {
		size_t k;

		state = state * 6364136223846793005u + 1442695040888963407u;
		k = (size_t)(state >> 33) % (i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	fine = set_all(job, held, order);
	free(order);
	return fine;
}

/* --------------------------------------------------------- the library -- */

static bool say_error(rbt_held *held)
{
	return rbt_method_fail(held, rb_client_error(held->client));
}

/* With a connection to each node, as the others have theirs. */
static bool prepare_client(const rbt_job *job, rbt_held *held)
{
	size_t n = job->keys->n < FIRST_KEYS ? job->keys->n : FIRST_KEYS;
	rb_result *res = NULL;
	rb_status st =
		rb_client_open(&held->client, job->places->uri, job->options);

	if (st != RB_OK)
		return rbt_method_fail(held, rb_status_text(st));
	st = rb_mget_chunked(held->client, job->keys->keys, job->keys->lens, n,
			     NULL, &res);
	rb_result_free(res);
	return st == RB_OK || say_error(held);
}

static bool run_mget(const rbt_job *job, rbt_held *held)
{
	return rb_mget_chunked(held->client, job->keys->keys, job->keys->lens,
			       job->keys->n, NULL, &held->result) == RB_OK ||
	       say_error(held);
}

static bool run_mset(const rbt_job *job, rbt_held *held)
{
	return rb_mset_chunked(held->client, job->keys->keys, job->keys->lens,
			       job->values->values + job->shift,
			       job->values->lens + job->shift, job->keys->n,
			       NULL, &held->result) == RB_OK ||
	       say_error(held);
}

/* The array of commands is the caller's, and stands before the clock starts. */
static bool prepare_commands(const rbt_job *job, rbt_held *held, bool writes)
{
	const size_t n = job->keys->n, argc = writes ? 3 : 2;

	held->gets = calloc(n + 1, sizeof(*held->gets));
	held->argv = calloc(argc * n + 1, sizeof(*held->argv));
	held->lens = calloc(argc * n + 1, sizeof(*held->lens));
	if (!held->gets || !held->argv || !held->lens)
		return rbt_method_fail(held, "out of memory");
	for (size_t i = 0; i < n; i++) {
		const char **argv = held->argv + argc * i;
		size_t *lens = held->lens + argc * i;

		argv[0] = writes ? "SET" : "GET";
		lens[0] = 3;
		argv[1] = job->keys->keys[i];
		lens[1] = job->keys->lens[i];
		if (writes) {
			argv[2] = job->values->values[i + job->shift];
			lens[2] = job->values->lens[i + job->shift];
		}
		held->gets[i].argc = (int)argc;
		held->gets[i].argv = argv;
		held->gets[i].argvlen = lens;
	}
	return prepare_client(job, held);
}

static bool prepare_gets(const rbt_job *job, rbt_held *held)
{
	return prepare_commands(job, held, false);
}

static bool prepare_sets(const rbt_job *job, rbt_held *held)
{
	return prepare_commands(job, held, true);
}

static bool run_pipeline(const rbt_job *job, rbt_held *held)
{
	return rb_pipeline_chunked(held->client, held->gets, job->keys->n, NULL,
				   &held->result) == RB_OK ||
	       say_error(held);
}

/* ---------------------------------------------------------- afterwards -- */

static size_t count_replies(const rbt_job *job, rbt_held *held)
{
	size_t right = 0;

	for (size_t i = 0; i < held->nreplies; i++)
		right += held->replies[i] &&
			 rbt_replies_is(held->replies[i], job, i + job->shift);
	return right;
}

static size_t count_values(const rbt_job *job, rbt_held *held)
{
	size_t right = 0;

	if (rb_result_count(held->result) != job->keys->n)
		return 0;
	for (size_t i = 0; i < job->keys->n; i++) {
		rb_slice v = rb_result_value(held->result, i);

		right += rb_result_status(held->result, i) == RB_OK &&
			 rbt_value_is(v.data, v.len, job->value_len,
				      i + job->shift);
	}
	return right;
}

static size_t count_in_result(const rbt_job *job, rbt_held *held)
{
	size_t right = 0;

	if (rb_result_count(held->result) != job->keys->n)
		return 0;
	for (size_t i = 0; i < job->keys->n; i++)
		right += rb_result_status(held->result, i) == RB_OK &&
			 rbt_replies_is(rb_result_reply(held->result, i), job,
					i + job->shift);
	return right;
}

/* Reads all keys again, by hand. */
static size_t count_written(const rbt_job *job, rbt_held *held)
{
	rbt_held reread;
	size_t right = 0;

	(void)held;
	memset(&reread, 0, sizeof(reread));
	if (prepare_crew(job, &reread) && run_gets(job, &reread))
		right = count_replies(job, &reread);
	rbt_method_release(&reread);
	rbt_method_end(&reread);
	return right;
}

const rbt_method rbt_nodewise_gets = { "hiredis, GETs by node", prepare_crew,
				       run_gets, count_replies };
const rbt_method rbt_nodewise_mget = { "rb_mget_chunked", prepare_client,
				       run_mget, count_values };
const rbt_method rbt_nodewise_pipeline = { "rb_pipeline_chunked", prepare_gets,
					   run_pipeline, count_in_result };
const rbt_method rbt_nodewise_sets = { "hiredis, SETs by node", prepare_crew,
				       run_sets, count_written };
const rbt_method rbt_nodewise_load = { "load", prepare_crew, run_load,
				       count_written };
const rbt_method rbt_nodewise_mset = { "rb_mset_chunked", prepare_client,
				       run_mset, count_written };
const rbt_method rbt_nodewise_pipe_sets = { "rb_pipeline_chunked", prepare_sets,
					    run_pipeline, count_written };

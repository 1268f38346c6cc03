/*
 * The fields of a hash, in blocks whose values fit into memory. How many fields
 * make a block follows from the values so far. Since the next ones may be longer,
 * the library is told to keep no more than MOST_VALUES; what it then refuses is
 * asked for again in the next block. A value on its own has no such bound.
 */
#include "mget.h"

#include "deadline.h"
#include "say.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_FIELDS = 16,
	MOST_FIELDS = 20000,
	/* Of the fields of a block together; one alone may be longer. */
	MOST_NAMES = 2 * 1024 * 1024,
	WANTED_VALUES = 4 * 1024 * 1024,
	MOST_VALUES = 16 * 1024 * 1024
};

typedef struct block {
	/* The fields, one behind the other in names. */
	char *names;
	size_t capacity;
	size_t used;
	const char **fields;
	size_t *lens;
	rb_slice *slices;
	rb_slice *values;
	rb_status *statuses;
	size_t n;
	/* How many of them are asked for: the others were, and are kept. */
	size_t asked;
	/* The number of its first field in the run. */
	size_t first;
	/* How many fields are wanted in a block. */
	size_t wanted;
	/* A field that the source gave and that did not fit. */
	rb_slice pending;
	bool has_pending;
	bool ended;
} block;

static bool block_init(block *b)
{
	*b = (block){ .wanted = FIRST_FIELDS };
	b->fields = malloc(MOST_FIELDS * sizeof(*b->fields));
	b->lens = malloc(MOST_FIELDS * sizeof(*b->lens));
	b->slices = malloc(MOST_FIELDS * sizeof(*b->slices));
	b->values = malloc(MOST_FIELDS * sizeof(*b->values));
	b->statuses = malloc(MOST_FIELDS * sizeof(*b->statuses));
	return b->fields != NULL && b->lens != NULL && b->slices != NULL &&
	       b->values != NULL && b->statuses != NULL;
}

static void block_fini(block *b)
{
	free(b->names);
	free(b->fields);
	free(b->lens);
	free(b->slices);
	free(b->values);
	free(b->statuses);
}

/* ---------------------------------------------------------------- fill -- */

static bool reserve(block *b, size_t len)
{
	size_t capacity = b->used + len;
	char *names;

	if (capacity <= b->capacity)
		return true;
	if (capacity < MOST_NAMES)
		capacity = MOST_NAMES;
	names = realloc(b->names, capacity);
	if (names == NULL)
		return false;
	b->names = names;
	b->capacity = capacity;
	return true;
}

static bool add(block *b, rb_slice field)
{
	if (!reserve(b, field.len))
		return false;
	if (field.len > 0)
		memcpy(b->names + b->used, field.data, field.len);
	b->lens[b->n++] = field.len;
	b->used += field.len;
	return true;
}

/* 1: there is a field in pending; otherwise as keys_next(). */
static int pull(block *b, keys *k)
{
	int got;

	if (b->has_pending)
		return 1;
	got = b->ended ? 0 : keys_next(k, &b->pending);
	b->has_pending = got > 0;
	b->ended = got == 0;
	return got;
}

/* Takes fields as long as they fit. False: the run is over, as m->status or a
 * signal tells. */
static bool fill(mget *m, block *b)
{
	while (b->n < b->wanted) {
		int got = pull(b, m->keys);

		if (got < 0) {
			m->status = keys_status(m->keys);
			return false;
		}
		if (got == 0 ||
		    (b->n > 0 && b->used + b->pending.len > MOST_NAMES))
			return true;
		if (!add(b, b->pending)) {
			mget_end(m, RB_ERR_NOMEM);
			return false;
		}
		b->has_pending = false;
	}
	return true;
}

/* Only now, since names may have moved. */
static void point(block *b)
{
	const char *at = b->names == NULL ? "" : b->names;

	b->asked = b->n < b->wanted ? b->n : b->wanted;
	for (size_t i = 0; i < b->asked; i++) {
		b->fields[i] = at;
		b->slices[i] = (rb_slice){ at, b->lens[i] };
		at += b->lens[i];
	}
}

/* The first n fields are done with. */
static void shift(block *b, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += b->lens[i];
	b->used -= bytes;
	b->n -= n;
	b->first += n;
	if (b->n == 0)
		return;
	memmove(b->names, b->names + bytes, b->used);
	memmove(b->lens, b->lens + n, b->n * sizeof(*b->lens));
}

/* ----------------------------------------------------------------- ask -- */

static void add_stats(rb_stats *sum, const rb_stats *more)
{
	sum->commands += more->commands;
	sum->keys += more->keys;
	sum->request_bytes += more->request_bytes;
	sum->reply_bytes += more->reply_bytes;
	sum->round_trips += more->round_trips;
	sum->retries += more->retries;
	sum->splits += more->splits;
	sum->redirects += more->redirects;
	sum->reconnects += more->reconnects;
}

static void blame_field(mget *m, const block *b, size_t i, const rb_result *res)
{
	keys_place place = keys_find(m->keys, b->first + i);
	const rb_chunk *chunk = rb_result_chunk(res, 0);
	const char *words = rb_result_message(res, i);

	if (words[0] == '\0')
		words = rb_client_error(m->client);
	const report_failure failure = {
		.key = b->slices[i],
		.file = place.file,
		.line = place.line,
		.node = chunk == NULL || chunk->node == NULL ? "" : chunk->node,
		.words = b->statuses[i] == RB_ERR_LIMIT ?
				 "the value is longer than --max-value" :
				 words,
	};

	report_fail(m->report, &failure);
}

/* How many fields were answered, or failed in a way that asking for fewer of
 * them does not change. */
static size_t count_settled(const block *b, const rb_result *res)
{
	size_t i = 0;

	while (i < b->asked &&
	       (b->asked == 1 || rb_result_status(res, i) != RB_ERR_LIMIT))
		i++;
	return i;
}

static void adapt(block *b, size_t settled, size_t bytes)
{
	size_t most = 4 * b->wanted;

	if (settled == 0) {
		b->wanted = 1;
		return;
	}
	if (bytes / settled > 0 && WANTED_VALUES / (bytes / settled) < most)
		most = WANTED_VALUES / (bytes / settled);
	b->wanted = most > MOST_FIELDS ? MOST_FIELDS : most + (most == 0);
}

/* Writes and reports what is settled. False: it is of no use to go on. */
static bool take_settled(mget *m, block *b, rb_status status,
			 const rb_result *res)
{
	size_t n = res == NULL ? b->asked : count_settled(b, res);
	const format_rows rows = { b->slices, b->values, b->statuses, n };
	size_t bytes = 0;
	int took;

	for (size_t i = 0; i < n; i++) {
		b->statuses[i] =
			res == NULL ? status : rb_result_status(res, i);
		b->values[i] = rb_result_value(res, i);
		bytes += b->values[i].len;
		if (b->statuses[i] != RB_OK)
			blame_field(m, b, i, res);
	}
	took = mget_take(m, &rows);
	shift(b, n);
	adapt(b, n, bytes);
	return took == 0;
}

static bool ask(mget *m, block *b, const rb_options *o)
{
	rb_options bounded = *o;
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_result *res = NULL;
	rb_status status;
	bool fine;

	if (b->asked > 1)
		bounded.max_result_bytes = MOST_VALUES;
	status = rb_hmget_chunked(m->client, m->hash, strlen(m->hash),
				  b->fields, b->lens, b->asked, &bounded, &res);
	if (rb_result_stats(res, &stats) == RB_OK)
		add_stats(&m->stats, &stats);
	/* A result at its bound ends the call, but not the run. */
	if (status == RB_ERR_LIMIT && b->asked > 1)
		status = RB_ERR_PARTIAL;
	mget_end(m, status);
	fine = status == RB_OK || status == RB_ERR_PARTIAL;
	fine = take_settled(m, b, status, res) && fine;
	rb_result_free(res);
	return fine;
}

/* ----------------------------------------------------------------- run -- */

void mget_run_hash(mget *m)
{
	/* --timeout is for the whole run, not for a block. */
	const deadline end = deadline_begin(m->options.timeout_ms);
	rb_options o = m->options;
	block b;

	if (!block_init(&b))
		mget_end(m, RB_ERR_NOMEM);
	while (m->status == EXITS_FINE && signals_caught() == 0 &&
	       fill(m, &b) && b.n > 0) {
		point(&b);
		o.timeout_ms = deadline_left(&end);
		if (!ask(m, &b, &o))
			break;
	}
	block_fini(&b);
}

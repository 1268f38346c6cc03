/*
 * The verbs of the library, by number, over entries that are always the same.
 */
#ifndef RBT_VERBS_H
#define RBT_VERBS_H

#include "play.h"

#include <redisbatch/redisbatch.h>

#define VERBS_ENTRIES 24
#define VERBS 13
#define VERBS_STREAM 10 /* the first that is a stream */

typedef struct verbs_entries {
	const char *keys[VERBS_ENTRIES];
	const char *values[VERBS_ENTRIES];
	const char *argv[VERBS_ENTRIES][3];
	rb_command plain[VERBS_ENTRIES];
	rb_command multi[VERBS_ENTRIES]; /* with a transaction in it */
	char names[VERBS_ENTRIES][8];
} verbs_entries;

static inline verbs_entries *verbs_make(void)
{
	static const char *const word[] = { "MULTI", "EXEC" };
	static verbs_entries e;
	size_t i;

	if (e.keys[0] != NULL)
		return &e;
	for (i = 0; i < VERBS_ENTRIES; i++) {
		(void)snprintf(e.names[i], sizeof(e.names[i]), "key%02zu", i);
		e.keys[i] = e.argv[i][1] = e.names[i];
		e.values[i] = e.argv[i][2] = e.names[i] + i % 6;
		e.argv[i][0] = "SET";
		e.plain[i] = (rb_command){ 3, e.argv[i], NULL };
		e.multi[i] = e.plain[i];
	}
	e.multi[1] =
		(rb_command){ 1, (const char **)(uintptr_t)&word[0], NULL };
	e.multi[4] =
		(rb_command){ 1, (const char **)(uintptr_t)&word[1], NULL };
	return &e;
}

/* -------------------------------------------------------------- reports -- */

/* arg is the play: none is answered whose command has not left. */
static inline int verbs_go_on(void *arg, const rb_chunk *chunk)
{
	play *p = arg;

	p->answered += chunk->outcome == RB_ANSWERED;
	must(p->answered <= p->commands);
	must(chunk->count > 0 && chunk->attempts > 0);
	must(chunk->message != NULL && chunk->node != NULL);
	return 0;
}

static inline int verbs_cancel(void *arg, const rb_chunk *chunk)
{
	(void)verbs_go_on(arg, chunk);
	return -1;
}

/* -------------------------------------------------------------- streams -- */

/* A source of n entries, and a sink that holds them to have come once. */
typedef struct verbs_flow {
	size_t n;
	size_t given;
	size_t taken;
} verbs_flow;

static inline int verbs_key(void *arg, rb_slice *key)
{
	verbs_flow *f = arg;

	if (f->given == f->n)
		return 0;
	key->data = verbs_make()->keys[f->given++];
	key->len = strlen(key->data);
	return 1;
}

static inline int verbs_pair(void *arg, rb_slice *key, rb_slice *value)
{
	*value = (rb_slice){ "value", 5 };
	return verbs_key(arg, key);
}

static inline int verbs_command(void *arg, rb_command *command)
{
	verbs_flow *f = arg;

	if (f->given == f->n)
		return 0;
	*command = verbs_make()->plain[f->given++];
	return 1;
}

static inline int verbs_take(void *arg, size_t first, const rb_slice *keys,
			     const rb_slice *values, const rb_status *statuses,
			     size_t n)
{
	const char *const *want = &verbs_make()->keys[first];
	verbs_flow *f = arg;
	size_t i;

	must(first == f->taken && n > 0);
	f->taken += n;
	for (i = 0; i < n; i++) {
		must(keys[i].len == strlen(want[i]));
		must(memcmp(keys[i].data, want[i], keys[i].len) == 0);
		must(values[i].data == NULL || statuses[i] == RB_OK);
		must(values[i].data == NULL ||
		     values[i].data[values[i].len] == '\0');
	}
	return 0;
}

static inline int verbs_take_replies(void *arg, size_t first,
				     const struct redisReply *const *replies,
				     const rb_status *statuses, size_t n)
{
	verbs_flow *f = arg;
	size_t i;

	must(first == f->taken && n > 0);
	f->taken += n;
	for (i = 0; i < n; i++)
		must(replies[i] != NULL || statuses[i] != RB_OK);
	return 0;
}

/* All that was given has been taken, but for one that found no memory or is
 * too long. */
static inline rb_status verbs_stream(rb_client *c, unsigned which, size_t n,
				     const rb_options *o)
{
	verbs_flow f = { n, 0, 0 };
	rb_status status;

	if (which == 0)
		status = rb_mget_stream(c, verbs_key, &f, verbs_take, &f, o,
					NULL);
	else if (which == 1)
		status = rb_pipeline_stream(c, verbs_command, &f,
					    verbs_take_replies, &f, o, NULL);
	else
		return rb_mset_stream(c, verbs_pair, &f, o, NULL);
	must(f.taken == f.given || f.taken + 1 == f.given);
	must(f.taken == f.given || status == RB_ERR_NOMEM ||
	     status == RB_ERR_LIMIT);
	return status;
}

/* ------------------------------------------------------------- the verbs -- */

static inline bool verbs_is_stream(unsigned which)
{
	return which % VERBS >= VERBS_STREAM;
}

/* Verb which of n entries; *out is NULL where there is no result. */
static inline rb_status verbs_call(rb_client *c, unsigned which, size_t n,
				   const rb_options *given, rb_result **out)
{
	verbs_entries *e = verbs_make();
	rb_options o = *given;

	*out = NULL;
	switch (which % VERBS) {
	case 0:
		return rb_mget_chunked(c, e->keys, NULL, n, &o, out);
	case 1:
		return rb_pipeline_chunked(c, e->plain, n, &o, out);
	case 2:
		return rb_mset_chunked(c, e->keys, NULL, e->values, NULL, n, &o,
				       out);
	case 3:
		o.chunk_keys = VERBS_ENTRIES;
		return rb_transaction(c, e->plain, n, &o, out);
	case 4:
		o.flags |= RB_TRANSACTION;
		return rb_pipeline_chunked(c, e->plain, n, &o, out);
	case 5:
		return rb_pipeline_chunked(c, e->multi, n, &o, out);
	case 6:
		o.flags |= RB_IF_ABSENT;
		return rb_mset_chunked(c, e->keys, NULL, e->values, NULL, n, &o,
				       out);
	case 7:
		o.expire_ms = 1000;
		return rb_mset_chunked(c, e->keys, NULL, e->values, NULL, n, &o,
				       out);
	case 8:
		return rb_unlink_chunked(c, e->keys, NULL, n, &o, out);
	case 9:
		o.flags |= RB_TRANSACTION;
		return rb_mset_chunked(c, e->keys, NULL, e->values, NULL, n, &o,
				       out);
	default:
		return verbs_stream(c, which % VERBS - VERBS_STREAM, n, &o);
	}
}

#endif

/*
 * What is done with recorded answers; the answers are in recorded.c.
 */
#include "recorded.h"

#include "commands.h"
#include "replies.h"
#include "want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ------------------------------------------------------------- assembly -- */

static void append(rbt_stream *s, const char *bytes, size_t len)
{
	s->bytes = realloc(s->bytes, s->len + len + 1);
	assert_non_null(s->bytes);
	memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
}

static void append_fill(rbt_stream *s, size_t len, size_t number)
{
	char header[32];
	char *value = malloc(len);
	int n = snprintf(header, sizeof(header), "$%zu\r\n", len);

	assert_non_null(value);
	rbt_value_fill(value, len, number);
	append(s, header, (size_t)n);
	append(s, value, len);
	append(s, "\r\n", 2);
	free(value);
}

static void add_part(rbt_stream *s, const rbt_part *part, size_t *next)
{
	size_t first = part->first == RBT_NEXT ? *next : part->first;

	if (part->fill > 0)
		append_fill(s, part->fill, first);
	else
		append(s, part->bytes, part->len);
	if (part->count == 0)
		return;
	*next = first + part->count;
	assert_true(*next <= s->recorded->entries);
	for (size_t i = first; i < *next; i++) {
		s->end[i] = s->len;
		s->want[i] = part->want;
		s->fill[i] = part->fill;
	}
}

static size_t count_commands(const rbt_recorded *r)
{
	size_t chunks = (r->entries + r->chunk_keys - 1) / r->chunk_keys;

	switch (r->verb) {
	case RBT_DO_MGET:
	case RBT_DO_MGET_SHORT:
	case RBT_DO_HMGET:
	case RBT_DO_MSET:
	case RBT_DO_HSET:
	case RBT_DO_UNLINK:
		return chunks;
	case RBT_DO_SETNX:
	case RBT_DO_PIPELINE:
		return r->entries;
	case RBT_DO_GROUP:
	case RBT_DO_PIPE_GROUP:
		return r->entries + 2 * chunks;
	case RBT_DO_MSET_GROUP:
		return 3 * chunks;
	}
	return 0;
}

void rbt_stream_init(rbt_stream *s, const rbt_recorded *recorded)
{
	size_t next = 0;

	memset(s, 0, sizeof(*s));
	s->recorded = recorded;
	s->commands = count_commands(recorded);
	for (size_t i = 0; i < RBT_PARTS; i++)
		if (recorded->parts[i].bytes || recorded->parts[i].fill > 0)
			add_part(s, &recorded->parts[i], &next);
	for (size_t i = 0; i < recorded->entries; i++)
		assert_true(s->end[i] > 0);
	/* Of one slot, so that no chunk waits for what comes of another. */
	assert_true(rbt_keys_init(&s->keys, "{key}:", recorded->entries));
}

void rbt_stream_fini(rbt_stream *s)
{
	free(s->bytes);
	rbt_keys_fini(&s->keys);
}

/* ------------------------------------------------------------- the call -- */

static rb_status call_commands(const rbt_stream *s, rb_client *rb,
			       const rb_options *o, rb_result **res)
{
	rbt_commands c;
	rb_status status;

	rbt_commands_init(&c);
	for (size_t i = 0; i < s->recorded->entries; i++)
		rbt_commands_add(&c, "COMMAND%zu key", i);
	status = s->recorded->verb == RBT_DO_GROUP ?
			 rb_transaction(rb, c.list, c.n, o, res) :
			 rb_pipeline_chunked(rb, c.list, c.n, o, res);
	rbt_commands_fini(&c);
	return status;
}

rb_status rbt_stream_call(const rbt_stream *s, rb_client *rb, rb_result **res)
{
	const rbt_recorded *r = s->recorded;
	rb_options o = rbt_options(r->chunk_keys, RBT_ENTRIES);
	const char **keys = s->keys.keys;
	const size_t *lens = s->keys.lens;

	switch (r->verb) {
	case RBT_DO_MGET_SHORT:
		o.max_value_bytes = 5;
		return rb_mget_chunked(rb, keys, lens, r->entries, &o, res);
	case RBT_DO_MGET:
		return rb_mget_chunked(rb, keys, lens, r->entries, &o, res);
	case RBT_DO_HMGET:
		return rb_hmget_chunked(rb, "hash", 4, keys, lens, r->entries,
					&o, res);
	case RBT_DO_HSET:
		return rb_hset_chunked(rb, "hash", 4, keys, lens, keys, lens,
				       r->entries, &o, res);
	case RBT_DO_UNLINK:
		return rb_unlink_chunked(rb, keys, lens, r->entries, &o, res);
	case RBT_DO_SETNX:
		o.flags = RB_IF_ABSENT;
		break;
	case RBT_DO_MSET_GROUP:
	case RBT_DO_PIPE_GROUP:
		o.flags = RB_TRANSACTION;
		break;
	case RBT_DO_MSET:
	case RBT_DO_PIPELINE:
	case RBT_DO_GROUP:
		break;
	}
	if (r->verb >= RBT_DO_PIPELINE && r->verb != RBT_DO_MSET_GROUP)
		return call_commands(s, rb, &o, res);
	return rb_mset_chunked(rb, keys, lens, keys, lens, r->entries, &o, res);
}

/* ------------------------------------------------------------ the check -- */

static char *print_words(char mark, const char *words)
{
	size_t size = strlen(words) + 2;
	char *text = malloc(size);

	assert_non_null(text);
	snprintf(text, size, "%c%s", mark, words);
	return text;
}

static char *print_failed(const rb_result *res, size_t i)
{
	rb_status status = rb_result_status(res, i);
	rb_outcome outcome = rb_result_outcome(res, i);
	const char *words = rb_result_message(res, i);

	if (words[0] == '\0' || rb_result_value(res, i).data)
		return print_words('?', "it failed without words or a value");
	if (status == RB_ERR_IO && outcome == RB_UNKNOWN)
		return print_words('l', "ost");
	if (status != RB_ERR_SERVER)
		return print_words('?', rb_status_text(status));
	if (outcome == RB_REJECTED)
		return print_words('-', words);
	/* An element of MGET that is an error: its command was answered. */
	return print_words(outcome == RB_ANSWERED ? '-' : '?', words);
}

static char *print_entry(const rb_result *res, size_t i, rbt_verb verb)
{
	const redisReply *reply = rb_result_reply(res, i);
	rb_outcome outcome = rb_result_outcome(res, i);
	rb_slice value = rb_result_value(res, i);
	redisReply own;

	if (reply && rb_result_status(res, i) != RB_ERR_LIMIT)
		return rbt_reply_print(reply);
	if (rb_result_status(res, i) != RB_OK)
		return print_failed(res, i);
	if (rb_result_message(res, i)[0] != '\0')
		return print_words('?', "it is fine and has words");
	memset(&own, 0, sizeof(own));
	own.type = value.data ? REDIS_REPLY_STRING : REDIS_REPLY_NIL;
	own.str = (char *)(uintptr_t)value.data;
	own.len = value.len;
	if (verb <= RBT_DO_HMGET)
		return outcome == RB_ANSWERED ? rbt_reply_print(&own) :
						print_words('?', "outcome");
	if (outcome == RB_REJECTED)
		return print_words('u', "nmet");
	return print_words(outcome == RB_ANSWERED ? 'd' : '?', "one");
}

static void check_entry(const rbt_stream *s, const rb_result *res, size_t i,
			size_t n)
{
	const char *want = s->end[i] <= n ? s->want[i] : "lost";
	char *got;

	if (s->end[i] <= n && s->fill[i] > 0) {
		want_filled(res, i, s->fill[i], i);
		return;
	}
	got = print_entry(res, i, s->recorded->verb);
	if (strcmp(got, want) != 0) {
		print_error("%s, %zu of %zu bytes, entry %zu: %s, not %s\n",
			    s->recorded->name, n, s->len, i, got, want);
		fail();
	}
	free(got);
}

bool rbt_stream_is_whole(const rbt_stream *s, size_t n)
{
	for (size_t i = 0; i < s->recorded->entries; i++)
		if (s->end[i] > n)
			return false;
	return true;
}

void rbt_stream_check(const rbt_stream *s, const rb_result *res, size_t n)
{
	assert_non_null(res);
	assert_int_equal(rb_result_count(res), s->recorded->entries);
	for (size_t i = 0; i < s->recorded->entries; i++)
		check_entry(s, res, i, n);
	want_sound(res);
}

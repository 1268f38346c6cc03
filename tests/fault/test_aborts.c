/*
 * A call that is aborted behind its n-th reply, for each of 1,000 replies: what
 * was answered before stays, and the context refuses all further use.
 */
#include "commands.h"
#include "peer_reply.h"
#include "played.h"
#include "want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Some more are in flight when it ends. */
enum { REPLIES = 1000, MORE = 8, DEADLINE_MS = 500 };

/* ------------------------------------------------------- what is aborted -- */

/* 1,000 answers, each with the number of its entry, and behind which byte each
 * ends. */
typedef struct answers {
	rbt_reply bytes;
	size_t end[REPLIES];
	/* What may follow: an answer for which there is no room yet. */
	const char *large;
} answers;

static void answers_init(answers *a, bool in_arrays)
{
	char text[24];

	rbt_reply_init(&a->bytes);
	for (size_t i = 0; i < REPLIES; i++) {
		int len = snprintf(text, sizeof(text), "%zu", i);

		if (in_arrays)
			rbt_reply_array(&a->bytes, 1);
		rbt_reply_bulk(&a->bytes, text, (size_t)len);
		a->end[i] = a->bytes.len;
	}
	a->large = in_arrays ? "*1\r\n$1000000\r\nx" : "$1000000\r\nx";
}

typedef rb_status work(rbt_played *p, size_t n, const rb_options *o,
		       rb_result **res);

static rb_status do_mget(rbt_played *p, size_t n, const rb_options *given,
			 rb_result **res)
{
	rb_options o = *given;
	rbt_keys keys;
	rb_status status;

	o.chunk_keys = 1;
	assert_true(rbt_keys_init(&keys, "key:", n));
	status = rb_mget_chunked(p->rb, keys.keys, keys.lens, n, &o, res);
	rbt_keys_fini(&keys);
	return status;
}

/* Seven replies a chunk: most aborts are in the middle of one. */
static rb_status do_pipeline(rbt_played *p, size_t n, const rb_options *given,
			     rb_result **res)
{
	static const char *argv[] = { "GET", "key" };
	static rb_command commands[REPLIES + MORE];
	rb_options o = *given;

	o.chunk_keys = 7;
	for (size_t i = 0; i < n; i++) {
		commands[i].argc = 2;
		commands[i].argv = argv;
	}
	return rb_pipeline_chunked(p->rb, commands, n, &o, res);
}

/* ---------------------------------------------------------- how it ends -- */

static void starve(rbt_played *p)
{
	p->count.fail_at = p->count.asked + 1;
	p->count.fail_on = 1;
}

static void cancel(rbt_played *p)
{
	rb_client_cancel(p->rb);
}

typedef struct abortion {
	const char *what;
	/* Runs once the reply was dealt with; then the large one comes. NULL:
	 * nothing comes, and the deadline passes. */
	void (*hook)(rbt_played *p);
	rb_status status;
} abortion;

static const abortion abortions[] = {
	{ "the deadline", NULL, RB_ERR_TIMEOUT },
	{ "a lack of memory", starve, RB_ERR_NOMEM },
	{ "rb_client_cancel()", cancel, RB_ERR_CANCELLED },
};

static void want_entries(const rb_result *res, size_t n, rb_status status)
{
	char text[24];

	assert_non_null(res);
	assert_int_equal(rb_result_count(res), n + MORE);
	for (size_t i = 0; i < n; i++) {
		int len = snprintf(text, sizeof(text), "%zu", i);

		want_bytes(res, i, text, (size_t)len);
	}
	for (size_t i = n; i < n + MORE; i++)
		want_failed(res, i, status, RB_UNKNOWN);
	want_sound(res);
}

static void abort_behind(size_t n, const abortion *how, work *fn,
			 const answers *a)
{
	rb_options o = rbt_options(0, n + MORE);
	rb_result *res = NULL;
	rb_status status;
	rbt_reply bytes;
	rbt_played p;

	rbt_reply_init(&bytes);
	rbt_reply_bytes(&bytes, a->bytes.buf, a->end[n - 1]);
	rbt_reply_text(&bytes, how->hook ? a->large : "");
	o.timeout_ms = DEADLINE_MS;
	rbt_played_begin(&p, NULL);
	p.bytes = bytes.buf;
	p.len = bytes.len;
	p.commands = n + MORE;
	p.hook = how->hook;
	p.hook_at = a->end[n - 1];
	status = fn(&p, n + MORE, &o, &res);
	want_status(p.rb, status, how->status);
	want_entries(res, n, how->status);
	p.count.fail_at = 0;
	rbt_played_want_broken(&p);
	rb_result_free(res);
	rbt_played_end(&p);
	rbt_reply_fini(&bytes);
}

static void abort_behind_each(work *fn, bool in_arrays)
{
	answers a;

	answers_init(&a, in_arrays);
	for (size_t i = 0; i < COUNT(abortions); i++) {
		size_t refused = 0;

		for (size_t n = 1; n <= REPLIES; n++, refused++)
			abort_behind(n, &abortions[i], fn, &a);
		print_message("# %zu of %d refused after %s\n", refused,
			      REPLIES, abortions[i].what);
	}
	rbt_reply_fini(&a.bytes);
}

static void test_a_read_may_be_aborted_behind_any_reply(void **state)
{
	(void)state;
	abort_behind_each(do_mget, true);
}

static void test_a_pipeline_may_be_aborted_behind_any_reply(void **state)
{
	(void)state;
	abort_behind_each(do_pipeline, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_read_may_be_aborted_behind_any_reply),
		cmocka_unit_test(
			test_a_pipeline_may_be_aborted_behind_any_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Commands of all kinds: pipelines, transactions, the builder.
 */
#include "replies.h"
#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COMMANDS = 48, KINDS = 6, GROUP = 5 };

static void prepare_data(torture *t)
{
	rbt_do(t->live->admin, "SET text words");
	rbt_do(t->live->admin, "RPUSH list a b c");
	rbt_commands_init(&t->commands);
}

static void run_pipeline(torture *t)
{
	if (!torture_wrap(t))
		return;
	torture_called(t, rb_pipeline_chunked(t->rb, t->commands.list,
					      t->commands.n, NULL,
					      torture_out(t)));
}

/* The reply to command i is printed so, if there is one. An error is the
 * command's own failure. */
static bool want_reply_as(const torture *t, size_t i, const char *text)
{
	const rb_result *res = t->calls[0].res;
	char *printed;

	if (rb_result_status(res, i) == RB_ERR_SERVER) {
		assert_int_equal(text[0], '-');
		assert_int_equal(rb_result_outcome(res, i), RB_REJECTED);
		assert_non_null(strstr(rb_result_message(res, i), text + 1));
		return true;
	}
	if (!torture_answered(t, res, i)) {
		assert_null(rb_result_reply(res, i));
		return false;
	}
	assert_int_equal(rb_result_outcome(res, i), RB_ANSWERED);
	printed = rbt_reply_print(rb_result_reply(res, i));
	if (strcmp(printed, text) != 0)
		fail_msg("reply %zu is %s, not %s", i, printed, text);
	free(printed);
	return true;
}

/* The counter with this number, 0 if it is not there. */
static long long counter(const torture *t, size_t i)
{
	char name[32], text[32];

	snprintf(name, sizeof(name), "c:%zu", i);
	rbt_ask(t->live->admin, text, sizeof(text), "GET %s", name);
	return strtoll(text, NULL, 10);
}

/* Counters of commands are 1 once applied: more is a command sent twice. */
static void want_counted(const torture *t, size_t i, long long once)
{
	long long n = counter(t, i);

	assert_true(n == 0 || n == once);
	torture_want_applied(rb_result_outcome(t->calls[0].res, i), n != 0, i);
}

/* ----------------------------------------------------------------- mixed -- */

static const struct {
	const char *command; /* "INCR c:" is followed by its number */
	const char *reply;
} kinds[KINDS] = {
	{ "INCR c:", ":1" },
	{ "LRANGE list 0 -1", "[\"a\", \"b\", \"c\"]" },
	{ "GET absent", "nil" },
	{ "LPUSH text x", "-WRONGTYPE" },
	{ "GET text", "\"words\"" },
	{ "SET other value", "+OK" },
};

static void prepare_mixed(torture *t)
{
	prepare_data(t);
	for (size_t i = 0; i < COMMANDS * t->scale; i++) {
		const char *command = kinds[i % KINDS].command;

		if (i % KINDS == 0)
			rbt_commands_add(&t->commands, "%s%zu", command, i);
		else
			rbt_commands_add(&t->commands, "%s", command);
	}
}

static void check_mixed(torture *t)
{
	for (size_t i = 0; i < t->commands.n; i++) {
		if (t->calls[0].res)
			(void)want_reply_as(t, i, kinds[i % KINDS].reply);
		if (i % KINDS == 0)
			want_counted(t, i, 1);
	}
}

/* After the chunk of the first error nothing is sent. */
static void prepare_stop(torture *t)
{
	prepare_mixed(t);
	t->options.flags = RB_STOP_ON_ERROR;
	t->options.window = 1;
	t->options.chunk_keys = 4;
}

static void check_stop(torture *t)
{
	const rb_result *res = t->calls[0].res;

	for (size_t i = 0; i < t->commands.n; i++) {
		if (res && i < 4)
			(void)want_reply_as(t, i, kinds[i % KINDS].reply);
		else if (res)
			want_failed(res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
		if (i % KINDS == 0)
			want_counted(t, i, 1);
	}
}

/* ----------------------------------------------------------------- MULTI -- */

static const char *const group_replies[GROUP] = {
	"\"words\"", "+OK", "+QUEUED", "+QUEUED", "[:1, :2]",
};

/* A transaction by the caller's own hand, again and again. */
static void prepare_multi(torture *t)
{
	prepare_data(t);
	for (size_t i = 0; i < 10 * t->scale; i++) {
		rbt_commands_add(&t->commands, "GET text");
		rbt_commands_add(&t->commands, "MULTI");
		rbt_commands_add(&t->commands, "INCR c:%zu", t->commands.n + 2);
		rbt_commands_add(&t->commands, "INCR c:%zu", t->commands.n + 1);
		rbt_commands_add(&t->commands, "EXEC");
	}
	t->options.chunk_keys = 7;
}

/* What a group has done hangs on its EXEC alone, whose number its counter
 * has. */
static void check_multi(torture *t)
{
	for (size_t i = 0; i < t->commands.n; i++) {
		if (t->calls[0].res)
			(void)want_reply_as(t, i, group_replies[i % GROUP]);
		if (i % GROUP == GROUP - 1)
			want_counted(t, i, 2);
	}
}

/* ----------------------------------------------------------- transactions -- */

static void prepare_counters(torture *t)
{
	prepare_data(t);
	for (size_t i = 0; i < COMMANDS * t->scale; i++)
		rbt_commands_add(&t->commands, "INCR c:%zu", i);
}

static void prepare_transaction(torture *t)
{
	prepare_counters(t);
	rbt_commands_add(&t->commands, "LPUSH text x");
	t->options.chunk_keys = 10000;
}

static void run_transaction(torture *t)
{
	if (!torture_wrap(t))
		return;
	torture_called(t, rb_transaction(t->rb, t->commands.list, t->commands.n,
					 NULL, torture_out(t)));
}

/* The counters first .. first + n - 1 were all counted or none of them. */
static void want_all_or_none(const torture *t, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++) {
		assert_int_equal(counter(t, i), counter(t, first));
		want_counted(t, i, 1);
		if (t->calls[0].res)
			(void)want_reply_as(t, i, ":1");
	}
}

static void check_transaction(torture *t)
{
	size_t last = t->commands.n - 1;

	want_all_or_none(t, 0, last);
	if (t->calls[0].res)
		(void)want_reply_as(t, last, "-WRONGTYPE");
}

static void prepare_chunks_of_multi(torture *t)
{
	prepare_counters(t);
	t->options.flags = RB_TRANSACTION;
}

static void check_chunks_of_multi(torture *t)
{
	const rb_result *res = t->calls[0].res;

	for (size_t k = 0; k < rb_result_chunks(res); k++) {
		const rb_chunk *c = rb_result_chunk(res, k);

		want_all_or_none(t, c->first, c->count);
	}
	/* Without a result nothing was sent. */
	for (size_t i = 0; !res && i < t->commands.n; i++)
		assert_int_equal(counter(t, i), 0);
}

/* --------------------------------------------------------------- builder -- */

static rb_status append(rb_pipeline *p, size_t i)
{
	char name[32];
	const char *argv[] = { "INCR", name };

	snprintf(name, sizeof(name), "c:%zu", i);
	return i % 2 != 0 ? rb_pipeline_append(p, "INCR %s", name) :
			    rb_pipeline_append_argv(p, 2, argv, NULL);
}

/* A failure to append leaves the pipeline as it was. */
static rb_status build(rb_pipeline *p, size_t n)
{
	rb_status status = RB_OK;

	for (size_t i = 0; i < n && status == RB_OK; i++) {
		status = append(p, i);
		assert_int_equal(rb_pipeline_count(p),
				 status == RB_OK ? i + 1 : i);
	}
	return status;
}

static void run_builder(torture *t)
{
	rb_pipeline *p;
	rb_status status;

	if (!torture_wrap(t))
		return;
	status = rb_pipeline_new(&p, t->rb);
	if (status == RB_OK)
		status = build(p, t->commands.n);
	else
		assert_null(p);
	if (status == RB_OK)
		status = rb_pipeline_run(p, NULL, torture_out(t));
	torture_called(t, status);
	rb_pipeline_free(p);
}

static void check_counters(torture *t)
{
	for (size_t i = 0; i < t->commands.n; i++) {
		want_counted(t, i, 1);
		if (t->calls[0].res)
			(void)want_reply_as(t, i, ":1");
	}
}

/* ------------------------------------------------------------------------ */

static const scenario pipelines[] = {
	{ "pipeline_of_mixed_replies", RB_ERR_PARTIAL, 0, prepare_mixed,
	  run_pipeline, check_mixed },
	{ "pipeline_that_stops_at_an_error", RB_ERR_PARTIAL, 0, prepare_stop,
	  run_pipeline, check_stop },
	{ "pipeline_with_multi_in_it", RB_OK, 0, prepare_multi, run_pipeline,
	  check_multi },
	{ "pipeline_in_transactions", RB_OK, 0, prepare_chunks_of_multi,
	  run_pipeline, check_chunks_of_multi },
	{ "transaction_with_an_error_in_it", RB_ERR_PARTIAL, 0,
	  prepare_transaction, run_transaction, check_transaction },
	{ "pipeline_from_the_builder", RB_OK, 0, prepare_counters, run_builder,
	  check_counters },
};

const scenario_table scenarios_pipelines = {
	pipelines, sizeof(pipelines) / sizeof(pipelines[0])
};

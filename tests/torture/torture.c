#include "torture.h"

#include "client.h"
#include "replies.h"
#include "scenarios.h"
#include "tick.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DESCRIPTORS = 128, PATIENCE_US = 60 * 1000 * 1000 };

/* ------------------------------------------------------------ the client -- */

static bool made(torture *t, rb_status status)
{
	if (status != RB_OK) {
		assert_null(t->rb);
		assert_int_equal(status, RB_ERR_NOMEM);
		t->calls[t->ncalls++].status = status;
		return false;
	}
	t->rb->sys = &t->line.sys;
	t->rb->clock = &t->line.clock;
	return true;
}

bool torture_wrap(torture *t)
{
	return made(t, rb_client_wrap(&t->rb, t->ctx, &t->options));
}

bool torture_open(torture *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->uri, sizeof(t->uri), format, args);
	va_end(args);
	return made(t, rb_client_open(&t->rb, t->uri, &t->options));
}

rb_result **torture_out(torture *t)
{
	assert_in_range(t->ncalls, 0, TORTURE_CALLS - 1);
	return &t->calls[t->ncalls].res;
}

bool torture_called(torture *t, rb_status status)
{
	const char *error = rb_client_error(t->rb);

	assert_in_range(t->ncalls, 0, TORTURE_CALLS - 1);
	t->calls[t->ncalls++].status = status;
	assert_int_equal(status == RB_OK, error[0] == '\0');
	torture_note(t, "%s: %s", rb_status_text(status), error);
	return status == t->scenario->plain;
}

/* -------------------------------------------------------- what it was like -- */

void torture_note(torture *t, const char *format, ...)
{
	va_list args;
	int len;

	if (t->cap - t->len < 1024) {
		t->cap = 2 * t->cap + 4096;
		t->text = realloc(t->text, t->cap);
		assert_non_null(t->text);
	}
	va_start(args, format);
	len = vsnprintf(t->text + t->len, 1000, format, args);
	va_end(args);
	assert_true(len >= 0);
	t->len += len < 1000 ? (size_t)len : 999;
	t->text[t->len++] = '\n';
	t->text[t->len] = '\0';
}

static unsigned long sum(const char *data, size_t len)
{
	unsigned long hash = 5381;

	for (size_t i = 0; i < len; i++)
		hash = hash * 33 + (unsigned char)data[i];
	return hash;
}

static void note_entry(torture *t, const rb_result *res, size_t i)
{
	rb_slice v = rb_result_value(res, i);

	torture_note(t, "%zu: %d %d %zu %lx %s", i, rb_result_status(res, i),
		     rb_result_outcome(res, i), v.len,
		     v.data ? sum(v.data, v.len) : 0,
		     rb_result_message(res, i));
}

/* All that does not depend on the time. */
static void note_result(torture *t, const rb_result *res)
{
	rb_stats s = { .struct_size = sizeof(s) };

	for (size_t i = 0; i < rb_result_count(res); i++)
		note_entry(t, res, i);
	for (size_t i = 0; i < rb_result_chunks(res); i++) {
		const rb_chunk *c = rb_result_chunk(res, i);

		torture_note(t, "chunk %zu, %zu: %d %d %s, %zu %zu %u %lld",
			     c->first, c->count, c->status, c->outcome,
			     c->message, c->request_bytes, c->reply_bytes,
			     c->attempts, (long long)c->number);
	}
	assert_int_equal(rb_result_stats(res, &s), RB_OK);
	torture_note(t, "%llu commands, %llu keys, %llu + %llu bytes",
		     (unsigned long long)s.commands, (unsigned long long)s.keys,
		     (unsigned long long)s.request_bytes,
		     (unsigned long long)s.reply_bytes);
}

/* -------------------------------------------------------------- judgement -- */

bool torture_whole(const torture *t)
{
	return t->kind == TORTURE_UNTOUCHED || t->kind == TORTURE_UNSEEN;
}

static bool may_break(const torture *t)
{
	return t->kind == TORTURE_BREAK || t->kind == TORTURE_BOTH;
}

static bool is_allowed(const torture *t, rb_status status)
{
	if (status == t->scenario->plain)
		return true;
	if (status == RB_ERR_NOMEM)
		return t->kind == TORTURE_MEMORY || t->kind == TORTURE_BOTH;
	if (status == RB_ERR_CONNECT &&
	    (t->scenario->marks & SCENARIO_OWN) == 0)
		return false;
	/* Without memory to keep it, a chunk that was lost is not sent again,
	 * while others go on. */
	if (status == RB_ERR_PARTIAL && t->kind == TORTURE_BOTH &&
	    (t->scenario->marks & SCENARIO_OWN) != 0)
		return true;
	return may_break(t) &&
	       (status == RB_ERR_IO || status == RB_ERR_CONNECT);
}

static void check_calls(torture *t)
{
	assert_true(t->ncalls > 0);
	for (size_t i = 0; i < t->ncalls; i++) {
		const torture_call *call = &t->calls[i];

		if (!is_allowed(t, call->status))
			fail_msg("call %zu answered \"%s\"", i,
				 rb_status_text(call->status));
		if (!call->res)
			continue;
		want_sound(call->res);
		note_result(t, call->res);
		if (call->status == RB_OK)
			assert_int_equal(rb_result_failed(call->res), 0);
		else
			assert_true(rb_result_failed(call->res) > 0);
	}
}

bool torture_may_be(const torture *t, rb_status status)
{
	switch (t->kind) {
	case TORTURE_UNTOUCHED:
	case TORTURE_UNSEEN:
		return false;
	case TORTURE_MEMORY:
		return status == RB_ERR_NOMEM || status == RB_ERR_SKIPPED;
	case TORTURE_BREAK:
		return status == RB_ERR_IO || status == RB_ERR_SKIPPED;
	case TORTURE_BOTH:
		return status == RB_ERR_IO || status == RB_ERR_NOMEM ||
		       status == RB_ERR_SKIPPED;
	}
	return false;
}

bool torture_answered(const torture *t, const rb_result *res, size_t i)
{
	rb_status status = rb_result_status(res, i);
	rb_outcome outcome = rb_result_outcome(res, i);

	if (status == RB_OK)
		return true;
	assert_false(torture_whole(t));
	assert_null(rb_result_value(res, i).data);
	assert_int_not_equal(rb_result_message(res, i)[0], '\0');
	if (status == RB_ERR_SKIPPED) {
		assert_int_equal(outcome, RB_NOT_SENT);
		return false;
	}
	assert_true(torture_may_be(t, status));
	assert_true(outcome == RB_NOT_SENT || outcome == RB_UNKNOWN);
	return false;
}

void torture_want_read(const torture *t, const rb_result *res, size_t value_len)
{
	if (!res) {
		assert_false(torture_whole(t));
		return;
	}
	assert_int_equal(rb_result_count(res), t->keys.n);
	for (size_t i = 0; i < t->keys.n; i++) {
		if (!torture_answered(t, res, i))
			continue;
		if (scenario_is_absent(i))
			want_nil(res, i);
		else
			want_filled(res, i, value_len, i);
	}
}

void torture_want_applied(rb_outcome outcome, bool applied, size_t i)
{
	bool may = outcome != RB_NOT_SENT && outcome != RB_REJECTED;
	bool must = outcome == RB_ANSWERED;

	if ((must && !applied) || (!may && applied))
		fail_msg("entry %zu is \"%s\", but it was %sapplied", i,
			 rb_outcome_text(outcome), applied ? "" : "not ");
}

/* ------------------------------------------------------------ the context -- */

/* Whatever the client's own would do. */
static int let_it_be(void *arg, const rb_chunk *chunk)
{
	(void)arg;
	(void)chunk;
	return 0;
}

/* Reads a key through the client, now that nothing goes wrong any more. */
static void want_usable(torture *t)
{
	const char *key = "torture:sentinel";
	rb_options o = rbt_options(0, 0);
	rb_result *res = NULL;

	o.on_chunk = let_it_be;
	want_status(t->rb, rb_mget_chunked(t->rb, &key, NULL, 1, &o, &res),
		    RB_OK);
	want_text(res, 0, "still there");
	rb_result_free(res);
}

static void check_context(torture *t)
{
	const torture_call *last = &t->calls[t->ncalls - 1];

	if (t->scenario->marks & SCENARIO_OWN) {
		if (t->rb)
			want_usable(t);
		return;
	}
	if (may_break(t) && last->status == RB_ERR_IO)
		assert_int_not_equal(t->ctx->err, 0);
	if (torture_whole(t))
		assert_int_equal(t->ctx->err != 0,
				 t->scenario->marks & SCENARIO_BREAKS ? 1 : 0);
	if (t->ctx->err == 0 && (t->scenario->marks & SCENARIO_CLOSED))
		return;
	if (t->ctx->err == 0) {
		rbt_want_pong(t->ctx);
		if (t->rb)
			want_usable(t);
		rbt_want_pong(t->ctx);
	} else {
		assert_non_null(t->rb);
		rbt_want_broken(t->ctx, t->rb);
	}
}

/* ---------------------------------------------------------------- a run -- */

static void close_connections(torture *t)
{
	rb_client_free(t->rb);
	t->rb = NULL;
	if (t->ctx)
		redisFree(t->ctx);
	t->ctx = NULL;
	rbt_peer_stop(t->peer);
	t->peer = NULL;
}

void torture_clear(torture *t)
{
	close_connections(t);
	for (size_t i = 0; i < TORTURE_CALLS; i++)
		rb_result_free(t->calls[i].res);
	memset(t->calls, 0, sizeof(t->calls));
	t->ncalls = 0;
	rbt_keys_fini(&t->keys);
	rbt_pairs_fini(&t->pairs);
	rbt_commands_fini(&t->commands);
	t->len = 0;
}

void torture_forget(torture *t)
{
	free(t->untouched);
	t->untouched = NULL;
}

/* Until the server has read all that was sent, and closed. */
static void await_server(const torture *t)
{
	uint64_t until = rbt_now_us() + PATIENCE_US;
	size_t looks = 0;

	while (rbt_live_info(t->live, "clients", "connected_clients") != 1) {
		assert_true(rbt_now_us() < until);
		if (++looks > 50)
			rbt_sleep_ms(1);
	}
}

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < DESCRIPTORS; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static void begin(torture *t)
{
	fault_line_init(&t->line);
	rbt_count_init(&t->count);
	t->options = rbt_options(t->setting.chunk_keys, t->setting.window);
	t->options.allocator = &t->count.allocator;
	memset(&t->flow, 0, sizeof(t->flow));
	memset(t->flow.outcomes, -1, sizeof(t->flow.outcomes));
	rbt_do(t->live->admin, "SELECT 0");
	rbt_do(t->live->admin, "FLUSHALL ASYNC");
	rbt_do(t->live->admin, "SET torture:sentinel %s", "still there");
	t->scenario->prepare(t);
	if (!t->ctx && !(t->scenario->marks & SCENARIO_OWN))
		t->ctx = rbt_live_unix(t->live);
}

static torture_kind kind_of(const torture *t, const torture_point *p)
{
	bool memory = p->fail_at > 0 && t->count.asked >= p->fail_at;
	bool unseen =
		t->line.hit && p->fault && p->fault->unseen && !t->line.lied;

	if (t->line.hit && !unseen)
		return memory ? TORTURE_BOTH : TORTURE_BREAK;
	if (memory)
		return TORTURE_MEMORY;
	return unseen ? TORTURE_UNSEEN : TORTURE_UNTOUCHED;
}

static void run(torture *t, const torture_point *p)
{
	t->count.fail_at = p->fail_at;
	t->count.fail_on = p->fail_on;
	t->line.fault = p->fault;
	t->line.at = p->fault_at;
	t->line.on = p->fault_on;
	t->scenario->run(t);
	t->kind = kind_of(t, p);
	t->count.fail_at = 0;
	t->line.fault = NULL;
	t->line.late_after = 0;
}

static void compare(torture *t)
{
	if (!t->untouched) {
		t->untouched = strdup(t->text);
		assert_non_null(t->untouched);
	}
	if (torture_whole(t) && !(t->scenario->marks & SCENARIO_LOOSE))
		assert_string_equal(t->text, t->untouched);
}

bool torture_run(torture *t, const torture_point *p)
{
	int descriptors = count_descriptors();

	snprintf(t->where, sizeof(t->where),
		 "chunks of %zu, window %zu: allocation %zu%s, %s no. %zu%s",
		 t->setting.chunk_keys, t->setting.window, p->fail_at,
		 p->fail_on ? " and on" : "",
		 p->fault ? p->fault->name : "no fault", p->fault_at,
		 p->fault_on ? " and on" : "");
	t->point = *p;
	begin(t);
	run(t, p);
	check_calls(t);
	check_context(t);
	close_connections(t);
	await_server(t);
	t->scenario->check(t);
	compare(t);
	torture_clear(t);
	assert_int_equal(t->count.live_blocks, 0);
	assert_int_equal(t->count.live_bytes, 0);
	assert_int_equal(count_descriptors(), descriptors);
	t->points += t->kind != TORTURE_UNTOUCHED;
	/* Where both go wrong, the allocations are counted. */
	if (p->fail_at > 0)
		return t->kind == TORTURE_MEMORY || t->kind == TORTURE_BOTH;
	return t->kind != TORTURE_UNTOUCHED;
}

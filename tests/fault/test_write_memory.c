/*
 * The n-th allocation of a call fails, for every n: the call says so or does
 * without, every entry has its one outcome, and all memory is given back.
 */
#include "commands.h"
#include "replies.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { N = 40, MOST = 3000 };

/* ---------------------------------------------------------- the server -- */

/* Knows just enough of MULTI to answer it. */
typedef struct small_server {
	bool multi;
	size_t queued;
} small_server;

static bool is(const rbt_arg *arg, const char *name)
{
	return arg->len == strlen(name) &&
	       memcmp(arg->data, name, arg->len) == 0;
}

static void answer_array(rbt_reply *reply, size_t n)
{
	rbt_reply_array(reply, n);
	for (size_t i = 0; i < n; i++)
		rbt_reply_bulk(reply, "a value of some length", 22);
}

static void serve(void *arg, size_t argc, const rbt_arg *argv, rbt_reply *reply)
{
	small_server *server = arg;

	if (is(&argv[0], "MULTI")) {
		server->multi = true;
		server->queued = 0;
		rbt_reply_text(reply, "+OK\r\n");
	} else if (is(&argv[0], "EXEC")) {
		server->multi = false;
		rbt_reply_array(reply, server->queued);
		while (server->queued-- > 0)
			rbt_reply_text(reply, "+OK\r\n");
	} else if (server->multi) {
		server->queued++;
		rbt_reply_text(reply, "+QUEUED\r\n");
	} else if (is(&argv[0], "MGET")) {
		answer_array(reply, argc - 1);
	} else if (is(&argv[0], "LRANGE")) {
		answer_array(reply, 50);
	} else if (is(&argv[0], "COMMAND")) {
		rbt_reply_text(reply, "*1\r\n*-1\r\n");
	} else {
		rbt_reply_text(reply, "+OK\r\n");
	}
}

/* --------------------------------------------------------------- calls -- */

/* What a stream gave and took. */
typedef struct ends {
	size_t given;
	size_t taken;
	char text[32];
} ends;

static int next_key(void *arg, rb_slice *key)
{
	ends *e = arg;

	if (e->given == N)
		return 0;
	snprintf(e->text, sizeof(e->text), "a key with number %zu", e->given++);
	key->data = e->text;
	key->len = strlen(e->text);
	return 1;
}

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	int said = next_key(arg, key);

	*value = *key;
	return said;
}

static int next_command(void *arg, rb_command *command)
{
	static const char *argv[4];
	static const size_t lens[4] = { 6, 0, 1, 2 };
	static size_t all[4];
	rb_slice key = { NULL, 0 };
	int said = next_key(arg, &key);

	memcpy(all, lens, sizeof(all));
	all[1] = key.len;
	argv[0] = "LRANGE";
	argv[1] = key.data;
	argv[2] = "0";
	argv[3] = "-1";
	command->argc = 4;
	command->argv = argv;
	command->argvlen = all;
	return said;
}

static int take_values(void *arg, size_t first, const rb_slice *keys,
		       const rb_slice *values, const rb_status *statuses,
		       size_t n)
{
	ends *e = arg;

	assert_int_equal(first, e->taken);
	for (size_t i = 0; i < n; i++) {
		assert_memory_equal(keys[i].data, "a key with number ", 18);
		assert_int_equal(values[i].data != NULL, statuses[i] == RB_OK);
	}
	e->taken += n;
	return 0;
}

static int take_replies(void *arg, size_t first,
			const struct redisReply *const *replies,
			const rb_status *statuses, size_t n)
{
	ends *e = arg;

	assert_int_equal(first, e->taken);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(replies[i] != NULL, statuses[i] == RB_OK);
	e->taken += n;
	return 0;
}

typedef rb_status work(rbt_scene *s, ends *e, rb_options *o);

static rb_status do_mset(rbt_scene *s, ends *e, rb_options *o)
{
	rbt_pairs p;
	rb_status status;

	(void)e;
	rbt_pairs_init(&p, "k", N, 30);
	status = rb_mset_chunked(s->rb, p.keys.keys, p.keys.lens, p.values,
				 p.lens, N, o, &s->res);
	rbt_pairs_fini(&p);
	return status;
}

static rb_status do_mset_expire(rbt_scene *s, ends *e, rb_options *o)
{
	o->expire_ms = 1000;
	return do_mset(s, e, o);
}

static rb_status do_mset_absent(rbt_scene *s, ends *e, rb_options *o)
{
	o->flags = RB_IF_ABSENT | RB_TRANSACTION;
	return do_mset(s, e, o);
}

static rb_status run_commands(rbt_scene *s, rb_options *o, bool group)
{
	rbt_commands c;
	rb_status status;

	rbt_commands_init(&c);
	for (int i = 0; i < N; i++)
		rbt_commands_add(&c, "LRANGE k%d 0 -1", i);
	status = group ? rb_transaction(s->rb, c.list, c.n, o, &s->res) :
			 rb_pipeline_chunked(s->rb, c.list, c.n, o, &s->res);
	rbt_commands_fini(&c);
	return status;
}

static rb_status do_pipeline(rbt_scene *s, ends *e, rb_options *o)
{
	(void)e;
	return run_commands(s, o, false);
}

static rb_status do_transaction(rbt_scene *s, ends *e, rb_options *o)
{
	(void)e;
	o->chunk_keys = N;
	return run_commands(s, o, true);
}

static rb_status do_builder(rbt_scene *s, ends *e, rb_options *o)
{
	const char *argv[] = { "LRANGE", "key", "0", "-1" };
	rb_pipeline *p;
	rb_status status = rb_pipeline_new(&p, s->rb);
	size_t n = 0;

	(void)e;
	if (status != RB_OK) {
		assert_null(p);
		return status;
	}
	for (int i = 0; i < N && status == RB_OK; i++) {
		status = i % 2 ? rb_pipeline_append(p, "LRANGE %s 0 -1", "k") :
				 rb_pipeline_append_argv(p, 4, argv, NULL);
		n += status == RB_OK;
		/* A failure has changed nothing. */
		assert_int_equal(rb_pipeline_count(p), n);
	}
	if (status == RB_OK)
		status = rb_pipeline_run(p, o, &s->res);
	rb_pipeline_free(p);
	return status;
}

static rb_status do_mget_stream(rbt_scene *s, ends *e, rb_options *o)
{
	return rb_mget_stream(s->rb, next_key, e, take_values, e, o, NULL);
}

static rb_status do_mset_stream(rbt_scene *s, ends *e, rb_options *o)
{
	rb_status status = rb_mset_stream(s->rb, next_pair, e, o, NULL);

	/* There is no sink that could count. */
	e->taken = e->given;
	return status;
}

static rb_status do_pipeline_stream(rbt_scene *s, ends *e, rb_options *o)
{
	return rb_pipeline_stream(s->rb, next_command, e, take_replies, e, o,
				  NULL);
}

/* ----------------------------------------------------------------- tests -- */

/* True: the call was not touched by it, there is nothing further to fail. */
static bool fail_once(rbt_scene *s, work *fn, size_t at, int on)
{
	small_server server = { false, 0 };
	rbt_peer_options p = { .family = RBT_PAIR,
			       .handler = serve,
			       .handler_arg = &server };
	rb_options o = rbt_options(6, 3);
	ends e = { 0, 0, "" };
	size_t before, asked;
	rb_status status;

	rbt_scene_start(s, &p);
	before = s->count.asked;
	s->count.fail_at = before + at;
	s->count.fail_on = on;
	status = fn(s, &e, &o);
	asked = s->count.asked - before;
	s->count.fail_at = 0;
	s->count.fail_on = 0;
	if (status != RB_ERR_NOMEM)
		want_status(s->rb, status, RB_OK);
	if (s->res) {
		assert_int_equal(rb_result_count(s->res), N);
		want_sound(s->res);
		if (status == RB_OK)
			assert_int_equal(rb_result_failed(s->res), 0);
		else
			assert_true(rb_result_failed(s->res) > 0);
		for (size_t i = 0; i < N; i++)
			if (rb_result_status(s->res, i) != RB_OK)
				assert_int_not_equal(
					rb_result_outcome(s->res, i),
					RB_ANSWERED);
	} else if (status == RB_ERR_NOMEM) {
		want_words(rb_client_error(s->rb), "memory");
	}
	/* The one entry that there was no memory to keep may be lost when
	 * there is none for anything. */
	assert_in_range(e.taken, e.given - (on && e.given > 0), e.given);
	if (status == RB_ERR_NOMEM && s->ctx->err == 0) {
		/* In step: the next call is as good as any. */
		rb_result_free(s->res);
		s->res = NULL;
		o = rbt_options(0, 0);
		want_status(s->rb, rbt_scene_read(s, 3, &o), RB_OK);
		want_text(s->res, 2, "a value of some length");
	}
	return asked < at;
}

static void fail_each(void **state, work *fn)
{
	for (int on = 0; on < 2; on++) {
		size_t at = 1;

		while (!fail_once(rbt_scene_use(state), fn, at, on))
			assert_in_range(++at, 1, MOST);
		assert_true(at > 3);
	}
}

static void test_every_failure_in_mset_is_told(void **state)
{
	fail_each(state, do_mset);
}

static void test_every_failure_in_mset_with_an_expiry_is_told(void **state)
{
	fail_each(state, do_mset_expire);
}

static void
test_every_failure_in_mset_under_a_condition_in_transactions_is_told(
	void **state)
{
	fail_each(state, do_mset_absent);
}

static void test_every_failure_in_a_pipeline_is_told(void **state)
{
	fail_each(state, do_pipeline);
}

static void test_every_failure_in_a_transaction_is_told(void **state)
{
	fail_each(state, do_transaction);
}

static void test_every_failure_in_a_builder_is_told(void **state)
{
	fail_each(state, do_builder);
}

static void test_every_failure_in_a_mget_stream_is_told(void **state)
{
	fail_each(state, do_mget_stream);
}

static void test_every_failure_in_a_mset_stream_is_told(void **state)
{
	fail_each(state, do_mset_stream);
}

static void test_every_failure_in_a_pipeline_stream_is_told(void **state)
{
	fail_each(state, do_pipeline_stream);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_every_failure_in_mset_is_told),
		RBT_SCENE(test_every_failure_in_mset_with_an_expiry_is_told),
		RBT_SCENE(
			test_every_failure_in_mset_under_a_condition_in_transactions_is_told),
		RBT_SCENE(test_every_failure_in_a_pipeline_is_told),
		RBT_SCENE(test_every_failure_in_a_transaction_is_told),
		RBT_SCENE(test_every_failure_in_a_builder_is_told),
		RBT_SCENE(test_every_failure_in_a_mget_stream_is_told),
		RBT_SCENE(test_every_failure_in_a_mset_stream_is_told),
		RBT_SCENE(test_every_failure_in_a_pipeline_stream_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

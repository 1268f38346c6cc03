/*
 * Clients that connect by themselves. Connecting, AUTH and SELECT go through
 * system calls of the dialler's own, which only the memory run reaches.
 */
#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { KEYS = 40 };

/* A user with a password, and data in a database of its own. */
static void prepare_user(torture *t)
{
	redisContext *admin = t->live->admin;

	rbt_do(admin, "ACL SETUSER torture on >pass%%word ~* +@all");
	rbt_do(admin, "SELECT 3");
	rbt_do(admin, "SET torture:sentinel %s", "still there");
	scenario_load(t, KEYS, SCENARIO_VALUE);
	rbt_pairs_init(&t->pairs, "new:", KEYS * t->scale, SCENARIO_VALUE);
}

static bool open_client(torture *t)
{
	return torture_open(t, "unix://torture:pass%%25word@%s?db=3",
			    rbt_server_socket(t->live->server));
}

static bool read_keys(torture *t)
{
	return torture_called(t,
			      rb_mget_chunked(t->rb, t->keys.keys, t->keys.lens,
					      t->keys.n, NULL, torture_out(t)));
}

static bool write_pairs(torture *t)
{
	const rbt_pairs *p = &t->pairs;

	return torture_called(
		t, rb_mset_chunked(t->rb, p->keys.keys, p->keys.lens, p->values,
				   p->lens, p->n, NULL, torture_out(t)));
}

static void check_read(torture *t, size_t call)
{
	if (call < t->ncalls)
		torture_want_read(t, t->calls[call].res, SCENARIO_VALUE);
}

static void check_written(torture *t, size_t call)
{
	const rb_result *res = t->calls[call].res;
	redisReply *held = torture_ask(t, "MGET", NULL, &t->pairs.keys);

	for (size_t i = 0; i < t->pairs.n; i++) {
		const redisReply *e = held->element[i];
		bool there = e->type == REDIS_REPLY_STRING;

		if (there)
			assert_true(rbt_value_is(e->str, e->len, SCENARIO_VALUE,
						 i));
		if (res)
			(void)torture_answered(t, res, i);
		torture_want_applied(rb_result_outcome(res, i), there, i);
	}
	freeReplyObject(held);
}

/* ---------------------------------------------------------------- connect -- */

/* A call that fails does not keep the next one from trying anew. */
static void run_connect(torture *t)
{
	if (!open_client(t))
		return;
	(void)torture_called(t, rb_client_connect(t->rb));
	(void)read_keys(t);
	(void)write_pairs(t);
}

static void check_connect(torture *t)
{
	check_read(t, 1);
	check_written(t, 2);
}

/* ------------------------------------------------------------------- idle -- */

static void close_idle(const torture *t)
{
	(void)rbt_ask_number(t->live->admin, "CLIENT KILL TYPE normal");
}

/* The server closes the connection while nobody uses it, twice. */
static void run_idle(torture *t)
{
	if (!open_client(t))
		return;
	(void)read_keys(t);
	close_idle(t);
	(void)write_pairs(t);
	close_idle(t);
	(void)read_keys(t);
}

static void check_idle(torture *t)
{
	check_read(t, 0);
	check_read(t, 2);
	check_written(t, 1);
}

/* A wrapped context that was closed is the caller's to replace. */
static void prepare_closed(torture *t)
{
	scenario_load(t, KEYS, SCENARIO_VALUE);
	t->ctx = rbt_live_unix(t->live);
	rbt_want_pong(t->ctx);
	close_idle(t);
}

static void run_closed(torture *t)
{
	if (torture_wrap(t))
		(void)read_keys(t);
}

static void check_closed(torture *t)
{
	const rb_result *res = t->calls[0].res;

	for (size_t i = 0; i < rb_result_count(res); i++)
		assert_int_equal(rb_result_outcome(res, i), RB_NOT_SENT);
}

/* ------------------------------------------------------------------------ */

static const scenario clients[] = {
	{ "own_client_with_a_password_and_a_database", RB_OK, SCENARIO_OWN,
	  prepare_user, run_connect, check_connect },
	{ "own_client_whose_idle_connection_is_closed", RB_OK, SCENARIO_OWN,
	  prepare_user, run_idle, check_idle },
	{ "wrapped_context_that_was_closed", RB_ERR_IO,
	  SCENARIO_BREAKS | SCENARIO_CLOSED, prepare_closed, run_closed,
	  check_closed },
};

const scenario_table scenarios_clients = {
	clients, sizeof(clients) / sizeof(clients[0])
};

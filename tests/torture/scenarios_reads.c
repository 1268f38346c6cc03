/*
 * Reads: MGET and HMGET, small and large values, a server that pushes.
 */
#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LARGE = 30000, MANY = 60 };

static void run_mget(torture *t)
{
	if (!torture_wrap(t))
		return;
	torture_called(t, rb_mget_chunked(t->rb, t->keys.keys, t->keys.lens,
					  t->keys.n, NULL, torture_out(t)));
}

static void prepare_small(torture *t)
{
	scenario_load(t, MANY, SCENARIO_VALUE);
}

static void check_small(torture *t)
{
	torture_want_read(t, t->calls[0].res, SCENARIO_VALUE);
}

/* One chunk at a time, as a loop of MGETs would do it. */
static void prepare_alone(torture *t)
{
	prepare_small(t);
	t->options.window = 1;
}

/* The window sets itself. */
static void prepare_window(torture *t)
{
	prepare_small(t);
	t->options.window = 0;
	t->options.chunk_keys = 3;
}

/* ---------------------------------------------------------- large values -- */

static void prepare_large(torture *t)
{
	scenario_load(t, 30, LARGE);
	t->options.chunk_keys = 4;
}

static void check_large(torture *t)
{
	torture_want_read(t, t->calls[0].res, LARGE);
}

/* ------------------------------------------------------------------ hash -- */

static void prepare_hash(torture *t)
{
	char value[SCENARIO_VALUE];

	assert_true(rbt_keys_init(&t->keys, "field:", MANY * t->scale));
	for (size_t i = 0; i < t->keys.n; i++) {
		if (scenario_is_absent(i))
			continue;
		rbt_value_fill(value, sizeof(value), i);
		rbt_do(t->live->admin, "HSET hash %s %b", t->keys.keys[i],
		       value, sizeof(value));
	}
}

static void run_hmget(torture *t)
{
	if (!torture_wrap(t))
		return;
	torture_called(t, rb_hmget_chunked(t->rb, "hash", 4, t->keys.keys,
					   t->keys.lens, t->keys.n, NULL,
					   torture_out(t)));
}

/* ---------------------------------------------------------- a second call -- */

/* The second call goes by what the first has learned. */
static void run_twice(torture *t)
{
	run_mget(t);
	if (!t->rb || t->calls[0].status != RB_OK)
		return;
	torture_called(t, rb_mget_chunked(t->rb, t->keys.keys, t->keys.lens,
					  t->keys.n, NULL, torture_out(t)));
}

static void check_twice(torture *t)
{
	for (size_t i = 0; i < t->ncalls; i++)
		torture_want_read(t, t->calls[i].res, SCENARIO_VALUE);
}

/* ------------------------------------------------------- a peer of RESP3 -- */

/* A number at the end of a key. */
static size_t number_of(const rbt_arg *key)
{
	return key->len > 8 ? strtoul(key->data + key->len - 8, NULL, 10) : 0;
}

static void answer_value(const rbt_arg *key, rbt_reply *reply)
{
	char value[SCENARIO_VALUE];
	size_t i = number_of(key);

	if (memcmp(key->data, "key:", 4) != 0) {
		rbt_reply_bulk(reply, "still there", 11);
	} else if (scenario_is_absent(i)) {
		rbt_reply_text(reply, "_\r\n");
	} else {
		rbt_value_fill(value, sizeof(value), i);
		rbt_reply_bulk(reply, value, sizeof(value));
	}
}

/* Before, after and between its answers the server says things that nobody
 * has asked for. */
static void serve_resp3(void *arg, size_t argc, const rbt_arg *argv,
			rbt_reply *reply)
{
	(void)arg;
	if (argv[0].len == 4 && memcmp(argv[0].data, "PING", 4) == 0) {
		rbt_reply_text(reply, "+PONG\r\n");
		return;
	}
	if (argc > 2)
		rbt_reply_text(reply, ">2\r\n$10\r\ninvalidate\r\n*2\r\n"
				      "$1\r\na\r\n$1\r\nb\r\n");
	rbt_reply_array(reply, argc - 1);
	for (size_t i = 1; i < argc; i++)
		answer_value(&argv[i], reply);
}

static void prepare_resp3(torture *t)
{
	assert_true(rbt_keys_init(&t->keys, "key:", MANY * t->scale));
	scenario_peer(t, serve_resp3, NULL);
}

/* ------------------------------------------------------------------------ */

static const scenario reads[] = {
	{ "mget_of_several_chunks", RB_OK, 0, prepare_small, run_mget,
	  check_small },
	{ "mget_one_chunk_at_a_time", RB_OK, 0, prepare_alone, run_mget,
	  check_small },
	{ "mget_with_a_window_that_sets_itself", RB_OK, 0, prepare_window,
	  run_mget, check_small },
	{ "mget_of_large_values", RB_OK, 0, prepare_large, run_mget,
	  check_large },
	{ "mget_twice_with_one_client", RB_OK, 0, prepare_small, run_twice,
	  check_twice },
	{ "mget_from_a_peer_that_pushes", RB_OK, 0, prepare_resp3, run_mget,
	  check_small },
	{ "hmget_of_several_chunks", RB_OK, 0, prepare_hash, run_hmget,
	  check_small },
};

const scenario_table scenarios_reads = { reads,
					 sizeof(reads) / sizeof(reads[0]) };

/*
 * A real server that is not ready for a while, or refuses some of it: what is
 * asked for comes in the end.
 *
 * What makes the server ready again waits until it has refused the library at
 * least once, by the server's own count of its errors.
 */
#include "commands.h"
#include "live.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

static rbt_pairs pairs;

static int end(void **state)
{
	rbt_pairs_fini(&pairs);
	memset(&pairs, 0, sizeof(pairs));
	return rbt_live_end(state);
}

#define LIVE(function) \
	cmocka_unit_test_setup_teardown((function), rbt_live_begin, end)

static rb_status write_pairs(rbt_live *live, const rb_options *o)
{
	rbt_live_drop(live);
	return rb_mset_chunked(live->rb, pairs.keys.keys, pairs.keys.lens,
			       pairs.values, pairs.lens, pairs.n, o,
			       &live->res);
}

static void make_pairs(size_t n, size_t len)
{
	rbt_pairs_fini(&pairs);
	rbt_pairs_init(&pairs, "pair:", n, len);
}

static void want_written(rbt_live *live)
{
	char name[32];

	assert_int_equal(rbt_count_outcome(live->res, RB_ANSWERED), pairs.n);
	want_sound(live->res);
	for (size_t i = 0; i < pairs.n; i++) {
		snprintf(name, sizeof(name), "%s", pairs.keys.keys[i]);
		assert_int_equal(rbt_ask_number(live->admin, "STRLEN %s", name),
				 pairs.lens[i]);
	}
}

static uint32_t most_attempts(const rb_result *res)
{
	uint32_t most = 0;

	for (size_t i = 0; i < rb_result_chunks(res); i++) {
		uint32_t attempts = rb_result_chunk(res, i)->attempts;

		most = attempts > most ? attempts : most;
	}
	return most;
}

/* ------------------------------------------------------------- the cure -- */

/* How often the server has answered with an error of this name. */
static long long errors_of(redisContext *ctx, const char *name)
{
	redisReply *reply = redisCommand(ctx, "INFO errorstats");
	long long count = 0;
	char line[64];
	char *at;

	if (!reply)
		return -1;
	snprintf(line, sizeof(line), "errorstat_%s:count=", name);
	at = reply->str ? strstr(reply->str, line) : NULL;
	if (at)
		count = strtoll(at + strlen(line), NULL, 10);
	freeReplyObject(reply);
	return count;
}

typedef struct cure {
	redisContext *ctx;
	const char *error;
	const char *command;
	long long refusals; /* before it is given */
	pthread_t thread;
} cure;

static void *give(void *arg)
{
	cure *c = arg;
	long long count;

	do {
		count = errors_of(c->ctx, c->error);
	} while (count >= 0 && count < c->refusals);
	freeReplyObject(redisCommand(c->ctx, c->command));
	return NULL;
}

/* Gives the command once the server has refused so many times more. */
static void cure_later(cure *c, redisContext *ctx, const char *error,
		       const char *command)
{
	c->ctx = ctx;
	c->error = error;
	c->command = command;
	c->refusals = errors_of(ctx, error) + 2;
	assert_int_equal(pthread_create(&c->thread, NULL, give, c), 0);
}

static void end_cure(cure *c)
{
	assert_int_equal(pthread_join(c->thread, NULL), 0);
	redisFree(c->ctx);
}

/* ------------------------------------------------------------------ BUSY -- */

/* Runs until so many errors more were given, of which nobody but a script can
 * learn meanwhile. */
#define SCRIPT                                                    \
	"local function count() "                                 \
	"return tonumber(string.match(redis.call('INFO', "        \
	"'errorstats'), 'errorstat_BUSY:count=(%d+)') or 0) end " \
	"local most = count() + tonumber(ARGV[1]) "               \
	"while count() < most do end return 1"

/* A context whose script is running, and will until the library was refused
 * twice. */
static redisContext *make_busy(rbt_live *live)
{
	redisContext *ctx = rbt_live_unix(live);
	char answer[200];
	int done = 0;

	rbt_do(live->admin, "CONFIG SET lua-time-limit 100");
	/* Ours is the first of three. */
	redisAppendCommand(ctx, "EVAL %s 0 3", SCRIPT);
	while (!done)
		assert_int_equal(redisBufferWrite(ctx, &done), REDIS_OK);
	do {
		rbt_ask(live->admin, answer, sizeof(answer), "PING");
	} while (strcmp(answer, "PONG") == 0);
	want_words(answer, "BUSY");
	return ctx;
}

static void want_script_over(redisContext *ctx)
{
	redisReply *reply = NULL;

	assert_int_equal(redisGetReply(ctx, (void **)&reply), REDIS_OK);
	assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
	freeReplyObject(reply);
	redisFree(ctx);
}

static void test_a_read_waits_for_a_script(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 2);
	redisContext *script;

	rbt_live_load(live, 300, 20);
	script = make_busy(live);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 300, 20);
	assert_true(most_attempts(live->res) > 1);
	want_script_over(script);
	rbt_want_pong(live->ctx);
}

static void test_a_write_waits_for_a_script(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 2);
	redisContext *script;

	make_pairs(300, 20);
	script = make_busy(live);
	want_status(live->rb, write_pairs(live, &o), RB_OK);
	assert_true(most_attempts(live->res) > 1);
	want_script_over(script);
	want_written(live);
	rbt_want_pong(live->ctx);
}

/* Without patience it says so, and the script is killed. */
static void test_one_attempt_does_not_wait_for_a_script(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 1);
	redisContext *script = rbt_live_unix(live);
	redisReply *reply = NULL;
	char answer[200];
	int done = 0;

	rbt_live_load(live, 300, 20);
	rbt_do(live->admin, "CONFIG SET lua-time-limit 100");
	redisAppendCommand(script, "EVAL %s 0", "while true do end");
	while (!done)
		assert_int_equal(redisBufferWrite(script, &done), REDIS_OK);
	do {
		rbt_ask(live->admin, answer, sizeof(answer), "PING");
	} while (strcmp(answer, "PONG") == 0);
	o.attempts = 1;
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_SERVER);
	want_words(rb_client_error(live->rb), "BUSY");
	want_failed(live->res, 0, RB_ERR_SERVER, RB_REJECTED);
	want_failed(live->res, 299, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(live->res);
	rbt_do(live->admin, "SCRIPT KILL");
	assert_int_equal(redisGetReply(script, (void **)&reply), REDIS_OK);
	freeReplyObject(reply);
	redisFree(script);
	rbt_want_pong(live->ctx);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 300, 20);
}

/* -------------------------------------------------------------- replicas -- */

static void test_writes_wait_for_replicas(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(50, 2);
	cure c;

	make_pairs(300, 20);
	rbt_do(live->admin, "CONFIG SET min-replicas-to-write 1");
	cure_later(&c, rbt_live_unix(live), "NOREPLICAS",
		   "CONFIG SET min-replicas-to-write 0");
	want_status(live->rb, write_pairs(live, &o), RB_OK);
	end_cure(&c);
	assert_true(most_attempts(live->res) > 1);
	want_written(live);
	rbt_want_pong(live->ctx);
}

static void test_pipelines_and_transactions_wait_for_replicas(void **state)
{
	static const uint32_t flags[] = { 0, RB_TRANSACTION };

	for (size_t i = 0; i < COUNT(flags); i++) {
		rbt_live *live = rbt_live_use(state);
		rb_options o = rbt_options(10, 1);
		rbt_commands commands;
		rb_status status;
		cure c;

		rbt_do(live->admin, "DEL n");
		rbt_commands_init(&commands);
		for (size_t k = 0; k < 100; k++)
			rbt_commands_add(&commands, "INCR n");
		o.flags = flags[i];
		rbt_do(live->admin, "CONFIG SET min-replicas-to-write 1");
		cure_later(&c, rbt_live_unix(live), "NOREPLICAS",
			   "CONFIG SET min-replicas-to-write 0");
		rbt_live_drop(live);
		/* Cured in the middle of a chunk, some of it was refused. */
		status = rb_pipeline_chunked(live->rb, commands.list,
					     commands.n, &o, &live->res);
		assert_true(status == RB_OK || status == RB_ERR_PARTIAL);
		end_cure(&c);
		want_sound(live->res);
		/* Nothing twice, whatever was refused and when. */
		assert_int_equal(rbt_ask_number(live->admin, "INCRBY n 0"),
				 rbt_count_outcome(live->res, RB_ANSWERED));
		rbt_commands_fini(&commands);
		rbt_want_pong(live->ctx);
	}
}

static void test_reads_wait_for_a_master(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(2, 2);
	rbt_server *replica = rbt_server_start(NULL);
	redisContext *ctx;
	rb_client *rb;
	rb_result *res;
	rb_status status;
	cure c;

	(void)live;
	assert_non_null(replica);
	ctx = redisConnectUnix(rbt_server_socket(replica));
	/* Nobody listens there. */
	rbt_do(ctx, "CONFIG SET replica-serve-stale-data no");
	rbt_do(ctx, "REPLICAOF 127.0.0.1 1");
	assert_int_equal(rb_client_wrap(&rb, ctx, NULL), RB_OK);
	cure_later(&c, redisConnectUnix(rbt_server_socket(replica)),
		   "MASTERDOWN", "REPLICAOF NO ONE");
	status =
		rb_mget_chunked(rb, (const char *[]){ "a", "b", "c", "d", "e" },
				NULL, 5, &o, &res);
	end_cure(&c);
	want_status(rb, status, RB_OK);
	assert_int_equal(rbt_count_nil(res), 5);
	assert_true(most_attempts(res) > 1);
	want_sound(res);
	rb_result_free(res);
	rb_client_free(rb);
	redisFree(ctx);
	rbt_server_stop(replica);
}

/* --------------------------------------------------------------- loading -- */

/* A server that loads so slowly that it is refused, until it is told to
 * hurry. */
static void test_reads_wait_for_the_dataset(void **state)
{
	static const char *const args[] = { "--enable-debug-command", "yes",
					    NULL };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 2);
	rbt_server *server = rbt_server_start(args);
	redisContext *loader;
	redisContext *ctx;
	rbt_keys keys;
	redisReply *reply = NULL;
	char answer[200] = "";
	int done = 0;
	rb_client *rb;
	rb_status status;
	cure c;

	if (!server)
		skip();
	assert_true(rbt_keys_init(&keys, "key:", 2000));
	loader = redisConnectUnix(rbt_server_socket(server));
	ctx = redisConnectUnix(rbt_server_socket(server));
	assert_true(rbt_load(loader, &keys, 20, answer, sizeof(answer)));
	/* Microseconds for each key, and a look at the clients every KiB. */
	rbt_do(loader, "CONFIG SET key-load-delay 20000");
	rbt_do(loader, "CONFIG SET loading-process-events-interval-bytes 1024");
	redisAppendCommand(loader, "DEBUG RELOAD");
	while (!done)
		assert_int_equal(redisBufferWrite(loader, &done), REDIS_OK);
	do {
		rbt_ask(ctx, answer, sizeof(answer), "PING");
	} while (strcmp(answer, "PONG") == 0);
	want_words(answer, "LOADING");
	cure_later(&c, redisConnectUnix(rbt_server_socket(server)), "LOADING",
		   "CONFIG SET key-load-delay 0");
	assert_int_equal(rb_client_wrap(&rb, ctx, NULL), RB_OK);
	status = rb_mget_chunked(rb, keys.keys, keys.lens, keys.n, &o,
				 &live->res);
	end_cure(&c);
	want_status(rb, status, RB_OK);
	want_loaded(live->res, 2000, 20);
	assert_true(most_attempts(live->res) > 1);
	assert_int_equal(redisGetReply(loader, (void **)&reply), REDIS_OK);
	freeReplyObject(reply);
	rb_client_free(rb);
	redisFree(ctx);
	redisFree(loader);
	rbt_keys_fini(&keys);
	rbt_server_stop(server);
}

/* ---------------------------------------------------------------- memory -- */

static void test_a_server_out_of_memory_ends_the_batch(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 1);

	make_pairs(100, 100);
	rbt_do(live->admin, "CONFIG SET maxmemory 1");
	want_status(live->rb, write_pairs(live, &o), RB_ERR_SERVER);
	want_words(rb_client_error(live->rb), "OOM");
	assert_int_equal(rb_result_failed(live->res), 100);
	assert_int_equal(rbt_count_outcome(live->res, RB_ANSWERED), 0);
	want_failed(live->res, 99, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
	rbt_do(live->admin, "CONFIG SET maxmemory 0");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	want_status(live->rb, write_pairs(live, &o), RB_OK);
	want_written(live);
}

/* ------------------------------------------------------------------ users -- */

/* Twenty keys of a thousand have another prefix. */
static bool is_hidden(size_t i)
{
	return i % 50 == 17;
}

static void name_keys(rbt_keys *keys)
{
	for (size_t i = 0; i < keys->n; i++) {
		char *key = keys->bytes + (keys->keys[i] - keys->bytes);

		if (is_hidden(i))
			memcpy(key, "no", 2);
	}
}

static void become(rbt_live *live)
{
	rbt_do(live->admin, "ACL DELUSER lim");
	rbt_do(live->admin, "ACL SETUSER lim on >pw ~ok:* +@all");
	rbt_do(live->ctx, "AUTH lim pw");
}

static void want_cheap(const rb_result *res, size_t chunks)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(res, &stats), RB_OK);
	/* Twenty at fault, ten times halved each. */
	assert_in_range(stats.commands, chunks, chunks + 2 * 20 * 10);
	assert_int_equal(stats.commands, chunks + 2 * stats.splits);
}

static void test_hidden_keys_fail_alone_in_reads(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char why[100];

	assert_true(rbt_keys_init(&live->keys, "ok:", 1000));
	name_keys(&live->keys);
	assert_true(rbt_load(live->admin, &live->keys, 20, why, sizeof(why)));
	become(live);
	want_status(live->rb, rbt_live_read(live, NULL), RB_ERR_PARTIAL);
	for (size_t i = 0; i < 1000; i++) {
		if (!is_hidden(i)) {
			want_filled(live->res, i, 20, i);
			continue;
		}
		want_failed(live->res, i, RB_ERR_SERVER, RB_REJECTED);
		want_words(rb_result_message(live->res, i), "NOPERM");
	}
	assert_int_equal(rb_result_failed(live->res), 20);
	want_cheap(live->res, 1);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

static void test_hidden_keys_fail_alone_in_writes(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_pairs_fini(&pairs);
	rbt_pairs_init(&pairs, "ok:", 1000, 20);
	name_keys(&pairs.keys);
	become(live);
	want_status(live->rb, write_pairs(live, NULL), RB_ERR_PARTIAL);
	for (size_t i = 0; i < 1000; i++) {
		if (is_hidden(i))
			want_failed(live->res, i, RB_ERR_SERVER, RB_REJECTED);
		assert_int_equal(rbt_ask_number(live->admin, "EXISTS %s",
						pairs.keys.keys[i]),
				 !is_hidden(i));
	}
	assert_int_equal(rb_result_failed(live->res), 20);
	want_cheap(live->res, 1);
	want_sound(live->res);
	rbt_want_pong(live->ctx);
}

/* ------------------------------------------------------------------ sizes -- */

static void open_own(rbt_live *live)
{
	rbt_live_open_uri(live, NULL, "unix://%s",
			  rbt_server_socket(live->server));
}

/* One value of that many bytes among small ones, each in its own chunk. */
static rb_status write_big(rbt_live *live, size_t len, size_t window)
{
	rb_options o = rbt_options(1, window);
	char *value = malloc(len);
	rb_status status;

	assert_non_null(value);
	memset(value, 'v', len);
	make_pairs(5, 1);
	pairs.values[1] = value;
	pairs.lens[1] = len;
	status = write_pairs(live, &o);
	free(value);
	return status;
}

static void test_a_value_too_long_fails_alone(void **state)
{
	static const size_t windows[] = { 1, 3 };

	for (size_t i = 0; i < COUNT(windows); i++) {
		rbt_live *live = rbt_live_use(state);

		rbt_do(live->admin, "CONFIG SET proto-max-bulk-len 1mb");
		rbt_do(live->admin, "FLUSHALL");
		open_own(live);
		want_status(live->rb, write_big(live, 8 * MIB, windows[i]),
			    RB_ERR_PARTIAL);
		for (size_t k = 0; k < 5; k++) {
			if (k == 1)
				want_failed(live->res, k, RB_ERR_SERVER,
					    RB_REJECTED);
			assert_int_equal(rbt_ask_number(live->admin,
							"EXISTS %s",
							pairs.keys.keys[k]),
					 k != 1);
		}
		want_words(rb_result_message(live->res, 1),
			   "invalid bulk length");
		want_sound(live->res);
	}
}

static void test_the_longest_value_that_a_server_takes_is_taken(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "CONFIG SET proto-max-bulk-len 1mb");
	open_own(live);
	want_status(live->rb, write_big(live, MIB, 3), RB_OK);
	want_written(live);
	want_status(live->rb, write_big(live, MIB + 1, 3), RB_ERR_PARTIAL);
	want_failed(live->res, 1, RB_ERR_SERVER, RB_REJECTED);
	assert_int_equal(rb_result_failed(live->res), 1);
	want_sound(live->res);
}

static void test_own_connections_get_by_a_servers_output_limit(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(6, 6);

	rbt_live_load(live, 30, 400000);
	rbt_do(live->admin, "CONFIG SET client-output-buffer-limit %s",
	       "normal 1048576 0 0");
	open_own(live);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 30, 400000);
}

static void test_a_servers_output_limit_ends_a_wrapped_connection(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(6, 1);

	rbt_live_load(live, 30, 400000);
	rbt_do(live->admin, "CONFIG SET client-output-buffer-limit %s",
	       "normal 1048576 0 0");
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	assert_int_equal(rbt_count_nil(live->res), 0);
	want_failed(live->res, 0, RB_ERR_IO, RB_UNKNOWN);
	want_failed(live->res, 29, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(live->res);
	rbt_want_broken(live->ctx, live->rb);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		LIVE(test_a_read_waits_for_a_script),
		LIVE(test_a_write_waits_for_a_script),
		LIVE(test_one_attempt_does_not_wait_for_a_script),
		LIVE(test_writes_wait_for_replicas),
		LIVE(test_pipelines_and_transactions_wait_for_replicas),
		LIVE(test_reads_wait_for_a_master),
		LIVE(test_reads_wait_for_the_dataset),
		LIVE(test_a_server_out_of_memory_ends_the_batch),
		LIVE(test_hidden_keys_fail_alone_in_reads),
		LIVE(test_hidden_keys_fail_alone_in_writes),
		LIVE(test_a_value_too_long_fails_alone),
		LIVE(test_the_longest_value_that_a_server_takes_is_taken),
		LIVE(test_own_connections_get_by_a_servers_output_limit),
		LIVE(test_a_servers_output_limit_ends_a_wrapped_connection),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

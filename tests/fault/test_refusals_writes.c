/*
 * Writes, pipelines and transactions that a server refuses, end to end. What
 * is said to be applied was, and nothing was twice.
 */
#include "commands.h"
#include "refusing.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define NO_KEY "-NOPERM No permissions to access a key\r\n"
#define TOO_LONG "-ERR Protocol error: invalid bulk length\r\n"
#define TOO_MANY "-ERR Protocol error: invalid multibulk length\r\n"
#define NO_MEMORY "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
#define QUOTA "-ERR max daily request limit exceeded. Limit: 10000\r\n"

static rbt_pairs pairs;

static void drop_pairs(void)
{
	rbt_pairs_fini(&pairs);
	memset(&pairs, 0, sizeof(pairs));
}

static int end(void **state)
{
	drop_pairs();
	return rbt_scene_end(state);
}

#define SCENE(function) \
	cmocka_unit_test_setup_teardown((function), rbt_scene_begin, end)

static void make_pairs(size_t n)
{
	drop_pairs();
	rbt_pairs_init(&pairs, "key:", n, 10);
}

typedef rb_status writing(rbt_scene *s, const rb_options *o);

static rb_status mset(rbt_scene *s, const rb_options *o)
{
	return rb_mset_chunked(s->rb, pairs.keys.keys, pairs.keys.lens,
			       pairs.values, pairs.lens, pairs.n, o, &s->res);
}

static rb_status hset(rbt_scene *s, const rb_options *o)
{
	return rb_hset_chunked(s->rb, "h", 1, pairs.keys.keys, pairs.keys.lens,
			       pairs.values, pairs.lens, pairs.n, o, &s->res);
}

/* A SET for each. */
static rb_status set_absent(rbt_scene *s, const rb_options *o)
{
	rb_options own = *o;

	own.flags |= RB_IF_ABSENT;
	return mset(s, &own);
}

static rb_status pipeline(rbt_scene *s, const rb_options *o)
{
	rbt_commands commands;
	rb_status status;

	rbt_commands_init(&commands);
	for (size_t i = 0; i < pairs.n; i++)
		rbt_commands_add(&commands, "SET %s v", pairs.keys.keys[i]);
	status = rb_pipeline_chunked(s->rb, commands.list, commands.n, o,
				     &s->res);
	rbt_commands_fini(&commands);
	return status;
}

static writing *const ways[] = { mset, hset, set_absent, pipeline };

static void start(rbt_scene *s, rbt_refusing *refusing)
{
	rbt_peer_options o = rbt_refusing_peer(refusing, RBT_PAIR);

	rbt_scene_start(s, &o);
}

static void start_own(rbt_scene *s, rbt_refusing *refusing)
{
	rbt_peer_options o = rbt_refusing_peer(refusing, RBT_TCP);

	rbt_scene_open(s, &o, "", "", NULL);
}

static void want_applied(const rbt_scene *s, size_t i)
{
	assert_int_equal(rb_result_status(s->res, i), RB_OK);
	assert_int_equal(rb_result_outcome(s->res, i), RB_ANSWERED);
}

/* As many as were applied by the server's own count. */
static void want_counted(const rbt_scene *s, rbt_refusing *refusing)
{
	want_sound(s->res);
	assert_int_equal(rbt_count_outcome(s->res, RB_ANSWERED),
			 atomic_load(&refusing->entries));
}

/* -------------------------------------------------------------- not ready -- */

static void test_writes_wait_for_a_server_that_is_not_ready(void **state)
{
	static const char *const words[] = {
		"-LOADING Redis is loading the dataset in memory\r\n",
		"-BUSY Redis is busy running a script.\r\n",
		"-NOREPLICAS Not enough good replicas to write.\r\n",
		"-CLUSTERDOWN The cluster is down\r\n",
	};

	for (size_t i = 0; i < COUNT(ways) * COUNT(words); i++) {
		/* One command of each chunk is all that there is. */
		rbt_refusing refusing = { .words = words[i % COUNT(words)],
					  .first = 1 };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(0, 1);
		writing *way = ways[i / COUNT(words)];

		o.chunk_keys = way == mset || way == hset ? 4 : 1;
		make_pairs(10);
		start(s, &refusing);
		want_status(s->rb, way(s, &o), RB_OK);
		assert_int_equal(rbt_count_outcome(s->res, RB_ANSWERED), 10);
		want_counted(s, &refusing);
		rbt_scene_want_pong(s);
	}
}

static void test_chunks_of_commands_wait_if_none_was_run(void **state)
{
	for (size_t i = 2; i < COUNT(ways); i++) {
		rbt_refusing refusing = { .words = "-BUSY\r\n", .first = 4 };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(4, 1);

		make_pairs(10);
		start(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_OK);
		assert_int_equal(rb_result_chunk(s->res, 0)->attempts, 2);
		want_counted(s, &refusing);
		rbt_scene_want_pong(s);
	}
}

static void test_a_chunk_of_commands_is_not_run_twice(void **state)
{
	for (size_t i = 2; i < COUNT(ways); i++) {
		/* Three of the first four, so that the fourth is applied. */
		rbt_refusing refusing = { .words = "-BUSY\r\n", .first = 3 };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(4, 1);

		make_pairs(10);
		start(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_ERR_PARTIAL);
		for (size_t k = 0; k < 10; k++) {
			if (k < 3)
				want_failed(s->res, k, RB_ERR_SERVER,
					    RB_REJECTED);
			else
				want_applied(s, k);
		}
		want_counted(s, &refusing);
		assert_int_equal(rbt_peer_commands(s->peer), 10);
		rbt_scene_want_pong(s);
	}
}

/* ------------------------------------------------------- a proxy's words -- */

static void test_a_write_that_a_proxy_lost_is_unknown(void **state)
{
	static const char *const words[] = {
		"-upstream failure\r\n",
		"-no upstream host\r\n",
		"-ERR Connection timed out\r\n",
		"-ERR Connection reset by peer\r\n",
	};

	for (size_t i = 0; i < COUNT(words); i++) {
		rbt_refusing refusing = { .words = words[i], .first = 1 };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(4, 1);

		make_pairs(10);
		start(s, &refusing);
		want_status(s->rb, mset(s, &o), RB_ERR_PARTIAL);
		for (size_t k = 0; k < 10; k++) {
			if (k < 4)
				want_failed(s->res, k, RB_ERR_SERVER,
					    RB_UNKNOWN);
			else
				want_applied(s, k);
		}
		want_counted(s, &refusing);
		/* Nothing twice. */
		assert_int_equal(rbt_peer_commands(s->peer), 3);
		rbt_scene_want_pong(s);
	}
}

static void test_what_a_proxy_did_in_part_is_partly(void **state)
{
	rbt_refusing refusing = { .words = "-finished with 2 error(s)\r\n",
				  .first = 1 };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(4, 1);

	make_pairs(8);
	start(s, &refusing);
	want_status(s->rb, mset(s, &o), RB_ERR_PARTIAL);
	for (size_t i = 0; i < 4; i++) {
		want_failed(s->res, i, RB_ERR_SERVER, RB_PARTLY);
		want_words(rb_result_message(s->res, i), "finished with 2");
	}
	want_applied(s, 4);
	want_applied(s, 7);
	want_counted(s, &refusing);
	assert_int_equal(rbt_peer_commands(s->peer), 2);
	rbt_scene_want_pong(s);
}

/* ------------------------------------------------------ entries at fault -- */

static void test_only_the_forbidden_keys_are_not_written(void **state)
{
	for (size_t i = 0; i < COUNT(ways); i++) {
		rbt_refusing refusing = { .words = NO_KEY,
					  .prefix = "key:0000007" };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(64, 3);

		make_pairs(200);
		start(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_ERR_PARTIAL);
		for (size_t k = 0; k < 200; k++) {
			if (k / 10 == 7)
				want_failed(s->res, k, RB_ERR_SERVER,
					    RB_REJECTED);
			else
				want_applied(s, k);
		}
		want_counted(s, &refusing);
		rbt_scene_want_pong(s);
	}
}

static void test_a_limit_of_requests_is_kept(void **state)
{
	rbt_refusing refusing = {
		.words =
			"-ERR max request size exceeded. Limit: 1000 bytes\r\n",
		.most_bytes = 900,
	};
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(300, 1);

	for (size_t i = 0; i < 2; i++) {
		make_pairs(300);
		start(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_OK);
		want_counted(s, &refusing);
		assert_true(atomic_load(&refusing.refused) > 0);
		atomic_store(&refusing.refused, 0);
		atomic_store(&refusing.entries, 0);
		rb_result_free(s->res);
		s->res = NULL;
		want_status(s->rb, ways[i](s, &o), RB_OK);
		want_counted(s, &refusing);
		assert_int_equal(atomic_load(&refusing.refused), 0);
		atomic_store(&refusing.entries, 0);
	}
}

/* ------------------------------------------------------------ it is over -- */

static void test_a_quota_ends_writes_at_once(void **state)
{
	for (size_t i = 0; i < COUNT(ways); i++) {
		/* Entry 5 is the first to be refused. */
		rbt_refusing refusing = { .words = QUOTA,
					  .prefix = "key:00000005" };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(1, 1);

		make_pairs(50);
		start(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_ERR_SERVER);
		want_words(rb_client_error(s->rb), "max daily request limit");
		for (size_t k = 0; k < 50; k++) {
			if (k < 5)
				want_applied(s, k);
			else if (k == 5)
				want_failed(s->res, k, RB_ERR_SERVER,
					    RB_REJECTED);
			else
				want_failed(s->res, k, RB_ERR_SKIPPED,
					    RB_NOT_SENT);
		}
		want_counted(s, &refusing);
		assert_int_equal(rbt_peer_commands(s->peer), 6);
		rbt_scene_want_pong(s);
	}
}

static void test_a_lack_of_memory_is_tried_once_more(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		rbt_refusing refusing = { .words = NO_MEMORY,
					  .first = SIZE_MAX };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(10, 1);

		make_pairs(50);
		start(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_ERR_SERVER);
		want_words(rb_client_error(s->rb), "OOM");
		assert_int_equal(rb_result_failed(s->res), 50);
		want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
		want_failed(s->res, 49, RB_ERR_SKIPPED, RB_NOT_SENT);
		want_counted(s, &refusing);
		/* Ten, then five. */
		assert_int_equal(rbt_peer_commands(s->peer), 2);
		rbt_scene_want_pong(s);
	}
}

static void test_writes_that_a_server_does_not_take_end(void **state)
{
	static const char *const words[] = {
		"-MISCONF Redis is configured to save RDB snapshots\r\n",
		"-READONLY You can't write against a read only replica.\r\n",
		"-NOAUTH Authentication required.\r\n",
		"-NOPERM User lim may not run the 'mset' command\r\n",
	};

	for (size_t i = 0; i < COUNT(words); i++) {
		rbt_refusing refusing = { .words = words[i],
					  .first = SIZE_MAX };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(10, 1);

		make_pairs(50);
		start(s, &refusing);
		want_status(s->rb, mset(s, &o), RB_ERR_SERVER);
		want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
		want_failed(s->res, 49, RB_ERR_SKIPPED, RB_NOT_SENT);
		want_counted(s, &refusing);
		assert_int_equal(rbt_peer_commands(s->peer), 1);
		rbt_scene_want_pong(s);
	}
}

/* ---------------------------------------------------------- it is closed -- */

static void test_the_longest_value_fails_and_the_others_go_on(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		rbt_refusing refusing = { .words = TOO_LONG,
					  .most_len = 100,
					  .then = RBT_THEN_CLOSE };
		static const char value[101] = "long";
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(10, 1);

		make_pairs(30);
		pairs.values[13] = value;
		pairs.lens[13] = sizeof(value);
		start_own(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_ERR_PARTIAL);
		for (size_t k = 0; k < 30; k++) {
			if (k == 13)
				want_failed(s->res, k, RB_ERR_SERVER,
					    RB_REJECTED);
			else
				want_applied(s, k);
		}
		want_words(rb_result_message(s->res, 13),
			   "invalid bulk length");
		want_counted(s, &refusing);
		assert_int_equal(rbt_peer_connections(s->peer), 2);
	}
}

static void test_too_many_arguments_are_written_in_parts(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		rbt_refusing refusing = { .words = TOO_MANY,
					  .most_args = 200,
					  .then = RBT_THEN_CLOSE };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(300, 1);

		make_pairs(600);
		start_own(s, &refusing);
		want_status(s->rb, ways[i](s, &o), RB_OK);
		want_counted(s, &refusing);
		assert_true(rbt_peer_connections(s->peer) > 1);
	}
}

/* --------------------------------------------------------- transactions -- */

static void test_a_transaction_is_never_cut_in_parts(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_SEND("+OK\r\n" NO_KEY
			 "-EXECABORT Transaction discarded because of previous "
			 "errors.\r\n"),
		RBT_EXPECT(3),
		RBT_SEND("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(4, 1);

	o.flags = RB_TRANSACTION;
	make_pairs(8);
	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, mset(s, &o), RB_ERR_PARTIAL);
	for (size_t i = 0; i < 4; i++) {
		want_failed(s->res, i, RB_ERR_SERVER, RB_REJECTED);
		want_words(rb_result_message(s->res, i), "NOPERM");
	}
	want_applied(s, 4);
	want_applied(s, 7);
	want_sound(s->res);
	rbt_scene_want_pong(s);
	rbt_scene_want_over(s);
}

static void test_a_transaction_that_was_not_run_goes_again(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_SEND("+OK\r\n-LOADING the dataset\r\n"
			 "-EXECABORT Transaction discarded because of previous "
			 "errors.\r\n"),
		RBT_EXPECT(3),
		RBT_SEND("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(4, 1);

	o.flags = RB_TRANSACTION;
	make_pairs(4);
	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, mset(s, &o), RB_OK);
	assert_int_equal(rb_result_chunk(s->res, 0)->attempts, 2);
	want_sound(s->res);
	rbt_scene_want_pong(s);
	rbt_scene_want_over(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SCENE(test_writes_wait_for_a_server_that_is_not_ready),
		SCENE(test_chunks_of_commands_wait_if_none_was_run),
		SCENE(test_a_chunk_of_commands_is_not_run_twice),
		SCENE(test_a_write_that_a_proxy_lost_is_unknown),
		SCENE(test_what_a_proxy_did_in_part_is_partly),
		SCENE(test_only_the_forbidden_keys_are_not_written),
		SCENE(test_a_limit_of_requests_is_kept),
		SCENE(test_a_quota_ends_writes_at_once),
		SCENE(test_a_lack_of_memory_is_tried_once_more),
		SCENE(test_writes_that_a_server_does_not_take_end),
		SCENE(test_the_longest_value_fails_and_the_others_go_on),
		SCENE(test_too_many_arguments_are_written_in_parts),
		SCENE(test_a_transaction_is_never_cut_in_parts),
		SCENE(test_a_transaction_that_was_not_run_goes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Reads that a server refuses, end to end: what goes again, what goes in
 * parts, and what ends the batch.
 */
#include "refusing.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define NO_KEY "-NOPERM No permissions to access a key\r\n"
#define TOO_MANY "-ERR Protocol error: invalid multibulk length\r\n"

#define QUOTA                                                             \
	"-ERR max requests limit exceeded. Limit: 500000, Usage: 500000." \
	"\r\n"

typedef rb_status reading(rbt_scene *s, size_t n, const rb_options *o);

static rb_status read_fields(rbt_scene *s, size_t n, const rb_options *o)
{
	rb_result_free(s->res);
	s->res = NULL;
	rbt_keys_fini(&s->keys);
	assert_true(rbt_keys_init(&s->keys, "key:", n));
	return rb_hmget_chunked(s->rb, "h", 1, s->keys.keys, s->keys.lens, n, o,
				&s->res);
}

static reading *const ways[] = { rbt_scene_read, read_fields };

static void want_read(const rbt_scene *s, size_t i)
{
	want_bytes(s->res, i, s->keys.keys[i], s->keys.lens[i]);
}

static void want_all_read(const rbt_scene *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		want_read(s, i);
	want_sound(s->res);
}

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

/* A client whose calls have no deadline, so that attempts are the bound. */
static void start_patient(rbt_scene *s, rbt_refusing *refusing)
{
	start(s, refusing);
	rb_client_free(s->rb);
	s->rb = NULL;
	assert_int_equal(rb_client_wrap(&s->rb, s->ctx, NULL), RB_OK);
}

static uint64_t retries_of(const rbt_scene *s)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(s->res, &stats), RB_OK);
	return stats.retries;
}

/* -------------------------------------------------------------- not ready -- */

static void test_reads_wait_for_a_server_that_is_not_ready(void **state)
{
	static const char *const words[] = {
		"-LOADING Valkey is loading the dataset in memory\r\n",
		"-BUSY Redis is busy running a script.\r\n",
		"-MASTERDOWN Link with MASTER is down\r\n",
		"-CLUSTERDOWN The cluster is down\r\n",
		"-TRYAGAIN Multiple keys request during rehashing\r\n",
		"-upstream failure\r\n",
		"-no upstream host\r\n",
		"-ERR Connection timed out\r\n",
		"-ERR Connection refused\r\n",
	};

	for (size_t i = 0; i < 2 * COUNT(words); i++) {
		rbt_refusing refusing = { .words = words[i / 2], .first = 1 };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(4, 2);

		start(s, &refusing);
		want_status(s->rb, ways[i % 2](s, 10, &o), RB_OK);
		want_all_read(s, 10);
		assert_int_equal(atomic_load(&refusing.refused), 1);
		assert_int_equal(retries_of(s), 1);
		rbt_scene_want_pong(s);
	}
}

static void test_a_server_that_is_never_ready_ends_the_call(void **state)
{
	rbt_refusing refusing = { .words = "-LOADING for ever\r\n",
				  .first = SIZE_MAX };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(2, 1);

	o.timeout_ms = 0;
	start_patient(s, &refusing);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "LOADING for ever");
	want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 1, RB_ERR_SERVER, RB_REJECTED);
	for (size_t i = 2; i < 6; i++)
		want_failed(s->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(s->res);
	assert_int_equal(rbt_peer_commands(s->peer), 3);
	assert_int_equal(rb_result_chunk(s->res, 0)->attempts, 3);
	/* In step, and the same client goes on. */
	rbt_scene_want_pong(s);
}

static void test_one_attempt_waits_for_nothing(void **state)
{
	rbt_refusing refusing = { .words = "-BUSY\r\n", .first = SIZE_MAX };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(2, 1);

	o.attempts = 1;
	start(s, &refusing);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_SERVER);
	assert_int_equal(rbt_peer_commands(s->peer), 1);
	want_sound(s->res);
	rbt_scene_want_pong(s);
}

/* ---------------------------------------------------------- entries at fault -- */

static void test_a_key_that_is_forbidden_fails_alone(void **state)
{
	for (size_t i = 0; i < COUNT(ways); i++) {
		/* Keys 70 to 79. */
		rbt_refusing refusing = { .words = NO_KEY,
					  .prefix = "key:0000007" };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(64, 3);

		start(s, &refusing);
		want_status(s->rb, ways[i](s, 200, &o), RB_ERR_PARTIAL);
		for (size_t k = 0; k < 200; k++) {
			if (k / 10 != 7) {
				want_read(s, k);
				continue;
			}
			want_failed(s->res, k, RB_ERR_SERVER, RB_REJECTED);
			want_words(rb_result_message(s->res, k), "NOPERM");
		}
		assert_int_equal(rb_result_failed(s->res), 10);
		want_sound(s->res);
		/* Ten at fault of a chunk of 64, six times halved. */
		assert_true(rbt_peer_commands(s->peer) <= 4 + 2 * 10 * 6);
		rbt_scene_want_pong(s);
	}
}

static void test_a_limit_is_learned_for_all_calls(void **state)
{
	rbt_refusing refusing = {
		.words = "-ERR max request size exceeded. Limit: 1000 bytes, "
			 "Actual: 6000 bytes.\r\n",
		.most_bytes = 900,
	};
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(300, 1);

	start(s, &refusing);
	want_status(s->rb, rbt_scene_read(s, 300, &o), RB_OK);
	want_all_read(s, 300);
	assert_true(atomic_load(&refusing.refused) > 0);
	atomic_store(&refusing.refused, 0);
	want_status(s->rb, rbt_scene_read(s, 300, &o), RB_OK);
	want_all_read(s, 300);
	assert_int_equal(atomic_load(&refusing.refused), 0);
	rbt_scene_want_pong(s);
}

/* --------------------------------------------------------- a proxy's words -- */

static void test_an_error_among_values_is_that_entrys_own(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("*3\r\n$1\r\nA\r\n-upstream failure\r\n$-1\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("+PONG\r\n"),
		RBT_END,
	};
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 3, NULL), RB_ERR_PARTIAL);
	want_text(s->res, 0, "A");
	want_failed(s->res, 1, RB_ERR_SERVER, RB_REJECTED);
	want_words(rb_result_message(s->res, 1), "upstream failure");
	want_nil(s->res, 2);
	want_sound(s->res);
	rbt_scene_want_pong(s);
	rbt_scene_want_over(s);
}

static void test_a_proxy_that_stays_away_fails_its_chunks_alone(void **state)
{
	rbt_refusing refusing = { .words = "-upstream failure\r\n",
				  .prefix = "key:00000003" };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(2, 1);

	o.timeout_ms = 0;
	o.attempts = 2;
	start_patient(s, &refusing);
	want_status(s->rb, rbt_scene_read(s, 8, &o), RB_ERR_PARTIAL);
	for (size_t i = 0; i < 8; i++) {
		if (i == 2 || i == 3)
			want_failed(s->res, i, RB_ERR_SERVER, RB_REJECTED);
		else
			want_read(s, i);
	}
	want_sound(s->res);
	assert_int_equal(atomic_load(&refusing.refused), 2);
	rbt_scene_want_pong(s);
}

/* ------------------------------------------------------------ it is over -- */

static void test_what_ends_the_batch_ends_it_at_once(void **state)
{
	static const char *const words[] = {
		QUOTA,
		"-ERR max daily request limit exceeded. Limit: 10000\r\n",
		"-ERR DB capacity quota exceeded\r\n",
		"-NOAUTH Authentication required.\r\n",
		"-NOPERM User lim may not run the 'mget' command\r\n",
		"-ERR unknown command 'MGET'\r\n",
	};

	for (size_t i = 0; i < COUNT(words); i++) {
		rbt_refusing refusing = { .words = words[i],
					  .prefix = "key:00000005" };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(2, 1);

		start(s, &refusing);
		want_status(s->rb, rbt_scene_read(s, 100, &o), RB_ERR_SERVER);
		for (size_t k = 0; k < 100; k++) {
			if (k < 4)
				want_read(s, k);
			else if (k < 6)
				want_failed(s->res, k, RB_ERR_SERVER,
					    RB_REJECTED);
			else
				want_failed(s->res, k, RB_ERR_SKIPPED,
					    RB_NOT_SENT);
		}
		want_sound(s->res);
		/* Nothing more was sent: a provider would bill it. */
		assert_int_equal(rbt_peer_commands(s->peer), 3);
		rbt_scene_want_pong(s);
	}
}

static void test_a_quota_stops_own_connections_too(void **state)
{
	rbt_refusing refusing = { .words = QUOTA,
				  .first = SIZE_MAX,
				  .then = RBT_THEN_CLOSE };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(2, 1);

	start_own(s, &refusing);
	want_status(s->rb, rbt_scene_read(s, 100, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "max requests limit exceeded");
	want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 99, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(s->res);
	assert_int_equal(rbt_peer_commands(s->peer), 1);
	assert_int_equal(rbt_peer_connections(s->peer), 1);
}

/* --------------------------------------------------------- it is closed -- */

static void test_too_many_arguments_go_on_over_new_connections(void **state)
{
	for (size_t i = 0; i < COUNT(ways); i++) {
		rbt_refusing refusing = { .words = TOO_MANY,
					  .most_args = 100,
					  .then = RBT_THEN_CLOSE };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(300, 1);

		start_own(s, &refusing);
		want_status(s->rb, ways[i](s, 600, &o), RB_OK);
		want_all_read(s, 600);
		assert_int_equal(rbt_peer_connections(s->peer),
				 1 + atomic_load(&refusing.refused));
		/* And the limit is known from now on. */
		atomic_store(&refusing.refused, 0);
		want_status(s->rb, ways[i](s, 600, &o), RB_OK);
		want_all_read(s, 600);
		assert_int_equal(atomic_load(&refusing.refused), 0);
	}
}

static void test_too_many_arguments_end_a_wrapped_connection(void **state)
{
	rbt_refusing refusing = { .words = TOO_MANY,
				  .most_args = 100,
				  .then = RBT_THEN_CLOSE };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(300, 1);

	start(s, &refusing);
	want_status(s->rb, rbt_scene_read(s, 600, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "invalid multibulk length");
	want_failed(s->res, 0, RB_ERR_SERVER, RB_REJECTED);
	want_failed(s->res, 599, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

/* A server that bounds what it holds for a client says nothing. */
static void test_an_end_without_words_makes_reads_smaller(void **state)
{
	static const size_t most[] = { 500000, 100000, 70000 };

	for (size_t i = 0; i < COUNT(most); i++) {
		rbt_refusing refusing = { .value_len = 1000,
					  .most_reply = most[i] };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(1000, 0);

		start_own(s, &refusing);
		want_status(s->rb, rbt_scene_read(s, 2000, &o), RB_OK);
		for (size_t k = 0; k < 2000; k++)
			assert_int_equal(rb_result_value(s->res, k).len, 1000);
		want_sound(s->res);
		assert_true(atomic_load(&refusing.refused) > 0);
	}
}

static void test_an_end_without_words_is_never_a_missing_key(void **state)
{
	rbt_refusing refusing = { .value_len = 1000, .most_reply = 100000 };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(1000, 1);

	start(s, &refusing);
	want_status(s->rb, rbt_scene_read(s, 2000, &o), RB_ERR_IO);
	for (size_t k = 0; k < 1000; k++)
		want_failed(s->res, k, RB_ERR_IO, RB_UNKNOWN);
	assert_int_equal(rbt_count_nil(s->res), 0);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_reads_wait_for_a_server_that_is_not_ready),
		RBT_SCENE(test_a_server_that_is_never_ready_ends_the_call),
		RBT_SCENE(test_one_attempt_waits_for_nothing),
		RBT_SCENE(test_a_key_that_is_forbidden_fails_alone),
		RBT_SCENE(test_a_limit_is_learned_for_all_calls),
		RBT_SCENE(test_an_error_among_values_is_that_entrys_own),
		RBT_SCENE(test_a_proxy_that_stays_away_fails_its_chunks_alone),
		RBT_SCENE(test_what_ends_the_batch_ends_it_at_once),
		RBT_SCENE(test_a_quota_stops_own_connections_too),
		RBT_SCENE(test_too_many_arguments_go_on_over_new_connections),
		RBT_SCENE(test_too_many_arguments_end_a_wrapped_connection),
		RBT_SCENE(test_an_end_without_words_makes_reads_smaller),
		RBT_SCENE(test_an_end_without_words_is_never_a_missing_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

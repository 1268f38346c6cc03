/*
 * Streams whose chunks are refused: every entry that the source gave reaches
 * the sink exactly once and in order, whatever went again and in parts.
 */
#include "refusing.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST = 3000 };

static struct {
	size_t n;     /* keys that the source gives */
	size_t given; /* by the source */
	size_t taken; /* by the sink, in order */
	size_t failed;
	char key[32];
	rb_status statuses[MOST];
	/* From on_chunk. */
	rb_outcome outcomes[MOST];
	size_t told[MOST];
} tape;

static void rewind_tape(size_t n)
{
	memset(&tape, 0, sizeof(tape));
	tape.n = n;
}

static int next_key(void *arg, rb_slice *key)
{
	(void)arg;
	if (tape.given == tape.n)
		return 0;
	snprintf(tape.key, sizeof(tape.key), "key:%08zu", tape.given++);
	key->data = tape.key;
	key->len = strlen(tape.key);
	return 1;
}

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	value->data = "value";
	value->len = 5;
	return next_key(arg, key);
}

static int next_command(void *arg, rb_command *command)
{
	static const char *argv[] = { "SET", tape.key, "v" };
	rb_slice key;

	command->argc = 3;
	command->argv = argv;
	command->argvlen = NULL;
	return next_key(arg, &key);
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	(void)arg;
	assert_int_equal(first, tape.taken);
	for (size_t i = 0; i < n; i++) {
		char key[32];

		snprintf(key, sizeof(key), "key:%08zu", first + i);
		assert_int_equal(keys[i].len, strlen(key));
		assert_memory_equal(keys[i].data, key, keys[i].len);
		tape.statuses[first + i] = statuses[i];
		tape.failed += statuses[i] != RB_OK;
		if (statuses[i] != RB_OK) {
			assert_null(values[i].data);
			continue;
		}
		/* Of its own key, and none of another. */
		assert_int_equal(values[i].len, keys[i].len);
		assert_memory_equal(values[i].data, key, keys[i].len);
	}
	tape.taken += n;
	return 0;
}

static int take_replies(void *arg, size_t first,
			const struct redisReply *const *replies,
			const rb_status *statuses, size_t n)
{
	(void)arg;
	assert_int_equal(first, tape.taken);
	for (size_t i = 0; i < n; i++) {
		tape.statuses[first + i] = statuses[i];
		tape.failed += statuses[i] != RB_OK;
		if (statuses[i] == RB_OK)
			assert_string_equal(replies[i]->str, "OK");
	}
	tape.taken += n;
	return 0;
}

static int tell(void *arg, const rb_chunk *chunk)
{
	(void)arg;
	assert_null(chunk->entries);
	for (size_t i = 0; i < chunk->count; i++) {
		tape.told[chunk->first + i]++;
		tape.outcomes[chunk->first + i] = chunk->outcome;
	}
	return 0;
}

static rb_status read_stream(rbt_scene *s, const rb_options *o)
{
	return rb_mget_stream(s->rb, next_key, NULL, take, NULL, o, NULL);
}

static rb_status send_stream(rbt_scene *s, const rb_options *o)
{
	return rb_pipeline_stream(s->rb, next_command, NULL, take_replies, NULL,
				  o, NULL);
}

static rb_status write_stream(rbt_scene *s, const rb_options *o)
{
	rb_options own = *o;

	own.on_chunk = tell;
	return rb_mset_stream(s->rb, next_pair, NULL, &own, NULL);
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

static bool is_forbidden(size_t i)
{
	return i / 10 == 7;
}

/* ------------------------------------------------------------------ reads -- */

static void test_a_stream_waits_for_a_server_that_is_not_ready(void **state)
{
	rbt_refusing refusing = { .words = "-LOADING\r\n", .first = 2 };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(10, 4);

	rewind_tape(300);
	start(s, &refusing);
	want_status(s->rb, read_stream(s, &o), RB_OK);
	assert_int_equal(tape.taken, 300);
	assert_int_equal(tape.failed, 0);
	rbt_scene_want_pong(s);
}

static void test_forbidden_keys_of_a_stream_fail_alone(void **state)
{
	static const size_t counts[] = { 1, 7, 64, 300 };

	for (size_t i = 0; i < COUNT(counts); i++) {
		rbt_refusing refusing = { .words = "-NOPERM access a key\r\n",
					  .prefix = "key:0000007" };
		rbt_scene *s = rbt_scene_use(state);
		rb_options o = rbt_options(counts[i], 4);

		rewind_tape(300);
		start(s, &refusing);
		want_status(s->rb, read_stream(s, &o), RB_ERR_PARTIAL);
		assert_int_equal(tape.taken, 300);
		assert_int_equal(tape.failed, 10);
		for (size_t k = 0; k < 300; k++)
			assert_int_equal(tape.statuses[k],
					 is_forbidden(k) ? RB_ERR_SERVER :
							   RB_OK);
		rbt_scene_want_pong(s);
	}
}

static void test_a_stream_goes_on_over_new_connections(void **state)
{
	rbt_refusing refusing = {
		.words = "-ERR Protocol error: invalid multibulk length\r\n",
		.most_args = 100,
		.then = RBT_THEN_CLOSE,
	};
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(300, 1);

	rewind_tape(MOST);
	start_own(s, &refusing);
	want_status(s->rb, read_stream(s, &o), RB_OK);
	assert_int_equal(tape.taken, MOST);
	assert_int_equal(tape.failed, 0);
	assert_int_equal(rbt_peer_connections(s->peer),
			 1 + atomic_load(&refusing.refused));
}

static void test_a_quota_ends_a_stream_at_once(void **state)
{
	rbt_refusing refusing = {
		.words = "-ERR max requests limit exceeded. Limit: 5\r\n",
		.prefix = "key:0000007",
	};
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(10, 1);

	rewind_tape(MOST);
	start(s, &refusing);
	want_status(s->rb, read_stream(s, &o), RB_ERR_SERVER);
	want_words(rb_client_error(s->rb), "max requests limit");
	/* All that the source gave, and no more was asked of it. */
	assert_int_equal(tape.taken, tape.given);
	assert_true(tape.given < 200);
	assert_int_equal(rbt_peer_commands(s->peer), 8);
	for (size_t i = 0; i < 70; i++)
		assert_int_equal(tape.statuses[i], RB_OK);
	assert_int_equal(tape.statuses[70], RB_ERR_SERVER);
	rbt_scene_want_pong(s);
}

/* ----------------------------------------------------------------- writes -- */

static void test_a_stream_of_writes_is_told_of_once(void **state)
{
	rbt_refusing refusing = { .words = "-NOPERM access a key\r\n",
				  .prefix = "key:0000007" };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(64, 3);

	rewind_tape(1000);
	start(s, &refusing);
	want_status(s->rb, write_stream(s, &o), RB_ERR_PARTIAL);
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(tape.told[i], 1);
		assert_int_equal(tape.outcomes[i],
				 is_forbidden(i) ? RB_REJECTED : RB_ANSWERED);
	}
	assert_int_equal(atomic_load(&refusing.entries), 990);
	rbt_scene_want_pong(s);
}

static void test_a_stream_of_writes_waits_too(void **state)
{
	rbt_refusing refusing = { .words = "-NOREPLICAS\r\n", .first = 2 };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(64, 3);

	rewind_tape(1000);
	start(s, &refusing);
	want_status(s->rb, write_stream(s, &o), RB_OK);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(tape.told[i], 1);
	assert_int_equal(atomic_load(&refusing.entries), 1000);
	rbt_scene_want_pong(s);
}

static void test_a_stream_of_commands_is_not_run_twice(void **state)
{
	/* The first chunk as a whole, and one more command. */
	rbt_refusing refusing = { .words = "-BUSY\r\n", .first = 11 };
	rbt_scene *s = rbt_scene_use(state);
	rb_options o = rbt_options(10, 1);

	rewind_tape(100);
	start(s, &refusing);
	want_status(s->rb, send_stream(s, &o), RB_ERR_PARTIAL);
	assert_int_equal(tape.taken, 100);
	assert_int_equal(tape.failed, 1);
	assert_int_equal(tape.statuses[0], RB_ERR_SERVER);
	assert_int_equal(atomic_load(&refusing.entries), 99);
	assert_int_equal(rbt_peer_commands(s->peer), 110);
	rbt_scene_want_pong(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_a_stream_waits_for_a_server_that_is_not_ready),
		RBT_SCENE(test_forbidden_keys_of_a_stream_fail_alone),
		RBT_SCENE(test_a_stream_goes_on_over_new_connections),
		RBT_SCENE(test_a_quota_ends_a_stream_at_once),
		RBT_SCENE(test_a_stream_of_writes_is_told_of_once),
		RBT_SCENE(test_a_stream_of_writes_waits_too),
		RBT_SCENE(test_a_stream_of_commands_is_not_run_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

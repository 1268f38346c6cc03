/*
 * What a batch costs grows with its entries and no faster: eight times as many
 * take about eight times the processor's time, not sixty-four.
 */
#include "sanitized.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	FEW = RBT_PLAIN_OR_SANITIZED(20000, 10000),
	TIMES = 8,
	/* Between 8 and 64, far from both: the machine is shared. */
	MOST_TIMES = 24,
	ROUNDS = 3,
	TRIES = 5
};

static void serve(void *arg, size_t argc, const rbt_arg *argv, rbt_reply *reply)
{
	(void)arg;
	if (memcmp(argv[0].data, "MGET", 4) != 0) {
		rbt_reply_text(reply, "+OK\r\n");
		return;
	}
	rbt_reply_array(reply, argc - 1);
	for (size_t i = 1; i < argc; i++)
		rbt_reply_bulk(reply, "ten  bytes", 10);
}

static uint64_t cpu_us(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

typedef rb_status work(rbt_scene *s, size_t n, const rb_options *o);

static rb_status do_mget(rbt_scene *s, size_t n, const rb_options *o)
{
	return rb_mget_chunked(s->rb, s->keys.keys, s->keys.lens, n, o,
			       &s->res);
}

/* All the same key: nobody looks for it among the others. */
static rb_status do_mget_same(rbt_scene *s, size_t n, const rb_options *o)
{
	for (size_t i = 1; i < n; i++)
		s->keys.keys[i] = s->keys.keys[0];
	return do_mget(s, n, o);
}

static rb_status do_mset(rbt_scene *s, size_t n, const rb_options *o)
{
	return rb_mset_chunked(s->rb, s->keys.keys, s->keys.lens, s->keys.keys,
			       s->keys.lens, n, o, &s->res);
}

static rb_status do_pipeline(rbt_scene *s, size_t n, const rb_options *o)
{
	static const char *argv[] = { "SET", "key", "value" };
	rb_command *commands = calloc(n, sizeof(*commands));
	rb_status status;

	assert_non_null(commands);
	for (size_t i = 0; i < n; i++) {
		commands[i].argc = 3;
		commands[i].argv = argv;
	}
	status = rb_pipeline_chunked(s->rb, commands, n, o, &s->res);
	free(commands);
	return status;
}

/* The least of a few, since others disturb only upwards. */
static uint64_t cost(rbt_scene *s, work *fn, size_t n, size_t chunk_keys)
{
	rbt_peer_options p = { .family = RBT_PAIR, .handler = serve };
	rb_options o = rbt_options(chunk_keys, 0);
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t took;
		rb_status status;

		rbt_scene_start(s, &p);
		assert_true(rbt_keys_init(&s->keys, "key:", n));
		took = cpu_us();
		status = fn(s, n, &o);
		took = cpu_us() - took;
		want_status(s->rb, status, RB_OK);
		assert_int_equal(rb_result_failed(s->res), 0);
		assert_int_equal(rb_result_count(s->res), n);
		if (took < least)
			least = took;
	}
	return least + 1;
}

static void test_the_time_of_a_batch_grows_with_its_entries(void **state)
{
	static const struct {
		const char *what;
		work *fn;
		size_t chunk_keys;
	} rows[] = {
		{ "MGET", do_mget, 1000 },
		{ "MGET in small chunks", do_mget, 10 },
		{ "MGET of one key", do_mget_same, 1000 },
		{ "MSET", do_mset, 1000 },
		{ "a pipeline", do_pipeline, 1000 },
		{ "a pipeline in small chunks", do_pipeline, 10 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		rbt_scene *s = rbt_scene_use(state);
		uint64_t few = 0;
		uint64_t many = 1;

		/* What grows too fast does so each time; a busy machine
		 * makes one time look like it. */
		for (int k = 0; k < TRIES && many > few * MOST_TIMES; k++) {
			few = cost(s, rows[i].fn, FEW, rows[i].chunk_keys);
			many = cost(s, rows[i].fn, (size_t)FEW * TIMES,
				    rows[i].chunk_keys);
		}
		print_message("# %s: %.1f times\n", rows[i].what,
			      (double)many / (double)few);
		assert_in_range(many, 0, few * MOST_TIMES);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_the_time_of_a_batch_grows_with_its_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

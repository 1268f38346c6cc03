/*
 * Writes whose connection ends: what may have been applied is not sent again,
 * unless the caller said so.
 */
#include "commands.h"
#include "store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

static rbt_store store;

static void begin(rbt_scene *s, const size_t *budgets, size_t n,
		  const rb_options *o)
{
	rbt_scene_rest(s);
	memset(&store, 0, sizeof(store));
	store.closed = true;
	store.budgets = budgets;
	store.nbudgets = n;
	rbt_store_open(&store, s, o);
}

static size_t connections(rbt_scene *s)
{
	size_t n = rbt_peer_connections(s->peer);

	rbt_scene_rest(s);
	store.budgets = NULL;
	return n;
}

/* Sets n keys, or increments them one by one. */
static rb_status set(rbt_scene *s, size_t n, const rb_options *o)
{
	static const char *values[64];
	static size_t lens[64];

	for (size_t i = 0; i < n; i++) {
		values[i] = "v";
		lens[i] = 1;
	}
	rbt_keys_fini(&s->keys);
	assert_true(rbt_keys_init(&s->keys, "key:", n));
	rb_result_free(s->res);
	s->res = NULL;
	return rb_mset_chunked(s->rb, s->keys.keys, s->keys.lens, values, lens,
			       n, o, &s->res);
}

static rb_status increment(rbt_scene *s, size_t n, const rb_options *o)
{
	rbt_commands c;
	rb_status status;

	rbt_commands_init(&c);
	for (size_t i = 0; i < n; i++)
		rbt_commands_add(&c, "INCR key:%08zu", i);
	rb_result_free(s->res);
	s->res = NULL;
	status = rb_pipeline_chunked(s->rb, c.list, n, o, &s->res);
	rbt_commands_fini(&c);
	return status;
}

typedef rb_status write_fn(rbt_scene *s, size_t n, const rb_options *o);

static const struct {
	const char *name;
	write_fn *write;
	size_t answer;	   /* bytes */
	size_t per_answer; /* entries, with chunks of two */
} kinds[] = {
	{ "pairs", set, 5, 2 },
	{ "commands", increment, 4, 1 },
};

/* What the result says agrees with what was done. */
static void want_true(const rb_result *res, size_t n)
{
	want_sound(res);
	for (size_t i = 0; i < n; i++) {
		unsigned applied = store.applied[i];

		switch (rb_result_outcome(res, i)) {
		case RB_ANSWERED:
			assert_int_equal(applied, 1);
			break;
		case RB_NOT_SENT:
			assert_int_equal(applied, 0);
			break;
		case RB_UNKNOWN:
			assert_in_range(applied, 0, 1);
			break;
		case RB_REJECTED:
		case RB_PARTLY:
			fail_msg("entry %zu: %s", i,
				 rb_outcome_text(rb_result_outcome(res, i)));
		}
	}
}

/* ------------------------------------------------- nothing is sent twice -- */

static void test_no_write_is_sent_twice_wherever_it_ends(void **state)
{
	enum { N = 8 };
	static const size_t windows[] = { 1, 3 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t row = 0; row < COUNT(kinds) * COUNT(windows); row++) {
		size_t kind = row % COUNT(kinds);
		size_t whole = N / kinds[kind].per_answer * kinds[kind].answer;
		rb_options o = rbt_options(2, windows[row / COUNT(kinds)]);

		for (size_t at = 0; at <= whole; at++) {
			size_t budgets[] = { RBT_STORE_GREETING + at };
			rb_status status;

			begin(s, budgets, 1, &o);
			status = kinds[kind].write(s, N, &o);
			rbt_scene_rest(s);
			want_true(s->res, N);
			if (status != RB_OK)
				want_status(s->rb, status, RB_ERR_IO);
			/* The first byte of an answer that is cut: there was
			 * something in doubt. */
			if (at < whole && at % kinds[kind].answer != 0)
				want_status(s->rb, status, RB_ERR_IO);
			if (status == RB_OK)
				assert_int_equal(rb_result_failed(s->res), 0);
			else
				assert_in_range(
					rbt_count_outcome(s->res, RB_UNKNOWN),
					1, N);
			store.budgets = NULL;
		}
	}
}

static void test_what_is_in_doubt_ends_the_call(void **state)
{
	static const size_t budgets[] = { RBT_STORE_GREETING + 5 + 1 };
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	begin(s, budgets, 1, &o);
	want_status(s->rb, set(s, 8, &o), RB_ERR_IO);
	want_words(rb_client_error(s->rb), "closed the connection");
	assert_int_equal(connections(s), 1);
	want_true(s->res, 8);
	assert_int_equal(rbt_count_outcome(s->res, RB_ANSWERED), 2);
	assert_int_equal(rbt_count_outcome(s->res, RB_UNKNOWN), 2);
	assert_int_equal(rbt_count_outcome(s->res, RB_NOT_SENT), 4);
	want_failed(s->res, 2, RB_ERR_IO, RB_UNKNOWN);
	want_failed(s->res, 4, RB_ERR_SKIPPED, RB_NOT_SENT);
	assert_int_equal(store.applied[2], 1);
}

/* -------------------------------------------------------- nothing in doubt -- */

/* So much that it cannot all lie in the buffers of the system. */
static void test_a_write_that_had_not_left_goes_on(void **state)
{
	static const rbt_step script[] = {
		RBT_READ(100000), RBT_CLOSE,
		RBT_EXPECT(1),	  RBT_SEND("+OK\r\n"),
		RBT_EXPECT(1),	  RBT_SEND("+OK\r\n"),
		RBT_END,
	};
	const rbt_peer_options p = { .family = RBT_TCP,
				     .script = script,
				     .rcvbuf = 4096 };
	const char *keys[] = { "large", "small" };
	size_t lens[] = { 16 * MIB, 1 };
	char *large = calloc(1, 16 * MIB);
	const char *values[] = { large, "v" };
	rb_options o = rbt_options(1, 1);
	rb_stats stats = { .struct_size = sizeof(stats) };
	rbt_scene *s = rbt_scene_use(state);

	assert_non_null(large);
	rbt_scene_open(s, &p, "", "", &o);
	want_status(s->rb,
		    rb_mset_chunked(s->rb, keys, NULL, values, lens, 2, &o,
				    &s->res),
		    RB_OK);
	free(large);
	rbt_scene_want_over(s);
	assert_int_equal(rbt_count_outcome(s->res, RB_ANSWERED), 2);
	assert_int_equal(rb_result_stats(s->res, &stats), RB_OK);
	assert_int_equal(stats.reconnects, 1);
	assert_int_equal(rb_result_chunk(s->res, 0)->attempts, 2);
	assert_int_equal(rb_result_chunk(s->res, 1)->attempts, 1);
	assert_int_equal(rbt_peer_connections(s->peer), 2);
}

/* Asking whether the server knows MSETEX does no harm twice. */
static void test_a_question_is_asked_again(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n*3"),
		RBT_CLOSE,
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n*3\r\n$6\r\nmsetex\r\n:-4\r\n*0\r\n"),
		RBT_EXPECT(1),
		RBT_SEND(":1\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(0, 1);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play_own(s, script, "", "", &o);
	o.expire_ms = 1500;
	want_status(s->rb, set(s, 3, &o), RB_OK);
	assert_int_equal(rbt_count_outcome(s->res, RB_ANSWERED), 3);
	rbt_scene_want_over(s);
}

/* --------------------------------------------------------- asked to repeat -- */

static void test_writes_that_may_be_repeated_are_all_applied(void **state)
{
	enum { N = 8 };
	static const size_t windows[] = { 1, 3 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t row = 0; row < COUNT(kinds) * COUNT(windows); row++) {
		size_t kind = row % COUNT(kinds);
		size_t whole = N / kinds[kind].per_answer * kinds[kind].answer;
		rb_options o = rbt_options(2, windows[row / COUNT(kinds)]);

		o.flags = RB_RETRY_WRITES;
		for (size_t at = 0; at <= whole; at++) {
			size_t budgets[] = { RBT_STORE_GREETING + at };

			begin(s, budgets, 1, &o);
			want_status(s->rb, kinds[kind].write(s, N, &o), RB_OK);
			assert_in_range(connections(s), 1, 2);
			want_sound(s->res);
			for (size_t i = 0; i < N; i++) {
				assert_int_equal(rb_result_outcome(s->res, i),
						 RB_ANSWERED);
				assert_in_range(store.applied[i], 1, 2);
			}
		}
	}
}

static void test_repeating_has_its_bound_too(void **state)
{
	static const size_t budgets[] = { 11, 11, 11, 11, 11, 11 };
	static const uint32_t attempts[] = { 1, 2, 3 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(attempts); i++) {
		rb_options o = rbt_options(0, 1);

		o.flags = RB_RETRY_WRITES;
		o.attempts = attempts[i];
		begin(s, budgets, COUNT(budgets), &o);
		want_status(s->rb, set(s, 3, &o), RB_ERR_IO);
		want_sound(s->res);
		assert_int_equal(connections(s), attempts[i]);
		assert_int_equal(store.applied[0], attempts[i]);
		want_failed(s->res, 0, RB_ERR_IO, RB_UNKNOWN);
	}
}

/* -------------------------------------------------------------- streams -- */

typedef struct flow {
	size_t given, n;
	char key[32];
	size_t outcomes[8];
} flow;

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	flow *f = arg;

	if (f->given == f->n)
		return 0;
	snprintf(f->key, sizeof(f->key), "key:%08zu", f->given++);
	key->data = f->key;
	key->len = strlen(f->key);
	value->data = "v";
	value->len = 1;
	return 1;
}

static int hear(void *arg, const rb_chunk *chunk)
{
	flow *f = arg;

	f->outcomes[chunk->outcome] += chunk->count;
	return 0;
}

static void test_a_stream_of_writes_may_be_repeated(void **state)
{
	static const size_t budgets[] = { 33, 61, 104, 17, 36 };
	rb_options o = rbt_options(10, 3);
	rb_stats stats = { .struct_size = sizeof(stats) };
	flow f = { .n = 3000 };
	rbt_scene *s = rbt_scene_use(state);

	o.flags = RB_RETRY_WRITES;
	o.attempts = 10;
	begin(s, budgets, COUNT(budgets), &o);
	o.on_chunk = hear;
	o.on_chunk_arg = &f;
	want_status(s->rb, rb_mset_stream(s->rb, next_pair, &f, &o, &stats),
		    RB_OK);
	assert_int_equal(stats.reconnects, COUNT(budgets));
	assert_int_equal(connections(s), COUNT(budgets) + 1);
	assert_int_equal(f.outcomes[RB_ANSWERED], f.n);
	for (size_t i = 0; i < f.n; i++)
		assert_in_range(store.applied[i], 1, COUNT(budgets) + 1);
}

static void test_a_stream_of_writes_in_doubt_ends(void **state)
{
	static const size_t budgets[] = { RBT_STORE_GREETING + 5 * 20 + 1 };
	rb_options o = rbt_options(10, 3);
	flow f = { .n = 3000 };
	size_t applied = 0;
	rbt_scene *s = rbt_scene_use(state);

	begin(s, budgets, 1, &o);
	o.on_chunk = hear;
	o.on_chunk_arg = &f;
	want_status(s->rb, rb_mset_stream(s->rb, next_pair, &f, &o, NULL),
		    RB_ERR_IO);
	assert_int_equal(connections(s), 1);
	for (size_t i = 0; i < f.n; i++) {
		assert_in_range(store.applied[i], 0, 1);
		applied += store.applied[i];
	}
	assert_int_equal(f.outcomes[RB_ANSWERED], 200);
	assert_in_range(applied, 210, 200 + f.outcomes[RB_UNKNOWN]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_no_write_is_sent_twice_wherever_it_ends),
		RBT_SCENE(test_what_is_in_doubt_ends_the_call),
		RBT_SCENE(test_a_write_that_had_not_left_goes_on),
		RBT_SCENE(test_a_question_is_asked_again),
		RBT_SCENE(test_writes_that_may_be_repeated_are_all_applied),
		RBT_SCENE(test_repeating_has_its_bound_too),
		RBT_SCENE(test_a_stream_of_writes_may_be_repeated),
		RBT_SCENE(test_a_stream_of_writes_in_doubt_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

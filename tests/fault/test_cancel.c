/*
 * rb_client_cancel() from other threads while the peer is busy, while the call
 * waits by itself, and between calls.
 */
#include "canceller.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --------------------------------------------------------- silent peers -- */

static void test_a_read_that_waits_is_ended(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	for (int own = 0; own < 2; own++) {
		clear(s);
		store.closed = own;
		store.mute_at = 2;
		begin(s, 2, &o);
		want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
		want_soon("while the peer is silent");
		want_words(rb_client_error(s->rb), "cancelled");
		want_sound(s->res);
		want_filled(s->res, 0, 4, 0);
		want_filled(s->res, 1, 4, 1);
		want_failed(s->res, 2, RB_ERR_CANCELLED, RB_UNKNOWN);
		want_failed(s->res, 3, RB_ERR_CANCELLED, RB_UNKNOWN);
		want_failed(s->res, 4, RB_ERR_SKIPPED, RB_NOT_SENT);
		want_failed(s->res, 5, RB_ERR_SKIPPED, RB_NOT_SENT);
		assert_int_equal(rbt_peer_connections(s->peer), 1);
		if (own)
			want_well(s);
		else
			rbt_scene_want_broken(s);
	}
	clear(s);
}

static void test_a_write_that_waits_is_ended(void **state)
{
	static const char *values[] = { "a", "b", "c", "d", "e", "f" };
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.closed = true;
	store.mute_at = 2;
	begin(s, 2, &o);
	/* Not even where it may be repeated. */
	o.flags = RB_RETRY_WRITES;
	assert_true(rbt_keys_init(&s->keys, "key:", 6));
	want_status(s->rb,
		    rb_mset_chunked(s->rb, s->keys.keys, s->keys.lens, values,
				    NULL, 6, &o, &s->res),
		    RB_ERR_CANCELLED);
	want_soon("while a write waits");
	want_sound(s->res);
	assert_int_equal(rb_result_outcome(s->res, 1), RB_ANSWERED);
	want_failed(s->res, 2, RB_ERR_CANCELLED, RB_UNKNOWN);
	want_failed(s->res, 4, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_well(s);
	clear(s);
}

static void test_a_read_that_trickles_is_ended(void **state)
{
	static char slow[4000];
	const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("*3\r\n$1\r\na\r\n$3000\r\n"),
		RBT_TRICKLE_BYTES(slow, sizeof(slow), 1),
		RBT_END,
	};
	rb_options o = rbt_options(3, 1);
	watcher w = { .steps = 2 };
	rbt_scene *s = rbt_scene_use(state);

	memset(slow, 'x', sizeof(slow));
	rbt_scene_play(s, RBT_PAIR, script);
	atomic_store(&target, s->rb);
	w.peer = s->peer;
	start(&w);
	want_status(s->rb, rbt_scene_read(s, 3, &o), RB_ERR_CANCELLED);
	want_soon("while it trickles");
	join(&w);
	want_sound(s->res);
	want_text(s->res, 0, "a");
	want_failed(s->res, 1, RB_ERR_CANCELLED, RB_UNKNOWN);
	rbt_scene_want_broken(s);
}

static int next_key(void *arg, rb_slice *key)
{
	static const char names[] = "key:00000000";
	size_t *given = arg;

	++*given;
	key->data = names;
	key->len = sizeof(names) - 1;
	return 1;
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	size_t *taken = arg;

	assert_int_equal(first, *taken);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(keys[i].len, 12);
		assert_int_equal(values[i].data != NULL, statuses[i] == RB_OK);
	}
	*taken += n;
	return 0;
}

static void test_an_endless_stream_is_ended(void **state)
{
	rb_options o = rbt_options(5, 3);
	size_t given = 0, taken = 0;
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.closed = true;
	begin(s, 50, &o);
	want_status(
		s->rb,
		rb_mget_stream(s->rb, next_key, &given, take, &taken, &o, NULL),
		RB_ERR_CANCELLED);
	want_soon("in a stream");
	/* Each entry that was given has come out at the other end. */
	assert_int_equal(taken, given);
	assert_true(given >= 5 * 50);
	want_well(s);
	clear(s);
}

static void test_asking_for_sizes_is_ended(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.closed = true;
	store.mute_at = 5;
	begin(s, 5, &o);
	o.flags = RB_SIZE_FIRST;
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
	want_soon("while sizes are asked for");
	want_sound(s->res);
	assert_int_equal(rb_result_failed(s->res), 6);
	want_well(s);
	rbt_scene_rest(s);
	/* By the second call. */
	assert_int_equal(store.asked[0], 1);
	clear(s);
}

/* --------------------------------------------------------------- waiting -- */

static void test_backing_off_is_ended(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	for (int own = 0; own < 2; own++) {
		watcher w = { .commands = 4 };

		clear(s);
		store.closed = own;
		store.refusal = "-LOADING not yet\r\n";
		store.refusals = SIZE_MAX;
		begin(s, SIZE_MAX, &o);
		w.peer = s->peer;
		start(&w);
		want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
		want_soon("while backing off");
		join(&w);
		want_sound(s->res);
		assert_int_equal(rb_result_failed(s->res), 6);
		if (s->ctx && s->ctx->err != 0)
			rbt_scene_want_broken(s);
	}
	clear(s);
}

static void test_pacing_is_ended(void **state)
{
	rb_options o = rbt_options(1, 1);
	watcher w = { .commands = 2 };
	rbt_scene *s = rbt_scene_use(state);

	o.commands_per_second = 1;
	clear(s);
	begin(s, SIZE_MAX, &o);
	w.peer = s->peer;
	start(&w);
	want_status(s->rb, rbt_scene_read(s, 60, &o), RB_ERR_CANCELLED);
	want_soon("while pacing");
	join(&w);
	want_sound(s->res);
	want_filled(s->res, 0, 4, 0);
	assert_true(rb_result_failed(s->res) > 50);
	want_settled(s);
	clear(s);
}

/* ------------------------------------------------------- between the calls -- */

static void test_a_cancel_before_a_call_ends_that_call(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	for (int own = 0; own < 2; own++) {
		clear(s);
		store.closed = own;
		begin(s, SIZE_MAX, &o);
		for (int times = 1; times <= 3; times++) {
			size_t before = rbt_peer_commands(s->peer);

			for (int i = 0; i < times; i++)
				rb_client_cancel(s->rb);
			want_status(s->rb, rbt_scene_read(s, 6, &o),
				    RB_ERR_CANCELLED);
			want_words(rb_client_error(s->rb), "cancelled");
			assert_int_equal(rbt_peer_commands(s->peer), before);
			if (s->res) {
				want_sound(s->res);
				assert_int_equal(rb_result_failed(s->res), 6);
				assert_int_equal(
					rbt_count_outcome(s->res, RB_NOT_SENT),
					6);
			}
			/* Once, however often it was asked for. */
			want_well(s);
		}
	}
	clear(s);
}

static void test_a_call_without_work_leaves_it_to_the_next(void **state)
{
	static const char *bad[] = { NULL };
	rb_options o = rbt_options(2, 1);
	rb_result *none = NULL;
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	begin(s, SIZE_MAX, &o);
	rb_client_cancel(NULL);
	rb_client_cancel(s->rb);
	want_status(s->rb, rbt_scene_read(s, 0, &o), RB_OK);
	want_status(s->rb, rb_mget_chunked(s->rb, bad, NULL, 1, &o, &none),
		    RB_ERR_INVALID);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
	want_well(s);
	rbt_scene_want_pong(s);
	clear(s);
}

static atomic_bool enough;

static void *storm(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough)) {
		rb_client_cancel(atomic_load(&target));
		rbt_sleep_ms(1);
	}
	return NULL;
}

static void test_a_storm_of_cancels_is_survived(void **state)
{
	rb_options o = rbt_options(2, 3);
	pthread_t threads[3];
	size_t cancelled = 0;
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.closed = true;
	begin(s, SIZE_MAX, &o);
	atomic_store(&enough, false);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, storm, NULL),
				 0);
	for (int i = 0; i < 200; i++) {
		rb_status status = rbt_scene_read(s, 100, &o);

		cancelled += status == RB_ERR_CANCELLED;
		if (status != RB_OK)
			want_status(s->rb, status, RB_ERR_CANCELLED);
		if (!s->res)
			continue;
		want_sound(s->res);
		for (size_t k = 0; k < 100; k++)
			if (rb_result_status(s->res, k) == RB_OK)
				want_filled(s->res, k, 4, k);
	}
	atomic_store(&enough, true);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	assert_true(cancelled > 0);
	/* At most one request is left over. */
	if (rbt_scene_read(s, 6, &o) != RB_ERR_CANCELLED)
		want_loaded(s->res, 6, 4);
	want_well(s);
	clear(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_a_read_that_waits_is_ended),
		RBT_SCENE(test_a_write_that_waits_is_ended),
		RBT_SCENE(test_a_read_that_trickles_is_ended),
		RBT_SCENE(test_an_endless_stream_is_ended),
		RBT_SCENE(test_asking_for_sizes_is_ended),
		RBT_SCENE(test_backing_off_is_ended),
		RBT_SCENE(test_pacing_is_ended),
		RBT_SCENE(test_a_cancel_before_a_call_ends_that_call),
		RBT_SCENE(test_a_call_without_work_leaves_it_to_the_next),
		RBT_SCENE(test_a_storm_of_cancels_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A result is read by any number of threads; clients of different threads know
 * nothing of each other.
 */
#include "live.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, KEYS = 20000, LEN = 40 };

/* One thread's work, and how much of it went wrong: asserting is for the
 * main thread. */
typedef struct work {
	pthread_t thread;
	const rbt_live *live;
	const rb_result *res;
	size_t wrong;
} work;

static void *read_result(void *arg)
{
	work *w = arg;
	rb_stats stats = { .struct_size = sizeof(stats) };

	for (size_t i = 0; i < rb_result_count(w->res); i++) {
		rb_slice v = rb_result_value(w->res, i);

		w->wrong += !rbt_value_is(v.data, v.len, LEN, i) ||
			    rb_result_status(w->res, i) != RB_OK ||
			    rb_result_outcome(w->res, i) != RB_ANSWERED ||
			    rb_result_message(w->res, i)[0] != '\0';
	}
	for (size_t i = 0; i < rb_result_chunks(w->res); i++)
		w->wrong += rb_result_chunk(w->res, i)->status != RB_OK;
	w->wrong += rb_result_failed(w->res) != 0 ||
		    rb_result_stats(w->res, &stats) != RB_OK ||
		    stats.keys != KEYS;
	return NULL;
}

static void *use_a_client(void *arg)
{
	work *w = arg;
	const rbt_keys *keys = &w->live->keys;
	rb_client *rb = NULL;

	if (rb_client_open(&rb, w->live->uri, NULL) != RB_OK) {
		w->wrong++;
		return NULL;
	}
	for (int round = 0; round < 5; round++) {
		rb_result *res = NULL;

		if (rb_mget_chunked(rb, keys->keys, keys->lens, keys->n, NULL,
				    &res) != RB_OK)
			w->wrong++;
		for (size_t i = 0; i < rb_result_count(res); i++) {
			rb_slice v = rb_result_value(res, i);

			w->wrong += !rbt_value_is(v.data, v.len, LEN, i);
		}
		w->wrong += rb_result_count(res) != KEYS;
		rb_result_free(res);
	}
	rb_client_free(rb);
	return NULL;
}

static size_t run(const rbt_live *live, void *(*job)(void *))
{
	work works[THREADS];
	size_t wrong = 0;

	memset(works, 0, sizeof(works));
	for (size_t i = 0; i < THREADS; i++) {
		works[i].live = live;
		works[i].res = live->res;
		assert_int_equal(
			pthread_create(&works[i].thread, NULL, job, &works[i]),
			0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(works[i].thread, NULL);
		wrong += works[i].wrong;
	}
	return wrong;
}

static void test_a_result_is_read_by_several_threads(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 0);

	rbt_live_load(live, KEYS, LEN);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	assert_int_equal(run(live, read_result), 0);
}

static void test_each_thread_has_a_client_of_its_own(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, KEYS, LEN);
	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
	assert_int_equal(run(live, use_a_client), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_result_is_read_by_several_threads),
		RBT_LIVE(test_each_thread_has_a_client_of_its_own),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

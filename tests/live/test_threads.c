/*
 * A result is read by any number of threads, while its client goes on; clients
 * of different threads know nothing of each other; and what a client does may
 * be cancelled by any of them. Run with VARIANT=tsan, which sees what goes well
 * by chance.
 */
#include "commands.h"
#include "live.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, CLIENTS = 12, KEYS = 20000, LEN = 40, PAIRS = 3000 };

/* One thread's work, and how much of it went wrong: asserting is for the
 * main thread. */
typedef struct work {
	pthread_t thread;
	const rbt_live *live;
	rb_client *rb; /* another thread's, to cancel what it does */
	rb_result *res;
	/* A pipeline's, whose every second command failed. */
	const rb_result *replies;
	/* Once it is set the readers may end. */
	atomic_bool *over;
	size_t passes;
	rbt_pairs pairs;
	char uri[512];
	size_t wrong;
} work;

static void start(work *w, void *(*job)(void *))
{
	assert_int_equal(pthread_create(&w->thread, NULL, job, w), 0);
}

/* How much went wrong in n of them. */
static size_t join(work *works, size_t n)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(pthread_join(works[i].thread, NULL), 0);
		wrong += works[i].wrong;
	}
	return wrong;
}

/* --------------------------------------------------------------- reading -- */

static size_t check_chunks(const rb_result *res, rb_status status)
{
	size_t wrong = 0;
	size_t n = 0;

	for (size_t i = 0; i < rb_result_chunks(res); i++) {
		const rb_chunk *chunk = rb_result_chunk(res, i);

		wrong += chunk->status != status || chunk->first != n ||
			 chunk->entries != NULL || chunk->attempts != 1 ||
			 chunk->number != 0 || chunk->request_bytes == 0 ||
			 chunk->reply_bytes == 0 || chunk->node[0] == '\0' ||
			 (chunk->message[0] == '\0') != (status == RB_OK);
		n += chunk->count;
	}
	return wrong + (n != rb_result_count(res)) +
	       (rb_result_chunk(res, rb_result_chunks(res)) != NULL);
}

/* All that can be asked of a result of KEYS values. */
static size_t check_values(const rb_result *res)
{
	rb_stats stats = { .struct_size = sizeof(stats) };
	size_t wrong = 0;

	for (size_t i = 0; i < rb_result_count(res); i++) {
		rb_slice v = rb_result_value(res, i);

		wrong += !rbt_value_is(v.data, v.len, LEN, i) ||
			 rb_result_status(res, i) != RB_OK ||
			 rb_result_outcome(res, i) != RB_ANSWERED ||
			 rb_result_reply(res, i) != NULL ||
			 rb_result_message(res, i)[0] != '\0';
	}
	wrong += rb_result_count(res) != KEYS || rb_result_failed(res) != 0 ||
		 rb_result_total(res) != 0 ||
		 rb_result_stats(res, &stats) != RB_OK || stats.keys != KEYS;
	return wrong + check_chunks(res, RB_OK);
}

/* And of one of replies, of which each second is an error. */
static size_t check_replies(const rb_result *res)
{
	size_t n = rb_result_count(res);
	size_t wrong = n == 0;

	for (size_t i = 0; i < n; i++) {
		const redisReply *reply = rb_result_reply(res, i);
		bool failed = i % 2 == 1;

		wrong += reply == NULL ||
			 (reply->type == REDIS_REPLY_ERROR) != failed ||
			 rb_result_status(res, i) !=
				 (failed ? RB_ERR_SERVER : RB_OK) ||
			 rb_result_outcome(res, i) !=
				 (failed ? RB_REJECTED : RB_ANSWERED) ||
			 (rb_result_value(res, i).data == NULL) != failed ||
			 (rb_result_message(res, i)[0] != '\0') != failed;
	}
	return wrong + (rb_result_failed(res) != n / 2) +
	       check_chunks(res, RB_ERR_PARTIAL);
}

/* At least once, and for as long as the owner of the client goes on. */
static void *read_results(void *arg)
{
	work *w = arg;

	do {
		w->wrong += check_values(w->res);
		w->wrong += check_replies(w->replies);
		w->passes++;
	} while (!atomic_load(w->over));
	return NULL;
}

static void *read_and_free(void *arg)
{
	work *w = arg;

	w->wrong += check_values(w->res);
	rb_result_free(w->res);
	return NULL;
}

/* "GET key" and "LPUSH key x" in turn: a value and WRONGTYPE. */
static rb_result *read_replies(rbt_live *live, size_t n)
{
	rb_options o = rbt_options(100, 0);
	rb_result *res = NULL;
	rbt_commands c;

	rbt_commands_init(&c);
	for (size_t i = 0; i < n; i++)
		rbt_commands_add(&c, i % 2 == 0 ? "GET %s" : "LPUSH %s x",
				 live->keys.keys[i]);
	want_status(live->rb,
		    rb_pipeline_chunked(live->rb, c.list, c.n, &o, &res),
		    RB_ERR_PARTIAL);
	rbt_commands_fini(&c);
	return res;
}

/* The owner makes and frees results, fails, and in the end is no more. */
static void go_on(rbt_live *live)
{
	rb_options o = rbt_options(500, 0);

	for (int round = 0; round < 5; round++) {
		rb_result *res = NULL;

		want_status(live->rb,
			    rb_mget_chunked(live->rb, live->keys.keys,
					    live->keys.lens, KEYS, &o, &res),
			    RB_OK);
		rb_result_free(res);
		rb_result_free(read_replies(live, 1000));
		want_status(live->rb,
			    rb_mget_chunked(live->rb, NULL, NULL, 1, &o, &res),
			    RB_ERR_INVALID);
	}
	rb_client_free(live->rb);
	live->rb = NULL;
}

static void test_a_result_is_read_while_its_client_goes_on(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 0);
	work works[THREADS];
	rb_result *replies;
	atomic_bool over;
	size_t wrong;

	rbt_live_load(live, KEYS, LEN);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	replies = read_replies(live, 1000);
	atomic_init(&over, false);
	memset(works, 0, sizeof(works));
	for (size_t i = 0; i < THREADS; i++) {
		works[i].res = live->res;
		works[i].replies = replies;
		works[i].over = &over;
		start(&works[i], read_results);
	}
	go_on(live);
	atomic_store(&over, true);
	wrong = join(works, THREADS);
	rb_result_free(replies);
	assert_int_equal(wrong, 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_true(works[i].passes > 0);
}

static void test_results_are_freed_by_threads_they_were_handed_to(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(500, 0);
	work works[THREADS];

	rbt_live_load(live, KEYS, LEN);
	memset(works, 0, sizeof(works));
	for (size_t i = 0; i < THREADS; i++) {
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
		works[i].res = live->res;
		live->res = NULL;
		start(&works[i], read_and_free);
	}
	assert_int_equal(join(works, THREADS), 0);
}

/* --------------------------------------------------------------- clients -- */

static size_t write_pairs(rb_client *rb, const rbt_pairs *p,
			  const rb_options *o)
{
	rb_result *res = NULL;
	size_t wrong;

	wrong = rb_mset_chunked(rb, p->keys.keys, p->keys.lens, p->values,
				p->lens, p->n, o, &res) != RB_OK;
	rb_result_free(res);
	return wrong;
}

static size_t read_pairs(rb_client *rb, const rbt_pairs *p, const rb_options *o)
{
	rb_result *res = NULL;
	size_t wrong;

	wrong = rb_mget_chunked(rb, p->keys.keys, p->keys.lens, p->n, o,
				&res) != RB_OK;
	wrong += rb_result_count(res) != p->n;
	for (size_t i = 0; i < rb_result_count(res); i++) {
		rb_slice v = rb_result_value(res, i);

		wrong += !rbt_value_is(v.data, v.len, LEN, i);
	}
	rb_result_free(res);
	return wrong;
}

static size_t remove_pairs(rb_client *rb, const rbt_pairs *p,
			   const rb_options *o)
{
	rb_result *res = NULL;
	size_t wrong;

	wrong = rb_unlink_chunked(rb, p->keys.keys, p->keys.lens, p->n, o,
				  &res) != RB_OK;
	wrong += rb_result_total(res) != (int64_t)p->n;
	rb_result_free(res);
	return wrong;
}

/* A command by text, which takes memory from hiredis too. */
static size_t count_by_pipeline(rb_client *rb, const rbt_pairs *p)
{
	rb_pipeline *pipeline = NULL;
	rb_result *res = NULL;
	const redisReply *reply;
	size_t wrong = 0;

	if (rb_pipeline_new(&pipeline, rb) != RB_OK)
		return 1;
	for (size_t i = 0; i < p->n; i += 100)
		wrong += rb_pipeline_append(pipeline, "STRLEN %s",
					    p->keys.keys[i]) != RB_OK;
	wrong += rb_pipeline_run(pipeline, NULL, &res) != RB_OK;
	for (size_t i = 0; i < rb_pipeline_count(pipeline); i++) {
		reply = rb_result_reply(res, i);
		wrong += reply == NULL || reply->integer != LEN;
	}
	rb_result_free(res);
	rb_pipeline_free(pipeline);
	return wrong;
}

static void *use_a_client(void *arg)
{
	rb_options o = rbt_options(100, 0);
	work *w = arg;
	rb_client *rb = NULL;

	if (rb_client_open(&rb, w->uri, &o) != RB_OK) {
		w->wrong++;
		return NULL;
	}
	for (int round = 0; round < 3; round++) {
		w->wrong += write_pairs(rb, &w->pairs, NULL);
		w->wrong += read_pairs(rb, &w->pairs, NULL);
		w->wrong += count_by_pipeline(rb, &w->pairs);
		w->wrong += remove_pairs(rb, &w->pairs, NULL);
	}
	rb_client_free(rb);
	return NULL;
}

static void test_each_thread_has_a_client_of_its_own(void **state)
{
	rbt_live *live = rbt_live_use(state);
	work works[CLIENTS];
	size_t wrong;

	memset(works, 0, sizeof(works));
	for (size_t i = 0; i < CLIENTS; i++) {
		work *w = &works[i];
		char prefix[32];

		snprintf(prefix, sizeof(prefix), "thread%zu:", i);
		rbt_pairs_init(&w->pairs, prefix, PAIRS, LEN);
		if (i % 2 == 0)
			snprintf(w->uri, sizeof(w->uri), "redis://127.0.0.1:%d",
				 rbt_server_port(live->server));
		else
			snprintf(w->uri, sizeof(w->uri), "unix://%s",
				 rbt_server_socket(live->server));
		start(w, use_a_client);
	}
	wrong = join(works, CLIENTS);
	for (size_t i = 0; i < CLIENTS; i++)
		rbt_pairs_fini(&works[i].pairs);
	assert_int_equal(wrong, 0);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
}

/* ------------------------------------------------------------ cancelling */

/* Once the server says that somebody is blocked. */
static void *cancel_when_blocked(void *arg)
{
	work *w = arg;

	while (rbt_live_info(w->live, "clients", "blocked_clients") == 0)
		;
	rb_client_cancel(w->rb);
	return NULL;
}

static void test_a_call_that_waits_is_ended_by_another_thread(void **state)
{
	static const char *argv[] = { "BLPOP", "no such list", "0" };
	rbt_live *live = rbt_live_use(state);
	const rb_command command = { 3, argv, NULL };
	work w;

	rbt_live_open_uri(live, NULL, "unix://%s",
			  rbt_server_socket(live->server));
	memset(&w, 0, sizeof(w));
	w.live = live;
	w.rb = live->rb;
	start(&w, cancel_when_blocked);
	want_status(
		live->rb,
		rb_pipeline_chunked(live->rb, &command, 1, NULL, &live->res),
		RB_ERR_CANCELLED);
	assert_int_equal(join(&w, 1), 0);
	want_failed(live->res, 0, RB_ERR_CANCELLED, RB_UNKNOWN);
	/* It is good for that call alone. */
	rbt_live_drop(live);
	rbt_live_load(live, 10, LEN);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
}

static void *cancel_often(void *arg)
{
	work *w = arg;

	for (int i = 0; i < 500; i++)
		rb_client_cancel(w->rb);
	return NULL;
}

static void test_a_call_is_whole_or_cancelled_whenever_it_is_asked(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 0);
	work works[THREADS];

	rbt_live_load(live, 1000, LEN);
	rbt_live_open_uri(live, NULL, "unix://%s",
			  rbt_server_socket(live->server));
	memset(works, 0, sizeof(works));
	for (size_t i = 0; i < THREADS; i++) {
		works[i].rb = live->rb;
		start(&works[i], cancel_often);
	}
	for (int round = 0; round < 50; round++) {
		rb_status status = rbt_live_read(live, &o);

		assert_true(status == RB_OK || status == RB_ERR_CANCELLED);
		if (status == RB_OK)
			want_loaded(live->res, 1000, LEN);
		rbt_live_drop(live);
	}
	assert_int_equal(join(works, THREADS), 0);
	/* One request may be left, which is for the next call. */
	if (rbt_live_read(live, &o) == RB_ERR_CANCELLED) {
		rbt_live_drop(live);
		want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	}
	want_loaded(live->res, 1000, LEN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_result_is_read_while_its_client_goes_on),
		RBT_LIVE(test_results_are_freed_by_threads_they_were_handed_to),
		RBT_LIVE(test_each_thread_has_a_client_of_its_own),
		RBT_LIVE(test_a_call_that_waits_is_ended_by_another_thread),
		RBT_LIVE(
			test_a_call_is_whole_or_cancelled_whenever_it_is_asked),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

/*
 * rb_client_cancel() from other threads and from signal handlers, wherever the
 * call is in the meantime.
 */
#include "commands.h"
#include "store.h"
#include "tick.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { SOON_US = 2000000, WITHIN_MS = 20 };

static rbt_store store;

/* ------------------------------------------------------------- who cancels -- */

/* Whom, when it was done, and where in the peer's work. */
static rb_client *_Atomic target;
static atomic_ullong moment_us;
static atomic_size_t cancel_at;

static void cancel_now(void)
{
	atomic_store(&moment_us, rbt_now_us());
	rb_client_cancel(atomic_load(&target));
}

/* From the peer's thread, before it answers a command. */
static void cancel_at_command(void *arg, size_t ncommands)
{
	(void)arg;
	if (ncommands == atomic_load(&cancel_at))
		cancel_now();
}

/* From a thread of its own, a little after the peer has seen so much. */
typedef struct watcher {
	pthread_t thread;
	rbt_peer *peer;
	size_t commands, connections, steps;
} watcher;

static void *watch(void *arg)
{
	watcher *w = arg;

	if (w->commands > 0)
		rbt_peer_await_commands(w->peer, w->commands, 20000);
	if (w->steps > 0)
		rbt_peer_await_step(w->peer, w->steps, 20000);
	for (int i = 0; w->peer && i < 20000 &&
			rbt_peer_connections(w->peer) < w->connections;
	     i++)
		rbt_sleep_ms(1);
	/* Into the wait that follows; should it be over, the test asserts no
	 * less. */
	rbt_sleep_ms(WITHIN_MS);
	cancel_now();
	return NULL;
}

static void start(watcher *w)
{
	assert_int_equal(pthread_create(&w->thread, NULL, watch, w), 0);
}

static void join(watcher *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
}

/* The call, which has just returned, did so soon. */
static void want_soon(const char *what)
{
	uint64_t us = rbt_now_us() - atomic_load(&moment_us);

	print_message("cancelled %s: back after %u.%03u ms\n", what,
		      (unsigned)(us / 1000), (unsigned)(us % 1000));
	assert_in_range(us, 0, SOON_US);
}

/* ------------------------------------------------------------ the scene -- */

static void begin(rbt_scene *s, size_t at, const rb_options *o)
{
	rbt_scene_rest(s);
	store.nkeys = 100;
	store.value_len = 4;
	store.hook = cancel_at_command;
	atomic_store(&cancel_at, at);
	if (store.closed)
		rbt_store_open(&store, s, o);
	else
		rbt_store_wrap(&store, s);
	atomic_store(&target, s->rb);
}

static void clear(rbt_scene *s)
{
	rbt_scene_rest(s);
	memset(&store, 0, sizeof(store));
}

/* A call on an own client goes well again. */
static void want_well(rbt_scene *s)
{
	rb_options o = rbt_options(0, 0);

	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_OK);
	want_loaded(s->res, 6, 4);
}

/* Nothing of a wrapped context is in between. */
static void want_settled(rbt_scene *s)
{
	if (s->ctx->err == 0)
		rbt_scene_want_pong(s);
	else
		rbt_scene_want_broken(s);
}

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

/* ------------------------------------------------------------ connecting -- */

static void test_a_silent_handshake_is_ended(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.closed = true;
	store.mute_login = 1;
	begin(s, 0, &o);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
	want_soon("in a handshake");
	want_words(rb_client_error(s->rb), "cancelled");
	assert_null(s->res);
	want_well(s);
	clear(s);
}

static void test_a_silent_handshake_of_a_second_connection_is_ended(
	void **state)
{
	static const size_t budgets[] = { RBT_STORE_GREETING + 14 };
	rb_options o = rbt_options(6, 1);
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.closed = true;
	store.mute_login = 2;
	store.budgets = budgets;
	store.nbudgets = 1;
	begin(s, 0, &o);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
	want_soon("in a second handshake");
	want_sound(s->res);
	want_filled(s->res, 0, 4, 0);
	assert_int_equal(rb_result_failed(s->res), 5);
	want_well(s);
	clear(s);
}

/* A listener that accepts nobody, with its queue full. */
static int listen_in_vain(int family, const struct sockaddr *address,
			  socklen_t len, int fillers[8])
{
	struct sockaddr_storage bound;
	socklen_t size = sizeof(bound);
	int fd = socket(family, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, address, len), 0);
	assert_int_equal(listen(fd, 0), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&bound, &size), 0);
	for (int i = 0; i < 8; i++) {
		fillers[i] = socket(family, SOCK_STREAM, 0);
		assert_true(fillers[i] >= 0);
		assert_int_equal(fcntl(fillers[i], F_SETFL, O_NONBLOCK), 0);
		(void)connect(fillers[i], (struct sockaddr *)&bound, size);
	}
	return fd;
}

static void end_connecting(rbt_scene *s, const char *uri, const char *what)
{
	rb_options o = rbt_options(0, 0);
	watcher w = { .commands = 0 };

	rb_client_free(s->rb);
	s->rb = NULL;
	assert_int_equal(rb_client_open(&s->rb, uri, &o), RB_OK);
	atomic_store(&target, s->rb);
	start(&w);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
	want_soon(what);
	join(&w);
	assert_null(s->res);
}

static void test_connecting_is_ended(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(in);
	char dir[] = "/tmp/redisbatch-XXXXXX", uri[160];
	int fillers[8], fd;
	rbt_scene *s = rbt_scene_use(state);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = listen_in_vain(AF_INET, (struct sockaddr *)&in, sizeof(in),
			    fillers);
	getsockname(fd, (struct sockaddr *)&in, &len);
	snprintf(uri, sizeof(uri), "redis://:pw@127.0.0.1:%d",
		 ntohs(in.sin_port));
	end_connecting(s, uri, "while connecting over TCP");
	for (size_t i = 0; i < COUNT(fillers); i++)
		close(fillers[i]);
	close(fd);
	assert_non_null(mkdtemp(dir));
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/socket", dir);
	fd = listen_in_vain(AF_UNIX, (struct sockaddr *)&un, sizeof(un),
			    fillers);
	snprintf(uri, sizeof(uri), "unix://:pw@%s", un.sun_path);
	end_connecting(s, uri, "while connecting to a path");
	for (size_t i = 0; i < COUNT(fillers); i++)
		close(fillers[i]);
	close(fd);
	unlink(un.sun_path);
	rmdir(dir);
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

static void test_waiting_for_a_connection_is_ended(void **state)
{
	enum { N = 64 };
	size_t budgets[N];
	rb_options o = rbt_options(6, 1);
	watcher w = { .connections = 5 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < N; i++)
		budgets[i] = RBT_STORE_GREETING + 1;
	clear(s);
	store.closed = true;
	store.budgets = budgets;
	store.nbudgets = N;
	o.attempts = 1000;
	begin(s, SIZE_MAX, &o);
	w.peer = s->peer;
	start(&w);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
	want_soon("between two connections");
	join(&w);
	want_sound(s->res);
	assert_int_equal(rb_result_failed(s->res), 6);
	clear(s);
}

/* --------------------------------------------------------------- signals -- */

static pthread_t caller;

static void on_signal(int number)
{
	(void)number;
	atomic_store(&moment_us, rbt_now_us());
	rb_client_cancel(atomic_load(&target));
}

static void send_signal(void *arg, size_t ncommands)
{
	(void)arg;
	if (ncommands == atomic_load(&cancel_at))
		pthread_kill(caller, SIGUSR1);
}

static void test_a_signal_handler_may_cancel(void **state)
{
	static const int flags[] = { 0, SA_RESTART };
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	caller = pthread_self();
	for (size_t i = 0; i < COUNT(flags); i++) {
		struct sigaction act = { .sa_handler = on_signal,
					 .sa_flags = flags[i] };

		assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
		clear(s);
		store.closed = true;
		store.mute_at = 2;
		begin(s, SIZE_MAX, &o);
		rbt_scene_rest(s);
		store.hook = send_signal;
		atomic_store(&cancel_at, 2);
		rbt_store_open(&store, s, &o);
		atomic_store(&target, s->rb);
		want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
		want_soon("by a signal handler");
		want_filled(s->res, 1, 4, 1);
		want_failed(s->res, 2, RB_ERR_CANCELLED, RB_UNKNOWN);
		want_well(s);
	}
	signal(SIGUSR1, SIG_DFL);
	clear(s);
}

static void test_a_timer_may_cancel(void **state)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.mute_at = 1;
	begin(s, SIZE_MAX, &o);
	assert_int_equal(sigaction(SIGALRM, &act, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_CANCELLED);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	want_sound(s->res);
	assert_int_equal(rb_result_failed(s->res), 6);
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

static void test_a_cancel_before_connecting_ends_that(void **state)
{
	rb_options o = rbt_options(2, 1);
	rbt_scene *s = rbt_scene_use(state);

	clear(s);
	store.closed = true;
	begin(s, SIZE_MAX, &o);
	rb_client_cancel(s->rb);
	want_status(s->rb, rb_client_connect(s->rb), RB_ERR_CANCELLED);
	want_words(rb_client_error(s->rb), "cancelled");
	want_status(s->rb, rb_client_connect(s->rb), RB_OK);
	want_well(s);
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
		RBT_SCENE(test_a_silent_handshake_is_ended),
		RBT_SCENE(
			test_a_silent_handshake_of_a_second_connection_is_ended),
		RBT_SCENE(test_connecting_is_ended),
		RBT_SCENE(test_backing_off_is_ended),
		RBT_SCENE(test_pacing_is_ended),
		RBT_SCENE(test_waiting_for_a_connection_is_ended),
		RBT_SCENE(test_a_signal_handler_may_cancel),
		RBT_SCENE(test_a_timer_may_cancel),
		RBT_SCENE(test_a_cancel_before_a_call_ends_that_call),
		RBT_SCENE(test_a_call_without_work_leaves_it_to_the_next),
		RBT_SCENE(test_a_cancel_before_connecting_ends_that),
		RBT_SCENE(test_a_storm_of_cancels_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

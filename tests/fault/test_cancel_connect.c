/*
 * rb_client_cancel() from other threads and from signal handlers, while the
 * call is connecting or about to.
 */
#include "canceller.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_a_silent_handshake_is_ended),
		RBT_SCENE(
			test_a_silent_handshake_of_a_second_connection_is_ended),
		RBT_SCENE(test_connecting_is_ended),
		RBT_SCENE(test_waiting_for_a_connection_is_ended),
		RBT_SCENE(test_a_cancel_before_connecting_ends_that),
		RBT_SCENE(test_a_signal_handler_may_cancel),
		RBT_SCENE(test_a_timer_may_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Deadlines, with a server that has stopped, and with signals that interrupt
 * everything.
 */
#define _XOPEN_SOURCE 700 /* setitimer */

#include "live.h"
#include "patience.h"
#include "tick.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

/* Around a deadline of 300 ms, whatever else the machine does. */
enum { DEADLINE_MS = 300, EARLIEST_US = 290000, LATEST_US = 6000000 };

/* A deadline of so many ms after start has passed just now. */
static void want_deadline(unsigned ms, uint64_t start)
{
	uint64_t more_us = ((uint64_t)ms - DEADLINE_MS) * 1000;

	assert_in_range(rbt_now_us() - start, EARLIEST_US + more_us,
			LATEST_US + more_us);
}

/* Reads with a server that is stopped, and checks when it ended. */
static rb_status read_in_vain(rbt_live *live, const rb_options *o, unsigned ms)
{
	uint64_t start;
	rb_status status;

	rbt_live_stop(live);
	start = rbt_now_us();
	status = rbt_live_read(live, o);
	want_deadline(ms, start);
	rbt_live_go_on(live);
	return status;
}

static void test_a_stopped_server_is_awaited_until_the_deadline(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 3);
	unsigned ms = 0;

	rbt_live_load(live, 100, 5);
	do {
		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		o.timeout_ms = rbt_more_patience(&ms);
		want_status(live->rb, read_in_vain(live, &o, ms),
			    RB_ERR_TIMEOUT);
	} while (rbt_count_outcome(live->res, RB_UNKNOWN) < 30);
	want_words(rb_client_error(live->rb), "deadline");
	for (size_t i = 0; i < 30; i++)
		want_failed(live->res, i, RB_ERR_TIMEOUT, RB_UNKNOWN);
	for (size_t i = 30; i < 100; i++)
		want_failed(live->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(live->res);
	rbt_want_broken(live->ctx, live->rb);
}

/* More than the socket takes: the last byte of the command never left. */
static void test_a_command_cut_off_by_the_deadline_was_not_sent(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1000000, 1);
	unsigned ms = 0;

	o.chunk_request_bytes = (size_t)64 * 1024 * 1024;
	assert_true(
		rbt_keys_init(&live->keys, "a-key-that-is-not-there-", 500000));
	do {
		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		o.timeout_ms = rbt_more_patience(&ms);
		want_status(live->rb, read_in_vain(live, &o, ms),
			    RB_ERR_TIMEOUT);
	} while (rb_result_chunk(live->res, 0)->attempts == 0);
	want_failed(live->res, 0, RB_ERR_TIMEOUT, RB_NOT_SENT);
	assert_int_equal(rb_result_chunk(live->res, 0)->attempts, 1);
	assert_int_equal(rbt_count_outcome(live->res, RB_NOT_SENT), 500000);
	rbt_want_broken(live->ctx, live->rb);
}

static void test_the_timeout_of_the_context_is_the_deadline(void **state)
{
	rbt_live *live = rbt_live_use(state);
	unsigned ms = 0;

	rbt_live_load(live, 100, 5);
	do {
		struct timeval tv;

		rbt_more_patience(&ms);
		tv.tv_sec = ms / 1000;
		tv.tv_usec = ms % 1000 * 1000;
		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		assert_int_equal(redisSetTimeout(live->ctx, tv), REDIS_OK);
		want_status(live->rb, read_in_vain(live, NULL, ms),
			    RB_ERR_TIMEOUT);
	} while (rb_result_outcome(live->res, 0) == RB_NOT_SENT);
	rbt_want_broken(live->ctx, live->rb);
}

static void test_the_option_goes_before_the_context(void **state)
{
	rbt_live *live = rbt_live_use(state);
	struct timeval tv = { 100, 0 };
	rb_options o = rbt_options(0, 0);

	o.timeout_ms = DEADLINE_MS;
	rbt_live_load(live, 100, 5);
	assert_int_equal(redisSetTimeout(live->ctx, tv), REDIS_OK);
	want_status(live->rb, read_in_vain(live, &o, DEADLINE_MS),
		    RB_ERR_TIMEOUT);
}

static void test_what_came_late_is_not_given_to_the_next_call(void **state)
{
	static const char *first[] = { "a" }, *second[] = { "b" };
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	rb_options patient = rbt_options(0, 0);
	rb_status status;

	o.timeout_ms = DEADLINE_MS;
	rbt_do(live->admin, "MSET a late b right");
	rbt_live_open_uri(live, &patient, "unix://%s",
			  rbt_server_socket(live->server));
	want_status(live->rb, rb_client_connect(live->rb), RB_OK);
	rbt_live_stop(live);
	status = rb_mget_chunked(live->rb, first, NULL, 1, &o, &live->res);
	rbt_live_go_on(live);
	want_status(live->rb, status, RB_ERR_TIMEOUT);
	rbt_live_drop(live);
	want_status(live->rb,
		    rb_mget_chunked(live->rb, second, NULL, 1, &patient,
				    &live->res),
		    RB_OK);
	want_text(live->res, 0, "right");
}

static void test_a_deadline_is_of_the_call_not_of_the_connection(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 0);
	rb_status status = RB_OK;
	uint64_t start, call = 0;

	o.timeout_ms = 1000;
	rbt_live_load(live, 1000, 100);
	start = rbt_now_us();
	/* Together they take longer than one may. */
	while (status == RB_OK && rbt_now_us() - start < 1300000) {
		call = rbt_now_us();
		status = rbt_live_read(live, &o);
	}
	if (status == RB_OK) {
		want_loaded(live->res, 1000, 100);
	} else {
		/* On a machine that stands still one alone may be late. */
		want_status(live->rb, status, RB_ERR_TIMEOUT);
		assert_in_range(rbt_now_us() - call, 990000, UINT64_MAX);
	}
}

/* -------------------------------------------------------------- signals -- */

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* A signal every so often, without SA_RESTART: each system call that waits
 * ends with EINTR. 0: none any more. */
static void interrupt_every(unsigned us)
{
	struct itimerval timer;
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = us ? count_signal : SIG_IGN;
	memset(&timer, 0, sizeof(timer));
	timer.it_value.tv_usec = (suseconds_t)us;
	timer.it_interval.tv_usec = (suseconds_t)us;
	if (us)
		sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	if (us)
		signals = 0;
	else
		sigaction(SIGALRM, &action, NULL);
}

static void test_signals_do_not_starve_the_deadline(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	uint64_t start, end;
	rb_status status;

	o.timeout_ms = DEADLINE_MS;
	rbt_live_load(live, 100, 5);
	rbt_live_stop(live);
	interrupt_every(50000);
	start = rbt_now_us();
	status = rbt_live_read(live, &o);
	end = rbt_now_us();
	interrupt_every(0);
	rbt_live_go_on(live);
	want_status(live->rb, status, RB_ERR_TIMEOUT);
	assert_in_range(end - start, EARLIEST_US, LATEST_US);
	/* Signals that come while the process may not run are one. */
	assert_true(signals > 0);
}

static void test_signals_do_not_starve_the_deadline_of_dialling(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	uint64_t start, end;
	rb_status status;

	o.connect_timeout_ms = DEADLINE_MS;
	rbt_live_open_uri(live, &o, "redis://:pw@127.0.0.1:%d",
			  rbt_server_port(live->server));
	rbt_live_stop(live);
	interrupt_every(50000);
	start = rbt_now_us();
	status = rb_client_connect(live->rb);
	end = rbt_now_us();
	interrupt_every(0);
	rbt_live_go_on(live);
	want_status(live->rb, status, RB_ERR_CONNECT);
	assert_in_range(end - start, EARLIEST_US, LATEST_US);
}

static void test_signals_do_not_disturb_a_healthy_run(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 0);
	rb_status status = RB_OK;

	rbt_live_load(live, 20000, 200);
	interrupt_every(500);
	while (status == RB_OK && signals < 500)
		status = rbt_live_read(live, &o);
	interrupt_every(0);
	want_status(live->rb, status, RB_OK);
	want_loaded(live->res, 20000, 200);
	rbt_want_pong(live->ctx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_stopped_server_is_awaited_until_the_deadline),
		RBT_LIVE(test_a_command_cut_off_by_the_deadline_was_not_sent),
		RBT_LIVE(test_the_timeout_of_the_context_is_the_deadline),
		RBT_LIVE(test_the_option_goes_before_the_context),
		RBT_LIVE(test_what_came_late_is_not_given_to_the_next_call),
		RBT_LIVE(test_a_deadline_is_of_the_call_not_of_the_connection),
		RBT_LIVE(test_signals_do_not_starve_the_deadline),
		RBT_LIVE(test_signals_do_not_starve_the_deadline_of_dialling),
		RBT_LIVE(test_signals_do_not_disturb_a_healthy_run),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

/*
 * A server that dies, or drops the connection, in the middle of a batch: what
 * arrived stays, and the rest says why. SIGPIPE has its default action, so it
 * would end this program.
 */
#include "live.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Does something to the server when the n-th chunk has been answered. */
typedef struct blow {
	const rbt_live *live;
	void (*strike)(const rbt_live *live);
	size_t at;
	size_t seen;
} blow;

static int strike(void *arg, const rb_chunk *chunk)
{
	blow *b = arg;

	(void)chunk;
	if (++b->seen == b->at)
		b->strike(b->live);
	return 0;
}

static void drop_connections(const rbt_live *live)
{
	rbt_do(live->admin, "CLIENT KILL TYPE normal SKIPME yes");
}

/* All keys are there, so each entry is a value or a failure. */
static void want_interrupted(const rbt_live *live, size_t answered, size_t len)
{
	const rb_result *res = live->res;
	size_t fine = 0;

	for (size_t i = 0; i < rb_result_count(res); i++) {
		switch (rb_result_status(res, i)) {
		case RB_OK:
			want_filled(res, i, len, i);
			fine++;
			break;
		case RB_ERR_SKIPPED:
			want_failed(res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
			break;
		default:
			want_failed(res, i, RB_ERR_IO,
				    rb_result_outcome(res, i));
			assert_int_not_equal(rb_result_outcome(res, i),
					     RB_ANSWERED);
		}
	}
	assert_in_range(fine, answered, rb_result_count(res) - 1);
	want_sound(res);
}

static void strike_amid(rbt_live *live, void (*how)(const rbt_live *live),
			size_t window)
{
	rb_options o = rbt_options(100, window);
	blow b = { live, how, 5, 0 };

	o.on_chunk = strike;
	o.on_chunk_arg = &b;
	rbt_live_load(live, 50000, 100);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	assert_string_not_equal(rb_client_error(live->rb), "");
	want_interrupted(live, 500, 100);
	signal(SIGPIPE, SIG_IGN); /* hiredis may write from here on */
	rbt_want_broken(live->ctx, live->rb);
	signal(SIGPIPE, SIG_DFL);
}

static void test_a_server_killed_amid_a_batch_keeps_what_came(void **state)
{
	static const size_t windows[] = { 1, 4, 64 };
	rbt_live *live = rbt_live_use(state);

	/* A new server for each. */
	for (size_t i = 0; i < COUNT(windows); i++) {
		strike_amid(live, rbt_live_kill, windows[i]);
		rbt_live_end(state);
		rbt_live_begin(state);
	}
}

static void test_a_server_killed_amid_a_tcp_batch_keeps_what_came(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_wrap(live, rbt_live_tcp(live), NULL);
	strike_amid(live, rbt_live_kill, 16);
}

static void test_a_connection_dropped_amid_a_batch_keeps_what_came(void **state)
{
	static const size_t windows[] = { 1, 2, 16 };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(windows); i++) {
		strike_amid(live, drop_connections, windows[i]);
		rbt_live_wrap(live, rbt_live_unix(live), NULL);
		strike_amid(live, drop_connections, windows[i]);
		rbt_live_wrap(live, rbt_live_tcp(live), NULL);
	}
}

static void test_an_own_connection_dropped_amid_is_dialled_anew(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(100, 4);
	blow b = { live, drop_connections, 5, 0 };
	rb_stats stats = { .struct_size = sizeof(stats) };

	rbt_live_load(live, 10000, 100);
	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
	o.on_chunk = strike;
	o.on_chunk_arg = &b;
	o.attempts = 1;
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	want_interrupted(live, 500, 100);
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 10000, 100);
	/* With another attempt, amid the same call. */
	o.attempts = 2;
	b.seen = 0;
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 10000, 100);
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	assert_int_equal(stats.reconnects, 1);
}

/* The first chunk is answered, the second finds nobody. */
static void test_writing_to_a_dead_server_raises_no_signal(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(1, 1);
	blow b = { live, rbt_live_kill, 1, 0 };

	o.on_chunk = strike;
	o.on_chunk_arg = &b;
	rbt_live_load(live, 2, 10);
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_IO);
	want_filled(live->res, 0, 10, 0);
	/* No byte of it got away. */
	want_failed(live->res, 1, RB_ERR_SKIPPED, RB_NOT_SENT);
}

static void test_a_handler_of_sigpipe_is_left_alone(void **state)
{
	rbt_live *live = rbt_live_use(state);
	struct sigaction before, after;

	rbt_live_load(live, 1000, 10);
	sigaction(SIGPIPE, NULL, &before);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	sigaction(SIGPIPE, NULL, &after);
	assert_true(before.sa_handler == after.sa_handler);
	assert_true(after.sa_handler == SIG_DFL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_server_killed_amid_a_batch_keeps_what_came),
		RBT_LIVE(test_a_server_killed_amid_a_tcp_batch_keeps_what_came),
		RBT_LIVE(
			test_a_connection_dropped_amid_a_batch_keeps_what_came),
		RBT_LIVE(test_an_own_connection_dropped_amid_is_dialled_anew),
		RBT_LIVE(test_writing_to_a_dead_server_raises_no_signal),
		RBT_LIVE(test_a_handler_of_sigpipe_is_left_alone),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

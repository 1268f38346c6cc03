/*
 * How much is in flight at once, by what a peer sees that does not answer.
 */
#include "patience.h"
#include "scene.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Long enough for what should not come to come; how late a deadline may be. */
enum { QUIET_MS = 40, LATER_MS = 6000 };

static const rbt_step silent[] = { RBT_DRAIN(30000), RBT_END };

static void want_deadline(unsigned ms, uint64_t start)
{
	assert_in_range(rbt_scene_ms_since(start), ms - 10, ms + LATER_MS);
}

/* A read that is not answered; how many commands the peer has seen of it. Never
 * more than so many, and less only if the deadline came before they went. */
static size_t read_in_vain(rbt_scene *s, size_t n, const rb_options *o,
			   size_t most)
{
	size_t before = rbt_peer_commands(s->peer);
	uint64_t start = rbt_now_us();
	size_t seen;

	want_status(s->rb, rbt_scene_read(s, n, o), RB_ERR_TIMEOUT);
	want_deadline(o->timeout_ms, start);
	if (s->ctx->err == 0)
		return 0;
	assert_true(rbt_peer_await_ends(s->peer, 1, 60000));
	seen = rbt_peer_commands(s->peer) - before;
	assert_in_range(seen, 0, most);
	return seen;
}

/* A silent peer sees exactly so many of n entries' commands. */
static void want_seen(rbt_scene *s, size_t n, rb_options *o, size_t seen)
{
	unsigned ms = 0;

	do {
		o->timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_PAIR, silent);
	} while (read_in_vain(s, n, o, seen) < seen);
}

static void test_a_window_of_5_puts_5_of_1000_chunks_in_flight(void **state)
{
	rb_options o = rbt_options(1, 5);
	rbt_scene *s = rbt_scene_use(state);

	want_seen(s, 1000, &o, 5);
	assert_int_equal(rbt_count_outcome(s->res, RB_UNKNOWN), 5);
	assert_int_equal(rbt_count_outcome(s->res, RB_NOT_SENT), 995);
	for (size_t i = 0; i < 5; i++)
		want_failed(s->res, i, RB_ERR_TIMEOUT, RB_UNKNOWN);
	for (size_t i = 5; i < 1000; i++)
		want_failed(s->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	assert_int_equal(rb_result_chunk(s->res, 4)->attempts, 1);
	assert_int_equal(rb_result_chunk(s->res, 5)->attempts, 0);
	/* Whatever the system says of a socket that has nothing to read. */
	want_words(rb_client_error(s->rb), "deadline");
	want_no_words(rb_client_error(s->rb), "temporarily");
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

static void test_windows_of_any_size_are_kept_to(void **state)
{
	static const struct {
		size_t chunk_keys, window, n, seen;
	} rows[] = {
		{ 1, 1, 10, 1 },
		{ 3, 2, 100, 2 },
		{ 10, 64, 1000, 64 },
		{ 10, 500, 50, 5 },
		{ 1, 200, 1000, 200 },
		/* By itself: about 1,000 entries at first, 64 chunks at most. */
		{ 100, 0, 5000, 10 },
		{ 1000, 0, 5000, 1 },
		{ 5000, 0, 20000, 1 },
		{ 1, 0, 5000, 64 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		rb_options o = rbt_options(rows[i].chunk_keys, rows[i].window);
		rbt_scene *s = rbt_scene_use(state);

		want_seen(s, rows[i].n, &o, rows[i].seen);
		assert_int_equal(rbt_count_outcome(s->res, RB_UNKNOWN),
				 rows[i].seen * rows[i].chunk_keys);
	}
}

static void test_each_answer_lets_one_more_chunk_go(void **state)
{
	/* A command too many would be swallowed by the quiet, and be missed
	 * later. */
	static const rbt_step script[] = {
		RBT_EXPECT(3),
		RBT_DRAIN(QUIET_MS),
		RBT_SEND("*1\r\n$1\r\na\r\n"),
		RBT_EXPECT(1),
		RBT_DRAIN(QUIET_MS),
		RBT_SEND("*1\r\n$1\r\nb\r\n*1\r\n$1\r\nc\r\n"),
		RBT_EXPECT(2),
		RBT_DRAIN(QUIET_MS),
		RBT_SEND("*1\r\n$1\r\nd\r\n*1\r\n$1\r\ne\r\n*1\r\n$1\r\nf\r\n"),
		RBT_EXPECT(1),
		RBT_SEND("*1\r\n$1\r\ng\r\n"),
		RBT_END,
	};
	rb_options o = rbt_options(1, 3);
	char value = 'a';
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 7, &o), RB_OK);
	for (size_t i = 0; i < 7; i++, value++)
		want_bytes(s->res, i, &value, 1);
	rbt_scene_want_over(s);
}

/* ------------------------------------------------------ bytes in flight -- */

/* Answers the first command only, with values of 1,000 bytes. */
static void answer_once(void *arg, size_t argc, const rbt_arg *argv,
			rbt_reply *reply)
{
	static const char value[1000];
	int *answered = arg;

	(void)argv;
	if ((*answered)++ > 0)
		return;
	rbt_reply_array(reply, argc - 1);
	for (size_t i = 1; i < argc; i++)
		rbt_reply_bulk(reply, value, sizeof(value));
}

static void test_predicted_answers_in_flight_are_bounded(void **state)
{
	static const struct {
		size_t bound, seen;
	} rows[] = {
		/* Ten values of 1,000 bytes each: about 10 KB a chunk. */
		{ 1, 1 },
		{ 25000, 2 },
		{ 35000, 3 },
		{ 105000, 10 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int answered;
		rbt_peer_options p = { .family = RBT_PAIR,
				       .handler = answer_once,
				       .handler_arg = &answered };
		rb_options o = rbt_options(10, 50);
		rbt_scene *s = rbt_scene_use(state);
		unsigned ms = 0;

		do {
			o = rbt_options(10, 50);
			o.window_reply_bytes = rows[i].bound;
			answered = 0;
			rbt_scene_start(s, &p);
			/* The first tells what values are like here. */
			want_status(s->rb, rbt_scene_read(s, 10, &o), RB_OK);
			o.timeout_ms = rbt_more_patience(&ms);
		} while (read_in_vain(s, 1000, &o, rows[i].seen) <
			 rows[i].seen);
	}
}

/* ------------------------------------------------------------- on_chunk -- */

typedef struct told {
	size_t calls;
	size_t unsent;
} told;

static int tell(void *arg, const rb_chunk *chunk)
{
	told *t = arg;

	t->calls++;
	t->unsent += chunk->attempts == 0;
	return 0;
}

static void test_on_chunk_hears_of_chunks_that_failed(void **state)
{
	rb_options o = rbt_options(1, 5);
	told t = { 0, 0 };
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;

	o.on_chunk = tell;
	o.on_chunk_arg = &t;
	do {
		memset(&t, 0, sizeof(t));
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_PAIR, silent);
	} while (read_in_vain(s, 1000, &o, 5) < 5);
	assert_int_equal(t.calls, 5);
	assert_int_equal(t.unsent, 0);
}

/* Chunks that were cut and encoded, but of which no byte got away. */
static void test_on_chunk_hears_of_no_chunk_that_was_not_sent(void **state)
{
	static const rbt_step deaf[] = { RBT_WAIT, RBT_END };
	rb_options o = rbt_options(200, 64);
	told t = { 0, 0 };
	size_t sent = 0;
	int size = 4096;
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;

	o.on_chunk = tell;
	o.on_chunk_arg = &t;
	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_PAIR, deaf);
		setsockopt(s->ctx->fd, SOL_SOCKET, SO_SNDBUF, &size,
			   sizeof(size));
		want_status(s->rb, rbt_scene_read(s, 100000, &o),
			    RB_ERR_TIMEOUT);
	} while (s->ctx->err == 0);
	for (size_t i = 0; i < rb_result_chunks(s->res); i++)
		sent += rb_result_chunk(s->res, i)->attempts;
	assert_in_range(sent, 1, 63);
	assert_int_equal(t.calls, sent);
	assert_int_equal(t.unsent, 0);
	want_sound(s->res);
}

/* ------------------------------------------------------------- deadlines -- */

static void test_a_dripping_answer_does_not_move_the_deadline(void **state)
{
	static const char drops[] =
		"*2\r\n$900\r\n................................"
		"................................"
		"................................"
		"................................"
		"................................";
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_TRICKLE(drops, 20),
		RBT_END,
	};
	rb_options o = rbt_options(0, 0);
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;
	uint64_t start;

	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_TCP, script);
		start = rbt_now_us();
		want_status(s->rb, rbt_scene_read(s, 2, &o), RB_ERR_TIMEOUT);
		want_deadline(ms, start);
	} while (s->ctx->err == 0);
	want_failed(s->res, 0, RB_ERR_TIMEOUT, RB_UNKNOWN);
	rbt_scene_want_broken(s);
}

static void test_what_came_before_the_deadline_stays(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(2),
		RBT_SEND("*2\r\n$1\r\nA\r\n$-1\r\n*2\r\n$1\r\nC\r\n"),
		RBT_DRAIN(30000),
		RBT_END,
	};
	rb_options o = rbt_options(2, 2);
	rbt_scene *s = rbt_scene_use(state);
	unsigned ms = 0;

	do {
		o.timeout_ms = rbt_more_patience(&ms);
		rbt_scene_play(s, RBT_PAIR, script);
		want_status(s->rb, rbt_scene_read(s, 6, &o), RB_ERR_TIMEOUT);
		/* Nothing came before it, or was sent after what came. */
	} while (rb_result_outcome(s->res, 4) == RB_NOT_SENT);
	want_text(s->res, 0, "A");
	want_nil(s->res, 1);
	want_text(s->res, 2, "C");
	want_failed(s->res, 3, RB_ERR_TIMEOUT, RB_UNKNOWN);
	/* The third chunk went out when the first was answered. */
	want_failed(s->res, 4, RB_ERR_TIMEOUT, RB_UNKNOWN);
	want_sound(s->res);
	rbt_scene_want_broken(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_a_window_of_5_puts_5_of_1000_chunks_in_flight),
		RBT_SCENE(test_windows_of_any_size_are_kept_to),
		RBT_SCENE(test_each_answer_lets_one_more_chunk_go),
		RBT_SCENE(test_predicted_answers_in_flight_are_bounded),
		RBT_SCENE(test_on_chunk_hears_of_chunks_that_failed),
		RBT_SCENE(test_on_chunk_hears_of_no_chunk_that_was_not_sent),
		RBT_SCENE(test_a_dripping_answer_does_not_move_the_deadline),
		RBT_SCENE(test_what_came_before_the_deadline_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

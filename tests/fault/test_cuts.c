/*
 * Recorded answers that are cut, split and dribbled at every byte: what had
 * come whole is right, what had not is lost, and nothing is ever nil that was
 * not answered so.
 */
#include "played.h"
#include "recorded.h"
#include "sanitized.h"
#include "scene.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
	LEAST_STREAMS = 20,
	LEAST_CUTS = 10000,
	/* Streams above end in one way only. */
	SHORT = 2000,
	/* Splits of one stream: all of them where there is the time. */
	SPLITS = RBT_PLAIN_OR_SANITIZED(1000000, 2000),
	REAL_CUTS = 12
};

/* ---------------------------------------------------------- played ones -- */

static rb_result *play(rbt_played *p, const rbt_stream *s, rb_status *status)
{
	rb_result *res = NULL;

	p->bytes = s->bytes;
	p->commands = s->commands;
	*status = rbt_stream_call(s, p->rb, &res);
	assert_int_equal(p->heard, s->commands);
	return res;
}

static void want_call(const rbt_played *p, const rbt_stream *s, rb_status got,
		      rb_status want)
{
	if (got == want)
		return;
	print_error("%s, %zu of %zu bytes: %s, not %s: %s\n", s->recorded->name,
		    p->len, s->len, rb_status_text(got), rb_status_text(want),
		    rb_client_error(p->rb));
	fail();
}

/* All of it came, however it did. A push behind the last answer may still be
 * on its way when the call ends. */
static void want_all(rbt_played *p, const rbt_stream *s)
{
	rb_status status;
	rb_result *res;

	p->len = s->len;
	res = play(p, s, &status);
	want_call(p, s, status, s->recorded->status);
	rbt_stream_check(s, res, s->len);
	assert_int_equal(p->ctx->err, 0);
	assert_true(rbt_stream_is_whole(s, p->taken));
	if (!p->dribble && p->pause == 0)
		assert_int_equal(p->taken, s->len);
	rb_result_free(res);
}

/*
 * The first n bytes came, and then the end. A push behind the last answer that
 * lacks its own end makes the connection lost, though all was answered.
 */
static void want_cut(rbt_played *p, const rbt_stream *s, size_t n)
{
	bool whole = rbt_stream_is_whole(s, n);
	rb_status status;
	rb_result *res;

	p->len = n;
	res = play(p, s, &status);
	if (n == s->len || (whole && p->ctx->err == 0))
		want_call(p, s, status, s->recorded->status);
	else if (!whole || s->recorded->status != RB_ERR_SERVER)
		want_call(p, s, status, RB_ERR_IO);
	rbt_stream_check(s, res, n);
	if (!whole)
		rbt_played_want_broken(p);
	if (n == s->len)
		assert_int_equal(p->ctx->err, 0);
	rb_result_free(res);
}

static void cut_at(const rbt_stream *s, size_t n, int end)
{
	rbt_played p;

	rbt_played_begin(&p, NULL);
	p.end = end;
	want_cut(&p, s, n);
	rbt_played_end(&p);
}

static void test_streams_may_end_at_every_byte(void **state)
{
	size_t cuts = 0;

	(void)state;
	for (size_t i = 0; i < rbt_nrecordings; i++) {
		rbt_stream s;

		rbt_stream_init(&s, &rbt_recordings[i]);
		for (size_t n = 0; n <= s.len; n++) {
			cut_at(&s, n, RBT_PLAYED_END);
			cuts++;
			if (s.len > SHORT)
				continue;
			cut_at(&s, n, ECONNRESET);
			cuts++;
		}
		rbt_stream_fini(&s);
	}
	print_message("# %zu streams, %zu cuts\n", rbt_nrecordings, cuts);
	assert_true(rbt_nrecordings >= LEAST_STREAMS);
	assert_true(cuts >= LEAST_CUTS);
}

/* A long value is the same in its middle: both its ends are split at every
 * byte, and what is between them here and there. */
static size_t next_split(const rbt_stream *s, size_t n)
{
	size_t step = s->len / SPLITS;

	if (step < 2)
		return n + 1;
	return n < SHORT / 4 || n + SHORT / 4 > s->len ? n + 1 : n + step;
}

static void test_streams_may_be_split_at_every_byte(void **state)
{
	size_t splits = 0;

	(void)state;
	for (size_t i = 0; i < rbt_nrecordings; i++) {
		rbt_stream s;

		rbt_stream_init(&s, &rbt_recordings[i]);
		for (size_t n = 1; n < s.len; n = next_split(&s, n)) {
			rbt_played p;

			rbt_played_begin(&p, NULL);
			p.pause = n;
			want_all(&p, &s);
			rbt_played_end(&p);
			splits++;
		}
		rbt_stream_fini(&s);
	}
	print_message("# %zu splits\n", splits);
}

static void test_streams_may_come_byte_by_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < rbt_nrecordings; i++) {
		rbt_stream s;
		rbt_played p;

		rbt_stream_init(&s, &rbt_recordings[i]);
		rbt_played_begin(&p, NULL);
		p.dribble = true;
		want_all(&p, &s);
		rbt_played_end(&p);
		rbt_stream_fini(&s);
	}
}

/* One call behind another on the same connection: each takes its own bytes. */
static void test_streams_follow_each_other_on_a_connection(void **state)
{
	(void)state;
	for (size_t i = 0; i < rbt_nrecordings; i++) {
		rbt_stream s;
		rbt_played p;

		rbt_stream_init(&s, &rbt_recordings[i]);
		rbt_played_begin(&p, NULL);
		for (int k = 0; k < 3; k++) {
			p.taken = p.heard = 0;
			want_all(&p, &s);
		}
		rbt_played_end(&p);
		rbt_stream_fini(&s);
	}
}

/* ------------------------------------------------------- over a network -- */

/* n bytes in two pieces, and then the end. */
static void cut_for_real(rbt_scene *s, const rbt_stream *stream, size_t n,
			 rbt_family family)
{
	const rbt_step script[] = {
		RBT_EXPECT(stream->commands),
		RBT_SEND_BYTES(stream->bytes, n / 2),
		RBT_SEND_BYTES(stream->bytes + n / 2, n - n / 2),
		RBT_CLOSE,
		RBT_END,
	};
	bool whole = rbt_stream_is_whole(stream, n);
	rb_status status;

	rbt_scene_play(s, family, script);
	status = rbt_stream_call(stream, s->rb, &s->res);
	rbt_stream_check(stream, s->res, n);
	/* The peer's last look at the bytes, which are not its own. */
	rbt_scene_want_over(s);
	if (whole) {
		if (status != RB_ERR_IO)
			want_status(s->rb, status, stream->recorded->status);
		return;
	}
	want_status(s->rb, status, RB_ERR_IO);
	rbt_scene_want_broken(s);
}

static void test_streams_end_the_same_on_real_sockets(void **state)
{
	static const rbt_family families[] = { RBT_PAIR, RBT_TCP, RBT_UNIX };
	size_t cuts = 0;

	for (size_t i = 0; i < rbt_nrecordings; i++) {
		rbt_stream stream;

		rbt_stream_init(&stream, &rbt_recordings[i]);
		for (size_t k = 0; k <= REAL_CUTS; k++) {
			cut_for_real(rbt_scene_use(state), &stream,
				     stream.len * k / REAL_CUTS,
				     families[cuts % 3]);
			cuts++;
		}
		rbt_stream_fini(&stream);
	}
	print_message("# %zu cuts on real sockets\n", cuts);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_may_end_at_every_byte),
		cmocka_unit_test(test_streams_may_be_split_at_every_byte),
		cmocka_unit_test(test_streams_may_come_byte_by_byte),
		cmocka_unit_test(
			test_streams_follow_each_other_on_a_connection),
		RBT_SCENE(test_streams_end_the_same_on_real_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Answers that are meant to do harm: they end the call quickly, in the right
 * status, and take no more memory than they are allowed.
 */
#include "hostile.h"
#include "patience.h"
#include "sanitized.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MIB ((size_t)1024 * 1024)

enum { LEAST_STREAMS = 40, CPU_MS = RBT_PLAIN_OR_SANITIZED(1000, 20000) };

/* Of the calls below: nothing in them is larger than a value and a result
 * may be. */
#define MOST_VALUE MIB
#define MOST_RESULT (4 * MIB)
#define MOST_MEMORY (MOST_RESULT + 16 * MIB)
/* Of what is no answer, or never becomes one, nothing is kept. */
#define MOST_VAIN (2 * MIB)

/* --------------------------------------------------------------- a call -- */

static rb_status call(rbt_scene *s, rbt_victim victim, rb_options *o)
{
	static const char *keys[] = { "a", "b" }, *values[] = { "1", "2" };
	static const char *ping[] = { "PING" };
	static const rb_command pings[] = { { 1, ping, NULL },
					    { 1, ping, NULL } };

	switch (victim) {
	case RBT_VICTIM_MGET:
		return rb_mget_chunked(s->rb, keys, NULL, 2, o, &s->res);
	case RBT_VICTIM_UNLINK:
		return rb_unlink_chunked(s->rb, keys, NULL, 2, o, &s->res);
	case RBT_VICTIM_PIPELINE:
		return rb_pipeline_chunked(s->rb, pings, 2, o, &s->res);
	case RBT_VICTIM_GROUP:
		return rb_transaction(s->rb, pings, 2, o, &s->res);
	case RBT_VICTIM_SETNX:
		o->flags = RB_IF_ABSENT;
		break;
	case RBT_VICTIM_MSET:
		break;
	}
	return rb_mset_chunked(s->rb, keys, NULL, values, NULL, 2, o, &s->res);
}

static size_t commands_of(rbt_victim victim)
{
	if (victim == RBT_VICTIM_GROUP)
		return 4;
	return victim == RBT_VICTIM_SETNX || victim == RBT_VICTIM_PIPELINE ? 2 :
									     1;
}

static void play(rbt_scene *s, const rbt_hostile *h)
{
	const rbt_step expect = RBT_EXPECT(commands_of(h->victim));
	const rbt_step drain = RBT_DRAIN(30000), end = RBT_END;
	rbt_step script[RBT_HOSTILE_STEPS + 3];
	size_t n = 0;

	script[n++] = expect;
	for (size_t i = 0; i < RBT_HOSTILE_STEPS; i++)
		if (h->steps[i].kind != RBT_STEP_END)
			script[n++] = h->steps[i];
	if (script[n - 1].kind != RBT_STEP_CLOSE)
		script[n++] = drain;
	script[n] = end;
	rbt_scene_play(s, RBT_PAIR, script);
}

/* Processor time of this thread, which is the client's. */
static unsigned cpu_ms(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (unsigned)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

/* --------------------------------------------------------------- streams -- */

static bool leaves_in_step(rb_status status)
{
	return status == RB_OK || status == RB_ERR_PARTIAL ||
	       status == RB_ERR_SERVER || status == RB_ERR_LIMIT;
}

static size_t most_memory(rb_status status)
{
	return status == RB_ERR_PROTOCOL || status == RB_ERR_TIMEOUT ?
		       MOST_VAIN :
		       MOST_MEMORY;
}

/* The value of each key that has one is its name, in every row. */
static void want_names(const rb_result *res)
{
	assert_int_equal(rbt_count_nil(res), 0);
	if (rb_result_status(res, 0) == RB_OK)
		want_text(res, 0, "a");
	if (rb_result_status(res, 1) == RB_OK)
		want_text(res, 1, "b");
}

/* The deadline has passed before the peer had said what is to be kept, if it
 * was asked at all. */
static bool is_too_soon(const rbt_scene *s, const rbt_hostile *h,
			rb_status status)
{
	return status == RB_ERR_TIMEOUT && h->status == RB_ERR_TIMEOUT &&
	       (s->ctx->err == 0 || rb_result_failed(s->res) > 2 - h->fine);
}

/* False, and says why, if the row did not end as it should. */
static bool ends_well(rbt_scene *s, const rbt_hostile *h)
{
	rb_options o = rbt_options(0, 0);
	unsigned start, took, ms = 0;
	rb_status status;

	o.max_value_bytes = MOST_VALUE;
	o.max_result_bytes = MOST_RESULT;
	do {
		if (h->status == RB_ERR_TIMEOUT)
			o.timeout_ms = rbt_more_patience(&ms);
		play(s, h);
		start = cpu_ms();
		status = call(s, h->victim, &o);
		took = cpu_ms() - start;
		assert_non_null(s->res);
	} while (is_too_soon(s, h, status));
	if (status == h->status && took < CPU_MS + ms &&
	    s->count.peak_bytes < most_memory(h->status) &&
	    rb_result_failed(s->res) == 2 - h->fine)
		return true;
	print_error("%s: \"%s\", %zu failed, %u ms, %zu bytes, not \"%s\": "
		    "%s\n",
		    h->what, rb_status_text(status), rb_result_failed(s->res),
		    took, s->count.peak_bytes, rb_status_text(h->status),
		    rb_client_error(s->rb));
	return false;
}

static void test_hostile_streams_end_soon_and_take_little(void **state)
{
	size_t bad = 0;

	for (size_t i = 0; i < rbt_nhostiles; i++) {
		const rbt_hostile *h = &rbt_hostiles[i];
		rbt_scene *s = rbt_scene_use(state);

		if (!ends_well(s, h)) {
			bad++;
			continue;
		}
		if (h->victim == RBT_VICTIM_MGET)
			want_names(s->res);
		want_sound(s->res);
		if (leaves_in_step(h->status))
			assert_int_equal(s->ctx->err, 0);
		else
			rbt_scene_want_broken(s);
	}
	print_message("# %zu hostile streams\n", rbt_nhostiles);
	assert_int_equal(bad, 0);
	assert_true(rbt_nhostiles >= LEAST_STREAMS);
}

/* ------------------------------------------------- lengths that are lies -- */

static void test_an_announced_value_takes_what_the_bound_allows(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("*2\r\n$536870912\r\nabc"),
		RBT_CLOSE,
		RBT_END,
	};
	rb_options o = rbt_options(0, 0);
	rbt_scene *s = rbt_scene_use(state);

	o.max_value_bytes = 4 * MIB;
	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 2, &o), RB_ERR_IO);
	/* It was to be dropped, but what is behind it never came. */
	assert_int_equal(rb_result_failed(s->res), 2);
	assert_int_equal(rbt_count_nil(s->res), 0);
	assert_in_range(s->count.peak_bytes, 1, MIB);
}

static void test_announced_values_do_not_add_up(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(8),
		RBT_SEND("*1\r\n$4000000\r\nabc"),
		RBT_CLOSE,
		RBT_END,
	};
	rb_options o = rbt_options(1, 8);
	rbt_scene *s = rbt_scene_use(state);

	rbt_scene_play(s, RBT_PAIR, script);
	want_status(s->rb, rbt_scene_read(s, 8, &o), RB_ERR_IO);
	for (size_t i = 0; i < 8; i++)
		want_failed(s->res, i, RB_ERR_IO, RB_UNKNOWN);
	assert_in_range(s->count.peak_bytes, 1, 6 * MIB);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_hostile_streams_end_soon_and_take_little),
		RBT_SCENE(test_an_announced_value_takes_what_the_bound_allows),
		RBT_SCENE(test_announced_values_do_not_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Bytes that are meant to do harm: they end the call quickly, in the right
 * status, and take no memory to speak of.
 */
#include "scene.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

enum { QUICK_MS = 5000 };

typedef struct bytes {
	const char *data;
	size_t len;
} bytes;

#define BYTES(text)                      \
	{                                \
		(text), sizeof(text) - 1 \
	}

/* Each of them answers an MGET of two keys, and is followed by silence. */
static const bytes broken[] = {
	BYTES("*1073741824\r\n"),
	BYTES("*2147483647\r\n"),
	BYTES("*2147483648\r\n"),
	BYTES("*4294967298\r\n"), /* 2 in 32 bits */
	BYTES("*9223372036854775807\r\n"),
	BYTES("*9223372036854775808\r\n"),
	BYTES("*18446744073709551618\r\n"), /* 2 in 64 bits */
	BYTES("*99999999999999999999999999\r\n"),
	BYTES("*-2\r\n"),
	BYTES("*\r\n"),
	BYTES("* 2\r\n"),
	BYTES("*+2\r\n"),
	BYTES("*02\r\n"),
	BYTES("*2 \r\n"),
	BYTES("*2x\r\n"),
	BYTES("*2\n$1\nA\n$1\nB\n"),
	BYTES("*?\r\n"),
	BYTES("%1073741824\r\n"),
	BYTES("~9223372036854775807\r\n"),
	BYTES("|9223372036854775807\r\n"),
	BYTES("|4611686018427387905\r\n"), /* twice that is 2 */
	BYTES(">9223372036854775807\r\n"),
	BYTES(">-1\r\n"),
	BYTES("|-1\r\n"),
	BYTES("*2\r\n$-2\r\n"),
	BYTES("*2\r\n$536870913\r\n"),
	BYTES("*2\r\n$4294967297\r\n"),
	BYTES("*2\r\n$9223372036854775807\r\n"),
	BYTES("*2\r\n$18446744073709551617\r\n"),
	BYTES("*2\r\n$99999999999999999999999999\r\n"),
	BYTES("*2\r\n$1x\r\n"),
	BYTES("*2\r\n$\r\n"),
	BYTES("*2\r\n$?\r\n"),
	BYTES("*2\r\n$3\r\nabcXY"),
	BYTES("*2\r\n$3\r\nabc\n\r"),
	BYTES("*2\r\n$3\r\nabcd\r\n"),
	BYTES("*2\r\n$0\r\nab"),
	BYTES("*2\r\n:1x\r\n"),
	BYTES("*2\r\n#x\r\n"),
	BYTES("*2\r\n_x\r\n"),
	BYTES("*2\r\n,\r\n"),
	BYTES("*2\r\n(x\r\n"),
	BYTES("*2\r\n=3\r\nabc\r\n"),
	BYTES("*2\r\n>1\r\n+x\r\n"),
	BYTES("*2\r\nA\r\n"),
	BYTES("\r\n"),
	BYTES("\n"),
	BYTES("\0\0\0\0"),
	BYTES("*\0\r\n"),
	BYTES("\xff\xfe"),
	BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"),
	BYTES("\x15\x03\x01\x00\x02\x02\x46"), /* what TLS says to plain text */
	BYTES("SSH-2.0-OpenSSH_9.2\r\n"),
	BYTES("220 mail ESMTP\r\n"),
};

static rb_status read_answered_by(rbt_scene *s, const rbt_step *answer,
				  size_t nanswer, const rb_options *o)
{
	const rbt_step expect = RBT_EXPECT(1), drain = RBT_DRAIN(30000),
		       end = RBT_END;
	rbt_step script[8];
	uint64_t start;
	rb_status status;

	script[0] = expect;
	memcpy(script + 1, answer, nanswer * sizeof(*answer));
	script[nanswer + 1] = drain;
	script[nanswer + 2] = end;
	rbt_scene_play(s, RBT_PAIR, script);
	start = rbt_now_us();
	status = rbt_scene_read(s, 2, o);
	assert_in_range(rbt_scene_ms_since(start), 0, QUICK_MS);
	return status;
}

static void test_what_is_not_resp_ends_the_connection(void **state)
{
	rb_options o = rbt_options(0, 0);

	/* One of them is waited for: say which. */
	o.timeout_ms = 3000;
	for (size_t i = 0; i < COUNT(broken); i++) {
		const rbt_step answer[] = {
			RBT_SEND_BYTES(broken[i].data, broken[i].len),
		};
		rbt_scene *s = rbt_scene_use(state);
		rb_status status = read_answered_by(s, answer, 1, &o);

		if (status != RB_ERR_PROTOCOL)
			print_error("row %zu: %.40s\n", i, broken[i].data);
		want_status(s->rb, status, RB_ERR_PROTOCOL);
		assert_string_not_equal(rb_client_error(s->rb), "");
		want_failed(s->res, 0, RB_ERR_PROTOCOL, RB_UNKNOWN);
		want_failed(s->res, 1, RB_ERR_PROTOCOL, RB_UNKNOWN);
		assert_in_range(s->count.peak_bytes, 1, MIB / 2);
		rbt_scene_want_broken(s);
	}
}

/* ------------------------------------------------- without end, in vain -- */

static const struct {
	const char *what;
	rbt_step step;
} endless[] = {
	{ "a line of text",
	  { RBT_STEP_SEND, "+xxxxxxxxxxxxxxx", 16, 65536, 0 } },
	{ "a line of error", { RBT_STEP_SEND, "-\r-\r-\r-\r", 8, 131072, 0 } },
	{ "a number", { RBT_STEP_SEND, ":1111111", 8, 131072, 0 } },
	{ "a length", { RBT_STEP_SEND, "*1111111", 8, 131072, 0 } },
	{ "a big number", { RBT_STEP_SEND, "(1111111", 8, 131072, 0 } },
	{ "nesting", { RBT_STEP_SEND, "*2\r\n", 4, 262144, 0 } },
	{ "nesting of attributes", { RBT_STEP_SEND, "|1\r\n", 4, 262144, 0 } },
	{ "nesting of maps", { RBT_STEP_SEND, "%1\r\n", 4, 262144, 0 } },
};

static void test_what_never_ends_is_cut_off(void **state)
{
	rb_options o = rbt_options(0, 0);

	o.timeout_ms = 3000;
	for (size_t i = 0; i < COUNT(endless); i++) {
		rbt_scene *s = rbt_scene_use(state);
		rb_status status = read_answered_by(s, &endless[i].step, 1, &o);

		if (status != RB_ERR_PROTOCOL)
			print_error("%s\n", endless[i].what);
		want_status(s->rb, status, RB_ERR_PROTOCOL);
		assert_int_equal(rb_result_failed(s->res), 2);
		assert_int_equal(rbt_count_nil(s->res), 0);
		assert_in_range(s->count.peak_bytes, 1, 2 * MIB);
		rbt_scene_want_broken(s);
	}
}

static void test_nesting_within_the_bound_fails_its_entry_alone(void **state)
{
	static const rbt_step answer[] = {
		RBT_SEND("*2\r\n"),
		RBT_REPEAT("*1\r\n", 20),
		RBT_SEND(":1\r\n$1\r\nB\r\n"),
	};
	rbt_scene *s = rbt_scene_use(state);

	want_status(s->rb, read_answered_by(s, answer, 3, NULL),
		    RB_ERR_PARTIAL);
	want_failed(s->res, 0, RB_ERR_PROTOCOL, RB_ANSWERED);
	want_text(s->res, 1, "B");
}

static void test_a_wide_element_takes_no_memory(void **state)
{
	static const rbt_step answer[] = {
		RBT_SEND("*2\r\n*1000000\r\n"),
		RBT_REPEAT(":1\r\n", 1000000),
		RBT_SEND("$1\r\nB\r\n"),
	};
	rbt_scene *s = rbt_scene_use(state);

	want_status(s->rb, read_answered_by(s, answer, 3, NULL),
		    RB_ERR_PARTIAL);
	want_failed(s->res, 0, RB_ERR_PROTOCOL, RB_ANSWERED);
	want_text(s->res, 1, "B");
	assert_in_range(s->count.peak_bytes, 1, 2 * MIB);
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
		RBT_SCENE(test_what_is_not_resp_ends_the_connection),
		RBT_SCENE(test_what_never_ends_is_cut_off),
		RBT_SCENE(test_nesting_within_the_bound_fails_its_entry_alone),
		RBT_SCENE(test_a_wide_element_takes_no_memory),
		RBT_SCENE(test_an_announced_value_takes_what_the_bound_allows),
		RBT_SCENE(test_announced_values_do_not_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

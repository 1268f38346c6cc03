/*
 * What the library sends, byte for byte.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1024 * 1024)

/* Nil for each key; counts arguments and remembers the longest command. */
typedef struct tally {
	size_t commands;
	size_t args;
	size_t most_args;
} tally;

static void answer_nil(void *arg, size_t argc, const rbt_arg *argv,
		       rbt_reply *reply)
{
	tally *s = arg;
	size_t fixed = argv[0].len == 5 ? 2 : 1; /* HMGET key, MGET */

	s->commands++;
	s->args += argc;
	if (argc > s->most_args)
		s->most_args = argc;
	rbt_reply_array(reply, argc - fixed);
	for (size_t i = fixed; i < argc; i++)
		rbt_reply_nil(reply);
}

static void start(rbt_scene *s, tally *seen, size_t record)
{
	rbt_peer_options p = { .family = RBT_UNIX,
			       .handler = answer_nil,
			       .handler_arg = seen,
			       .read_size = MIB,
			       .record = record };

	memset(seen, 0, sizeof(*seen));
	rbt_scene_start(s, &p);
}

static void want_recorded(const rbt_scene *s, const char *want, size_t len)
{
	char *got = malloc(len + 1);

	assert_non_null(got);
	assert_int_equal(rbt_peer_bytes(s->peer), len);
	assert_int_equal(rbt_peer_recorded(s->peer, got, len + 1), len);
	assert_memory_equal(got, want, len);
	free(got);
}

static void test_an_mget_is_sent_to_the_letter(void **state)
{
	static const char *keys[] = { "a", "", "k\0\r\n", "%s \"x\"", "e" };
	static const size_t lens[] = { 1, 0, 4, 6, 1 };
	static const char want[] = "*4\r\n$4\r\nMGET\r\n$1\r\na\r\n$0\r\n\r\n"
				   "$4\r\nk\0\r\n\r\n"
				   "*3\r\n$4\r\nMGET\r\n$6\r\n%s \"x\"\r\n"
				   "$1\r\ne\r\n";
	rb_options o = rbt_options(3, 2);
	rbt_scene *s = rbt_scene_use(state);
	tally seen;

	start(s, &seen, 1000);
	want_status(s->rb, rb_mget_chunked(s->rb, keys, lens, 5, &o, &s->res),
		    RB_OK);
	want_recorded(s, want, sizeof(want) - 1);
}

static void test_an_hmget_is_sent_to_the_letter(void **state)
{
	static const char *fields[] = { "f1", "f2", "f3" };
	static const char want[] =
		"*4\r\n$5\r\nHMGET\r\n$3\r\nh\0x\r\n$2\r\nf1\r\n$2\r\nf2\r\n"
		"*3\r\n$5\r\nHMGET\r\n$3\r\nh\0x\r\n$2\r\nf3\r\n";
	rb_options o = rbt_options(2, 2);
	rbt_scene *s = rbt_scene_use(state);
	tally seen;

	start(s, &seen, 1000);
	want_status(s->rb,
		    rb_hmget_chunked(s->rb, "h\0x", 3, fields, NULL, 3, &o,
				     &s->res),
		    RB_OK);
	want_recorded(s, want, sizeof(want) - 1);
}

/* Lengths where a header gets one digit more, and large ones that are sent
 * from where they lie. */
static void test_keys_of_any_length_are_sent_to_the_letter(void **state)
{
	static const size_t lens[] = { 0,     9,     10,    99,	   100,
				       999,   1000,  9999,  10000, 16383,
				       16384, 65535, 65536, 99999, 100000,
				       1,     MIB,   2,	    MIB };
	enum { N = COUNT(lens) };
	const char *keys[N];
	char *bytes = malloc(2 * MIB);
	rb_options o = rbt_options(4, 3);
	rbt_reply want;
	rbt_scene *s = rbt_scene_use(state);
	tally seen;

	assert_non_null(bytes);
	rbt_value_fill(bytes, 2 * MIB, 1);
	rbt_reply_init(&want);
	for (size_t i = 0; i < N; i++) {
		keys[i] = bytes + i;
		if (i % 4 == 0) {
			rbt_reply_array(&want, (N - i < 4 ? N - i : 4) + 1);
			rbt_reply_bulk(&want, "MGET", 4);
		}
		rbt_reply_bulk(&want, keys[i], lens[i]);
	}
	o.chunk_request_bytes = 64 * MIB;
	start(s, &seen, want.len);
	want_status(s->rb, rb_mget_chunked(s->rb, keys, lens, N, &o, &s->res),
		    RB_OK);
	want_recorded(s, want.buf, want.len);
	rbt_reply_fini(&want);
	free(bytes);
}

/* Before 7.0 a server refuses 1,048,577 arguments, and the connection with
 * them. */
static void test_no_command_has_more_than_1048576_arguments(void **state)
{
	enum { N = 1048577 };
	const char **keys = malloc(N * sizeof(*keys));
	rb_options o = rbt_options(SIZE_MAX, 0);
	rbt_scene *s = rbt_scene_use(state);
	tally seen;

	assert_non_null(keys);
	for (size_t i = 0; i < N; i++)
		keys[i] = "k";
	o.chunk_args = SIZE_MAX;
	o.chunk_request_bytes = SIZE_MAX;
	start(s, &seen, 0);
	want_status(s->rb, rb_mget_chunked(s->rb, keys, NULL, N, &o, &s->res),
		    RB_OK);
	assert_int_equal(rbt_count_nil(s->res), N);
	assert_int_equal(seen.commands, 2);
	assert_int_equal(seen.most_args, 1048576);
	assert_int_equal(seen.args, N + 2);
	free(keys);
}

static void test_the_default_stays_below_1000000_arguments(void **state)
{
	enum { N = 1000005 };
	const char **keys = malloc(N * sizeof(*keys));
	rb_options o = rbt_options(SIZE_MAX, 0);
	rbt_scene *s = rbt_scene_use(state);
	tally seen;

	assert_non_null(keys);
	for (size_t i = 0; i < N; i++)
		keys[i] = "k";
	o.chunk_request_bytes = SIZE_MAX;
	start(s, &seen, 0);
	want_status(s->rb,
		    rb_hmget_chunked(s->rb, "h", 1, keys, NULL, N, &o, &s->res),
		    RB_OK);
	assert_int_equal(seen.commands, 2);
	assert_int_equal(seen.most_args, 1000000);
	free(keys);
}

static void test_a_peer_that_reads_slowly_gets_every_byte_once(void **state)
{
	rbt_peer_options p = { .family = RBT_PAIR,
			       .handler = answer_nil,
			       .read_size = 64,
			       .rcvbuf = 4096,
			       .sndbuf = 4096 };
	rb_options o = rbt_options(100, 8);
	rbt_scene *s = rbt_scene_use(state);
	tally seen;
	size_t sum = 0;

	memset(&seen, 0, sizeof(seen));
	p.handler_arg = &seen;
	rbt_scene_start(s, &p);
	want_status(s->rb, rbt_scene_read(s, 5000, &o), RB_OK);
	assert_int_equal(rbt_count_nil(s->res), 5000);
	assert_int_equal(seen.commands, 50);
	for (size_t i = 0; i < rb_result_chunks(s->res); i++)
		sum += rb_result_chunk(s->res, i)->request_bytes;
	assert_int_equal(rbt_peer_bytes(s->peer), sum);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_an_mget_is_sent_to_the_letter),
		RBT_SCENE(test_an_hmget_is_sent_to_the_letter),
		RBT_SCENE(test_keys_of_any_length_are_sent_to_the_letter),
		RBT_SCENE(test_no_command_has_more_than_1048576_arguments),
		RBT_SCENE(test_the_default_stays_below_1000000_arguments),
		RBT_SCENE(test_a_peer_that_reads_slowly_gets_every_byte_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

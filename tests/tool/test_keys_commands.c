/*
 * redisbatch del, exists and touch: one number, and what is said when it is not
 * the whole truth.
 */
#include "tooling.h"

#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BYTES(text) text, sizeof(text) - 1

static void want_number(const rbt_live *live, const char *in, size_t inlen,
			const char *const *args, const char *number)
{
	rbt_spawned s;

	rbt_tool_want(live, &s, in, inlen, args, 0);
	assert_string_equal(s.out, number);
	rbt_spawned_free(&s);
}

static void test_keys_come_from_everywhere(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char path[512];

	rbt_do(live->admin, "MSET a 1 b 2 c 3 d 4");
	rbt_do(live->admin, "MSET %s %s %s %s", "x\ny", "5", "", "6");
	rbt_write_file(rbt_path(live, "keys", path), BYTES("b\nnone\nc"));
	want_number(live, NULL, 0, ARGS("exists", "a", "none", "a"), "2\n");
	want_number(live, BYTES("a\nb\n"), ARGS("exists"), "2\n");
	want_number(live, BYTES("a\n\nb"), ARGS("exists"), "3\n");
	want_number(live, NULL, 0, ARGS("exists"), "0\n");
	want_number(live, BYTES("x\ny\0a"), ARGS("exists", "-0"), "2\n");
	want_number(live, BYTES("a\n"),
		    ARGS("touch", "d", "--keys", path, "-k", "-"), "4\n");
	want_number(live, NULL, 0, ARGS("del", "-k", path, "a", "a"), "3\n");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 3);
}

static void test_many_keys_are_one_number(void **state)
{
	enum { N = 120000 };
	rbt_live *live = rbt_live_use(state);
	size_t len = 0;
	char *in = malloc(N * 20);

	assert_non_null(in);
	rbt_live_load(live, N / 2, 3);
	for (size_t i = 0; i < N; i++)
		len += (size_t)snprintf(in + len, 20, "%s\n",
					i % 2 ? "none" :
						live->keys.keys[i / 2]);
	want_number(live, in, len, ARGS("exists"), "60000\n");
	want_number(live, in, len, ARGS("del"), "60000\n");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	free(in);
}

static void test_the_summary_tells_found_and_missing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "MSET a 1 b 2");
	rbt_tool_want(live, &s, BYTES("a\nb\nc\n"), ARGS("exists"), 0);
	want_words(s.err, "3 keys: 2 found, 1 missing, 0 failed");
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, NULL, 0, ARGS("exists", "-q", "a", "c"), 0);
	assert_string_equal(s.err, "");
	rbt_spawned_free(&s);
}

static void test_a_number_that_lacks_what_failed_is_a_least(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char uri[512];
	char failed[512];
	const char *const argv[] = {
		rbt_tool(), "exists",	"-u",
		uri,	    "-k",	"-",
		"-0",	    "--failed", rbt_path(live, "failed", failed),
		NULL
	};
	char *kept;
	size_t len;
	rbt_spawned s;

	rbt_do(live->admin, "MSET ok:1 1 ok:2 2 no:1 3");
	rbt_do(live->admin, "ACL SETUSER someone on >secret ~ok:* +@all");
	snprintf(uri, sizeof(uri), "redis://someone:secret@127.0.0.1:%d",
		 rbt_server_port(live->server));
	rbt_spawn_run(&(rbt_spawn){ .argv = argv,
				    .in = BYTES("ok:1\0no:1\0ok:2\0none") },
		      &s);
	rbt_do(live->admin, "ACL DELUSER someone");
	assert_int_equal(s.status, 1);
	assert_string_equal(s.out, "at least 2\n");
	want_words(s.err, "standard input:2: no:1: ");
	want_words(s.err, "NOPERM");
	want_words(s.err, "standard input:4: none: ");
	kept = rbt_read_file(failed, &len);
	assert_int_equal(len, 10);
	assert_memory_equal(kept, "no:1\0none\0", 10);
	free(kept);
	rbt_spawned_free(&s);
}

typedef struct wrong {
	const char *args[6];
	int status;
	const char *words;
} wrong;

static void test_files_that_are_wrong_are_said_first(void **state)
{
	static const wrong cases[] = {
		{ { "del", "-k", "/nowhere/at/all", "a" }, 4, "No such file" },
		{ { "del", "--failed=/nowhere/f", "a" }, 4, "/nowhere/f" },
		{ { "del", "--keys" }, 2, "--keys needs an argument" },
	};
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "SET a 1");
	for (size_t i = 0; i < COUNT(cases); i++) {
		rbt_spawned s;

		rbt_tool_run(live, &s, NULL, 0, cases[i].args);
		if (s.status != cases[i].status ||
		    strstr(s.err, cases[i].words) == NULL)
			fail_msg("%zu: %d: %s", i, s.status, s.err);
		assert_int_equal(s.outlen, 0);
		rbt_spawned_free(&s);
	}
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 1);
}

static void test_a_file_that_cannot_be_read_on_leaves_a_least(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "SET a 1");
	rbt_tool_want(live, &s, NULL, 0, ARGS("exists", "a", "-k", "/tmp"), 4);
	want_words(s.err, "/tmp: Is a directory");
	assert_string_equal(s.out, "at least 1\n");
	rbt_spawned_free(&s);
}

static void test_an_output_that_cannot_be_written_ends_with_4(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *const argv[] = { "/bin/sh",
				     "-c",
				     "exec \"$@\" >/dev/full",
				     "sh",
				     rbt_tool(),
				     "exists",
				     "-s",
				     rbt_server_socket(live->server),
				     "a",
				     NULL };
	rbt_spawned s;

	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, &s);
	assert_int_equal(s.status, 4);
	want_words(s.err, "cannot write standard output");
	rbt_spawned_free(&s);
}

static void test_a_reader_that_is_gone_is_no_news(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char redirect[64];
	const char *const argv[] = {
		"/bin/sh", "-c",       redirect,
		"sh",	   rbt_tool(), "del",
		"-q",	   "-s",       rbt_server_socket(live->server),
		"a",	   NULL
	};
	int ends[2];
	rbt_spawned s;

	rbt_do(live->admin, "SET a 1");
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	snprintf(redirect, sizeof(redirect), "exec \"$@\" >&%d", ends[1]);
	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, &s);
	close(ends[1]);
	assert_int_equal(s.status, 141);
	assert_string_equal(s.err, "");
	/* It was done all the same. */
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	rbt_spawned_free(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_keys_come_from_everywhere),
		RBT_LIVE(test_many_keys_are_one_number),
		RBT_LIVE(test_the_summary_tells_found_and_missing),
		RBT_LIVE(test_a_number_that_lacks_what_failed_is_a_least),
		RBT_LIVE(test_files_that_are_wrong_are_said_first),
		RBT_LIVE(test_a_file_that_cannot_be_read_on_leaves_a_least),
		RBT_LIVE(test_an_output_that_cannot_be_written_ends_with_4),
		RBT_LIVE(test_a_reader_that_is_gone_is_no_news),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

/*
 * What is said, where, and with which exit status, when keys fail, the command
 * line is wrong, or files or the server are not there.
 */
#include "mget_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* A user who may read what begins with ok:, and nothing else. */
static void make_reader(rbt_live *live, char *uri, size_t size)
{
	rbt_do(live->admin, "ACL SETUSER reader on >word ~ok:* +@all");
	snprintf(uri, size, "unix://reader:word@%s",
		 rbt_server_socket(live->server));
}

static void run_as(const char *uri, const char *in, const char *const *args,
		   rbt_spawned *s)
{
	const char *argv[MGET_ARGS + 5] = { rbt_tool(), "mget", "-u", uri };

	for (size_t i = 0; args[i] != NULL; i++)
		argv[i + 4] = args[i];
	rbt_spawn_run(
		&(rbt_spawn){ .argv = argv, .in = in, .inlen = strlen(in) }, s);
}

static void test_a_refused_key_is_named_with_its_line_and_the_servers_words(
	void **state)
{
	rbt_live *live = rbt_live_use(state);
	char place[600];
	char path[512];
	char uri[512];
	rbt_spawned s;
	FILE *file;

	make_reader(live, uri, sizeof(uri));
	rbt_do(live->admin, "MSET ok:1 1 ok:2 2 secret 3");
	file = fopen(mget_path(live, "list", path, sizeof(path)), "w");
	assert_non_null(file);
	fputs("ok:1\nsecret\nok:2\n", file);
	fclose(file);
	run_as(uri, "", MGET_ARGV("-f", "tsv", "-k", path, "ok:0"), &s);
	assert_int_equal(s.status, 1);
	assert_string_equal(s.out, "ok:0\t\\N\nok:1\t1\nok:2\t2\n");
	snprintf(place, sizeof(place), "%s:2", path);
	assert_non_null(strstr(s.err, place));
	assert_non_null(strstr(s.err, "secret"));
	assert_non_null(strstr(s.err, "NOPERM"));
	assert_non_null(strstr(s.err, rbt_server_socket(live->server)));
	assert_non_null(strstr(s.err, "1 failed"));
	rbt_spawned_free(&s);
	unlink(path);
}

/* Whether each key that must fail stands in the file once, and no other: with
 * several connections in the order in which they failed. */
static void want_listed(const char *path, int n)
{
	bool *seen = calloc((size_t)n, sizeof(*seen));
	FILE *file = fopen(path, "r");
	char line[64];
	int lines = 0;

	assert_true(seen != NULL && file != NULL);
	while (fgets(line, sizeof(line), file) != NULL) {
		int i = -1;

		assert_int_equal(sscanf(line, "no:%d\n", &i), 1);
		assert_true(i >= 0 && i < n && i % 7 == 0 && !seen[i]);
		seen[i] = true;
		lines++;
	}
	assert_int_equal(lines, (n + 6) / 7);
	fclose(file);
	free(seen);
}

/* Chunks go on in halves, so that words and keys come in any order. */
static void want_split(const char *uri, const char *failed, const char *in,
		       const char *out, const char *const *args, int n)
{
	rbt_spawned s;

	run_as(uri, in, args, &s);
	if (s.status != 1 || strcmp(s.out, out) != 0)
		fail_msg("%d: %s", s.status, s.err);
	/* Each of those that are listed has the server's words. */
	assert_non_null(strstr(s.err, "NOPERM"));
	assert_null(strstr(s.err, "error reply"));
	want_listed(failed, n);
	rbt_spawned_free(&s);
	unlink(failed);
}

static void test_refused_keys_among_many_fail_alone_and_each_once(void **state)
{
	enum { N = 2000 };
	rbt_live *live = rbt_live_use(state);
	char *in = malloc(N * 16);
	char *out = malloc(N * 32);
	size_t inlen = 0;
	size_t outlen = 0;
	char failed[512];
	char uri[512];

	assert_true(in != NULL && out != NULL);
	make_reader(live, uri, sizeof(uri));
	for (int i = 0; i < N; i++) {
		if (i % 7 == 0) {
			inlen += (size_t)sprintf(in + inlen, "no:%d\n", i);
			continue;
		}
		rbt_do(live->admin, "SET ok:%d %d", i, i);
		inlen += (size_t)sprintf(in + inlen, "ok:%d\n", i);
		outlen += (size_t)sprintf(out + outlen, "ok:%d\t%d\n", i, i);
	}
	mget_path(live, "failed", failed, sizeof(failed));
	want_split(uri, failed, in, out, MGET_ARGV("--failed", failed), N);
	want_split(uri, failed, in, out,
		   MGET_ARGV("--failed", failed, "--chunk-keys", "5"), N);
	want_split(uri, failed, in, out,
		   MGET_ARGV("--failed", failed, "--lanes", "3"), N);
	free(in);
	free(out);
}

static void test_a_value_above_the_bound_fails_alone_and_says_so(void **state)
{
	static const char *const forms[][2] = { { "--no-missing", NULL },
						{ "--hash", "h" } };
	rbt_live *live = rbt_live_use(state);
	char big[3001];

	memset(big, 'x', 3000);
	big[3000] = '\0';
	rbt_do(live->admin, "MSET a 1 b %s c 3", big);
	rbt_do(live->admin, "HSET h a 1 b %s c 3", big);
	for (size_t i = 0; i < 2; i++) {
		const char *args[] = { "--max-value", "2000", forms[i][0],
				       forms[i][1], NULL };
		rbt_spawned s;

		mget_run(live, "a\nb\nc\n", args, &s);
		assert_int_equal(s.status, 1);
		assert_string_equal(s.out, "a\t1\nc\t3\n");
		assert_non_null(strstr(s.err, "b"));
		assert_non_null(strstr(s.err, "--max-value"));
		assert_non_null(strstr(s.err, "1 failed"));
		rbt_spawned_free(&s);
	}
}

static void test_a_key_that_is_no_hash_fails_for_each_field(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "SET a 1");
	mget_run(live, "f\ng\n", MGET_ARGV("--hash", "a"), &s);
	assert_int_equal(s.status, 1);
	assert_int_equal(s.outlen, 0);
	assert_non_null(strstr(s.err, "WRONGTYPE"));
	assert_non_null(strstr(s.err, "standard input:2"));
	assert_non_null(strstr(s.err, "2 failed"));
	rbt_spawned_free(&s);
}

typedef struct wrong {
	const char *args[6];
	int status;
	const char *words;
} wrong;

static void test_what_is_wrong_is_said_before_anything_is_sent(void **state)
{
	static const wrong cases[] = {
		{ { "-f", "xml", "a" }, 2, "--format" },
		{ { "--count", "0", "--scan", "*" }, 2, "--count" },
		{ { "--null-out", "a" }, 2, "--format=raw" },
		{ { "--missing", "x", "a" }, 2, "--format=raw" },
		{ { "--scan", "*", "--hash", "h" }, 2, "--hash" },
		{ { "--scan", "*", "a" }, 2, "--scan" },
		{ { "--keys" }, 2, "--keys" },
		{ { "--keys", "/nowhere/keys" }, 4, "/nowhere/keys" },
		{ { "-o", "/nowhere/out", "a" }, 4, "/nowhere/out" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rbt_spawned s;

		mget_run(live, "", cases[i].args, &s);
		if (s.status != cases[i].status ||
		    strstr(s.err, cases[i].words) == NULL)
			fail_msg("%zu: %d: %s", i, s.status, s.err);
		assert_int_equal(s.outlen, 0);
		rbt_spawned_free(&s);
	}
	assert_int_equal(rbt_live_calls(live, "mget"), 0);
}

static void test_a_file_that_cannot_be_read_or_written_ends_with_4(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char path[512];
	rbt_spawned s;

	mget_path(live, "whole", path, sizeof(path));
	/* A directory can be opened, but not read. */
	mget_run(live, "",
		 MGET_ARGV("-o", path, "-k", rbt_server_dir(live->server), "a"),
		 &s);
	assert_int_equal(s.status, 4);
	assert_non_null(strstr(s.err, "Is a directory"));
	assert_non_null(strstr(s.err, "was not written"));
	assert_int_not_equal(access(path, F_OK), 0);
	rbt_spawned_free(&s);
	if (access("/dev/full", W_OK) != 0)
		return;
	mget_run(live, "", MGET_ARGV("-o", "/dev/full", "a"), &s);
	assert_int_equal(s.status, 4);
	assert_non_null(strstr(s.err, "/dev/full"));
	rbt_spawned_free(&s);
}

static void test_a_server_that_is_gone_ends_with_3(void **state)
{
	static const char *const args[] = { "-f", "tsv", "--attempts", "1",
					    NULL };
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_live_kill(live);
	mget_run(live, "a\n", args, &s);
	assert_int_equal(s.status, 3);
	assert_int_equal(s.outlen, 0);
	assert_int_not_equal(s.errlen, 0);
	rbt_spawned_free(&s);
}

static void test_a_server_that_stands_still_ends_with_3(void **state)
{
	static const char *const forms[][2] = { { "-f", "tsv" },
						{ "--hash", "h" } };
	rbt_live *live = rbt_live_use(state);

	/* Connecting is the system's business, so that works. */
	rbt_live_stop(live);
	for (size_t i = 0; i < 2; i++) {
		rbt_spawned s;

		mget_run(live, "a\nb\n",
			 MGET_ARGV("--timeout", "300ms", forms[i][0],
				   forms[i][1]),
			 &s);
		assert_int_equal(s.status, 3);
		assert_non_null(strstr(s.err, "2 failed"));
		rbt_spawned_free(&s);
	}
	rbt_live_go_on(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RBT_LIVE(
			test_a_refused_key_is_named_with_its_line_and_the_servers_words),
		RBT_LIVE(test_refused_keys_among_many_fail_alone_and_each_once),
		RBT_LIVE(test_a_value_above_the_bound_fails_alone_and_says_so),
		RBT_LIVE(test_a_key_that_is_no_hash_fails_for_each_field),
		RBT_LIVE(test_what_is_wrong_is_said_before_anything_is_sent),
		RBT_LIVE(
			test_a_file_that_cannot_be_read_or_written_ends_with_4),
		RBT_LIVE(test_a_server_that_stands_still_ends_with_3),
		RBT_LIVE(test_a_server_that_is_gone_ends_with_3),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

/*
 * Which keys are read, and what is written for them, by the real program.
 */
#include "mget_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void want(rbt_live *live, const char *in, const char *const *args,
		 const char *out)
{
	rbt_spawned s;

	mget_run(live, in, args, &s);
	if (s.status != 0 || strcmp(s.out, out) != 0)
		fail_msg("%d: %s%s", s.status, s.out, s.err);
	rbt_spawned_free(&s);
}

static void write_file(const char *path, const char *data, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* ----------------------------------------------------------------- keys -- */

typedef struct input {
	const char *in;
	const char *out;
} input;

static void test_each_line_is_a_key_whatever_ends_the_last(void **state)
{
	static const input cases[] = {
		{ "", "" },
		{ "a", "a\t1\n" },
		{ "a\n", "a\t1\n" },
		{ "a\nb", "a\t1\nb\t2\n" },
		{ "a\n\nb\n", "a\t1\n\tempty\nb\t2\n" },
		{ "\n", "\tempty\n" },
		{ "\n\n", "\tempty\n\tempty\n" },
		{ "\xef\xbb\xbf"
		  "a\nb\n",
		  "a\t1\nb\t2\n" },
		{ "a\n\xef\xbb\xbf"
		  "a\n",
		  "a\t1\n\xef\xbb\xbf"
		  "a\t\\N\n" },
		{ "a\r\n", "a\\r\t\\N\n" },
	};
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "MSET a 1 b 2 %b empty", "", (size_t)0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		want(live, cases[i].in, MGET_ARGV("--format=tsv"),
		     cases[i].out);
}

static void test_every_byte_of_a_line_is_literal(void **state)
{
	static const char in[] = " lead\ntrail \na b\n\"q\"\na\\tb\na\tb\n'\n";
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "MSET %s 1 %s 2 %s 3 %s 4 %s 5 %s 6 %s 7", " lead",
	       "trail ", "a b", "\"q\"", "a\\tb", "a\tb", "'");
	want(live, in, MGET_ARGV("-f", "raw"), "1\n2\n3\n4\n5\n6\n7\n");
}

static void test_keys_that_end_with_nul_may_have_newlines(void **state)
{
	static const char in[] = "x\ny\0\xef\xbb\xbf\0z";
	static const char out[] = "1\0other\0"
				  "3";
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "MSET %s 1 %s other z 3", "x\ny", "\xef\xbb\xbf");
	mget_run_bytes(live, in, sizeof(in) - 1,
		       MGET_ARGV("-0", "-Z", "--format=raw"), &s);
	assert_int_equal(s.status, 0);
	assert_int_equal(s.outlen, sizeof(out));
	assert_memory_equal(s.out, out, sizeof(out));
	rbt_spawned_free(&s);
}

static void test_operands_come_before_the_files_in_their_order(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char one[512];
	char two[512];

	rbt_do(live->admin, "MSET a 1 b 2 c 3 d 4");
	write_file(mget_path(live, "one", one, sizeof(one)), "c\nb", 3);
	write_file(mget_path(live, "two", two, sizeof(two)), "d\n", 2);
	want(live, "", MGET_ARGV("--keys", one, "-k", two, "a", "-f", "raw"),
	     "1\n3\n2\n4\n");
	want(live, "d\n", MGET_ARGV("--keys", one, "-k", "-", "-f", "raw"),
	     "3\n2\n4\n");
	/* With keys of its own the program does not look at its input. */
	want(live, "d\n", MGET_ARGV("-f", "raw", "--", "a"), "1\n");
	unlink(one);
	unlink(two);
}

static void test_more_keys_than_a_chunk_come_in_their_order(void **state)
{
	enum { N = 5000 };
	rbt_live *live = rbt_live_use(state);
	char *in = malloc(N * 16);
	char *out = malloc(N * 32);
	size_t inlen = 0;
	size_t outlen = 0;

	assert_true(in != NULL && out != NULL);
	for (int i = N; i > 0; i--) {
		rbt_do(live->admin, "SET k%d value%d", i, i);
		inlen += (size_t)sprintf(in + inlen, "k%d\n", i);
		outlen += (size_t)sprintf(out + outlen, "k%d\tvalue%d\n", i, i);
	}
	want(live, in, MGET_ARGV("--chunk-keys", "7"), out);
	want(live, in, MGET_ARGV("--chunk-keys", "900", "--lanes", "3"), out);
	free(in);
	free(out);
}

static void test_fields_of_a_hash_are_read_block_by_block(void **state)
{
	enum { N = 3000 };
	rbt_live *live = rbt_live_use(state);
	char *in = malloc(N * 16);
	char *out = malloc(N * 32);
	size_t inlen = 0;
	size_t outlen = 0;

	assert_true(in != NULL && out != NULL);
	for (int i = 0; i < N; i++) {
		if (i % 3 != 0)
			rbt_do(live->admin, "HSET h f%d v%d", i, i);
		inlen += (size_t)sprintf(in + inlen, "f%d\n", i);
		outlen += (size_t)(i % 3 != 0 ? sprintf(out + outlen,
							"f%d\tv%d\n", i, i) :
						sprintf(out + outlen,
							"f%d\t\\N\n", i));
	}
	want(live, in, MGET_ARGV("--hash", "h", "--timeout", "50"), out);
	want(live, "", MGET_ARGV("--hash", "h", "f1", "f2", "f1"),
	     "f1\tv1\nf2\tv2\nf1\tv1\n");
	want(live, "", MGET_ARGV("--hash", "none", "f1"), "f1\t\\N\n");
	free(in);
	free(out);
}

/* --------------------------------------------------------------- output -- */

static void test_missing_and_empty_differ_in_every_form(void **state)
{
	static const struct {
		const char *form;
		const char *out;
	} cases[] = {
		{ "tsv", "e\t\nm\t\\N\nn\t\\\\N\n" },
		{ "json", "{\"key\":\"e\",\"value\":\"\"}\n"
			  "{\"key\":\"m\",\"value\":null}\n"
			  "{\"key\":\"n\",\"value\":\"\\\\N\"}\n" },
		{ "csv", "e,\"\"\r\nm,\r\nn,\\N\r\n" },
		{ "raw", "\n\\N\n\\N\n" },
		{ "table", "e  (empty)\nm  (missing)\nn  \\\\N\n" },
	};
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->admin, "MSET e %b n \\N", "", (size_t)0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		want(live, "e\nm\nn\n", MGET_ARGV("-f", cases[i].form),
		     cases[i].out);
	want(live, "e\nm\nn\n", MGET_ARGV("-f", "raw", "--missing=(none)"),
	     "\n(none)\n\\N\n");
	want(live, "e\nm\nn\n", MGET_ARGV("-f", "tsv", "--no-missing"),
	     "e\t\nn\t\\\\N\n");
}

static void test_keys_of_other_types_are_missing_and_no_failure(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "RPUSH list x");
	mget_run(live, "", MGET_ARGV("list", "none"), &s);
	assert_int_equal(s.status, 0);
	assert_string_equal(s.out, "list\t\\N\nnone\t\\N\n");
	assert_non_null(strstr(s.err, "2 missing"));
	rbt_spawned_free(&s);
}

/* Another reader of the same standard sees the same bytes. */
static void test_python_reads_the_csv_back(void **state)
{
	static const char program[] =
		"import csv, io, sys\n"
		"text = sys.stdin.buffer.read().decode('latin-1')\n"
		"for row in csv.reader(io.StringIO(text, newline='')):\n"
		"    print(ascii(row))\n";
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	rbt_spawned python;

	rbt_do(live->admin, "MSET a %s b %s c %b d %s", "a\"b,c", "x\ny", "",
	       (size_t)0, "\xff \r\t");
	mget_run(live, "", MGET_ARGV("-f", "csv", "a", "b", "c", "d"), &s);
	assert_int_equal(s.status, 0);
	rbt_spawn_run(&(rbt_spawn){ .argv = MGET_ARGV("/usr/bin/env", "python3",
						      "-c", program),
				    .in = s.out,
				    .inlen = s.outlen },
		      &python);
	rbt_spawned_free(&s);
	if (python.status == 127) {
		rbt_spawned_free(&python);
		/* The bytes were held against the rules before; this is a
		 * second opinion. */
		print_message("there is no python3\n");
		return;
	}
	assert_string_equal(python.out, "['a', 'a\"b,c']\n"
					"['b', 'x\\ny']\n"
					"['c', '']\n"
					"['d', '\\xff \\r\\t']\n");
	rbt_spawned_free(&python);
}

static void test_nothing_moves_a_cursor_where_there_is_none(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "SET a 1");
	mget_run(live, "a\nb\n", MGET_ARGV("-f", "table"), &s);
	assert_int_equal(s.status, 0);
	assert_null(strchr(s.out, '\r'));
	assert_null(strchr(s.err, '\r'));
	assert_null(strchr(s.out, '\033'));
	assert_null(strchr(s.err, '\033'));
	assert_non_null(strstr(s.err, "2 keys: 1 found, 1 missing, 0 failed"));
	rbt_spawned_free(&s);
	mget_run(live, "a\n", MGET_ARGV("-q"), &s);
	assert_string_equal(s.out, "a\t1\n");
	assert_int_equal(s.errlen, 0);
	rbt_spawned_free(&s);
}

static void test_a_file_gets_its_name_when_it_is_whole(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char path[512];
	char text[32] = "";
	FILE *file;

	rbt_do(live->admin, "SET a 1");
	mget_path(live, "export", path, sizeof(path));
	want(live, "", MGET_ARGV("-o", path, "a", "none"), "");
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(text, 1, sizeof(text), file), 12);
	fclose(file);
	assert_string_equal(text, "a\t1\nnone\t\\N\n");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RBT_LIVE(test_each_line_is_a_key_whatever_ends_the_last),
		RBT_LIVE(test_every_byte_of_a_line_is_literal),
		RBT_LIVE(test_keys_that_end_with_nul_may_have_newlines),
		RBT_LIVE(test_operands_come_before_the_files_in_their_order),
		RBT_LIVE(test_more_keys_than_a_chunk_come_in_their_order),
		RBT_LIVE(test_fields_of_a_hash_are_read_block_by_block),
		RBT_LIVE(test_missing_and_empty_differ_in_every_form),
		RBT_LIVE(test_keys_of_other_types_are_missing_and_no_failure),
		RBT_LIVE(test_python_reads_the_csv_back),
		RBT_LIVE(test_nothing_moves_a_cursor_where_there_is_none),
		RBT_LIVE(test_a_file_gets_its_name_when_it_is_whole),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

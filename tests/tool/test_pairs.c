/*
 * Records of a file: where each of them stood, and how a file may end. Blocks
 * of them.
 */
#include "block.h"
#include "pairing.h"
#include "pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct content {
	const char *name;
	pairs_options options;
	const char *bytes;
	/* LINE:RECORD:what, each ended by ';'. */
	const char *want;
} content;

static void describe(pairs_got got, const pair *p, rbt_line *text)
{
	static const char *const names[] = { "end", "pair",   "missing",
					     "bad", "header", "failed" };
	char line[32];

	snprintf(line, sizeof(line), "%zu:", p->line);
	rbt_put(text, line);
	rbt_put_bytes(text, p->record);
	rbt_put(text, ":");
	rbt_put(text, names[got]);
	if (got == PAIRS_PAIR) {
		rbt_put(text, " ");
		rbt_put_bytes(text, p->key);
		rbt_put(text, "=");
		rbt_put_bytes(text, p->value);
	}
	rbt_put(text, ";");
}

static void want_content(const content *c)
{
	char path[] = "/tmp/rbt_pairs.XXXXXX";
	int fd = mkstemp(path);
	size_t len = strlen(c->bytes);
	rbt_line text = { .len = 0 };
	pairs_got got;
	pairs *p;
	pair one;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, c->bytes, len), len);
	close(fd);
	p = pairs_open(path, &c->options);
	unlink(path);
	assert_non_null(p);
	for (got = pairs_next(p, &one); got != PAIRS_END;
	     got = pairs_next(p, &one)) {
		assert_string_equal(one.file, path);
		describe(got, &one, &text);
	}
	assert_int_equal(pairs_taken(p), len);
	pairs_close(p);
	if (strcmp(text.text, c->want) != 0)
		fail_msg("%s: '%s', wanted '%s'", c->name, text.text, c->want);
}

static void test_records_are_told_with_their_lines(void **state)
{
	static const content cases[] = {
		{ "nothing", { PAIRS_TSV, false, false }, "", "" },
		{ "no newline at the end",
		  { PAIRS_TSV, false, false },
		  "a\t1\nb\t2",
		  "1:a\\x091:pair a=1;2:b\\x092:pair b=2;" },
		{ "a newline at the end",
		  { PAIRS_TSV, false, false },
		  "a\t1\n",
		  "1:a\\x091:pair a=1;" },
		{ "half a line",
		  { PAIRS_TSV, false, false },
		  "a\t1\nb",
		  "1:a\\x091:pair a=1;2:b:bad;" },
		{ "byte order mark",
		  { PAIRS_TSV, false, false },
		  "\xef\xbb\xbf"
		  "a\t1\n\xef\xbb\xbf\t2\n",
		  "1:a\\x091:pair a=1;2:\\xef\\xbb\\xbf\\x092:pair "
		  "\\xef\\xbb\\xbf=2;" },
		{ "header of tsv",
		  { PAIRS_TSV, false, true },
		  "key\na\t1\n",
		  "1:key:header;2:a\\x091:pair a=1;" },
		{ "lines of csv",
		  { PAIRS_CSV, false, true },
		  "k,v\r\n\"a\n\nb\",1\nc,2\n",
		  "1:k,v\\x0d:header;2:\"a\\x0a\\x0ab\",1:pair "
		  "a\\x0a\\x0ab=1;5:c,2:pair c=2;" },
		{ "bad lines of csv",
		  { PAIRS_CSV, false, false },
		  "a,\"b\nc\"d\ne,\nf,\"g\nh\n",
		  "1:a,\"b\\x0ac\"d:bad;3:e,:missing;4:f,\"g\\x0ah:bad;" },
		{ "blank lines of json",
		  { PAIRS_JSON, false, false },
		  "\n{\"key\":\"a\",\"value\":\"1\"}\n\n{",
		  "2:{\"key\":\"a\",\"value\":\"1\"}:pair a=1;4:{:bad;" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		want_content(&cases[i]);
}

static void test_the_suffix_tells_the_format(void **state)
{
	static const struct {
		const char *path;
		pairs_format format;
	} cases[] = {
		{ "a.tsv", PAIRS_TSV },	    { "a.csv", PAIRS_CSV },
		{ "a.json", PAIRS_JSON },   { "a.JSONL", PAIRS_JSON },
		{ "a.ndjson", PAIRS_JSON }, { "a.txt", PAIRS_TSV },
		{ "csv", PAIRS_TSV },	    { "-", PAIRS_TSV },
		{ "x.csv.gz", PAIRS_TSV },
	};
	pairs_format f;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(pairs_format_of(cases[i].path),
				 cases[i].format);
	assert_true(pairs_format_named("csv", &f));
	assert_int_equal(f, PAIRS_CSV);
	assert_false(pairs_format_named("jsonl", &f));
	assert_false(pairs_format_named("xml", &f));
}

static void test_a_directory_fails_when_it_is_read(void **state)
{
	const pairs_options o = { .format = PAIRS_TSV };
	pairs *p = pairs_open("/tmp", &o);
	pair one;

	(void)state;
	assert_non_null(p);
	assert_int_equal(pairs_next(p, &one), PAIRS_FAILED);
	assert_non_null(strstr(one.words, "directory"));
	assert_int_equal(one.line, 1);
	pairs_close(p);
	assert_null(pairs_open("/nowhere/at/all", &o));
}

static void test_a_block_keeps_what_a_record_points_to(void **state)
{
	char line[] = "key\tvalue";
	char beside[] = "other";
	pair p = { .key = { line, 3 },
		   .value = { beside, 5 },
		   .record = { line, 9 },
		   .file = "f",
		   .line = 7 };
	const pair alone = { .key = { beside, 5 } };
	block *b = block_new();

	(void)state;
	assert_non_null(b);
	assert_int_equal(block_add(b, &p), BLOCK_ADDED);
	assert_int_equal(block_add(b, &alone), BLOCK_ADDED);
	memset(line, 'x', sizeof(line));
	memset(beside, 'x', sizeof(beside));
	assert_int_equal(b->n, 2);
	assert_memory_equal(b->keys[0], "key", b->keylens[0]);
	assert_memory_equal(b->values[0], "other", b->valuelens[0]);
	assert_memory_equal(b->origins[0].record.data, "key\tvalue\n", 10);
	assert_int_equal(b->origins[0].record.len, 10);
	assert_int_equal(b->origins[0].line, 7);
	assert_memory_equal(b->keys[1], "other", b->keylens[1]);
	assert_int_equal(b->valuelens[1], 0);
	assert_null(b->origins[1].record.data);
	block_free(b);
}

static void test_a_block_is_bounded_by_count_and_bytes(void **state)
{
	size_t large = BLOCK_BYTES;
	char *bytes = calloc(1, large);
	const pair small = { .key = { bytes, 1 } };
	const pair half = { .key = { bytes, large / 2 } };
	const pair giant = { .key = { bytes, large } };
	block *b = block_new();

	(void)state;
	assert_non_null(bytes);
	assert_non_null(b);
	for (size_t i = 0; i < BLOCK_RECORDS; i++)
		assert_int_equal(block_add(b, &small), BLOCK_ADDED);
	assert_int_equal(block_add(b, &small), BLOCK_FULL);
	block_clear(b);
	assert_int_equal(block_add(b, &half), BLOCK_ADDED);
	assert_int_equal(block_add(b, &half), BLOCK_FULL);
	block_clear(b);
	assert_int_equal(block_add(b, &giant), BLOCK_ADDED);
	assert_int_equal(block_add(b, &small), BLOCK_FULL);
	block_clear(b);
	assert_int_equal(b->capacity, 0);
	block_free(b);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_told_with_their_lines),
		cmocka_unit_test(test_the_suffix_tells_the_format),
		cmocka_unit_test(test_a_directory_fails_when_it_is_read),
		cmocka_unit_test(test_a_block_keeps_what_a_record_points_to),
		cmocka_unit_test(test_a_block_is_bounded_by_count_and_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

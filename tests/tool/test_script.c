/*
 * Commands out of files, and where they stood.
 */
#include "script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

enum { FILES = 3 };

typedef struct fixture {
	char names[FILES][64];
	char *paths[FILES];
	script *s;
} fixture;

static void begin(fixture *f, const rb_slice *contents, size_t n,
		  script_format format)
{
	for (size_t i = 0; i < n; i++) {
		int fd;

		strcpy(f->names[i], "/tmp/rbt-script-XXXXXX");
		fd = mkstemp(f->names[i]);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, contents[i].data, contents[i].len),
				 contents[i].len);
		close(fd);
		f->paths[i] = f->names[i];
	}
	f->s = script_new(f->paths, n, format);
	assert_non_null(f->s);
}

static void end(fixture *f, size_t n)
{
	script_free(f->s);
	for (size_t i = 0; i < n; i++)
		unlink(f->names[i]);
}

/* The next record is this one. */
static void want(fixture *f, script_got got, size_t line, const char *name)
{
	script_item item;
	script_got what = script_next(f->s, &item);

	if (what != got || item.line != line)
		fail_msg("%d at line %zu, not %d at %zu: %s", what, item.line,
			 got, line, item.why == NULL ? "" : item.why);
	if (got == SCRIPT_COMMAND)
		assert_memory_equal(item.command.argv[0], name, strlen(name));
	else if (got != SCRIPT_END && strstr(item.why, name) == NULL)
		fail_msg("'%s' is not about %s", item.why, name);
}

static void test_lines_are_counted_with_those_that_are_skipped(void **state)
{
	static const rb_slice text = BYTES("\xef\xbb\xbfPING\r\n\n# note\n"
					   "  ECHO a\nBAD \"x\n \nLAST");
	fixture f;

	(void)state;
	begin(&f, &text, 1, SCRIPT_ANY);
	want(&f, SCRIPT_COMMAND, 1, "PING");
	want(&f, SCRIPT_COMMAND, 4, "ECHO");
	want(&f, SCRIPT_BAD, 5, "unbalanced");
	want(&f, SCRIPT_COMMAND, 7, "LAST");
	assert_int_equal(script_taken(f.s), text.len);
	assert_int_equal(script_size(f.s), text.len);
	want(&f, SCRIPT_END, 0, "");
	want(&f, SCRIPT_END, 0, "");
	end(&f, 1);
}

static void test_the_raw_form_ends_with_a_newline(void **state)
{
	static const rb_slice text = BYTES(" SET k \"v\"\nLAST");
	script_item item;
	fixture f;

	(void)state;
	begin(&f, &text, 1, SCRIPT_ANY);
	assert_int_equal(script_next(f.s, &item), SCRIPT_COMMAND);
	assert_int_equal(item.raw.len, 11);
	assert_memory_equal(item.raw.data, " SET k \"v\"\n", 11);
	assert_int_equal(script_next(f.s, &item), SCRIPT_COMMAND);
	assert_int_equal(item.raw.len, 5);
	assert_memory_equal(item.raw.data, "LAST\n", 5);
	assert_string_equal(item.file, f.names[0]);
	end(&f, 1);
}

static void test_a_star_in_front_means_resp(void **state)
{
	static const rb_slice resp =
		BYTES("*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$1\r\na\r\n");
	fixture f;

	(void)state;
	begin(&f, &resp, 1, SCRIPT_ANY);
	want(&f, SCRIPT_COMMAND, 1, "PING");
	want(&f, SCRIPT_COMMAND, 4, "ECHO");
	want(&f, SCRIPT_END, 0, "");
	end(&f, 1);
	begin(&f, &resp, 1, SCRIPT_TEXT);
	want(&f, SCRIPT_COMMAND, 1, "*1");
	end(&f, 1);
}

static void test_files_follow_each_other_and_count_anew(void **state)
{
	static const rb_slice texts[] = { BYTES(""), BYTES("PING\nLAST"),
					  BYTES("\nECHO a\n") };
	fixture f;

	(void)state;
	begin(&f, texts, 3, SCRIPT_ANY);
	want(&f, SCRIPT_COMMAND, 1, "PING");
	want(&f, SCRIPT_COMMAND, 2, "LAST");
	want(&f, SCRIPT_COMMAND, 2, "ECHO");
	want(&f, SCRIPT_END, 0, "");
	end(&f, 3);
}

static void test_resp_behind_text_is_not_taken_for_text(void **state)
{
	static const rb_slice texts[] = { BYTES("PING\n"),
					  BYTES("*1\r\n$4\r\nPING\r\n") };
	fixture f;

	(void)state;
	begin(&f, texts, 2, SCRIPT_ANY);
	want(&f, SCRIPT_COMMAND, 1, "PING");
	want(&f, SCRIPT_FAILED, 0, "seems to be RESP");
	want(&f, SCRIPT_END, 0, "");
	end(&f, 2);
}

static void test_broken_resp_is_named_by_line_and_byte_and_ends_it(void **state)
{
	static const struct {
		rb_slice resp;
		size_t line;
		const char *words;
	} cases[] = {
		{ BYTES("*1\r\n$4\r\nPING\r\nPING\r\n*1\r\n$4\r\nPING\r\n"), 4,
		  "at byte 14: a '*' was expected" },
		{ BYTES("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPI"), 6,
		  "at byte 24: the input ends here" },
		{ BYTES("*1\r\n$4\r\nPING\r\n*1\r\n"), 4,
		  "at byte 18: the input ends here" },
		{ BYTES("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING"), 6,
		  "which begins at line 4" },
	};
	fixture f;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		begin(&f, &cases[i].resp, 1, SCRIPT_ANY);
		want(&f, SCRIPT_COMMAND, 1, "PING");
		want(&f, SCRIPT_BROKEN, cases[i].line, cases[i].words);
		want(&f, SCRIPT_END, 0, "");
		end(&f, 1);
	}
}

static void test_a_command_cut_between_files_is_broken(void **state)
{
	static const rb_slice texts[] = { BYTES("*1\r\n$4\r\n"),
					  BYTES("PING\r\n") };
	fixture f;

	(void)state;
	begin(&f, texts, 2, SCRIPT_ANY);
	want(&f, SCRIPT_BROKEN, 2, "the input ends here");
	want(&f, SCRIPT_END, 0, "");
	end(&f, 2);
}

static void want_skipped(fixture *f, size_t file, uint64_t from)
{
	const char *path;
	uint64_t at;

	assert_true(script_skip(f->s, &path, &at));
	assert_string_equal(path, f->names[file]);
	assert_int_equal(at, from);
}

static void test_what_no_command_came_from_is_known_by_its_byte(void **state)
{
	static const rb_slice texts[] = { BYTES("PING\nECHO a\nLAST\n"),
					  BYTES("PING\n") };
	static const rb_slice resp = BYTES("*1\r\n$4\r\nPING\r\n*1\r\n");
	const char *path;
	uint64_t from;
	fixture f;

	(void)state;
	begin(&f, texts, 2, SCRIPT_ANY);
	want(&f, SCRIPT_COMMAND, 1, "PING");
	want_skipped(&f, 0, 5);
	want_skipped(&f, 1, 0);
	assert_false(script_skip(f.s, &path, &from));
	end(&f, 2);
	/* A command that was begun is no command. */
	begin(&f, &resp, 1, SCRIPT_ANY);
	want(&f, SCRIPT_COMMAND, 1, "PING");
	want(&f, SCRIPT_BROKEN, 4, "the input ends here");
	want_skipped(&f, 0, 14);
	end(&f, 1);
}

static void test_a_file_that_is_not_there_ends_it(void **state)
{
	char *paths[] = { "/tmp/rbt-there-is-no-such-file" };
	fixture f = { .s = script_new(paths, 1, SCRIPT_ANY) };

	(void)state;
	assert_non_null(f.s);
	want(&f, SCRIPT_FAILED, 0, "/tmp/rbt-there-is-no-such-file");
	want(&f, SCRIPT_END, 0, "");
	script_free(f.s);
}

static void test_raw_commands_are_taken_apart_once_more(void **state)
{
	static const rb_slice forms[] = {
		BYTES("SET k \"a b\"\n"),
		BYTES("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\na b\r\n"),
	};
	fixture f;

	(void)state;
	for (size_t i = 0; i < COUNT(forms); i++) {
		script_item item;
		rb_command c;

		begin(&f, &forms[i], 1, SCRIPT_ANY);
		assert_int_equal(script_next(f.s, &item), SCRIPT_COMMAND);
		c = script_command(f.s, item.raw);
		assert_ptr_not_equal(c.argv[0], item.command.argv[0]);
		assert_int_equal(c.argc, 3);
		assert_int_equal(c.argvlen[2], 3);
		assert_memory_equal(c.argv[2], "a b", 3);
		c = script_command(f.s, (rb_slice){ "", 0 });
		assert_int_equal(c.argc, 0);
		end(&f, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_lines_are_counted_with_those_that_are_skipped),
		cmocka_unit_test(test_the_raw_form_ends_with_a_newline),
		cmocka_unit_test(test_a_star_in_front_means_resp),
		cmocka_unit_test(test_files_follow_each_other_and_count_anew),
		cmocka_unit_test(test_resp_behind_text_is_not_taken_for_text),
		cmocka_unit_test(
			test_broken_resp_is_named_by_line_and_byte_and_ends_it),
		cmocka_unit_test(test_a_command_cut_between_files_is_broken),
		cmocka_unit_test(
			test_what_no_command_came_from_is_known_by_its_byte),
		cmocka_unit_test(test_a_file_that_is_not_there_ends_it),
		cmocka_unit_test(test_raw_commands_are_taken_apart_once_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

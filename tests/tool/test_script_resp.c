/*
 * Commands of the wire, whole, cut anywhere, and wrong.
 */
#include "script_resp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

typedef struct tally {
	size_t ncommands;
	/* What the last line came to. */
	script_resp_got got;
	size_t at;
	const char *why;
	/* Where the command began that was not completed. */
	size_t begin;
	bool open;
} tally;

/* Pushes the bytes line by line, up to what is wrong. */
static tally push_all(rb_slice input)
{
	tally t = { .got = SCRIPT_RESP_MORE };
	script_resp r = { .missing = 0 };
	size_t i = 0;

	while (i < input.len && t.got != SCRIPT_RESP_BAD) {
		const char *p = input.data + i;
		const char *newline = memchr(p, '\n', input.len - i);
		size_t len = newline == NULL ? input.len - i :
					       (size_t)(newline + 1 - p);

		if (!script_resp_is_open(&r))
			t.begin = i;
		t.got = script_resp_push(&r, p, len);
		t.ncommands += t.got == SCRIPT_RESP_DONE;
		i += len;
	}
	t.open = script_resp_is_open(&r);
	t.at = r.at;
	t.why = r.why;
	script_resp_free(&r);
	return t;
}

static void test_words_stand_where_they_are_said_to(void **state)
{
	static const char input[] = "*3\r\n$3\r\nSET\r\n$0\r\n\r\n"
				    "$7\r\na\r\nb\0\nc\r\n";
	script_resp r = { .missing = 0 };
	script_resp_got got = SCRIPT_RESP_MORE;
	const char *p = input;
	const char *end = input + sizeof(input) - 1;
	rb_command c;

	(void)state;
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		assert_int_equal(got, SCRIPT_RESP_MORE);
		got = script_resp_push(&r, p, (size_t)(newline + 1 - p));
		p = newline + 1;
	}
	assert_int_equal(got, SCRIPT_RESP_DONE);
	c = words_command(&r.words, r.raw.data);
	assert_int_equal(c.argc, 3);
	assert_int_equal(c.argvlen[0], 3);
	assert_memory_equal(c.argv[0], "SET", 3);
	assert_int_equal(c.argvlen[1], 0);
	assert_int_equal(c.argvlen[2], 7);
	assert_memory_equal(c.argv[2], "a\r\nb\0\nc", 7);
	assert_int_equal(r.raw.len, sizeof(input) - 1);
	assert_memory_equal(r.raw.data, input, sizeof(input) - 1);
	script_resp_free(&r);
}

static void test_what_is_no_command_is_named_by_its_byte(void **state)
{
	static const struct {
		const char *name;
		rb_slice input;
		size_t at;
		const char *why;
	} cases[] = {
		{ "no array", BYTES("PING\r\n"), 0, "'*'" },
		{ "a reply", BYTES("+OK\r\n"), 0, "'*'" },
		{ "a null array", BYTES("*-1\r\n"), 0, "no number" },
		{ "no count", BYTES("*\r\n"), 0, "missing" },
		{ "letters", BYTES("*1a\r\n"), 0, "no number" },
		{ "too many", BYTES("*1048577\r\n"), 0, "too large" },
		{ "far too many", BYTES("*99999999999999999999999\r\n"), 0,
		  "too large" },
		{ "no CR", BYTES("*1\n$4\nPING\n"), 0, "CR LF" },
		{ "a null word", BYTES("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$-1\r\n"),
		  20, "no number" },
		{ "no word", BYTES("*1\r\n:1\r\n"), 4, "'$'" },
		{ "a word of 1 GiB", BYTES("*1\r\n$1073741824\r\n"), 4,
		  "too large" },
		{ "too long a word", BYTES("*1\r\n$4\r\nPINGS\r\n"), 12,
		  "longer" },
		{ "far too long", BYTES("*1\r\n$1\r\nPINGS\r\n"), 9, "longer" },
		{ "too short a word", BYTES("*1\r\n$5\r\nPING\r\n*\r\n"), 13,
		  "longer" },
		{ "LF in place of CR", BYTES("*1\r\n$4\r\nPING\n\n"), 12,
		  "CR LF" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		tally t = push_all(cases[i].input);

		if (t.got != SCRIPT_RESP_BAD || t.at != cases[i].at ||
		    strstr(t.why, cases[i].why) == NULL)
			fail_msg("%s: at %zu: %s", cases[i].name, t.at,
				 t.why == NULL ? "" : t.why);
	}
}

static void test_an_empty_array_is_nothing(void **state)
{
	static const rb_slice input = BYTES("*0\r\n*1\r\n$4\r\nPING\r\n");
	tally t = push_all(input);

	(void)state;
	assert_int_equal(t.ncommands, 1);
	assert_int_equal(t.got, SCRIPT_RESP_DONE);
}

/* Whatever byte the input ends behind: the commands before it are whole, and the
 * last one is known not to be, unless it ends there. */
static void test_a_cut_at_every_byte_is_seen(void **state)
{
	static const char one[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n"
				  "$6\r\na\nb\r\nc\r\n";
	static const size_t len = sizeof(one) - 1;
	char three[3 * sizeof(one)];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		memcpy(three + i * len, one, len);
	for (size_t cut = 0; cut <= 3 * len; cut++) {
		tally t = push_all((rb_slice){ three, cut });
		bool complete = cut % len == 0;

		assert_int_equal(t.ncommands, cut / len);
		if (complete) {
			assert_false(t.open);
			assert_int_not_equal(t.got, SCRIPT_RESP_BAD);
			continue;
		}
		assert_true(t.open || t.got == SCRIPT_RESP_BAD);
		assert_int_equal(t.begin, cut / len * len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_stand_where_they_are_said_to),
		cmocka_unit_test(test_what_is_no_command_is_named_by_its_byte),
		cmocka_unit_test(test_an_empty_array_is_nothing),
		cmocka_unit_test(test_a_cut_at_every_byte_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

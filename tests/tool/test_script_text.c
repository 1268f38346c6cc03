/*
 * Lines of text taken apart into words, as redis-cli does.
 */
#include "script_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

typedef struct fixture {
	scratch bytes;
	words words;
} fixture;

static const char *split(fixture *f, rb_slice line, rb_command *c)
{
	const char *why = script_text_split(line, &f->bytes, &f->words);

	*c = words_command(&f->words, f->bytes.data);
	return why;
}

static void end(fixture *f)
{
	scratch_free(&f->bytes);
	words_free(&f->words);
}

static void want_word(const rb_command *c, size_t i, rb_slice want)
{
	if (c->argvlen[i] != want.len ||
	    memcmp(c->argv[i], want.data, want.len) != 0)
		fail_msg("word %zu is '%.*s', not '%.*s'", i,
			 (int)c->argvlen[i], c->argv[i], (int)want.len,
			 want.data);
}

static void test_words_are_those_of_redis_cli(void **state)
{
	static const struct {
		rb_slice line;
		size_t n;
		rb_slice want[4];
	} cases[] = {
		{ BYTES("PING"), 1, { BYTES("PING") } },
		{ BYTES("  GET\t a \r"), 2, { BYTES("GET"), BYTES("a") } },
		{ BYTES("\v\fGET a\vb"), 2, { BYTES("GET"), BYTES("a\vb") } },
		{ BYTES("\"a b\" 'c d'"), 2, { BYTES("a b"), BYTES("c d") } },
		{ BYTES("\"\" ''"), 2, { BYTES(""), BYTES("") } },
		{ BYTES("\"\\n\\r\\t\\b\\a\\\"\\\\\\q\""),
		  1,
		  { BYTES("\n\r\t\b\a\"\\q") } },
		{ BYTES("\"\\x41\\xfF\\x00\""), 1, { BYTES("A\xff\0") } },
		{ BYTES("\"\\x4\" \"\\xg1\" \"\\x\""),
		  3,
		  { BYTES("x4"), BYTES("xg1"), BYTES("x") } },
		{ BYTES("'it\\'s \\n \\\\ '"), 1, { BYTES("it's \\n \\\\ ") } },
		{ BYTES("a\\tb \\"), 2, { BYTES("a\\tb"), BYTES("\\") } },
		{ BYTES("a\"b c\" d'e'"), 2, { BYTES("ab c"), BYTES("de") } },
		{ BYTES("\"a'b\" 'a\"b'"), 2, { BYTES("a'b"), BYTES("a\"b") } },
		{ BYTES("a\0b c"), 2, { BYTES("a\0b"), BYTES("c") } },
		{ BYTES("\"a\"\vb"), 2, { BYTES("a"), BYTES("b") } },
		{ BYTES("SET k #v"),
		  3,
		  { BYTES("SET"), BYTES("k"), BYTES("#v") } },
		{ BYTES("\xc3\xa9\xff"), 1, { BYTES("\xc3\xa9\xff") } },
		{ BYTES(" \t"), 0, { BYTES("") } },
	};
	fixture f = { .words = { .n = 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		rb_command c;
		const char *why = split(&f, cases[i].line, &c);

		if (why != NULL || (size_t)c.argc != cases[i].n)
			fail_msg("%s: %d words, %s", cases[i].line.data, c.argc,
				 why == NULL ? "" : why);
		for (size_t k = 0; k < cases[i].n; k++)
			want_word(&c, k, cases[i].want[k]);
	}
	end(&f);
}

static void test_unbalanced_quotes_are_named(void **state)
{
	static const struct {
		rb_slice line;
		const char *words;
	} cases[] = {
		{ BYTES("GET \"a"), "not closed" },
		{ BYTES("GET 'a"), "not closed" },
		{ BYTES("GET \"a\\\""), "not closed" },
		{ BYTES("GET 'a\\'"), "not closed" },
		{ BYTES("GET \"a\\"), "not closed" },
		{ BYTES("GET 'a\\"), "not closed" },
		{ BYTES("\""), "not closed" },
		{ BYTES("GET a\""), "not closed" },
		{ BYTES("GET \"a\"b"), "followed by a blank" },
		{ BYTES("GET 'a'b"), "followed by a blank" },
		{ BYTES("GET \"a\"'b'"), "followed by a blank" },
		{ BYTES("GET \"a\"\0"), "followed by a blank" },
	};
	fixture f = { .words = { .n = 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		rb_command c;
		const char *why = split(&f, cases[i].line, &c);

		if (why == NULL || strstr(why, cases[i].words) == NULL)
			fail_msg("%s: %s", cases[i].line.data,
				 why == NULL ? "taken" : why);
	}
	end(&f);
}

static void test_every_byte_can_be_written_as_xhh(void **state)
{
	fixture f = { .words = { .n = 0 } };

	(void)state;
	for (size_t form = 0; form < 2; form++) {
		for (unsigned byte = 0; byte < 256; byte++) {
			char line[16];
			char want = (char)(unsigned char)byte;
			rb_command c;

			if (form == 0)
				snprintf(line, sizeof(line), "\"\\x%02x\"",
					 byte);
			else
				snprintf(line, sizeof(line), "\"\\x%02X\"",
					 byte);
			assert_null(split(&f, (rb_slice){ line, strlen(line) },
					  &c));
			assert_int_equal(c.argc, 1);
			want_word(&c, 0, (rb_slice){ &want, 1 });
		}
	}
	end(&f);
}

static void test_comments_and_blank_lines_are_no_commands(void **state)
{
	static const struct {
		rb_slice line;
		bool empty;
	} cases[] = {
		{ BYTES(""), true },	    { BYTES(" \t\r"), true },
		{ BYTES("# GET a"), true }, { BYTES("  #"), true },
		{ BYTES("GET #"), false },  { BYTES("\"#\""), false },
		{ BYTES("\0"), false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(script_text_is_empty(cases[i].line),
				 cases[i].empty);
}

/* ------------------------------------------------------- there and back -- */

typedef struct writer {
	uint64_t seed;
	char line[4096];
	size_t len;
	char bytes[512];
	rb_slice want[12];
	size_t nbytes;
	size_t n;
} writer;

static unsigned any(writer *w, unsigned below)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->seed >> 33) % below;
}

static void put(writer *w, const char *text)
{
	size_t len = strlen(text);

	memcpy(w->line + w->len, text, len);
	w->len += len;
}

static void put_byte(writer *w, char c)
{
	w->line[w->len++] = c;
}

/* One of the ways in which redis-cli reads this byte between double quotes. */
static void put_in_double(writer *w, char c)
{
	static const char named[] = "\n\r\t\b\a";
	static const char letters[] = "nrtba";
	const char *at = c == '\0' ? NULL : strchr(named, c);
	char hex[8];

	if (at != NULL && any(w, 2) == 0) {
		put_byte(w, '\\');
		put_byte(w, letters[at - named]);
	} else if (c == '\n' || any(w, 4) == 0) {
		snprintf(hex, sizeof(hex), any(w, 2) ? "\\x%02x" : "\\x%02X",
			 (unsigned)(unsigned char)c);
		put(w, hex);
	} else {
		if (c == '"' || c == '\\')
			put_byte(w, '\\');
		put_byte(w, c);
	}
}

/* Between single quotes a backslash before a quote cannot be had. */
static bool fits_single(rb_slice word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] == '\n' || word.data[i] == '\\')
			return false;
	}
	return true;
}

static bool fits_plain(rb_slice word)
{
	static const char special[] = " \t\r\n\v\f\"'#";

	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] != '\0' && strchr(special, word.data[i]))
			return false;
	}
	return word.len > 0;
}

static void put_word(writer *w, rb_slice word)
{
	unsigned way = any(w, 3);

	if (way == 0 && fits_plain(word)) {
		memcpy(w->line + w->len, word.data, word.len);
		w->len += word.len;
	} else if (way == 1 && fits_single(word)) {
		put_byte(w, '\'');
		for (size_t i = 0; i < word.len; i++) {
			if (word.data[i] == '\'')
				put_byte(w, '\\');
			put_byte(w, word.data[i]);
		}
		put_byte(w, '\'');
	} else {
		put_byte(w, '"');
		for (size_t i = 0; i < word.len; i++)
			put_in_double(w, word.data[i]);
		put_byte(w, '"');
	}
}

static void make_word(writer *w)
{
	static const char liked[] = "\\\"' #xn\t\r\n";
	char *word = w->bytes + w->nbytes;
	size_t len = any(w, 20);

	for (size_t i = 0; i < len; i++) {
		word[i] = any(w, 2) ? liked[any(w, sizeof(liked) - 1)] :
				      (char)(unsigned char)any(w, 256);
	}
	w->want[w->n++] = (rb_slice){ word, len };
	w->nbytes += len;
}

static void make_line(writer *w)
{
	static const char *const gaps[] = { " ", "\t", "  ", " \r\t" };
	size_t n = 1 + any(w, 12);

	w->len = w->nbytes = w->n = 0;
	for (size_t i = 0; i < n; i++) {
		make_word(w);
		put(w, i == 0 ? "" : gaps[any(w, COUNT(gaps))]);
		put_word(w, w->want[i]);
	}
}

static void test_20000_lines_written_as_redis_cli_reads_them_come_back(
	void **state)
{
	static writer w = { .seed = 20000 };
	fixture f = { .words = { .n = 0 } };

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		rb_command c;
		const char *why;

		make_line(&w);
		why = split(&f, (rb_slice){ w.line, w.len }, &c);
		if (why != NULL || (size_t)c.argc != w.n)
			fail_msg("line %zu: %s: %.*s", i,
				 why == NULL ? "other words" : why, (int)w.len,
				 w.line);
		for (size_t k = 0; k < w.n; k++)
			want_word(&c, k, w.want[k]);
	}
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_those_of_redis_cli),
		cmocka_unit_test(test_unbalanced_quotes_are_named),
		cmocka_unit_test(test_every_byte_can_be_written_as_xhh),
		cmocka_unit_test(test_comments_and_blank_lines_are_no_commands),
		cmocka_unit_test(
			test_20000_lines_written_as_redis_cli_reads_them_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

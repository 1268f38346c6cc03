/*
 * How replies are printed, of every type and in every form.
 */
#include "reply.h"

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
#define BYTES(text) text, sizeof(text) - 1

static redisReply text_of(int type, const char *text, size_t len)
{
	redisReply r = { .type = type };

	r.str = (char *)(uintptr_t)text;
	r.len = len;
	return r;
}

static redisReply number_of(int type, long long n)
{
	return (redisReply){ .type = type, .integer = n };
}

static redisReply list_of(int type, redisReply **elements, size_t n)
{
	return (redisReply){ .type = type, .elements = n, .element = elements };
}

static redisReply string(const char *text)
{
	return text_of(REDIS_REPLY_STRING, text, strlen(text));
}

/* What is printed into a file; to be freed. */
typedef struct printing {
	char dir[32];
	char path[64];
	out *o;
	char text[65536];
} printing;

static void begin(printing *p)
{
	strcpy(p->dir, "/tmp/rbt-reply-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/out", p->dir);
	p->o = out_open(p->path);
	assert_non_null(p->o);
}

static void end(printing *p)
{
	FILE *f;
	size_t n;

	assert_int_equal(out_commit(p->o), 0);
	out_free(p->o);
	f = fopen(p->path, "rb");
	assert_non_null(f);
	n = fread(p->text, 1, sizeof(p->text) - 1, f);
	p->text[n] = '\0';
	fclose(f);
	unlink(p->path);
	rmdir(p->dir);
}

static const reply_place place = { NULL, 7 };

static void want(const char *name, const redisReply *r, reply_format format,
		 const char *text)
{
	static printing p;

	begin(&p);
	reply_put(p.o, format, &place, r);
	end(&p);
	if (strcmp(p.text, text) != 0)
		fail_msg("%s is printed as\n%snot as\n%s", name, p.text, text);
}

typedef struct forms {
	const char *name;
	redisReply reply;
	const char *text;
	const char *tsv;
	const char *json;
	const char *raw;
} forms;

static void want_all(const forms *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const forms *c = &cases[i];

		want(c->name, &c->reply, REPLY_TEXT, c->text);
		want(c->name, &c->reply, REPLY_TSV, c->tsv);
		want(c->name, &c->reply, REPLY_JSON, c->json);
		want(c->name, &c->reply, REPLY_RAW, c->raw);
	}
}

static void test_strings_and_nil_cannot_be_taken_for_each_other(void **state)
{
	const forms cases[] = {
		{ "nil", number_of(REDIS_REPLY_NIL, 0), "7: (nil)\n",
		  "7\tnil\t\\N\n", "{\"line\":7,\"reply\":null}\n", "\n" },
		{ "empty", string(""), "7: \"\"\n", "7\tstring\t\n",
		  "{\"line\":7,\"reply\":\"\"}\n", "\n" },
		{ "the word", string("(nil)"), "7: \"(nil)\"\n",
		  "7\tstring\t(nil)\n", "{\"line\":7,\"reply\":\"(nil)\"}\n",
		  "(nil)\n" },
		{ "the mark", string("\\N"), "7: \"\\\\N\"\n",
		  "7\tstring\t\\\\N\n", "{\"line\":7,\"reply\":\"\\\\N\"}\n",
		  "\\N\n" },
	};

	(void)state;
	want_all(cases, COUNT(cases));
}

static void test_bytes_are_escaped_as_their_form_wants_it(void **state)
{
	const forms cases[] = {
		{ "control",
		  text_of(REDIS_REPLY_STRING, BYTES("\x1b[2J\a\b\t\r\n\"\\\0")),
		  "7: \"\\x1b[2J\\a\\b\\t\\r\\n\\\"\\\\\\x00\"\n", NULL,
		  "{\"line\":7,\"reply\":\"\\u001b[2J\\u0007\\b\\t\\r\\n"
		  "\\\"\\\\\\u0000\"}\n",
		  NULL },
		{ "UTF-8", string("\xc3\xa9\xf0\x9f\x98\x80"),
		  "7: \"\\xc3\\xa9\\xf0\\x9f\\x98\\x80\"\n",
		  "7\tstring\t\xc3\xa9\xf0\x9f\x98\x80\n",
		  "{\"line\":7,\"reply\":\"\xc3\xa9\xf0\x9f\x98\x80\"}\n",
		  "\xc3\xa9\xf0\x9f\x98\x80\n" },
		{ "binary", string("\xff"), "7: \"\\xff\"\n",
		  "7\tstring\t\xff\n",
		  "{\"line\":7,\"reply\":{\"base64\":\"/w==\"}}\n", "\xff\n" },
		{ "overlong", string("\xc0\x80y"), "7: \"\\xc0\\x80y\"\n",
		  "7\tstring\t\xc0\x80y\n",
		  "{\"line\":7,\"reply\":{\"base64\":\"wIB5\"}}\n",
		  "\xc0\x80y\n" },
		{ "surrogate", string("\xed\xa0\x80!"),
		  "7: \"\\xed\\xa0\\x80!\"\n", "7\tstring\t\xed\xa0\x80!\n",
		  "{\"line\":7,\"reply\":{\"base64\":\"7aCAIQ==\"}}\n",
		  "\xed\xa0\x80!\n" },
		{ "cut", string("\xe2\x82"), "7: \"\\xe2\\x82\"\n",
		  "7\tstring\t\xe2\x82\n",
		  "{\"line\":7,\"reply\":{\"base64\":\"4oI=\"}}\n",
		  "\xe2\x82\n" },
		{ "a status", text_of(REDIS_REPLY_STATUS, BYTES("O\x1bK")),
		  "7: O\\x1bK\n", "7\tstatus\tO\x1bK\n",
		  "{\"line\":7,\"reply\":\"O\\u001bK\"}\n", "O\x1bK\n" },
	};

	(void)state;
	want(cases[0].name, &cases[0].reply, REPLY_TEXT, cases[0].text);
	want(cases[0].name, &cases[0].reply, REPLY_JSON, cases[0].json);
	want_all(cases + 1, COUNT(cases) - 1);
}

static void test_tsv_has_the_escapes_of_copy(void **state)
{
	const redisReply r = string("a\tb\nc\rd\\e\x01");

	(void)state;
	want("tsv", &r, REPLY_TSV, "7\tstring\ta\\tb\\nc\\rd\\\\e\x01\n");
}

static void test_scalars_keep_their_types(void **state)
{
	const forms cases[] = {
		{ "integer", number_of(REDIS_REPLY_INTEGER, -12),
		  "7: (integer) -12\n", "7\tinteger\t-12\n",
		  "{\"line\":7,\"reply\":-12}\n", "-12\n" },
		{ "error", text_of(REDIS_REPLY_ERROR, BYTES("ERR no")),
		  "7: (error) ERR no\n", "7\terror\tERR no\n",
		  "{\"line\":7,\"error\":\"ERR no\"}\n", "ERR no\n" },
		{ "double", text_of(REPLY_DOUBLE, BYTES("1.5e+20")),
		  "7: (double) 1.5e+20\n", "7\tdouble\t1.5e+20\n",
		  "{\"line\":7,\"reply\":1.5e+20}\n", "1.5e+20\n" },
		{ "infinite", text_of(REPLY_DOUBLE, BYTES("-inf")),
		  "7: (double) -inf\n", "7\tdouble\t-inf\n",
		  "{\"line\":7,\"reply\":{\"double\":\"-inf\"}}\n", "-inf\n" },
		{ "no JSON", text_of(REPLY_DOUBLE, BYTES("01")),
		  "7: (double) 01\n", "7\tdouble\t01\n",
		  "{\"line\":7,\"reply\":{\"double\":\"01\"}}\n", "01\n" },
		{ "true", number_of(REPLY_BOOL, 1), "7: (true)\n",
		  "7\tboolean\ttrue\n", "{\"line\":7,\"reply\":true}\n",
		  "(true)\n" },
		{ "false", number_of(REPLY_BOOL, 0), "7: (false)\n",
		  "7\tboolean\tfalse\n", "{\"line\":7,\"reply\":false}\n",
		  "(false)\n" },
		{ "big", text_of(REPLY_NUMBER, BYTES("12345678901234567890")),
		  "7: (number) 12345678901234567890\n",
		  "7\tnumber\t12345678901234567890\n",
		  "{\"line\":7,\"reply\":{\"number\":"
		  "\"12345678901234567890\"}}\n",
		  "12345678901234567890\n" },
		{ "verbatim", text_of(REPLY_VERBATIM, BYTES("x y")),
		  "7: \"x y\"\n", "7\tstring\tx y\n",
		  "{\"line\":7,\"reply\":\"x y\"}\n", "x y\n" },
	};

	(void)state;
	want_all(cases, COUNT(cases));
}

static void test_lists_are_nested(void **state)
{
	redisReply a = string("a");
	redisReply b = string("b");
	redisReply nil = number_of(REDIS_REPLY_NIL, 0);
	redisReply error = text_of(REDIS_REPLY_ERROR, BYTES("ERR x"));
	redisReply *inner[] = { &a, &nil };
	redisReply array = list_of(REDIS_REPLY_ARRAY, inner, 2);
	redisReply none = list_of(REDIS_REPLY_ARRAY, NULL, 0);
	redisReply *outer[] = { &array, &b, &error, &none };
	redisReply *pairs[] = { &a, &array, &b, &nil };
	redisReply *many[] = { &a, &a, &a, &a, &a, &a, &a, &a, &a, &b };
	const forms cases[] = {
		{ "array", list_of(REDIS_REPLY_ARRAY, outer, 4),
		  "7: 1) 1) \"a\"\n"
		  "      2) (nil)\n"
		  "   2) \"b\"\n"
		  "   3) (error) ERR x\n"
		  "   4) (empty array)\n",
		  "7\tarray\ta\t\\N\tb\tERR x\n",
		  "{\"line\":7,\"reply\":[[\"a\",null],\"b\","
		  "{\"error\":\"ERR x\"},[]]}\n",
		  "a\n\nb\nERR x\n\n" },
		{ "map", list_of(REPLY_MAP, pairs, 4),
		  "7: 1# \"a\" =>\n"
		  "      1) \"a\"\n"
		  "      2) (nil)\n"
		  "   2# \"b\" => (nil)\n",
		  "7\tmap\ta\ta\t\\N\tb\t\\N\n",
		  "{\"line\":7,\"reply\":{\"map\":[[\"a\",[\"a\",null]],"
		  "[\"b\",null]]}}\n",
		  "a\na\n\nb\n\n" },
		{ "set", list_of(REPLY_SET, inner, 2),
		  "7: 1~ \"a\"\n   2~ (nil)\n", "7\tset\ta\t\\N\n",
		  "{\"line\":7,\"reply\":[\"a\",null]}\n", "a\n\n" },
		{ "empty", none, "7: (empty array)\n", "7\tarray\t\n",
		  "{\"line\":7,\"reply\":[]}\n", "\n" },
		{ "empty map", list_of(REPLY_MAP, NULL, 0), "7: (empty hash)\n",
		  "7\tmap\t\n", "{\"line\":7,\"reply\":{\"map\":[]}}\n", "\n" },
	};
	const redisReply ten = list_of(REDIS_REPLY_ARRAY, many, 10);

	(void)state;
	want_all(cases, COUNT(cases));
	want("ten", &ten, REPLY_TEXT,
	     "7:  1) \"a\"\n    2) \"a\"\n    3) \"a\"\n    4) \"a\"\n"
	     "    5) \"a\"\n    6) \"a\"\n    7) \"a\"\n    8) \"a\"\n"
	     "    9) \"a\"\n   10) \"b\"\n");
}

static void test_the_file_is_named_where_it_matters(void **state)
{
	static const reply_place named = { "a b", 3 };
	const redisReply r = string("x");
	static printing p;

	(void)state;
	begin(&p);
	reply_put(p.o, REPLY_TEXT, &named, &r);
	reply_put(p.o, REPLY_TSV, &named, &r);
	reply_put(p.o, REPLY_JSON, &named, &r);
	reply_put(p.o, REPLY_RAW, &named, &r);
	end(&p);
	assert_string_equal(
		p.text, "a b:3: \"x\"\na b:3\tstring\tx\n"
			"{\"file\":\"a b\",\"line\":3,\"reply\":\"x\"}\nx\n");
}

static void test_what_was_not_answered_says_so(void **state)
{
	static printing p;

	(void)state;
	begin(&p);
	for (reply_format f = REPLY_TEXT; f <= REPLY_RAW; f++)
		reply_put_none(p.o, f, &place, RB_NOT_SENT, "a\tb");
	reply_put_none(p.o, REPLY_TEXT, &place, RB_UNKNOWN, "lost");
	end(&p);
	assert_string_equal(p.text, "7: (not sent) a\\tb\n"
				    "7\tnot sent\ta\\tb\n"
				    "{\"line\":7,\"error\":\"a\\tb\","
				    "\"outcome\":\"not sent\"}\n"
				    "7: (unknown) lost\n");
}

static void test_errors_are_found_by_their_type(void **state)
{
	redisReply word = text_of(REDIS_REPLY_STATUS, BYTES("ERR no error"));
	redisReply error = text_of(REDIS_REPLY_ERROR, BYTES("whatever"));
	redisReply *inner[] = { &word, &error };
	redisReply array = list_of(REDIS_REPLY_ARRAY, inner, 2);
	redisReply *outer[] = { &word, &array };
	const redisReply map = list_of(REPLY_MAP, outer, 2);

	(void)state;
	assert_null(reply_error(&word));
	assert_ptr_equal(reply_error(&error), &error);
	assert_ptr_equal(reply_error(&map), &error);
	array.elements = 1;
	assert_null(reply_error(&map));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_strings_and_nil_cannot_be_taken_for_each_other),
		cmocka_unit_test(test_bytes_are_escaped_as_their_form_wants_it),
		cmocka_unit_test(test_tsv_has_the_escapes_of_copy),
		cmocka_unit_test(test_scalars_keep_their_types),
		cmocka_unit_test(test_lists_are_nested),
		cmocka_unit_test(test_the_file_is_named_where_it_matters),
		cmocka_unit_test(test_what_was_not_answered_says_so),
		cmocka_unit_test(test_errors_are_found_by_their_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

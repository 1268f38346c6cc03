/*
 * What a record looks like in each format, byte by byte, and what is none.
 */
#include "pairing.h"
#include "pairs_formats.h"
#include "unbase64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text) text, sizeof(text) - 1

typedef struct record {
	const char *name;
	const char *line;
	size_t len;
	const char *want;
} record;

typedef parsed parser(rb_slice line, scratch *s, pair *out);

static parsed parse_tsv(rb_slice line, scratch *s, pair *out)
{
	return pairs_tsv(line, false, s, out);
}

static parsed parse_literal(rb_slice line, scratch *s, pair *out)
{
	return pairs_tsv(line, true, s, out);
}

/* Lines, as the source of records would give them. */
static parsed parse_csv(rb_slice lines, scratch *s, pair *out)
{
	csv_state state = { .nfields = 0 };
	parsed got = PARSED_MORE;

	while (got == PARSED_MORE && lines.data != NULL) {
		const char *end = memchr(lines.data, '\n', lines.len);
		rb_slice line = { lines.data,
				  end == NULL ? lines.len :
						(size_t)(end - lines.data) };

		got = pairs_csv(line, &state, s, out);
		lines.len -= end == NULL ? 0 : line.len + 1;
		lines.data = end == NULL ? NULL : end + 1;
	}
	return got == PARSED_MORE ? pairs_csv_cut_off(out) : got;
}

static void describe(parsed got, const pair *p, rbt_line *text)
{
	static const char *const names[] = { "",	"missing ", "bad: ",
					     "nothing", "more",	    "memory" };

	rbt_put(text, names[got]);
	if (got == PARSED_BAD) {
		rbt_put(text, p->words);
	} else if (got == PARSED_PAIR || got == PARSED_MISSING) {
		rbt_put_bytes(text, p->key);
		if (got == PARSED_PAIR) {
			rbt_put(text, "=");
			rbt_put_bytes(text, p->value);
		}
	}
}

/* From a copy of just its size, so that a sanitizer sees who reads beyond. */
static void want_records(parser *parse, const record *r, size_t n)
{
	for (; n > 0; n--, r++) {
		char *copy = malloc(r->len + (r->len == 0));
		rbt_line text = { .len = 0 };
		scratch s = { .data = NULL };
		pair p = { .line = 1 };
		parsed got;

		assert_non_null(copy);
		memcpy(copy, r->line, r->len);
		got = parse((rb_slice){ copy, r->len }, &s, &p);
		describe(got, &p, &text);
		if (strcmp(text.text, r->want) != 0)
			fail_msg("%s: '%s', wanted '%s'", r->name, text.text,
				 r->want);
		scratch_free(&s);
		free(copy);
	}
}

static void test_tsv_is_split_at_the_first_tab(void **state)
{
	static const record records[] = {
		{ "plain", BYTES("k\tv"), "k=v" },
		{ "tab in the value", BYTES("k\tv\tw"), "k=v\\x09w" },
		{ "empty value", BYTES("k\t"), "k=" },
		{ "empty key", BYTES("\tv"), "=v" },
		{ "no tab", BYTES("k"), "bad: there is no tab behind the key" },
		{ "empty line", BYTES(""),
		  "bad: there is no tab behind the key" },
		{ "blanks", BYTES(" lead\t trail "), " lead= trail " },
		{ "quotes", BYTES("\"q\"\t'q'"), "\"q\"='q'" },
		{ "carriage return", BYTES("k\tv\r"), "k=v\\x0d" },
		{ "NUL and high", BYTES("\0\xff\t\0\x80"),
		  "\\x00\\xff=\\x00\\x80" },
	};

	(void)state;
	want_records(parse_tsv, records, COUNT(records));
	want_records(parse_literal, records, COUNT(records));
}

static void test_tsv_escapes_are_undone(void **state)
{
	static const record records[] = {
		{ "letters", BYTES("a\\tb\t\\n\\r\\b\\f\\v\\\\"),
		  "a\\x09b=\\x0a\\x0d\\x08\\x0c\\x0b\\" },
		{ "hexadecimal", BYTES("\\x41\t\\x4\\xfF1\\xA"),
		  "A=\\x04\\xff1\\x0a" },
		{ "octal", BYTES("\\101\t\\0\\12\\3777\\18"),
		  "A=\\x00\\x0a\\xff7\\x018" },
		{ "none", BYTES("k\t\\N"), "missing k" },
		{ "an N behind a backslash", BYTES("k\t\\\\N"), "k=\\N" },
		{ "tab in a key, none", BYTES("a\\tb\t\\N"),
		  "missing a\\x09b" },
	};

	(void)state;
	want_records(parse_tsv, records, COUNT(records));
}

static void test_tsv_escapes_that_are_none_are_bad(void **state)
{
#define HINT " (--no-escapes takes it literally)"
	static const record records[] = {
		{ "a path", BYTES("k\tC:\\dir"),
		  "bad: unknown escape \\d" HINT },
		{ "at the end", BYTES("k\tv\\"),
		  "bad: a backslash ends the line" HINT },
		{ "in the key, at its end", BYTES("k\\\tv"),
		  "bad: a backslash ends the key" HINT },
		{ "more than none", BYTES("k\t\\Nx"),
		  "bad: unknown escape \\N" HINT },
		{ "a key that is none", BYTES("\\N\tv"),
		  "bad: unknown escape \\N" HINT },
		{ "no digit", BYTES("k\t\\xg"),
		  "bad: unknown escape \\x" HINT },
		{ "no digit at the end", BYTES("k\t\\x"),
		  "bad: unknown escape \\x" HINT },
		{ "above 255", BYTES("k\t\\400"),
		  "bad: unknown escape \\4" HINT },
		{ "NUL", BYTES("k\t\\\0"),
		  "bad: a backslash that escapes nothing" HINT },
	};

	(void)state;
	want_records(parse_tsv, records, COUNT(records));
}

static void test_literal_tsv_takes_every_byte_as_it_is(void **state)
{
	static const record records[] = {
		{ "a path", BYTES("k\tC:\\dir"), "k=C:\\dir" },
		{ "letters", BYTES("a\\tb\t\\N"), "a\\tb=\\N" },
		{ "at the end", BYTES("k\\\tv\\"), "k\\=v\\" },
	};

	(void)state;
	want_records(parse_literal, records, COUNT(records));
}

static void test_csv_is_that_of_rfc_4180(void **state)
{
	static const record records[] = {
		{ "plain", BYTES("a,b"), "a=b" },
		{ "quotes", BYTES("\"a\"\"b\",\"x,y\""), "a\"b=x,y" },
		{ "a newline", BYTES("\"line1\nline2\",v"),
		  "line1\\x0aline2=v" },
		{ "CR LF", BYTES("a,b\r"), "a=b" },
		{ "CR LF behind a quote", BYTES("a,\"b\"\r"), "a=b" },
		{ "CR LF within quotes", BYTES("a,\"b\r\nc\""),
		  "a=b\\x0d\\x0ac" },
		{ "the same behind quotes", BYTES("\"a\",\"b\r\nc\""),
		  "a=b\\x0d\\x0ac" },
		{ "a CR alone", BYTES("a\rb,c"), "a\\x0db=c" },
		{ "many newlines", BYTES("\"\n\n\n\",\"\n\""),
		  "\\x0a\\x0a\\x0a=\\x0a" },
		{ "empty value", BYTES("k,\"\""), "k=" },
		{ "no value", BYTES("k,"), "missing k" },
		{ "no value, CR LF", BYTES("k,\r"), "missing k" },
		{ "empty key", BYTES(",v"), "=v" },
		{ "both empty", BYTES("\"\",\"\""), "=" },
		{ "blanks", BYTES(" a , b "), " a = b " },
		{ "backslash", BYTES("a,\\n\\N"), "a=\\n\\N" },
		{ "only quotes", BYTES("a,\"\"\"\"\"\""), "a=\"\"" },
		{ "bytes", BYTES("\0,\xff"), "\\x00=\\xff" },
	};

	(void)state;
	want_records(parse_csv, records, COUNT(records));
}

static void test_csv_that_is_not_of_rfc_4180_is_bad(void **state)
{
	static const record records[] = {
		{ "one field", BYTES("k"),
		  "bad: 1 field, where a key and a value are expected" },
		{ "empty line", BYTES(""),
		  "bad: 1 field, where a key and a value are expected" },
		{ "three fields", BYTES("a,b,c"),
		  "bad: 3 fields, where a key and a value are expected" },
		{ "a quote within", BYTES("a,5\" pipe"),
		  "bad: a quote within a field that does not begin with one" },
		{ "more behind", BYTES("\"a\"b,c"),
		  "bad: there is more behind the quote that ends a field" },
		{ "never closed", BYTES("a,\"b\nc,d"),
		  "bad: the file ends within quotes" },
	};

	(void)state;
	want_records(parse_csv, records, COUNT(records));
}

static void test_a_stray_quote_costs_no_line_but_its_own(void **state)
{
	csv_state csv = { .nfields = 0 };
	scratch s = { .data = NULL };
	pair p = { .line = 1 };

	(void)state;
	assert_int_equal(
		pairs_csv((rb_slice){ BYTES("a,5\" x") }, &csv, &s, &p),
		PARSED_BAD);
	s.len = 0;
	assert_int_equal(pairs_csv((rb_slice){ BYTES("c,d") }, &csv, &s, &p),
			 PARSED_PAIR);
	scratch_free(&s);
}

static void test_json_has_texts_or_base64(void **state)
{
	static const record records[] = {
		{ "plain", BYTES("{\"key\":\"k\",\"value\":\"v\"}"), "k=v" },
		{ "other way round", BYTES("{\"value\":\"v\",\"key\":\"k\"}"),
		  "k=v" },
		{ "blanks", BYTES(" { \"key\" : \"k\", \"value\" : \"v\" } \r"),
		  "k=v" },
		{ "NUL", BYTES("{\"key\":\"\\u0000\",\"value\":\"a\\u0000\"}"),
		  "\\x00=a\\x00" },
		{ "escapes",
		  BYTES("{\"key\":\"\\t\\n\\\"\\\\\","
			"\"value\":\"\\u00e9\\ud83d\\ude00\"}"),
		  "\\x09\\x0a\"\\=\\xc3\\xa9\\xf0\\x9f\\x98\\x80" },
		{ "base64",
		  BYTES("{\"key_base64\":\"/w==\",\"value_base64\":\"AAE=\"}"),
		  "\\xff=\\x00\\x01" },
		{ "one of each",
		  BYTES("{\"key\":\"k\",\"value_base64\":\"gIGC\"}"),
		  "k=\\x80\\x81\\x82" },
		{ "empty", BYTES("{\"key\":\"\",\"value\":\"\"}"), "=" },
		{ "empty base64",
		  BYTES("{\"key_base64\":\"\",\"value_base64\":\"\"}"), "=" },
		{ "none", BYTES("{\"key\":\"k\",\"value\":null}"),
		  "missing k" },
		{ "blank line", BYTES(" \t\r"), "nothing" },
		{ "empty line", BYTES(""), "nothing" },
	};

	(void)state;
	want_records(pairs_json, records, COUNT(records));
}

static void test_json_that_is_no_pair_is_bad(void **state)
{
	static const record records[] = {
		{ "array", BYTES("[\"k\",\"v\"]"), "bad: this is no object" },
		{ "no key", BYTES("{\"value\":\"v\"}"),
		  "bad: there is no \"key\"" },
		{ "no value", BYTES("{\"key\":\"k\"}"),
		  "bad: there is no \"value\"" },
		{ "number", BYTES("{\"key\":\"k\",\"value\":5}"),
		  "bad: \"value\" is no string" },
		{ "null key", BYTES("{\"key\":null,\"value\":\"v\"}"),
		  "bad: \"key\" is no string" },
		{ "both",
		  BYTES("{\"key\":\"k\",\"key_base64\":\"\",\"value\":\"\"}"),
		  "bad: both \"key\" and \"key_base64\"" },
		{ "both of a value",
		  BYTES("{\"key\":\"k\",\"value\":null,"
			"\"value_base64\":\"\"}"),
		  "bad: both \"value\" and \"value_base64\"" },
		{ "stranger",
		  BYTES("{\"key\":\"k\",\"value\":\"v\",\"ttl\":1}"),
		  "bad: unknown member \"ttl\"" },
		{ "no base64", BYTES("{\"key\":\"k\",\"value_base64\":\"a\"}"),
		  "bad: \"value_base64\" is no base64" },
	};
	static const record broken[] = {
		{ "half", BYTES("{\"key\":\"k\",\"val"), "" },
		{ "twice", BYTES("{\"key\":\"a\",\"key\":\"b\"}"), "" },
		{ "more behind", BYTES("{\"key\":\"k\",\"value\":\"v\"}x"),
		  "" },
		{ "no UTF-8", BYTES("{\"key\":\"\xff\",\"value\":\"v\"}"), "" },
	};

	(void)state;
	want_records(pairs_json, records, COUNT(records));
	for (size_t i = 0; i < COUNT(broken); i++) {
		scratch s = { .data = NULL };
		pair p = { .line = 1 };
		parsed got = pairs_json(
			(rb_slice){ broken[i].line, broken[i].len }, &s, &p);

		assert_int_equal(got, PARSED_BAD);
		assert_int_equal(strncmp(p.words, "no JSON: ", 9), 0);
		scratch_free(&s);
	}
}

static void test_base64_is_read_strictly(void **state)
{
	static const char *const bad[] = { "A",	   "AA",   "AAA",      "AA=A",
					   "A===", "====", "AA==AAAA", "AB==",
					   "AAB=", "A A=", "AAA\n",    "A-_A" };
	char out[16];
	size_t len;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (unbase64(bad[i], strlen(bad[i]), out, &len))
			fail_msg("'%s' was taken", bad[i]);
	}
	assert_true(unbase64(BYTES("+/+/AAECAw=="), out, &len));
	assert_int_equal(len, 7);
	assert_memory_equal(out, "\xfb\xff\xbf\0\1\2\3", 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tsv_is_split_at_the_first_tab),
		cmocka_unit_test(test_tsv_escapes_are_undone),
		cmocka_unit_test(test_tsv_escapes_that_are_none_are_bad),
		cmocka_unit_test(test_literal_tsv_takes_every_byte_as_it_is),
		cmocka_unit_test(test_csv_is_that_of_rfc_4180),
		cmocka_unit_test(test_csv_that_is_not_of_rfc_4180_is_bad),
		cmocka_unit_test(test_a_stray_quote_costs_no_line_but_its_own),
		cmocka_unit_test(test_json_has_texts_or_base64),
		cmocka_unit_test(test_json_that_is_no_pair_is_bad),
		cmocka_unit_test(test_base64_is_read_strictly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What is written for keys and values: each form by table, and every byte in
 * each place read back as it was.
 */
#include "format.h"
#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <cmocka.h>

enum {
	MOST = 8 * 1024 * 1024,
	PLACES = 17,
	LENGTHS = 6,
	CASES = 256 * PLACES * LENGTHS,
	LONGEST = 24
};

static char path[] = "/tmp/redisbatch-format-XXXXXX";
static char text[MOST + 1];
static size_t len;

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int drop_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* Leaves what was written in text and len. */
static void put_rows(format *f, const format_rows *rows)
{
	out *o = out_open(path);
	FILE *file;

	assert_non_null(o);
	format_put(f, o, rows);
	assert_int_equal(out_commit(o), 0);
	out_free(o);
	file = fopen(path, "r");
	assert_non_null(file);
	len = fread(text, 1, MOST, file);
	text[len] = '\0';
	fclose(file);
}

static void put(format *f, rb_slice key, rb_slice value)
{
	const rb_status fine = RB_OK;
	const format_rows rows = { &key, &value, &fine, 1 };

	put_rows(f, &rows);
}

static rb_slice slice(const char *string)
{
	return (rb_slice){ string, string == NULL ? 0 : strlen(string) };
}

/* ---------------------------------------------------------------- table -- */

typedef struct row {
	const char *format;
	const char *key;
	const char *value; /* NULL: missing */
	const char *want;
} row;

static void test_each_form_tells_missing_empty_and_odd_values_apart(
	void **state)
{
	static const row rows[] = {
		{ "tsv", "k", "v", "k\tv\n" },
		{ "tsv", "k", NULL, "k\t\\N\n" },
		{ "tsv", "k", "", "k\t\n" },
		{ "tsv", "", "v", "\tv\n" },
		{ "tsv", "k", "\\N", "k\t\\\\N\n" },
		{ "tsv", "a\tb", "\b\f\n\r\t\v\\",
		  "a\\tb\t\\b\\f\\n\\r\\t\\v\\\\\n" },
		{ "tsv", "k", "12345678\n", "k\t12345678\\n\n" },
		{ "tsv", "k", "\x1b[0m\x7f\xff", "k\t\x1b[0m\x7f\xff\n" },
		{ "json", "k", "v", "{\"key\":\"k\",\"value\":\"v\"}\n" },
		{ "json", "k", NULL, "{\"key\":\"k\",\"value\":null}\n" },
		{ "json", "k", "", "{\"key\":\"k\",\"value\":\"\"}\n" },
		{ "json", "k", "null", "{\"key\":\"k\",\"value\":\"null\"}\n" },
		{ "json", "\"\\", "\b\f\n\r\t\v\x7f",
		  "{\"key\":\"\\\"\\\\\",\"value\":"
		  "\"\\b\\f\\n\\r\\t\\u000b\\u007f\"}\n" },
		{ "json", "k", "\xc3\xa9",
		  "{\"key\":\"k\",\"value\":\"\xc3\xa9\"}\n" },
		{ "json", "\xff", "\xff\xfe",
		  "{\"key_base64\":\"/w==\",\"value_base64\":\"//4=\"}\n" },
		{ "json", "k", "ab\xff",
		  "{\"key\":\"k\",\"value_base64\":\"YWL/\"}\n" },
		{ "csv", "k", "v", "k,v\r\n" },
		{ "csv", "k", NULL, "k,\r\n" },
		{ "csv", "k", "", "k,\"\"\r\n" },
		{ "csv", "", NULL, "\"\",\r\n" },
		{ "csv", "k", "a\"b,c", "k,\"a\"\"b,c\"\r\n" },
		{ "csv", "k", "x\ny", "k,\"x\ny\"\r\n" },
		{ "csv", "k", "x\ry", "k,\"x\ry\"\r\n" },
		{ "csv", "k", "\"", "k,\"\"\"\"\r\n" },
		{ "csv", "k", " v", "k,\" v\"\r\n" },
		{ "raw", "k", "v\nw", "v\nw\n" },
		{ "raw", "k", "", "\n" },
		{ "raw", "k", NULL, "\\N\n" },
		{ "table", "k", "v", "k  v\n" },
		{ "table", "k", NULL, "k  (missing)\n" },
		{ "table", "k", "", "k  (empty)\n" },
		{ "table", "k", "(missing)", "k  \\x28missing)\n" },
		{ "table", "(empty)", "(empty)", "\\x28empty)  \\x28empty)\n" },
		{ "table", "", "v", "(empty)  v\n" },
		{ "table", "k", "\a\n\\\x1b\x7f\xff",
		  "k  \\a\\n\\\\\\x1b\\x7f\\xff\n" },
		/* A control of eight bits, and one that turns text around. */
		{ "table", "k", "\xc2\x9b", "k  \\xc2\\x9b\n" },
		{ "table", "k", "\xe2\x80\xae", "k  \\xe2\\x80\\xae\n" },
		{ "table", "\xe4\xb8\x96", "\xc3\xa9",
		  "\xe4\xb8\x96  \xc3\xa9\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		format f;

		assert_true(format_init(&f, rows[i].format));
		put(&f, slice(rows[i].key), slice(rows[i].value));
		if (strcmp(text, rows[i].want) != 0)
			fail_msg("%s %zu: %s", rows[i].format, i, text);
	}
}

static void test_an_unknown_form_is_told(void **state)
{
	format f;

	(void)state;
	assert_false(format_init(&f, "xml"));
	assert_false(format_init(&f, ""));
}

static void test_rows_that_failed_are_left_out_and_missing_ones_if_asked(
	void **state)
{
	static const char *const names[] = { "tsv", "json", "csv", "raw",
					     "table" };
	const rb_slice keys[] = { slice("one"), slice("two"), slice("three") };
	const rb_slice values[] = { slice(NULL), slice("vvv"), slice(NULL) };
	const rb_status all[] = { RB_ERR_IO, RB_OK, RB_OK };
	const format_rows rows = { keys, values, all, 3 };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		format f;

		assert_true(format_init(&f, names[i]));
		put_rows(&f, &rows);
		assert_null(strstr(text, "one"));
		assert_non_null(strstr(text, "vvv"));
		assert_int_equal(strchr(text, '\n') == text + len - 1, 0);
		f.no_missing = true;
		put_rows(&f, &rows);
		assert_null(strstr(text, "three"));
		assert_ptr_equal(strchr(text, '\n'), text + len - 1);
	}
}

static void test_raw_values_end_with_nul_and_missing_ones_as_chosen(
	void **state)
{
	format f;

	(void)state;
	assert_true(format_init(&f, "raw"));
	f.end = '\0';
	f.missing = "none";
	put(&f, slice("k"), slice("v"));
	assert_memory_equal(text, "v\0", len);
	put(&f, slice("k"), slice(NULL));
	assert_int_equal(len, 5);
	assert_memory_equal(text, "none\0", len);
}

/* ------------------------------------------------------------ the table's -- */

static void test_a_table_is_aligned_and_its_keys_never_get_narrower(
	void **state)
{
	const rb_slice keys[] = { slice("k"), slice("long key") };
	const rb_slice values[] = { slice("1"), slice("2") };
	const rb_status all[] = { RB_OK, RB_OK };
	const format_rows rows = { keys, values, all, 2 };
	format f;

	(void)state;
	assert_true(format_init(&f, "table"));
	put_rows(&f, &rows);
	assert_string_equal(text, "k         1\nlong key  2\n");
	put(&f, keys[0], values[0]);
	assert_string_equal(text, "k         1\n");
}

static void test_a_table_is_cut_to_the_width_of_the_terminal(void **state)
{
	format f;

	(void)state;
	assert_true(format_init(&f, "table"));
	f.width = 30;
	put(&f, slice("0123456789abcdef"), slice("0123456789abcdefghij"));
	assert_string_equal(text, "012345678...  0123456789abc...\n");
	put(&f, slice("0123456789ab"), slice("0123456789abcdef"));
	assert_string_equal(text, "0123456789ab  0123456789abcdef\n");
	/* A character of two columns is not cut in halves. */
	put(&f, slice("k"),
	    slice("0123456789ab\xe4\xb8\x96\xe4\xb8\x96\xe4\xb8\x96"));
	assert_string_equal(text, "k             0123456789ab...\n");
	f.width = 1;
	put(&f, slice("k"), slice("a value of more than 20 columns"));
	assert_int_equal(len, 21);
}

/* ----------------------------------------------------------- round trips -- */

/* Texts with each byte at each of the first places, in several lengths. */
static char bytes[CASES][LONGEST];
static rb_slice slices[CASES];
static rb_status statuses[CASES];
static size_t ncases;

static void make_cases(void)
{
	ncases = 0;
	for (size_t at = 0; at < PLACES; at++) {
		for (int byte = 0; byte < 256; byte++) {
			for (size_t n = at + 1; n <= 18; n += 3) {
				memset(bytes[ncases], 'x', LONGEST);
				bytes[ncases][at] = (char)byte;
				slices[ncases] = (rb_slice){ bytes[ncases], n };
				statuses[ncases++] = RB_OK;
			}
		}
	}
	assert_true(ncases <= CASES);
}

/* Looks at the record at *at, which must be of this key and value, and goes
 * on to the next. */
typedef void check(const char **at, const char *value, size_t n);

static void write_and_check(const char *name, check *one)
{
	format_rows rows = { slices, slices, statuses, 0 };
	const char *at = text;
	format f;

	make_cases();
	rows.n = ncases;
	assert_true(format_init(&f, name));
	put_rows(&f, &rows);
	for (size_t i = 0; i < ncases; i++)
		one(&at, slices[i].data, slices[i].len);
	assert_ptr_equal(at, text + len);
}

static const char *find(const char *at, char byte)
{
	const char *found = memchr(at, byte, (size_t)(text + len - at));

	assert_non_null(found);
	return found;
}

static size_t unescape_tsv(const char *from, size_t n, char *to)
{
	static const char letters[] = "bfnrtv\\";
	static const char meant[] = "\b\f\n\r\t\v\\";
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		if (from[i] == '\\') {
			const char *letter = strchr(letters, from[++i]);

			assert_non_null(letter);
			to[done++] = meant[letter - letters];
		} else {
			to[done++] = from[i];
		}
	}
	return done;
}

static void check_tsv(const char **at, const char *value, size_t n)
{
	const char *tab = find(*at, '\t');
	const char *end = find(*at, '\n');
	char back[64];

	assert_true(tab < end);
	assert_int_equal(unescape_tsv(*at, (size_t)(tab - *at), back), n);
	assert_memory_equal(back, value, n);
	assert_null(memchr(tab + 1, '\t', (size_t)(end - tab - 1)));
	assert_int_equal(unescape_tsv(tab + 1, (size_t)(end - tab - 1), back),
			 n);
	assert_memory_equal(back, value, n);
	*at = end + 1;
}

static void test_tsv_carries_every_byte(void **state)
{
	(void)state;
	write_and_check("tsv", check_tsv);
}

static size_t decode_base64(const char *from, size_t n, char *to)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	size_t done = 0;

	assert_int_equal(n % 4, 0);
	for (size_t i = 0; i < n; i += 4) {
		uint32_t bits = 0;
		size_t pads = 0;

		for (size_t j = 0; j < 4; j++) {
			const char *letter = strchr(letters, from[i + j]);

			pads += from[i + j] == '=';
			bits = bits << 6 |
			       (letter == NULL ? 0u :
						 (uint32_t)(letter - letters));
		}
		for (size_t j = 0; j < 3 - pads; j++)
			to[done++] = (char)(bits >> (16 - 8 * j) & 255);
	}
	return done;
}

static void want_member(const json_t *object, const char *name,
			const char *name_base64, const char *value, size_t n)
{
	const json_t *plain = json_object_get(object, name);
	const json_t *base64 = json_object_get(object, name_base64);
	char back[64];

	assert_true((plain == NULL) != (base64 == NULL));
	if (plain != NULL) {
		assert_int_equal(json_string_length(plain), n);
		assert_memory_equal(json_string_value(plain), value, n);
		return;
	}
	assert_int_equal(decode_base64(json_string_value(base64),
				       json_string_length(base64), back),
			 n);
	assert_memory_equal(back, value, n);
}

static void check_json(const char **at, const char *value, size_t n)
{
	const char *end = find(*at, '\n');
	json_error_t error;
	json_t *object =
		json_loadb(*at, (size_t)(end - *at), JSON_ALLOW_NUL, &error);

	if (object == NULL)
		fail_msg("%s: %.*s", error.text, (int)(end - *at), *at);
	want_member(object, "key", "key_base64", value, n);
	want_member(object, "value", "value_base64", value, n);
	json_decref(object);
	*at = end + 1;
}

static void test_json_carries_every_byte(void **state)
{
	(void)state;
	write_and_check("json", check_json);
}

/* One field of RFC 4180 at *at, with what ends it taken too. */
static size_t read_csv(const char **at, char *to)
{
	const char *p = *at;
	size_t n = 0;

	if (*p == '"') {
		for (p++; *p != '"' || p[1] == '"'; p++) {
			p += *p == '"';
			to[n++] = *p;
		}
		p++;
	} else {
		while (*p != ',' && *p != '\r')
			to[n++] = *p++;
	}
	*at = p + (*p == '\r' ? 2 : 1);
	return n;
}

static void check_csv(const char **at, const char *value, size_t n)
{
	char back[64];

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(read_csv(at, back), n);
		assert_memory_equal(back, value, n);
	}
}

static void test_csv_carries_every_byte(void **state)
{
	(void)state;
	write_and_check("csv", check_csv);
}

static void check_raw(const char **at, const char *value, size_t n)
{
	assert_memory_equal(*at, value, n);
	assert_int_equal((*at)[n], '\n');
	*at += n + 1;
}

static void test_raw_carries_every_byte(void **state)
{
	(void)state;
	write_and_check("raw", check_raw);
}

static void check_table(const char **at, const char *value, size_t n)
{
	const char *end = find(*at, '\n');

	(void)value;
	assert_true((size_t)(end - *at) >= 2 * n);
	for (const char *p = *at; p < end; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			fail_msg("a byte %d on the terminal", *p);
	}
	*at = end + 1;
}

static void test_a_table_has_no_control_bytes(void **state)
{
	(void)state;
	write_and_check("table", check_table);
}

/* ----------------------------------------------------------------- UTF-8 -- */

static void test_what_is_utf8_is_told_strictly(void **state)
{
	static const struct {
		const char *data;
		bool valid;
	} cases[] = {
		{ "", true },
		{ "plain", true },
		{ "eight by eight plain", true },
		{ "\xc2\x80", true },
		{ "\xdf\xbf", true },
		{ "\xe0\xa0\x80", true },
		{ "\xed\x9f\xbf", true },
		{ "\xee\x80\x80", true },
		{ "\xf0\x90\x80\x80", true },
		{ "\xf4\x8f\xbf\xbf", true },
		{ "12345678\xff", false },
		{ "1234567\xc3\xa9", true },
		{ "\x80", false },
		{ "\xc0\x80", false },
		{ "\xc1\xbf", false },
		{ "\xc2", false },
		{ "\xc2x", false },
		{ "\xe0\x9f\xbf", false },
		{ "\xe2\x82", false },
		{ "\xed\xa0\x80", false },
		{ "\xed\xbf\xbf", false },
		{ "\xf0\x8f\xbf\xbf", false },
		{ "\xf0\x90\x80", false },
		{ "\xf4\x90\x80\x80", false },
		{ "\xf5\x80\x80\x80", false },
		{ "\xfe", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (utf8_is_valid(cases[i].data, strlen(cases[i].data)) !=
		    cases[i].valid)
			fail_msg("case %zu", i);
	}
}

static void test_characters_take_none_one_or_two_columns(void **state)
{
	(void)state;
	assert_int_equal(utf8_columns('a'), 1);
	assert_int_equal(utf8_columns(0x1f), -1);
	assert_int_equal(utf8_columns(0x9b), -1);
	assert_int_equal(utf8_columns(0xa0), 1);
	assert_int_equal(utf8_columns(0x301), 0);
	assert_int_equal(utf8_columns(0x4e16), 2);
	assert_int_equal(utf8_columns(0x1f600), 2);
	assert_int_equal(utf8_columns(0x202e), -1);
	assert_int_equal(utf8_columns(0x10fffd), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_each_form_tells_missing_empty_and_odd_values_apart),
		cmocka_unit_test(test_an_unknown_form_is_told),
		cmocka_unit_test(
			test_rows_that_failed_are_left_out_and_missing_ones_if_asked),
		cmocka_unit_test(
			test_raw_values_end_with_nul_and_missing_ones_as_chosen),
		cmocka_unit_test(
			test_a_table_is_aligned_and_its_keys_never_get_narrower),
		cmocka_unit_test(
			test_a_table_is_cut_to_the_width_of_the_terminal),
		cmocka_unit_test(test_tsv_carries_every_byte),
		cmocka_unit_test(test_json_carries_every_byte),
		cmocka_unit_test(test_csv_carries_every_byte),
		cmocka_unit_test(test_raw_carries_every_byte),
		cmocka_unit_test(test_a_table_has_no_control_bytes),
		cmocka_unit_test(test_what_is_utf8_is_told_strictly),
		cmocka_unit_test(test_characters_take_none_one_or_two_columns),
	};

	return cmocka_run_group_tests(tests, make_file, drop_file);
}

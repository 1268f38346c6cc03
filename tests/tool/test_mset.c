/*
 * redisbatch mset: what it sets, byte by byte, and what it says and answers.
 */
#include "tooling.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BYTES(text) text, sizeof(text) - 1

static void test_tsv_is_set_as_it_stands(void **state)
{
	static const char in[] =
		"k\tv\tw\nempty\t\nmissing\t\\N\n"
		"x\\ty\tline1\\nline2\n lead\t trail \nlast\t1";
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES(in), ARGS("mset"), 0);
	assert_int_equal(s.outlen, 0);
	want_words(s.err, "1 without a value");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 5);
	rbt_want_text(live, "k", "v\tw");
	rbt_want_text(live, "empty", "");
	rbt_want_text(live, "x\ty", "line1\nline2");
	rbt_want_text(live, " lead", " trail ");
	rbt_want_text(live, "last", "1");
	rbt_spawned_free(&s);
}

static void test_a_bad_record_is_named_and_the_rest_is_set(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char failed[512];
	char *kept;
	size_t len;
	rbt_spawned s;

	rbt_path(live, "failed", failed);
	rbt_tool_want(live, &s, BYTES("a\t1\n\tb\\c\nk\n\nd\t4\nhalf"),
		      ARGS("mset", "--failed", failed, "-"), 1);
	want_words(s.err, "standard input:2: ");
	want_words(s.err, "standard input:3: ");
	want_words(s.err, "standard input:4: ");
	want_words(s.err, "standard input:6: ");
	want_words(s.err, "4 failed");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 2);
	rbt_want_text(live, "d", "4");
	kept = rbt_read_file(failed, &len);
	assert_string_equal(kept, "\tb\\c\nk\n\nhalf\n");
	free(kept);
	rbt_spawned_free(&s);
}

static void test_nothing_is_no_failure(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, NULL, 0, ARGS("mset"), 0);
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, BYTES("\xef\xbb\xbf"), ARGS("mset"), 1);
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s,
		      BYTES("\xef\xbb\xbf"
			    "a\t1"),
		      ARGS("mset"), 0);
	rbt_want_text(live, "a", "1");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 1);
	rbt_spawned_free(&s);
}

/* ------------------------------------------------------------- all bytes -- */

/* Key i and its value are the byte, then twice the byte. */
static void want_all_bytes(const rbt_live *live)
{
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 256);
	for (int i = 0; i < 256; i++) {
		char c = (char)i;
		char two[2] = { c, c };

		rbt_want_value(live, &c, 1, two, 2);
	}
}

static void test_every_byte_can_be_written_in_tsv(void **state)
{
	static const char letters[] = "\b\t\n\v\f\r\\";
	static const char names[] = "btnvfr\\";
	rbt_live *live = rbt_live_use(state);
	char in[256 * 32];
	size_t len = 0;
	rbt_spawned s;

	for (int i = 0; i < 256; i++) {
		const char *at = memchr(letters, i, 7);
		char c[8];

		snprintf(c, sizeof(c), i % 2 ? "\\x%02x" : "\\%03o",
			 (unsigned)i);
		if (at != NULL)
			snprintf(c, sizeof(c), "\\%c", names[at - letters]);
		len += (size_t)snprintf(in + len, sizeof(in) - len,
					"%s\t%s%s\n", c, c, c);
	}
	rbt_tool_want(live, &s, in, len, ARGS("mset"), 0);
	want_all_bytes(live);
	rbt_spawned_free(&s);
}

static void test_literal_tsv_takes_all_bytes_but_two(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char in[256 * 5];
	size_t len = 0;
	rbt_spawned s;

	for (int i = 0; i < 256; i++) {
		char c = (char)i;

		if (c == '\t' || c == '\n')
			continue;
		memcpy(in + len, (char[]){ c, '\t', c, c, '\n' }, 5);
		len += 5;
	}
	rbt_tool_want(live, &s, in, len, ARGS("mset", "--no-escapes"), 0);
	rbt_do(live->admin, "MSET %b %b %b %b", "\t", (size_t)1, "\t\t",
	       (size_t)2, "\n", (size_t)1, "\n\n", (size_t)2);
	want_all_bytes(live);
	rbt_spawned_free(&s);
}

static void encode(const unsigned char *data, size_t n, char out[5])
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
				      "opqrstuvwxyz0123456789+/";
	unsigned bits =
		(unsigned)data[0] << 16 | (n > 1 ? (unsigned)data[1] << 8 : 0);

	snprintf(out, 5, "%c%c%c=", letters[bits >> 18],
		 letters[bits >> 12 & 63],
		 n > 1 ? letters[bits >> 6 & 63] : '=');
}

static void test_every_byte_can_be_written_in_json(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char in[256 * 64];
	size_t len = 0;
	rbt_spawned s;

	for (int i = 0; i < 256; i++) {
		unsigned char two[2] = { (unsigned char)i, (unsigned char)i };
		char key[5];
		char value[5];

		encode(two, 1, key);
		encode(two, 2, value);
		if (i < 128)
			len += (size_t)snprintf(
				in + len, sizeof(in) - len,
				"{\"key\":\"\\u%04x\",\"value\":\"\\u%04x"
				"\\u%04x\"}\n",
				(unsigned)i, (unsigned)i, (unsigned)i);
		else
			len += (size_t)snprintf(
				in + len, sizeof(in) - len,
				"{\"key_base64\":\"%s\",\"value_base64\":"
				"\"%s\"}\n",
				key, value);
	}
	rbt_tool_want(live, &s, in, len, ARGS("mset", "--format=json"), 0);
	want_all_bytes(live);
	rbt_spawned_free(&s);
}

static void test_every_byte_can_be_written_in_csv(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char in[256 * 16];
	size_t len = 0;
	rbt_spawned s;

	for (int i = 0; i < 256; i++) {
		char c = (char)i;
		const char *twice = c == '"' ? "\"" : "";
		size_t ntwice = strlen(twice);

		in[len++] = '"';
		for (int n = 0; n < 3; n++) {
			in[len++] = c;
			memcpy(in + len, twice, ntwice);
			len += ntwice;
			if (n == 0) {
				memcpy(in + len, "\",\"", 3);
				len += 3;
			}
		}
		memcpy(in + len, "\"\r\n", 3);
		len += 3;
	}
	rbt_tool_want(live, &s, in, len, ARGS("mset", "--format=csv"), 0);
	want_all_bytes(live);
	rbt_spawned_free(&s);
}

static void set_all_bytes(const rbt_live *live, char keys[512])
{
	for (int i = 0; i < 256; i++) {
		char c = (char)i;
		char two[2] = { c, c };

		rbt_do(live->admin, "SET %b %b", &c, (size_t)1, two, (size_t)2);
		/* For mget -0, to which the key NUL is two ends. */
		keys[2 * i] = c;
		keys[2 * i + 1] = '\0';
	}
}

static void test_what_mget_writes_is_restored(void **state)
{
	static const char *const formats[] = { "tsv", "json", "csv" };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(formats); i++) {
		char keys[512];
		rbt_spawned s;
		rbt_spawned out;

		set_all_bytes(live, keys);
		rbt_tool_want(live, &out, keys, sizeof(keys),
			      ARGS("mget", "-0", "--format", formats[i]), 0);
		rbt_do(live->admin, "FLUSHALL");
		rbt_tool_want(live, &s, out.out, out.outlen,
			      ARGS("mset", "--format", formats[i]), 0);
		/* The empty key has no value. */
		want_words(s.err, "2 without a value");
		rbt_want_value(live, "", 0, NULL, 0);
		rbt_do(live->admin, "SET %b %b", "", (size_t)1, "\0",
		       (size_t)2);
		want_all_bytes(live);
		rbt_spawned_free(&s);
		rbt_spawned_free(&out);
	}
}

/* ----------------------------------------------------------------- files -- */

static void test_files_are_read_in_order_and_by_their_suffix(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char one[512];
	char two[512];
	rbt_spawned s;

	rbt_write_file(rbt_path(live, "one.csv", one),
		       BYTES("key,value\r\na,1\r\nb,\"x,\r\ny\"\r\nc,\r\n"));
	rbt_write_file(rbt_path(live, "two.CSV", two),
		       BYTES("key,value\na,2\nonly\n"));
	rbt_tool_want(live, &s, NULL, 0, ARGS("mset", "--header", one, two), 1);
	want_words(s.err, "two.CSV:3: ");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 2);
	rbt_want_text(live, "a", "2");
	rbt_want_text(live, "b", "x,\r\ny");
	rbt_spawned_free(&s);
}

static void test_the_failed_file_keeps_the_header(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char failed[512];
	char *kept;
	size_t len;
	rbt_spawned s;

	rbt_path(live, "failed", failed);
	rbt_tool_want(
		live, &s, BYTES("key,value\n\"a\n,1\nb"),
		ARGS("mset", "--header", "--format=csv", "--failed", failed),
		1);
	kept = rbt_read_file(failed, &len);
	assert_string_equal(kept, "key,value\n\"a\n,1\nb\n");
	free(kept);
	rbt_spawned_free(&s);
}

static void test_the_last_value_of_a_key_stands(void **state)
{
	enum { N = 120000 };
	rbt_live *live = rbt_live_use(state);
	size_t len = 0;
	char *in = malloc(N * 32);
	rbt_spawned s;

	assert_non_null(in);
	for (size_t i = 0; i < N; i++)
		len += (size_t)snprintf(in + len, 32, "k%zu\t%zu\n",
					i % 7 == 0 ? 0 : i % 5000, i);
	rbt_tool_want(live, &s, in, len, ARGS("mset", "--window", "64"), 0);
	rbt_want_text(live, "k0", "119994");
	rbt_want_text(live, "k4999", "119999");
	rbt_spawned_free(&s);
	free(in);
}

static void test_every_record_is_acknowledged_before_it_ends(void **state)
{
	enum { N = 130000 };
	rbt_live *live = rbt_live_use(state);
	size_t len;
	char *in = rbt_make_tsv("key:", N, &len);
	rbt_spawned s;

	rbt_tool_want(live, &s, in, len, ARGS("mset"), 0);
	want_words(s.err, "130000 records: 130000 answered, 0 failed");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), N);
	assert_int_equal(rbt_live_calls(live, "mset"), N / 1000);
	/* Nobody looks: no bar, no colours. */
	assert_null(strpbrk(s.err, "\r\033"));
	rbt_spawned_free(&s);
	free(in);
}

/* --------------------------------------------------------------- options -- */

static void test_keys_expire(void **state)
{
	rbt_live *live = rbt_live_use(state);
	long long left;
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("a\t1\nb\t2\n"),
		      ARGS("mset", "--ttl", "1.5h"), 0);
	left = rbt_ask_number(live->admin, "PTTL b");
	assert_true(left > 5000000 && left <= 5400000);
	rbt_spawned_free(&s);
}

static void test_a_condition_that_is_not_met_is_no_failure(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "SET old before");
	rbt_tool_want(live, &s, BYTES("old\tnow\nnew\tnow\n"),
		      ARGS("mset", "--nx"), 0);
	want_words(s.err, "1 not set, since the key exists");
	rbt_want_text(live, "old", "before");
	rbt_want_text(live, "new", "now");
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, BYTES("old\tlater\nnone\tlater\n"),
		      ARGS("mset", "--xx"), 0);
	want_words(s.err, "1 not set, since the key does not exist");
	rbt_want_text(live, "old", "later");
	rbt_want_value(live, "none", 4, NULL, 0);
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, BYTES("old\tlater\n"),
		      ARGS("mset", "--nx", "--quiet"), 0);
	assert_string_equal(s.err, "");
	rbt_spawned_free(&s);
}

static void test_a_transaction_is_around_each_chunk(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("a\t1\nb\t2\nc\t3\n"),
		      ARGS("mset", "--transaction", "--retry-writes",
			   "--chunk-keys", "2"),
		      0);
	assert_int_equal(rbt_live_calls(live, "exec"), 2);
	rbt_want_text(live, "c", "3");
	rbt_spawned_free(&s);
}

static void test_a_value_above_the_bound_is_a_bad_record(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("a\t123\nb\t1234\nc\t1\n"),
		      ARGS("mset", "--max-value", "3"), 1);
	want_words(s.err, "standard input:2: b: the value has 4 bytes");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 2);
	rbt_spawned_free(&s);
}

typedef struct wrong {
	const char *args[8];
	int status;
	const char *words;
} wrong;

static void test_what_is_wrong_is_said_before_anything_is_sent(void **state)
{
	static const wrong cases[] = {
		{ { "mset", "--nx", "--xx" }, 2, "exclude each other" },
		{ { "mset", "--format=xml" }, 2, "tsv, csv or json" },
		{ { "mset", "--format=csv", "--no-escapes" }, 2, "tsv only" },
		{ { "mset", "--format=json", "--header" }, 2, "not for json" },
		{ { "mset", "--ttl", "0" }, 2, "--ttl must be" },
		{ { "mset", "--ttl", "1y" }, 2, "'1y'" },
		{ { "mset", "a.csv", "b.tsv" }, 2, "different formats" },
		{ { "mset", "-", "-" }, 2, "only once" },
		{ { "mset", "-", "/nowhere/at/all" },
		  4,
		  "/nowhere/at/all: No" },
		{ { "mset", "-", "/tmp" }, 4, "/tmp: Is a directory" },
		{ { "mset", "--failed=/nowhere/f" }, 4, "/nowhere/f" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(cases); i++) {
		rbt_spawned s;

		rbt_tool_run(live, &s, BYTES("a\t1\n"), cases[i].args);
		if (s.status != cases[i].status ||
		    strstr(s.err, cases[i].words) == NULL)
			fail_msg("%zu: %d: %s", i, s.status, s.err);
		assert_int_equal(s.outlen, 0);
		rbt_spawned_free(&s);
	}
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_tsv_is_set_as_it_stands),
		RBT_LIVE(test_a_bad_record_is_named_and_the_rest_is_set),
		RBT_LIVE(test_nothing_is_no_failure),
		RBT_LIVE(test_every_byte_can_be_written_in_tsv),
		RBT_LIVE(test_literal_tsv_takes_all_bytes_but_two),
		RBT_LIVE(test_every_byte_can_be_written_in_json),
		RBT_LIVE(test_every_byte_can_be_written_in_csv),
		RBT_LIVE(test_what_mget_writes_is_restored),
		RBT_LIVE(test_files_are_read_in_order_and_by_their_suffix),
		RBT_LIVE(test_the_failed_file_keeps_the_header),
		RBT_LIVE(test_the_last_value_of_a_key_stands),
		RBT_LIVE(test_every_record_is_acknowledged_before_it_ends),
		RBT_LIVE(test_keys_expire),
		RBT_LIVE(test_a_condition_that_is_not_met_is_no_failure),
		RBT_LIVE(test_a_transaction_is_around_each_chunk),
		RBT_LIVE(test_a_value_above_the_bound_is_a_bad_record),
		RBT_LIVE(test_what_is_wrong_is_said_before_anything_is_sent),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

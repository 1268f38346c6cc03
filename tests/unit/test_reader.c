#include "reader.h"
#include "transcript.h"
#include "unit.h"

#define MAX_VALUE ((size_t)512 * 1024 * 1024)

typedef struct reader_case {
	const char *name;
	const char *bytes;
	size_t len;
	const char *want;
} reader_case;

static void check(const reader_case *c, transcript *t, const char *how,
		  size_t at)
{
	const char *got = transcript_end(t);

	if (strcmp(got, c->want) != 0)
		fail_msg("%s, %s %zu%s:\n  is %s\n not %s", c->name, how, at,
			 t->run ? " in a run" : "", got, c->want);
	transcript_fini(t);
}

static void read_whole(const reader_case *c, size_t max_value, bool run)
{
	transcript t;

	transcript_init(&t, max_value, run);
	transcript_feed(&t, c->bytes, c->len);
	check(c, &t, "whole", 0);
}

static void read_bytes(const reader_case *c, size_t max_value, bool run)
{
	transcript t;
	size_t i;

	transcript_init(&t, max_value, run);
	for (i = 0; i < c->len; i++)
		transcript_feed(&t, c->bytes + i, 1);
	check(c, &t, "byte by byte", 1);
}

static void read_cut(const reader_case *c, size_t max_value, bool run,
		     size_t at)
{
	transcript t;

	transcript_init(&t, max_value, run);
	transcript_feed(&t, c->bytes, at);
	transcript_feed(&t, c->bytes + at, c->len - at);
	check(c, &t, "cut at", at);
}

/* In every way that bytes can arrive. */
static void read_all_ways(const reader_case *c, size_t max_value)
{
	int run;
	size_t at;

	for (run = 0; run < 2; run++) {
		read_whole(c, max_value, run);
		read_bytes(c, max_value, run);
		for (at = 0; at <= c->len; at++)
			read_cut(c, max_value, run, at);
	}
}

static void read_cases(const reader_case *cases, size_t n, size_t max_value)
{
	size_t i;

	for (i = 0; i < n; i++)
		read_all_ways(&cases[i], max_value);
}

/* ---------------------------------------------------------------- RESP2 -- */

static void test_resp2_is_read_however_it_arrives(void **state)
{
	static const reader_case cases[] = {
		{ "nothing", LIT(""), "idle" },
		{ "simple", LIT("+OK\r\n"), "simple:OK@0! idle" },
		{ "empty simple", LIT("+\r\n"), "simple:@0! idle" },
		{ "CR inside", LIT("+a\rb\r\n"), "simple:a\\0db@0! idle" },
		{ "CR before the end", LIT("+a\r\r\n"),
		  "simple:a\\0d@0! idle" },
		{ "NUL inside", LIT("+a\0b\r\n"), "simple:a\\00b@0! idle" },
		{ "error", LIT("-ERR no\r\n"), "error:ERR\\20no@0! idle" },
		{ "empty error", LIT("-\r\n"), "error:@0! idle" },
		{ "integer", LIT(":1000\r\n"), "integer:1000=:1000@0! idle" },
		{ "zero", LIT(":0\r\n"), "integer:0=:0@0! idle" },
		{ "negative", LIT(":-5\r\n"), "integer:-5=:-5@0! idle" },
		{ "signed", LIT(":+5\r\n"), "integer:+5=:5@0! idle" },
		{ "greatest", LIT(":9223372036854775807\r\n"),
		  "integer:9223372036854775807=:9223372036854775807@0! idle" },
		{ "least", LIT(":-9223372036854775808\r\n"),
		  "integer:-9223372036854775808=:-9223372036854775808@0! "
		  "idle" },
		{ "bulk", LIT("$3\r\nabc\r\n"), "bulk:abc@0! idle" },
		{ "empty bulk", LIT("$0\r\n\r\n"), "bulk:@0! idle" },
		{ "bytes", LIT("$9\r\nx\0\r\n$-1\r\n\r\n"),
		  "bulk:x\\00\\0d\\0a$-1\\0d\\0a@0! idle" },
		{ "two digits", LIT("$12\r\nabcdefghijkl\r\n"),
		  "bulk:abcdefghijkl@0! idle" },
		{ "nil", LIT("$-1\r\n"), "nil@0! idle" },
		{ "nil array", LIT("*-1\r\n"), "nil-array@0! idle" },
		{ "empty array", LIT("*0\r\n"), "array:0@0! idle" },
		{ "values", LIT("*3\r\n$1\r\na\r\n$-1\r\n$2\r\nbc\r\n"),
		  "array:3@0 bulk:a@1 nil@1 bulk:bc@1! idle" },
		{ "long run",
		  LIT("*5\r\n$1\r\na\r\n$0\r\n\r\n$3\r\nabc\r\n$11\r\n"
		      "abcdefghijk\r\n$2\r\nzz\r\n"),
		  "array:5@0 bulk:a@1 bulk:@1 bulk:abc@1 "
		  "bulk:abcdefghijk@1 bulk:zz@1! idle" },
		{ "error inside",
		  LIT("*3\r\n$1\r\nA\r\n-upstream failure\r\n$-1\r\n"),
		  "array:3@0 bulk:A@1 error:upstream\\20failure@1 nil@1! "
		  "idle" },
		{ "odd elements", LIT("*4\r\n:5\r\n+OK\r\n*0\r\n*-1\r\n"),
		  "array:4@0 integer:5=:5@1 simple:OK@1 array:0@1 "
		  "nil-array@1! idle" },
		{ "nested",
		  LIT("*2\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n$1\r\nb\r\n"),
		  "array:2@0 array:2@1 bulk:a@2 array:1@2 integer:1=:1@3 "
		  "bulk:b@1! idle" },
		{ "nested at the end", LIT("*1\r\n*1\r\n*1\r\n$1\r\na\r\n"),
		  "array:1@0 array:1@1 array:1@2 bulk:a@3! idle" },
		{ "two answers", LIT("*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n"),
		  "array:1@0 bulk:a@1! array:1@0 bulk:b@1! idle" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

static void test_what_is_missing_is_waited_for(void **state)
{
	static const reader_case cases[] = {
		{ "type", LIT("*"), "amid" },
		{ "count", LIT("*2"), "amid" },
		{ "CR", LIT("*2\r"), "amid" },
		{ "elements", LIT("*2\r\n"), "array:2@0 amid" },
		{ "one element", LIT("*2\r\n$1\r\na\r\n"),
		  "array:2@0 bulk:a@1 amid" },
		{ "bytes", LIT("$5\r\nab"), "amid" },
		{ "the end of a string", LIT("$2\r\nab\r"), "amid" },
		{ "a line", LIT("+OK"), "amid" },
		{ "the end of a line", LIT("+OK\r"), "amid" },
		{ "minus", LIT("$-"), "amid" },
		{ "half a nil", LIT("$-1\r"), "amid" },
		{ "the second answer", LIT("+OK\r\n$"), "simple:OK@0! amid" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

/* ---------------------------------------------------------------- RESP3 -- */

static void test_resp3_is_read_however_it_arrives(void **state)
{
	static const reader_case cases[] = {
		{ "null", LIT("_\r\n"), "nil@0! idle" },
		{ "null inside", LIT("*2\r\n$1\r\n1\r\n_\r\n"),
		  "array:2@0 bulk:1@1 nil@1! idle" },
		{ "true", LIT("#t\r\n"), "boolean:t=:1@0! idle" },
		{ "false", LIT("#f\r\n"), "boolean:f=:0@0! idle" },
		{ "double", LIT(",-1.5e3\r\n"), "double:-1.5e3@0! idle" },
		{ "infinite", LIT(",-inf\r\n"), "double:-inf@0! idle" },
		{ "no number", LIT(",nan\r\n"), "double:nan@0! idle" },
		{ "big number",
		  LIT("(3492890328409238509324850943850943825024385\r\n"),
		  "big:3492890328409238509324850943850943825024385@0! idle" },
		{ "negative big number", LIT("(-12345678901234567890\r\n"),
		  "big:-12345678901234567890@0! idle" },
		{ "blob error", LIT("!21\r\nSYNTAX invalid syntax\r\n"),
		  "error:SYNTAX\\20invalid\\20syntax@0! idle" },
		{ "blob error with CRLF", LIT("!4\r\na\r\nb\r\n"),
		  "error:a\\0d\\0ab@0! idle" },
		{ "verbatim", LIT("=7\r\ntxt:abc\r\n"),
		  "verbatim:txt:abc@0! idle" },
		{ "empty verbatim", LIT("=4\r\nmkd:\r\n"),
		  "verbatim:mkd:@0! idle" },
		{ "set", LIT("~2\r\n+a\r\n:1\r\n"),
		  "set:2@0 simple:a@1 integer:1=:1@1! idle" },
		{ "empty set", LIT("~0\r\n"), "set:0@0! idle" },
		{ "map", LIT("%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n_\r\n"),
		  "map:4@0 simple:a@1 integer:1=:1@1 simple:b@1 array:1@1 "
		  "nil@2! idle" },
		{ "empty map", LIT("%0\r\n"), "map:0@0! idle" },
		{ "map of strings",
		  LIT("%2\r\n$1\r\na\r\n$2\r\nbb\r\n$1\r\nc\r\n$1\r\nd\r\n"),
		  "map:4@0 bulk:a@1 bulk:bb@1 bulk:c@1 bulk:d@1! idle" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

#define PUSH ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"

static void test_pushes_are_walked_over(void **state)
{
	static const reader_case cases[] = {
		{ "alone", LIT(PUSH), "idle" },
		{ "two", LIT(PUSH PUSH), "idle" },
		{ "before", LIT(PUSH "+OK\r\n"), "simple:OK@0! idle" },
		{ "behind", LIT("+OK\r\n" PUSH), "simple:OK@0! idle" },
		{ "between", LIT("*1\r\n$1\r\na\r\n" PUSH "*1\r\n$1\r\nb\r\n"),
		  "array:1@0 bulk:a@1! array:1@0 bulk:b@1! idle" },
		{ "of all kinds",
		  LIT(">9\r\n+a\r\n-b\r\n:1\r\n_\r\n#t\r\n,1\r\n(1\r\n"
		      "=5\r\ntxt:a\r\n!1\r\ne\r\n"),
		  "idle" },
		{ "nested",
		  LIT(">2\r\n*2\r\n*1\r\n$1\r\na\r\n%1\r\n:1\r\n:2\r\n"
		      "~1\r\n$0\r\n\r\n+OK\r\n"),
		  "simple:OK@0! idle" },
		{ "nil in it", LIT(">2\r\n$-1\r\n*-1\r\n+OK\r\n"),
		  "simple:OK@0! idle" },
		{ "cut at its type", LIT(">"), "between" },
		{ "cut in its count", LIT(">2\r"), "between" },
		{ "cut in its elements", LIT(">2\r\n$10\r\ninval"), "between" },
		{ "cut before the last", LIT(">2\r\n$1\r\na\r\n"), "between" },
		{ "an answer behind it is cut", LIT(PUSH "+O"), "amid" },
		{ "attribute in it",
		  LIT(">2\r\n|1\r\n+k\r\n+v\r\n+a\r\n+b\r\n+OK\r\n"),
		  "simple:OK@0! idle" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

static void test_an_empty_push_leaves_nothing_behind(void **state)
{
	static const reader_case cases[] = {
		{ "alone", LIT(">0\r\n"), "idle" },
		{ "before", LIT(">0\r\n+OK\r\n"), "simple:OK@0! idle" },
		{ "behind", LIT("+OK\r\n>0\r\n"), "simple:OK@0! idle" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

static void test_attributes_are_walked_over(void **state)
{
	static const reader_case cases[] = {
		{ "before",
		  LIT("|1\r\n+k\r\n+v\r\n*2\r\n$1\r\nA\r\n$1\r\nB\r\n"),
		  "array:2@0 bulk:A@1 bulk:B@1! idle" },
		{ "before an element",
		  LIT("*2\r\n|1\r\n+ttl\r\n:3600\r\n$1\r\nA\r\n$1\r\nB\r\n"),
		  "array:2@0 bulk:A@1 bulk:B@1! idle" },
		{ "before the last element",
		  LIT("*2\r\n$1\r\nA\r\n|1\r\n+ttl\r\n:3600\r\n$1\r\nB\r\n"),
		  "array:2@0 bulk:A@1 bulk:B@1! idle" },
		{ "before each element",
		  LIT("*2\r\n|1\r\n+a\r\n:1\r\n$1\r\nA\r\n|1\r\n+b\r\n:2\r\n"
		      "$1\r\nB\r\n"),
		  "array:2@0 bulk:A@1 bulk:B@1! idle" },
		{ "with an attribute",
		  LIT("|1\r\n|1\r\n+x\r\n+y\r\n+k\r\n+v\r\n+OK\r\n"),
		  "simple:OK@0! idle" },
		{ "with a map",
		  LIT("|1\r\n+k\r\n%1\r\n+a\r\n*2\r\n:1\r\n:2\r\n+OK\r\n"),
		  "simple:OK@0! idle" },
		{ "empty", LIT("|0\r\n+OK\r\n"), "simple:OK@0! idle" },
		{ "empty before an element", LIT("*1\r\n|0\r\n$1\r\na\r\n"),
		  "array:1@0 bulk:a@1! idle" },
		{ "cut", LIT("|1\r\n+k\r\n"), "between" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

/* --------------------------------------------------------------- broken -- */

static void test_what_is_not_resp_is_refused(void **state)
{
	static const reader_case cases[] = {
		{ "no type", LIT("a\r\n"), "broken" },
		{ "NUL", LIT("\0"), "broken" },
		{ "a web server", LIT("HTTP/1.1 400 Bad Request\r\n"),
		  "broken" },
		{ "a blank line", LIT("\r\n"), "broken" },
		{ "a length with a letter", LIT("$1a\r\n"), "broken" },
		{ "no length", LIT("$\r\n"), "broken" },
		{ "a signed length", LIT("$+5\r\nabcde\r\n"), "broken" },
		{ "a leading zero", LIT("$01\r\na\r\n"), "broken" },
		{ "two zeros", LIT("$00\r\n\r\n"), "broken" },
		{ "minus two", LIT("$-2\r\n"), "broken" },
		{ "minus ten", LIT("$-10\r\n"), "broken" },
		{ "minus alone", LIT("$-\r\n"), "broken" },
		{ "minus zero", LIT("*-0\r\n"), "broken" },
		{ "a blank", LIT("$ 1\r\na\r\n"), "broken" },
		{ "CR without LF", LIT("$1\rXa\r\n"), "broken" },
		{ "LF without CR", LIT("$1\na\r\n"), "broken" },
		{ "longer than said", LIT("$3\r\nabcd\r\n"), "broken" },
		{ "shorter than said", LIT("$3\r\nab\r\nx"), "broken" },
		{ "half an end", LIT("$3\r\nabc\rx"), "broken" },
		{ "streamed string", LIT("$?\r\n;1\r\na\r\n;0\r\n"), "broken" },
		{ "streamed array", LIT("*?\r\n:1\r\n.\r\n"), "broken" },
		{ "no integer", LIT(":\r\n"), "broken" },
		{ "an integer with a letter", LIT(":1a\r\n"), "broken" },
		{ "an integer with a blank", LIT(": 1\r\n"), "broken" },
		{ "a sign alone", LIT(":-\r\n"), "broken" },
		{ "an integer with zeros", LIT(":007\r\n"), "broken" },
		{ "an integer too large", LIT(":9223372036854775808\r\n"),
		  "broken" },
		{ "an integer too small", LIT(":-9223372036854775809\r\n"),
		  "broken" },
		{ "an integer too long", LIT(":18446744073709551617\r\n"),
		  "broken" },
		{ "a null with text", LIT("_x\r\n"), "broken" },
		{ "neither true nor false", LIT("#x\r\n"), "broken" },
		{ "true and more", LIT("#tt\r\n"), "broken" },
		{ "no boolean", LIT("#\r\n"), "broken" },
		{ "no double", LIT(",\r\n"), "broken" },
		{ "a double of letters", LIT(",abc\r\n"), "broken" },
		{ "a double with a NUL", LIT(",1\0002\r\n"), "broken" },
		{ "no big number", LIT("(\r\n"), "broken" },
		{ "a big number with a point", LIT("(1.5\r\n"), "broken" },
		{ "a big sign alone", LIT("(-\r\n"), "broken" },
		{ "a verbatim without type", LIT("=3\r\nabc\r\n"), "broken" },
		{ "a verbatim without colon", LIT("=5\r\ntxtab\r\n"),
		  "broken" },
		{ "a nil blob error", LIT("!-1\r\n"), "broken" },
		{ "a nil verbatim", LIT("=-1\r\n"), "broken" },
		{ "a nil map", LIT("%-1\r\n"), "broken" },
		{ "a nil set", LIT("~-1\r\n"), "broken" },
		{ "a nil push", LIT(">-1\r\n"), "broken" },
		{ "a nil attribute", LIT("|-1\r\n"), "broken" },
		{ "a push inside of an answer",
		  LIT("*2\r\n$1\r\na\r\n>1\r\n+x\r\n$1\r\nb\r\n"),
		  "array:2@0 bulk:a@1 broken" },
		{ "a bad element", LIT("*2\r\n$1\r\na\r\n?\r\n"),
		  "array:2@0 bulk:a@1 broken" },
		{ "a bad element of a push", LIT(">1\r\n:x\r\n+OK\r\n"),
		  "broken" },
		{ "a bad string of a push",
		  LIT(">2\r\n$3\r\nabcd\r\n+x\r\n+OK\r\n"), "broken" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

static void test_a_bad_verbatim_of_a_push_is_refused_in_pieces_too(void **state)
{
	static const reader_case cases[] = {
		{ "too short", LIT(">1\r\n=2\r\nab\r\n+OK\r\n"), "broken" },
		{ "no colon", LIT(">1\r\n=5\r\ntxtab\r\n+OK\r\n"), "broken" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

/* --------------------------------------------------------------- bounds -- */

static void test_a_string_past_the_bound_is_dropped(void **state)
{
	static const reader_case cases[] = {
		{ "at the bound", LIT("$4\r\nabcd\r\n"), "bulk:abcd@0! idle" },
		{ "past it", LIT("$5\r\nabcde\r\n"), "long:5@0! idle" },
		{ "with CRLF", LIT("$5\r\n\r\n\r\n\r\r\n"), "long:5@0! idle" },
		{ "among others",
		  LIT("*4\r\n$1\r\na\r\n$10\r\nabcdefghij\r\n$2\r\nbc\r\n"
		      "$5\r\n12345\r\n+OK\r\n"),
		  "array:4@0 bulk:a@1 long:10@1 bulk:bc@1 long:5@1! "
		  "simple:OK@0! idle" },
		{ "cut in its bytes", LIT("$5\r\nabc"), "amid" },
		{ "cut in its end", LIT("$5\r\nabcde\r"), "amid" },
		{ "verbatim", LIT("=9\r\ntxt:abcde\r\n"), "long:9@0! idle" },
		{ "without its end", LIT("$5\r\nabcdefg"), "broken" },
		{ "in a push", LIT(">1\r\n$10\r\nabcdefghij\r\n+OK\r\n"),
		  "simple:OK@0! idle" },
		{ "in an attribute",
		  LIT("|1\r\n$10\r\nabcdefghij\r\n+v\r\n+OK\r\n"),
		  "simple:OK@0! idle" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), 4);
}

static void test_with_a_bound_of_zero_only_empty_strings_pass(void **state)
{
	static const reader_case cases[] = {
		{ "some", LIT("*3\r\n$0\r\n\r\n$1\r\na\r\n$-1\r\n"),
		  "array:3@0 bulk:@1 long:1@1 nil@1! idle" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), 0);
}

static void test_a_length_out_of_range_is_refused(void **state)
{
	static const reader_case cases[] = {
		{ "past 512 MiB", LIT("$536870913\r\n"), "broken" },
		{ "ten digits", LIT("$9999999999\r\n"), "broken" },
		{ "the greatest", LIT("$9223372036854775807\r\n"), "broken" },
		{ "one more", LIT("$9223372036854775808\r\n"), "broken" },
		{ "two to the 64th and one",
		  LIT("$18446744073709551617\r\na\r\n"), "broken" },
		{ "many digits", LIT("$11111111111111111111111111111\r\n"),
		  "broken" },
		{ "an error", LIT("!536870913\r\n"), "broken" },
		{ "in a push", LIT(">1\r\n$536870913\r\n"), "broken" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

static void test_a_length_that_overflows_is_refused_in_a_run_too(void **state)
{
	static const reader_case cases[] = {
		{ "two to the 64th and one",
		  LIT("*3\r\n$18446744073709551617\r\na\r\n$1\r\nb\r\n"),
		  "array:3@0 broken" },
		{ "just arrived", LIT("*2\r\n$1000000000000000"),
		  "array:2@0 amid" },
		{ "just arrived, longer", LIT("*2\r\n$1844674407370955161"),
		  "array:2@0 amid" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), SIZE_MAX / 4);
}

static void test_a_count_out_of_range_is_refused(void **state)
{
	static const reader_case cases[] = {
		{ "at the bound", LIT("*2147483648\r\n"),
		  "array:2147483648@0 amid" },
		{ "map at the bound", LIT("%2147483648\r\n"),
		  "map:4294967296@0 amid" },
		{ "past it", LIT("*2147483649\r\n"), "broken" },
		{ "map", LIT("%2147483649\r\n"), "broken" },
		{ "set", LIT("~2147483649\r\n"), "broken" },
		{ "push", LIT(">2147483649\r\n"), "broken" },
		{ "attribute", LIT("|2147483649\r\n"), "broken" },
		{ "the greatest", LIT("*9223372036854775807\r\n"), "broken" },
		{ "one more", LIT("*9223372036854775808\r\n"), "broken" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
}

/* depth arrays of one element around an integer. */
static void read_nested(unsigned depth, const char *type, bool fine)
{
	transcript t;
	char head[8];
	unsigned i;

	transcript_init(&t, MAX_VALUE, false);
	snprintf(head, sizeof(head), "%s1\r\n", type);
	for (i = 0; i < depth; i++)
		transcript_feed(&t, head, strlen(head));
	transcript_feed(&t, LIT(":1\r\n"));
	if (*type == '%')
		transcript_feed(&t, LIT(":1\r\n"));
	assert_int_equal(t.broken, !fine);
	transcript_fini(&t);
}

static void test_depth_is_bounded(void **state)
{
	(void)state;
	read_nested(9, "*", true);
	read_nested(RBI_READER_DEPTH, "*", true);
	read_nested(RBI_READER_DEPTH, "~", true);
	read_nested(RBI_READER_DEPTH + 1, "*", false);
	read_nested(RBI_READER_DEPTH + 1, "%", false);
	read_nested(RBI_READER_DEPTH + 1, "|", false);
}

/* A line of len bytes of text; the reader gets step bytes more at a time. */
static rbi_token_kind read_line_of(char type, size_t len, size_t step)
{
	size_t size = len + 3;
	char *buf = malloc(size);
	rbi_token_kind kind = RBI_TOKEN_MORE;
	rbi_token token;
	rbi_reader r;
	size_t have;

	assert_non_null(buf);
	memset(buf, 'E', size);
	buf[0] = type;
	buf[size - 2] = '\r';
	buf[size - 1] = '\n';
	rbi_reader_init(&r, MAX_VALUE);
	for (have = 0; have < size && kind == RBI_TOKEN_MORE;) {
		have = have + step < size ? have + step : size;
		rbi_reader_window(&r, buf, buf + have);
		kind = rbi_reader_next(&r, &token);
	}
	if (kind != RBI_TOKEN_BROKEN)
		assert_int_equal(token.len, len);
	free(buf);
	return kind;
}

static void test_lines_are_bounded(void **state)
{
	static const size_t steps[] = {
		1, 7, 4096, 65536, 65537, 65538, 1000000
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(steps); i++) {
		size_t step = steps[i];

		assert_int_equal(read_line_of('-', 4000, step),
				 RBI_TOKEN_ERROR);
		assert_int_equal(read_line_of('+', RBI_READER_LINE - 1, step),
				 RBI_TOKEN_SIMPLE);
		assert_int_equal(read_line_of('+', RBI_READER_LINE, step),
				 RBI_TOKEN_BROKEN);
		assert_int_equal(read_line_of('-', RBI_READER_LINE + 1, step),
				 RBI_TOKEN_BROKEN);
	}
}

static void test_a_line_without_end_is_refused(void **state)
{
	char *buf = malloc(RBI_READER_LINE + 2);
	rbi_token token;
	rbi_reader r;

	(void)state;
	assert_non_null(buf);
	memset(buf, 'x', RBI_READER_LINE + 2);
	buf[0] = '-';
	rbi_reader_init(&r, MAX_VALUE);
	rbi_reader_window(&r, buf, buf + RBI_READER_LINE);
	assert_int_equal(rbi_reader_next(&r, &token), RBI_TOKEN_MORE);
	rbi_reader_window(&r, buf, buf + RBI_READER_LINE + 2);
	assert_int_equal(rbi_reader_next(&r, &token), RBI_TOKEN_BROKEN);
	free(buf);
}

/* ------------------------------------------------------------- contract -- */

static void test_it_says_how_many_bytes_make_an_item_whole(void **state)
{
	static const struct {
		const char *bytes;
		size_t need;
	} cases[] = {
		{ "", 1 },
		{ "$100\r\n", 6 + 100 + 2 },
		{ "$100\r\nab", 6 + 100 + 2 },
		{ "$536870912\r\n", 12 + 536870912 + 2 },
		{ "+O", 3 },
		{ "$1", 3 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		size_t len = strlen(cases[i].bytes);
		char *buf = exact_copy(cases[i].bytes, len);
		rbi_token token;
		rbi_reader r;

		rbi_reader_init(&r, MAX_VALUE);
		rbi_reader_window(&r, buf, buf + len);
		assert_int_equal(rbi_reader_next(&r, &token), RBI_TOKEN_MORE);
		assert_int_equal(r.need, cases[i].need);
		assert_ptr_equal(r.pos, buf);
		free(buf);
	}
}

static void test_a_dropped_string_takes_no_room(void **state)
{
	char buf[16] = "$100\r\nabcdefgh";
	rbi_token token;
	rbi_reader r;

	(void)state;
	rbi_reader_init(&r, 4);
	rbi_reader_window(&r, buf, buf + 14);
	assert_int_equal(rbi_reader_next(&r, &token), RBI_TOKEN_MORE);
	assert_ptr_equal(r.pos, r.end);
	assert_in_range(r.need, 1, 4);
}

static void test_values_stay_where_they_were_received(void **state)
{
	char buf[] = "*2\r\n$3\r\nabc\r\n$2\r\nde\r\n";
	rbi_token token;
	rbi_reader r;

	(void)state;
	rbi_reader_init(&r, MAX_VALUE);
	rbi_reader_window(&r, buf, buf + sizeof(buf) - 1);
	assert_int_equal(rbi_reader_next(&r, &token), RBI_TOKEN_ARRAY);
	assert_int_equal(rbi_reader_next(&r, &token), RBI_TOKEN_BULK);
	assert_ptr_equal(token.data, buf + 8);
	assert_int_equal(rbi_reader_next(&r, &token), RBI_TOKEN_BULK);
	assert_ptr_equal(token.data, buf + 17);
	assert_string_equal(buf + 8, "abc");
}

static void test_each_kind_has_words(void **state)
{
	static const struct {
		rbi_token_kind kind;
		const char *want;
	} cases[] = {
		{ RBI_TOKEN_MORE, "nothing" },
		{ RBI_TOKEN_BROKEN, "nothing" },
		{ RBI_TOKEN_BULK, "a string" },
		{ RBI_TOKEN_NIL, "nil" },
		{ RBI_TOKEN_NIL_ARRAY, "nil" },
		{ RBI_TOKEN_LONG, "a string" },
		{ RBI_TOKEN_ERROR, "an error" },
		{ RBI_TOKEN_SIMPLE, "a simple string" },
		{ RBI_TOKEN_INTEGER, "an integer" },
		{ RBI_TOKEN_DOUBLE, "a double" },
		{ RBI_TOKEN_BOOLEAN, "a boolean" },
		{ RBI_TOKEN_BIG_NUMBER, "a big number" },
		{ RBI_TOKEN_VERBATIM, "a verbatim string" },
		{ RBI_TOKEN_ARRAY, "an array" },
		{ RBI_TOKEN_MAP, "a map" },
		{ RBI_TOKEN_SET, "a set" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		assert_string_equal(rbi_token_text(cases[i].kind),
				    cases[i].want);
}

/* ------------------------------------------------------------------ run -- */

/* A run takes nothing of what is not quite a string or a nil, however close
 * it comes; there is always enough behind it. */
static void test_a_run_leaves_alone_what_it_does_not_know(void **state)
{
	static const char *const odd[] = {
		"$-2\r\n",	   "$-1x\n",	 "$-1\rx",     "$+1\r\n",
		"$x1\r\n",	   "$-x1\r\n",	 "$0\r\n",     "$1x\na\r\n",
		"$1\rxa\r\n",	   "$1\r\nax\n", "$1\r\na\rx", "$11\rxa\r\n",
		"$1234567890\r\n", "+OK\r\n",	 ":1\r\n",     "_\r\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(odd); i++) {
		char bytes[64];
		char *data = NULL;
		size_t len = 0;
		rbi_run run = { .pos = bytes, .left = 9, .max_value = 100 };

		snprintf(bytes, sizeof(bytes), "%s$20\r\n%020d\r\n", odd[i], 0);
		run.end = bytes + strlen(bytes);
		if (rbi_run_next(&run, &data, &len))
			fail_msg("%s was taken", odd[i]);
		assert_ptr_equal(run.pos, bytes);
		assert_int_equal(run.left, 9);
	}
}

static void test_a_run_is_only_inside_of_an_answer(void **state)
{
	static const struct {
		const char *bytes;
		bool open;
	} rows[] = {
		{ "", false },
		{ "*2\r\n", true },
		{ "*2\r\n*2\r\n", true },
		{ ">2\r\n", false },
		{ "*1\r\n|1\r\n", false },
		{ "*2\r\n$500\r\n", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		transcript t;

		transcript_init(&t, 100, false);
		transcript_feed(&t, rows[i].bytes, strlen(rows[i].bytes));
		if (rbi_reader_in_run(&t.reader) != rows[i].open)
			fail_msg("%s", rows[i].bytes);
		transcript_fini(&t);
	}
}

static void test_only_a_push_may_be_cut_between_answers(void **state)
{
	static const struct {
		const char *bytes;
		bool between;
		bool idle;
	} rows[] = {
		{ "", true, true },
		{ "+OK\r\n", true, true },
		{ "+OK\r\n>", true, false },
		{ "|", true, false },
		{ ">2\r\n+a\r\n", true, false },
		{ "|1\r\n+a\r\n", true, false },
		{ "$", false, false },
		{ "*2\r\n", false, false },
		{ "*2\r\n:1\r\n", false, false },
		{ "$500\r\nabc", false, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		transcript t;

		transcript_init(&t, 100, false);
		transcript_feed(&t, rows[i].bytes, strlen(rows[i].bytes));
		if (rbi_reader_between(&t.reader) != rows[i].between ||
		    rbi_reader_idle(&t.reader) != rows[i].idle)
			fail_msg("%s", rows[i].bytes);
		transcript_fini(&t);
	}
}

static void test_numbers_are_told_from_what_only_begins_like_them(void **state)
{
	static const reader_case cases[] = {
		{ "signed big", LIT("(+12\r\n"), "big:+12@0! idle" },
		{ "big of a sign", LIT("(+\r\n"), "broken" },
		{ "big of nothing", LIT("(\r\n"), "broken" },
		{ "big with a letter", LIT("(1a\r\n"), "broken" },
		{ "big below 0", LIT("(1/\r\n"), "broken" },
		{ "double of nothing", LIT(",\r\n"), "broken" },
		{ "double with a letter", LIT(",1x\r\n"), "broken" },
	};
	char line[400];
	transcript t;

	(void)state;
	read_cases(cases, N_OF(cases), MAX_VALUE);
	snprintf(line, sizeof(line), ",%0326d\r\n", 1);
	transcript_init(&t, MAX_VALUE, false);
	transcript_feed(&t, line, strlen(line));
	assert_string_equal(transcript_end(&t), "broken");
	transcript_fini(&t);
}

static void test_a_dropped_string_must_end_as_any_other(void **state)
{
	static const reader_case cases[] = {
		{ "fine", LIT("$4\r\nabcd\r\n"), "long:4@0! idle" },
		{ "no CR", LIT("$4\r\nabcdx\n"), "broken" },
		{ "no LF", LIT("$4\r\nabcd\rx"), "broken" },
	};

	(void)state;
	read_cases(cases, N_OF(cases), 3);
}

static void test_a_kind_that_is_none_has_a_word_too(void **state)
{
	(void)state;
	assert_string_equal(rbi_token_text((rbi_token_kind)99), "something");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resp2_is_read_however_it_arrives),
		cmocka_unit_test(test_what_is_missing_is_waited_for),
		cmocka_unit_test(test_resp3_is_read_however_it_arrives),
		cmocka_unit_test(test_pushes_are_walked_over),
		cmocka_unit_test(test_an_empty_push_leaves_nothing_behind),
		cmocka_unit_test(test_attributes_are_walked_over),
		cmocka_unit_test(test_what_is_not_resp_is_refused),
		cmocka_unit_test(
			test_a_bad_verbatim_of_a_push_is_refused_in_pieces_too),
		cmocka_unit_test(test_a_string_past_the_bound_is_dropped),
		cmocka_unit_test(
			test_with_a_bound_of_zero_only_empty_strings_pass),
		cmocka_unit_test(test_a_length_out_of_range_is_refused),
		cmocka_unit_test(
			test_a_length_that_overflows_is_refused_in_a_run_too),
		cmocka_unit_test(test_a_count_out_of_range_is_refused),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_lines_are_bounded),
		cmocka_unit_test(test_a_line_without_end_is_refused),
		cmocka_unit_test(
			test_it_says_how_many_bytes_make_an_item_whole),
		cmocka_unit_test(test_a_dropped_string_takes_no_room),
		cmocka_unit_test(test_values_stay_where_they_were_received),
		cmocka_unit_test(test_each_kind_has_words),
		cmocka_unit_test(test_a_run_leaves_alone_what_it_does_not_know),
		cmocka_unit_test(test_a_run_is_only_inside_of_an_answer),
		cmocka_unit_test(test_only_a_push_may_be_cut_between_answers),
		cmocka_unit_test(
			test_numbers_are_told_from_what_only_begins_like_them),
		cmocka_unit_test(test_a_dropped_string_must_end_as_any_other),
		cmocka_unit_test(test_a_kind_that_is_none_has_a_word_too),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}

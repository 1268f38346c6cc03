/*
 * redisbatch pipeline against a server: what it does, prints, says and answers.
 */
#include "tooling.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BYTES(text) text, sizeof(text) - 1

static void test_a_command_that_fails_makes_it_end_with_1(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("LPUSH a x\nGET a\n"), ARGS("pipeline"),
		      1);
	assert_string_equal(s.out,
			    "1: (integer) 1\n"
			    "2: (error) WRONGTYPE Operation against a key "
			    "holding the wrong kind of value\n");
	want_words(s.err, "standard input:2: GET a: ");
	want_words(s.err, "WRONGTYPE");
	want_words(s.err, rbt_server_socket(live->server));
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, BYTES("GET nokey"), ARGS("pipeline"), 0);
	assert_string_equal(s.out, "1: (nil)\n");
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, NULL, 0, ARGS("pipeline"), 0);
	assert_int_equal(s.outlen, 0);
	rbt_spawned_free(&s);
}

/* By its type, not by a list of words. */
static void test_every_error_counts_whatever_it_says(void **state)
{
	static const char in[] =
		"EVAL \"return redis.error_reply('whatever x')\" 0\n"
		"EVAL \"return redis.status_reply('ERR is fine')\" 0\n"
		"EVAL \"return 'ERR is fine'\" 0\n"
		"EVAL \"return {1,{redis.error_reply('inner y')}}\" 0\n";
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES(in), ARGS("pipeline"), 1);
	want_words(s.err, ":1: EVAL");
	want_words(s.err, "whatever x");
	want_words(s.err, ":4: EVAL");
	want_words(s.err, "inner y");
	want_words(s.err, "2 failed");
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, BYTES(in), ARGS("pipeline", "-Q", "-q"), 1);
	assert_null(strstr(s.out, "2: "));
	assert_null(strstr(s.out, "3: "));
	assert_int_equal(rbt_count_lines(s.out), 3);
	rbt_spawned_free(&s);
}

static void test_words_are_quoted_as_in_redis_cli(void **state)
{
	static const char in[] = "SET 'a b' \"x\\x00\\n\\\"y\\\"\"\n"
				 "  SET\t\"\"\tv \r\n"
				 "SET \"\\xff\" a\\tb\n";
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES(in), ARGS("pipeline"), 0);
	rbt_want_value(live, BYTES("a b"), BYTES("x\0\n\"y\""));
	rbt_want_value(live, "", 0, BYTES("v"));
	rbt_want_value(live, BYTES("\xff"), BYTES("a\\tb"));
	rbt_spawned_free(&s);
}

static void test_a_bad_line_is_named_and_the_rest_goes_on(void **state)
{
	static const char in[] = "SET a 1\n\n# SET b 2\nSET c \"3\n"
				 "SUBSCRIBE x\nSET d 4\nAUTH u \"secret\n"
				 "SET e 5";
	static const char want[] =
		"1: OK\n"
		"4: (not sent) unbalanced quotes: one is not closed\n"
		"5: (not sent) it does not answer exactly once\n"
		"6: OK\n"
		"7: (not sent) unbalanced quotes: one is not closed\n"
		"8: OK\n";
	rbt_live *live = rbt_live_use(state);
	char failed[512];
	char *kept;
	size_t len;
	rbt_spawned s;

	rbt_path(live, "failed", failed);
	rbt_tool_want(live, &s, BYTES(in), ARGS("pipeline", "--failed", failed),
		      1);
	assert_string_equal(s.out, want);
	want_words(s.err, "standard input:4: SET c: not sent: unbalanced");
	want_words(s.err, "standard input:5: SUBSCRIBE x: not sent: ");
	want_no_words(s.err, "secret");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 3);
	kept = rbt_read_file(failed, &len);
	assert_string_equal(kept, "SET c \"3\nSUBSCRIBE x\nAUTH u \"secret\n");
	free(kept);
	rbt_spawned_free(&s);
}

static void test_strict_stops_at_the_first_bad_line(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char failed[512];
	char in[512];
	char *kept;
	size_t len;
	rbt_spawned s;

	rbt_write_file(rbt_path(live, "in", in),
		       BYTES("SET a 1\nSET b \"2\nSET c 3\n"));
	rbt_path(live, "failed", failed);
	rbt_tool_want(live, &s, NULL, 0,
		      ARGS("pipeline", "--strict", "--failed", failed, in), 1);
	want_words(s.err, "stopped at line 2");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 1);
	kept = rbt_read_file(failed, &len);
	assert_string_equal(kept, "SET b \"2\nSET c 3\n");
	free(kept);
	rbt_spawned_free(&s);
}

static void test_nothing_of_a_multi_in_the_file_is_sent(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s,
		      BYTES("SET a 1\nMULTI\nSET b 2\nEXEC\nSET c 3\n"),
		      ARGS("pipeline"), 1);
	want_words(s.err, "--transaction");
	want_words(s.err, "3 failed");
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS a c"), 2);
	assert_int_equal(rbt_ask_number(live->admin, "EXISTS b"), 0);
	rbt_spawned_free(&s);
}

static void test_passwords_are_in_no_message(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	/* A protocol that there is not: a HELLO with a wrong password is one
	 * that Valkey 8.0 may leave without an answer. */
	rbt_tool_want(live, &s,
		      BYTES("AUTH somebody secret\nHELLO 9 AUTH x secret\n"),
		      ARGS("pipeline"), 1);
	want_words(s.err, "AUTH (hidden)");
	want_no_words(s.err, "secret");
	rbt_spawned_free(&s);
}

static void test_no_escape_of_a_server_reaches_the_terminal(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s,
		      BYTES("SET \x1b[2J \"\\x1b]0;x\\x07\"\nGET \x1b[2J\n"
			    "LPUSH \x1b[2J a\n"),
		      ARGS("pipeline"), 1);
	assert_null(strchr(s.out, '\x1b'));
	assert_null(strchr(s.err, '\x1b'));
	assert_null(strchr(s.err, '\r'));
	want_words(s.err, "\\x1b[2J");
	rbt_spawned_free(&s);
}

/* ---------------------------------------------------------------- RESP -- */

static void test_raw_resp_is_sent(void **state)
{
	static const char in[] =
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n"
		"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES(in), ARGS("pipeline"), 0);
	assert_string_equal(s.out, "1: OK\n9: \"a\\r\\nb\"\n");
	rbt_spawned_free(&s);
}

static void test_broken_resp_does_what_was_before_it(void **state)
{
	static const struct {
		const char *name;
		const char *tail;
		const char *words;
	} cases[] = {
		{ "a null word", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$-1\r\n",
		  ":13: not sent: at byte 47: " },
		{ "an end", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nab",
		  ":14: not sent: at byte 53: " },
		{ "no RESP", "blablub\n", ":8: not sent: at byte 27: " },
		{ "more behind", "blablub\n*1\r\n$8\r\nFLUSHALL\r\n",
		  ":8: not sent: at byte 27: " },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(cases); i++) {
		char in[256];
		rbt_spawned s;

		snprintf(in, sizeof(in),
			 "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n%s",
			 cases[i].tail);
		rbt_tool_want(live, &s, in, strlen(in), ARGS("pipeline"), 1);
		if (strstr(s.err, cases[i].words) == NULL)
			fail_msg("%s: %s", cases[i].name, s.err);
		assert_int_equal(strncmp(s.out, "1: OK\n", 6), 0);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 1);
		rbt_spawned_free(&s);
	}
}

static void test_text_in_front_of_commands_is_no_reason_to_hang(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("blablub\nSET a 1\nSET b 2\n"),
		      ARGS("pipeline"), 1);
	want_words(s.err, ":1: blablub: ");
	want_words(s.err, "1 failed");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 2);
	/* Whether all is done is told by the replies, not by a sentinel. */
	assert_int_equal(rbt_live_calls(live, "echo"), 0);
	rbt_spawned_free(&s);
}

/* --------------------------------------------------------------- output -- */

static void test_replies_go_to_a_file_in_the_form_that_is_asked_for(
	void **state)
{
	static const struct {
		const char *form;
		const char *want;
	} cases[] = {
		{ "text", "1: OK\n2: \"v\"\n3: (nil)\n" },
		{ "tsv", "1\tstatus\tOK\n2\tstring\tv\n3\tnil\t\\N\n" },
		{ "json", "{\"line\":1,\"reply\":\"OK\"}\n"
			  "{\"line\":2,\"reply\":\"v\"}\n"
			  "{\"line\":3,\"reply\":null}\n" },
		{ "raw", "OK\nv\n\n" },
	};
	rbt_live *live = rbt_live_use(state);
	char path[512];

	rbt_path(live, "replies", path);
	for (size_t i = 0; i < COUNT(cases); i++) {
		rbt_spawned s;
		char *text;
		size_t len;

		rbt_tool_want(live, &s, BYTES("SET k v\nGET k\nGET no\n"),
			      ARGS("pipeline", "-o", path, "--format-out",
				   cases[i].form),
			      0);
		assert_int_equal(s.outlen, 0);
		text = rbt_read_file(path, &len);
		assert_string_equal(text, cases[i].want);
		free(text);
		rbt_spawned_free(&s);
	}
}

static void test_of_several_files_each_line_has_its_file(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char first[512];
	char second[512];
	char want[2048];
	rbt_spawned s;

	rbt_write_file(rbt_path(live, "first", first), BYTES("SET a 1"));
	rbt_write_file(rbt_path(live, "second", second),
		       BYTES("\nGET a\nINCRX a\n"));
	rbt_tool_want(live, &s, BYTES("PING\n"),
		      ARGS("pipeline", first, "-", second), 1);
	snprintf(want, sizeof(want),
		 "%s:1: OK\nstandard input:1: PONG\n%s:2: \"1\"\n", first,
		 second);
	assert_int_equal(strncmp(s.out, want, strlen(want)), 0);
	snprintf(want, sizeof(want), "%s:3: INCRX a: ", second);
	want_words(s.err, want);
	rbt_spawned_free(&s);
}

/* --------------------------------------------------------- transactions -- */

static void test_a_transaction_is_applied_as_a_whole(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("SET a 1\nINCR a\n\nGET a\n"),
		      ARGS("pipeline", "--transaction"), 0);
	assert_string_equal(s.out, "1: OK\n2: (integer) 2\n4: \"2\"\n");
	assert_int_equal(rbt_live_calls(live, "multi"), 1);
	assert_int_equal(rbt_live_calls(live, "exec"), 1);
	rbt_spawned_free(&s);
}

static void test_a_command_that_fails_inside_exec_is_named(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("SET a 1\nLPUSH a x\nSET b 2\n"),
		      ARGS("pipeline", "--transaction"), 1);
	want_words(s.err, ":2: LPUSH a x: ");
	want_words(s.err, "WRONGTYPE");
	want_words(s.err, "1 failed");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 2);
	rbt_spawned_free(&s);
}

static void test_a_transaction_that_is_refused_applies_nothing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("SET a 1\nINCRX a\nSET b 2\n"),
		      ARGS("pipeline", "--transaction"), 1);
	want_words(s.err, "nothing was applied");
	want_words(s.err, ":2: INCRX a: ");
	want_words(s.err, "unknown command");
	want_words(s.out, "1: (rejected) EXECABORT");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	rbt_spawned_free(&s);
}

static void test_a_bad_line_keeps_a_transaction_from_being_sent(void **state)
{
	static const struct {
		const char *in;
		const char *option;
		const char *words;
	} cases[] = {
		{ "SET a 1\nSET b \"2\n", "-q", ":2: unbalanced quotes" },
		{ "SET a 1\nMULTI\n", "-q", ":2: --transaction" },
		{ "SET a 1\nMONITOR\n", "-q", ":2: it does not answer" },
		{ "*1\r\n$4\r\nPING\r\n*1\r\n", "-q", "the input ends here" },
		{ "SET a 1\nSET b 2\n", "--chunk-keys=1", "too large" },
		{ "SET a 1\nSET b 2\n", "--chunk-bytes=12", "12" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(cases); i++) {
		rbt_spawned s;

		rbt_tool_want(
			live, &s, cases[i].in, strlen(cases[i].in),
			ARGS("pipeline", "--transaction", cases[i].option), 2);
		want_words(s.err, cases[i].words);
		want_words(s.err, "nothing was sent");
		assert_int_equal(s.outlen, 0);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
		rbt_spawned_free(&s);
	}
}

/* ---------------------------------------------------------- command line -- */

static void test_a_wrong_command_line_sends_nothing(void **state)
{
	static const struct {
		const char *args[3];
		int status;
		const char *words;
	} cases[] = {
		{ { "--format", "csv" }, 2, "text or resp" },
		{ { "--format-out=xml" }, 2, "text, tsv, json or raw" },
		{ { "/there/is/none" }, 4, "cannot read /there/is/none: " },
		{ { "-o", "/there/is/none" }, 4, "cannot write " },
		{ { "--failed", "/there/is/none" }, 4, "cannot write " },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(cases); i++) {
		rbt_spawned s;

		rbt_tool_want(
			live, &s, BYTES("SET a 1\n"),
			ARGS("pipeline", cases[i].args[0], cases[i].args[1]),
			cases[i].status);
		want_words(s.err, cases[i].words);
		assert_int_equal(s.outlen, 0);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
		rbt_spawned_free(&s);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_command_that_fails_makes_it_end_with_1),
		RBT_LIVE(test_every_error_counts_whatever_it_says),
		RBT_LIVE(test_words_are_quoted_as_in_redis_cli),
		RBT_LIVE(test_a_bad_line_is_named_and_the_rest_goes_on),
		RBT_LIVE(test_strict_stops_at_the_first_bad_line),
		RBT_LIVE(test_nothing_of_a_multi_in_the_file_is_sent),
		RBT_LIVE(test_passwords_are_in_no_message),
		RBT_LIVE(test_no_escape_of_a_server_reaches_the_terminal),
		RBT_LIVE(test_raw_resp_is_sent),
		RBT_LIVE(test_broken_resp_does_what_was_before_it),
		RBT_LIVE(test_text_in_front_of_commands_is_no_reason_to_hang),
		RBT_LIVE(
			test_replies_go_to_a_file_in_the_form_that_is_asked_for),
		RBT_LIVE(test_of_several_files_each_line_has_its_file),
		RBT_LIVE(test_a_transaction_is_applied_as_a_whole),
		RBT_LIVE(test_a_command_that_fails_inside_exec_is_named),
		RBT_LIVE(test_a_transaction_that_is_refused_applies_nothing),
		RBT_LIVE(test_a_bad_line_keeps_a_transaction_from_being_sent),
		RBT_LIVE(test_a_wrong_command_line_sends_nothing),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

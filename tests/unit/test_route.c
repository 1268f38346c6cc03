#include "route.h"
#include "unit.h"

#include <stdio.h>

static void test_errors_are_routed_by_their_first_words(void **state)
{
	static const struct {
		const char *text;
		rbi_route want;
	} cases[] = {
		{ "ERR Protocol error: invalid multibulk length",
		  RBI_ROUTE_CLOSE },
		{ "ERR Protocol error: invalid bulk length", RBI_ROUTE_CLOSE },
		{ "ERR max number of clients reached", RBI_ROUTE_CLOSE },
		{ "max number of clients reached", RBI_ROUTE_CLOSE },

		{ "NOAUTH Authentication required.", RBI_ROUTE_STOP },
		{ "WRONGPASS invalid username-password pair", RBI_ROUTE_STOP },
		{ "NOPERM this user has no permissions to run the 'mget' "
		  "command",
		  RBI_ROUTE_STOP },
		{ "NOPERM User lim has no permissions to run the 'mget' "
		  "command",
		  RBI_ROUTE_STOP },
		{ "ERR max requests limit exceeded. Limit: 500000",
		  RBI_ROUTE_STOP },
		{ "ERR max daily request limit exceeded. Limit: 10000",
		  RBI_ROUTE_STOP },
		{ "ERR DB capacity quota exceeded", RBI_ROUTE_STOP },
		{ "MISCONF Redis is configured to save RDB snapshots",
		  RBI_ROUTE_STOP },
		{ "OOM command not allowed when used memory > 'maxmemory'.",
		  RBI_ROUTE_SHRINK },
		{ "ERR unknown command 'MGET', with args beginning with: 'a'",
		  RBI_ROUTE_STOP },
		{ "ERR unknown command `MGET`", RBI_ROUTE_STOP },

		{ "NOPERM this user has no permissions to access one of the "
		  "keys used as arguments",
		  RBI_ROUTE_ISOLATE },
		{ "WRONGTYPE Operation against a key holding the wrong kind "
		  "of value",
		  RBI_ROUTE_FAIL },
		{ "CROSSSLOT Keys in request don't hash to the same slot",
		  RBI_ROUTE_REGROUP },
		{ "CLUSTERDOWN Hash slot not served", RBI_ROUTE_AGAIN },
		{ "TRYAGAIN Multiple keys request during rehashing of slot",
		  RBI_ROUTE_ALONE },
		{ "LOADING Valkey is loading the dataset in memory",
		  RBI_ROUTE_LATER },
		{ "BUSY Redis is busy running a script. You can only call",
		  RBI_ROUTE_LATER },
		{ "MASTERDOWN Link with MASTER is down", RBI_ROUTE_LATER },
		{ "NOREPLICAS Not enough good replicas to write.",
		  RBI_ROUTE_LATER },
		{ "NOREPLICAS", RBI_ROUTE_LATER },
		{ "BUSYGROUP Consumer Group name already exists",
		  RBI_ROUTE_FAIL },
		{ "BUSYKEY Target key name already exists.", RBI_ROUTE_FAIL },
		{ "READONLY You can't write against a read only replica.",
		  RBI_ROUTE_STOP },
		{ "NOPERM No permissions to access a key", RBI_ROUTE_ISOLATE },
		{ "ERR max request size exceeded. Limit: 10485760 bytes, "
		  "Actual: 103300009 bytes.",
		  RBI_ROUTE_SPLIT },
		{ "ERR max single record size exceeded", RBI_ROUTE_ISOLATE },
		{ "ERR max key size exceeded. Limit: 9 bytes, Actual: 10 "
		  "bytes",
		  RBI_ROUTE_ISOLATE },
		{ "upstream failure", RBI_ROUTE_AGAIN },
		{ "ERR Connection timed out", RBI_ROUTE_AGAIN },
		{ "MOVED 3999 127.0.0.1:6381", RBI_ROUTE_REDIRECT },
		{ "ASK 3999 127.0.0.1:6381", RBI_ROUTE_REDIRECT },
		{ "MOVED", RBI_ROUTE_REDIRECT },
		{ "ASK", RBI_ROUTE_REDIRECT },
		{ "MOVEDON", RBI_ROUTE_FAIL },
		{ "ASKING is not for you", RBI_ROUTE_FAIL },
		{ "CROSSSLOTS", RBI_ROUTE_FAIL },
		{ "ERR something new", RBI_ROUTE_FAIL },
		{ "ERR", RBI_ROUTE_FAIL },
		{ "ERR ", RBI_ROUTE_FAIL },
		{ "EEEE", RBI_ROUTE_FAIL },
		{ "", RBI_ROUTE_FAIL },
		/* The words that count stand at the beginning. */
		{ "ERR the server said NOAUTH", RBI_ROUTE_FAIL },
		{ "WRONGTYPE of key 'OOM'", RBI_ROUTE_FAIL },
		{ "noauth", RBI_ROUTE_FAIL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		size_t len = strlen(cases[i].text);
		char *text = exact_copy(cases[i].text, len);
		rbi_route got = rbi_route_error(text, len, false);

		if (got != cases[i].want)
			fail_msg("\"%s\": %d, not %d", cases[i].text, (int)got,
				 (int)cases[i].want);
		free(text);
	}
}

static void test_no_beginning_of_an_error_reads_beyond_it(void **state)
{
	static const char whole[] = "ERR max number of clients reached NOPERM "
				    "to run the";
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(whole); len++) {
		char *text = exact_copy(whole, len);
		rbi_route got = rbi_route_error(text, len, false);

		assert_int_equal(got,
				 len < 33 ? RBI_ROUTE_FAIL : RBI_ROUTE_CLOSE);
		free(text);
	}
}

static void test_a_nul_in_an_error_is_a_byte_like_others(void **state)
{
	(void)state;
	assert_int_equal(rbi_route_error(LIT("\0NOAUTH"), false),
			 RBI_ROUTE_FAIL);
	assert_int_equal(
		rbi_route_error(LIT("NOPERM \0 run the 'mget'"), false),
		RBI_ROUTE_STOP);
}

/* Every line of what servers and proxies are known to say, alone and with the
 * "ERR " that some put before it. */
static void test_every_known_error_is_routed(void **state)
{
	static const struct {
		const char *text;
		rbi_route alone;
		rbi_route of_many;
	} cases[] = {
		{ "Protocol error: invalid multibulk length", RBI_ROUTE_CLOSE,
		  RBI_ROUTE_CLOSE },
		{ "Protocol error: invalid bulk length", RBI_ROUTE_CLOSE,
		  RBI_ROUTE_CLOSE },
		{ "Protocol error: unauthenticated multibulk length",
		  RBI_ROUTE_CLOSE, RBI_ROUTE_CLOSE },
		{ "Protocol error: unauthenticated bulk length",
		  RBI_ROUTE_CLOSE, RBI_ROUTE_CLOSE },
		{ "max request size exceeded. Limit: 10485760 bytes, Actual: "
		  "103300009 bytes.",
		  RBI_ROUTE_SPLIT, RBI_ROUTE_ANSWER },
		{ "max single record size exceeded", RBI_ROUTE_ISOLATE,
		  RBI_ROUTE_ANSWER },
		{ "max key size exceeded. Limit: 32768 bytes, Actual: 40000 "
		  "bytes.",
		  RBI_ROUTE_ISOLATE, RBI_ROUTE_ANSWER },
		{ "max requests limit exceeded. Limit: 500000, Usage: 500000.",
		  RBI_ROUTE_STOP, RBI_ROUTE_STOP },
		{ "max daily request limit exceeded. Limit: 10000, Usage: "
		  "10000.",
		  RBI_ROUTE_STOP, RBI_ROUTE_STOP },
		{ "DB capacity quota exceeded", RBI_ROUTE_STOP,
		  RBI_ROUTE_STOP },
		{ "LOADING Redis is loading the dataset in memory",
		  RBI_ROUTE_LATER, RBI_ROUTE_LATER },
		{ "LOADING KeyDB is loading the dataset in memory",
		  RBI_ROUTE_LATER, RBI_ROUTE_LATER },
		{ "LOADING Dragonfly is loading the dataset in memory",
		  RBI_ROUTE_LATER, RBI_ROUTE_LATER },
		{ "BUSY Valkey is busy running a script. You can only call "
		  "SCRIPT KILL or SHUTDOWN NOSAVE.",
		  RBI_ROUTE_LATER, RBI_ROUTE_LATER },
		{ "MASTERDOWN Link with MASTER is down and "
		  "replica-serve-stale-data is set to 'no'.",
		  RBI_ROUTE_LATER, RBI_ROUTE_LATER },
		{ "NOREPLICAS Not enough good replicas to write.",
		  RBI_ROUTE_LATER, RBI_ROUTE_LATER },
		{ "CLUSTERDOWN The cluster is down", RBI_ROUTE_AGAIN,
		  RBI_ROUTE_AGAIN },
		{ "CLUSTERDOWN The cluster is down and only accepts read "
		  "commands",
		  RBI_ROUTE_AGAIN, RBI_ROUTE_AGAIN },
		{ "CLUSTERDOWN Hash slot not served", RBI_ROUTE_AGAIN,
		  RBI_ROUTE_AGAIN },
		{ "TRYAGAIN Multiple keys request during rehashing of slot",
		  RBI_ROUTE_ALONE, RBI_ROUTE_ALONE },
		{ "MOVED 8579 :17012", RBI_ROUTE_REDIRECT, RBI_ROUTE_ANSWER },
		{ "MOVED 1 ?:1", RBI_ROUTE_REDIRECT, RBI_ROUTE_ANSWER },
		{ "ASK 8579 ::1:17012", RBI_ROUTE_REDIRECT, RBI_ROUTE_ANSWER },
		{ "CROSSSLOT Keys in request don't hash to the same slot",
		  RBI_ROUTE_REGROUP, RBI_ROUTE_ANSWER },
		{ "REDIRECT 127.0.0.1:6380", RBI_ROUTE_FAIL, RBI_ROUTE_ANSWER },
		{ "READONLY You can't write against a read only replica.",
		  RBI_ROUTE_STOP, RBI_ROUTE_ANSWER },
		{ "OOM command not allowed when used memory > 'maxmemory'.",
		  RBI_ROUTE_SHRINK, RBI_ROUTE_ANSWER },
		{ "MISCONF Errors writing to the AOF file: No space left",
		  RBI_ROUTE_STOP, RBI_ROUTE_ANSWER },
		{ "NOAUTH Authentication required.", RBI_ROUTE_STOP,
		  RBI_ROUTE_STOP },
		{ "WRONGPASS invalid username-password pair or user is "
		  "disabled.",
		  RBI_ROUTE_STOP, RBI_ROUTE_ANSWER },
		{ "NOPERM this user has no permissions to run the 'mset' "
		  "command",
		  RBI_ROUTE_STOP, RBI_ROUTE_ANSWER },
		{ "NOPERM this user has no permissions to access one of the "
		  "keys used as arguments",
		  RBI_ROUTE_ISOLATE, RBI_ROUTE_ANSWER },
		{ "NOPERM No permissions to access a key", RBI_ROUTE_ISOLATE,
		  RBI_ROUTE_ANSWER },
		{ "WRONGTYPE Operation against a key holding the wrong kind "
		  "of value",
		  RBI_ROUTE_FAIL, RBI_ROUTE_ANSWER },
		{ "EXECABORT Transaction discarded because of previous "
		  "errors.",
		  RBI_ROUTE_FAIL, RBI_ROUTE_ANSWER },
		{ "unknown command 'MSETEX', with args beginning with: '1' ",
		  RBI_ROUTE_STOP, RBI_ROUTE_ANSWER },
		{ "max number of clients reached", RBI_ROUTE_CLOSE,
		  RBI_ROUTE_CLOSE },
		{ "finished with 2 error(s)", RBI_ROUTE_FAIL,
		  RBI_ROUTE_ANSWER },
		{ "upstream failure", RBI_ROUTE_AGAIN, RBI_ROUTE_ANSWER },
		{ "no upstream host", RBI_ROUTE_AGAIN, RBI_ROUTE_ANSWER },
		{ "Connection timed out", RBI_ROUTE_AGAIN, RBI_ROUTE_ANSWER },
		{ "Connection refused", RBI_ROUTE_AGAIN, RBI_ROUTE_ANSWER },
		{ "Connection reset by peer", RBI_ROUTE_AGAIN,
		  RBI_ROUTE_ANSWER },
		{ "Host is down", RBI_ROUTE_AGAIN, RBI_ROUTE_ANSWER },
		{ "No route to host", RBI_ROUTE_AGAIN, RBI_ROUTE_ANSWER },
	};
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		for (err = 0; err < 2; err++) {
			char text[300];
			size_t len;

			snprintf(text, sizeof(text), "%s%s", err ? "ERR " : "",
				 cases[i].text);
			len = strlen(text);
			if (rbi_route_error(text, len, false) !=
				    cases[i].alone ||
			    rbi_route_error(text, len, true) !=
				    cases[i].of_many)
				fail_msg("\"%s\": %d and %d", text,
					 (int)rbi_route_error(text, len, false),
					 (int)rbi_route_error(text, len, true));
		}
	}
}

/* ----------------------------------------------------------------- hints -- */

static void test_what_a_text_says_besides_is_found(void **state)
{
	static const struct {
		const char *text;
		rbi_hints want;
	} cases[] = {
		{ "ERR Protocol error: invalid multibulk length",
		  { .arguments = true } },
		{ "Protocol error: invalid multibulk length",
		  { .arguments = true } },
		{ "ERR Protocol error: invalid bulk length",
		  { .long_one = true } },
		{ "ERR Protocol error: unauthenticated multibulk length",
		  { .login = true } },
		{ "ERR Protocol error: unauthenticated bulk length",
		  { .login = true } },
		{ "ERR Protocol error: expected '$', got ' '", { 0 } },
		{ "ERR max request size exceeded. Limit: 10485760 bytes, "
		  "Actual: 103300009 bytes.",
		  { .limit = 10485760 } },
		{ "ERR max key size exceeded. Limit: 9 bytes, Actual: 10",
		  { .limit = 9 } },
		{ "ERR max request size exceeded", { 0 } },
		{ "ERR max request size exceeded. Limit: ", { 0 } },
		{ "ERR max request size exceeded. Limit: many bytes", { 0 } },
		{ "ERR max request size exceeded. Limit: -5 bytes", { 0 } },
		{ "Limit: 7", { .limit = 7 } },
		{ "upstream failure", { .upstream = true } },
		{ "ERR no upstream host", { .upstream = true } },
		{ "ERR Connection timed out", { .upstream = true } },
		{ "Connection refused", { .upstream = true } },
		{ "Connection reset by peer", { .upstream = true } },
		{ "Host is down", { .upstream = true } },
		{ "No route to host", { .upstream = true } },
		{ "finished with 2 error(s)", { .in_part = true } },
		{ "ERR finished with 12 error(s)", { .in_part = true } },
		{ "finished with joy", { 0 } },
		/* The server itself says that it ran nothing. */
		{ "CLUSTERDOWN Hash slot not served", { .uncovered = true } },
		{ "ERR CLUSTERDOWN Hash slot not served",
		  { .uncovered = true } },
		{ "CLUSTERDOWN Hash slot", { 0 } },
		{ "ERR CLUSTERDOWN The cluster is down", { 0 } },
		{ "TRYAGAIN Multiple keys request", { 0 } },
		{ "LOADING upstream failure", { 0 } },
		{ "OOM command not allowed", { 0 } },
		{ "", { 0 } },
		{ "ERR ", { 0 } },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		const rbi_hints *want = &cases[i].want;
		size_t len = strlen(cases[i].text);
		char *text = exact_copy(cases[i].text, len);
		rbi_hints got = rbi_route_hints(text, len);

		if (got.limit != want->limit ||
		    got.arguments != want->arguments ||
		    got.long_one != want->long_one ||
		    got.upstream != want->upstream ||
		    got.in_part != want->in_part || got.login != want->login ||
		    got.uncovered != want->uncovered)
			fail_msg("\"%s\"", cases[i].text);
		free(text);
	}
}

static void test_no_limit_wraps(void **state)
{
	static const struct {
		const char *text;
		size_t want;
	} cases[] = {
		{ "Limit: 0", 0 },
		{ "Limit: 00012", 12 },
		{ "Limit: 4294967296 bytes", (size_t)4294967296u },
		{ "Limit: 1844674407370955160",
		  SIZE_MAX > UINT32_MAX ? (size_t)1844674407370955160u : 0 },
		{ "Limit: 18446744073709551616", 0 },
		{ "Limit: 99999999999999999999", 0 },
		{ "Limit: 999999999999999999999999999999999999999", 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		assert_int_equal(
			rbi_route_hints(cases[i].text, strlen(cases[i].text))
				.limit,
			cases[i].want);
}

static void test_no_beginning_of_a_text_is_hinted_beyond(void **state)
{
	static const char whole[] =
		"ERR Protocol error: invalid multibulk length Limit: 123";
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(whole); len++) {
		char *text = exact_copy(whole, len);
		rbi_hints got = rbi_route_hints(text, len);

		assert_int_equal(got.limit, len < 53  ? 0 :
					    len == 53 ? 1 :
					    len == 54 ? 12 :
							123);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_are_routed_by_their_first_words),
		cmocka_unit_test(test_no_beginning_of_an_error_reads_beyond_it),
		cmocka_unit_test(test_a_nul_in_an_error_is_a_byte_like_others),
		cmocka_unit_test(test_every_known_error_is_routed),
		cmocka_unit_test(test_what_a_text_says_besides_is_found),
		cmocka_unit_test(test_no_limit_wraps),
		cmocka_unit_test(test_no_beginning_of_a_text_is_hinted_beyond),
	};

	return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}

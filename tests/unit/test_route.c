#include "route.h"
#include "unit.h"

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
		  RBI_ROUTE_FAIL },
		{ "CLUSTERDOWN Hash slot not served", RBI_ROUTE_AGAIN },
		{ "TRYAGAIN Multiple keys request during rehashing of slot",
		  RBI_ROUTE_AGAIN },
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
		{ "MOVED 3999 127.0.0.1:6381", RBI_ROUTE_FAIL },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_are_routed_by_their_first_words),
		cmocka_unit_test(test_no_beginning_of_an_error_reads_beyond_it),
		cmocka_unit_test(test_a_nul_in_an_error_is_a_byte_like_others),
	};

	return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}

/*
 * The frame of the program: which command, --help and --version, and what is
 * said of a command line that is wrong.
 */
#include "spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct wrong {
	const char *name;
	const char *args[6];
	const char *words;
} wrong;

static void run(rbt_spawned *s, const char *const *args)
{
	const char *argv[8] = { rbt_tool() };

	for (size_t i = 0; args[i] != NULL; i++)
		argv[i + 1] = args[i];
	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, s);
}

static void test_a_wrong_command_line_ends_with_2_and_one_hint(void **state)
{
	static const wrong cases[] = {
		{ "no command", { NULL }, "a command is missing" },
		{ "unknown command", { "mgot" }, "unknown command 'mgot'" },
		{ "unknown option", { "del", "--colour" }, "--colour" },
		{ "unknown letter", { "del", "-Z" }, "-Z" },
		{ "no argument", { "del", "-p" }, "-p needs an argument" },
		{ "bad number", { "del", "--window", "two" }, "--window" },
		{ "bad size", { "del", "--reply-bytes", "4T" }, "'4T'" },
		{ "bad time", { "del", "--timeout", "-1" }, "--timeout" },
		{ "port", { "del", "-p", "65536", "k" }, "65535" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rbt_spawned s;

		run(&s, cases[i].args);
		if (s.status != 2 || strstr(s.err, cases[i].words) == NULL)
			fail_msg("%s: %d: %s", cases[i].name, s.status, s.err);
		assert_int_equal(s.outlen, 0);
		assert_non_null(strstr(s.err, "--help"));
		rbt_spawned_free(&s);
	}
}

static void test_help_and_version_go_to_standard_output(void **state)
{
	static const wrong cases[] = {
		{ "help", { "--help" }, "Usage: redisbatch COMMAND" },
		{ "version", { "--version" }, "redisbatch 0." },
		{ "help of a command", { "del", "--help" }, "--chunk-keys=N" },
		{ "version of one", { "touch", "--version" }, "redisbatch 0." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rbt_spawned s;

		run(&s, cases[i].args);
		assert_int_equal(s.status, 0);
		assert_non_null(strstr(s.out, cases[i].words));
		assert_int_equal(s.errlen, 0);
		rbt_spawned_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_wrong_command_line_ends_with_2_and_one_hint),
		cmocka_unit_test(test_help_and_version_go_to_standard_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "command.h"
#include "unit.h"

static rbi_command_kind kind_of(const char *name, const char *second)
{
	const char *argv[] = { name, second };
	const rb_command c = { second != NULL ? 2 : 1, argv, NULL };

	return rbi_command_kind_of(&c);
}

static void test_names_are_known_in_any_case(void **state)
{
	static const struct {
		const char *name, *second;
		rbi_command_kind kind;
	} rows[] = {
		{ "MULTI", NULL, RBI_COMMAND_MULTI },
		{ "multi", NULL, RBI_COMMAND_MULTI },
		{ "mUlTi", "x", RBI_COMMAND_MULTI },
		{ "EXEC", NULL, RBI_COMMAND_END },
		{ "eXeC", NULL, RBI_COMMAND_END },
		{ "discard", NULL, RBI_COMMAND_END },
		{ "SUBSCRIBE", "c", RBI_COMMAND_REFUSED },
		{ "psubscribe", "c", RBI_COMMAND_REFUSED },
		{ "SSubscribe", "c", RBI_COMMAND_REFUSED },
		{ "unsubscribe", NULL, RBI_COMMAND_REFUSED },
		{ "PUNSUBSCRIBE", NULL, RBI_COMMAND_REFUSED },
		{ "sunsubscribe", NULL, RBI_COMMAND_REFUSED },
		{ "Monitor", NULL, RBI_COMMAND_REFUSED },
		{ "SYNC", NULL, RBI_COMMAND_REFUSED },
		{ "psync", "?", RBI_COMMAND_REFUSED },
		{ "CLIENT", "REPLY", RBI_COMMAND_REFUSED },
		{ "client", "reply", RBI_COMMAND_REFUSED },
		{ "quit", NULL, RBI_COMMAND_REFUSED },
		{ "ShutDown", "NOSAVE", RBI_COMMAND_REFUSED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++)
		if (kind_of(rows[i].name, rows[i].second) != rows[i].kind)
			fail_msg("%s is of another kind", rows[i].name);
}

static void test_all_other_names_are_plain(void **state)
{
	static const struct {
		const char *name, *second;
	} rows[] = {
		{ "GET", "SUBSCRIBE" },
		{ "CLIENT", NULL },
		{ "CLIENT", "ID" },
		{ "CLIENT", "REPLYX" },
		{ "CLIENT", "REPL" },
		{ "CLIENTS", "REPLY" },
		{ "MULTIX", NULL },
		{ "MULT", NULL },
		{ "EXECUTE", NULL },
		{ "XEXEC", NULL },
		{ "", NULL },
		{ "S", NULL },
		{ "SUBSCRIBER", "c" },
		{ "PUBSUB", "CHANNELS" },
		{ "WAIT", "1" },
		{ "BLPOP", "k" },
		{ "a name longer than all", NULL },
		{ "\xff\xff\xff\xff", NULL },
		{ "mult\xc9", NULL },
		{ "{{{{", NULL },
		{ "@MULTI", NULL },
		{ "QUI\x54 ", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++)
		if (kind_of(rows[i].name, rows[i].second) != RBI_COMMAND_PLAIN)
			fail_msg("%s is not plain", rows[i].name);
}

static void test_names_end_where_their_length_says(void **state)
{
	static const char *const names[] = { "MULTI", "EXEC", "QUIT" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(names); i++) {
		size_t len = strlen(names[i]);
		char *exact = exact_copy(names[i], len);
		const char *argv[] = { exact };
		size_t cut = len - 1;
		size_t with_nul = len + 1;
		rb_command c = { 1, argv, &len };

		assert_int_not_equal(rbi_command_kind_of(&c),
				     RBI_COMMAND_PLAIN);
		c.argvlen = &cut;
		assert_int_equal(rbi_command_kind_of(&c), RBI_COMMAND_PLAIN);
		argv[0] = names[i];
		c.argvlen = &with_nul;
		assert_int_equal(rbi_command_kind_of(&c), RBI_COMMAND_PLAIN);
		free(exact);
	}
}

static void test_a_name_of_no_bytes_may_be_null(void **state)
{
	const char *argv[] = { NULL };
	const size_t lens[] = { 0 };
	const rb_command c = { 1, argv, lens };

	(void)state;
	assert_int_equal(rbi_command_kind_of(&c), RBI_COMMAND_PLAIN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_known_in_any_case),
		cmocka_unit_test(test_all_other_names_are_plain),
		cmocka_unit_test(test_names_end_where_their_length_says),
		cmocka_unit_test(test_a_name_of_no_bytes_may_be_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

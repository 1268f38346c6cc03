#include "firstkey.h"
#include "unit.h"

#include <stdio.h>

#define WORDS_MAX 16

/* Words between blanks; a word that is '' is empty. */
typedef struct line {
	char text[200];
	const char *argv[WORDS_MAX];
	size_t lens[WORDS_MAX];
	rb_command command;
} line;

static void split(line *l, const char *text)
{
	char *p = l->text;
	int n = 0;

	assert_true(strlen(text) < sizeof(l->text));
	strcpy(l->text, text);
	while (*p != '\0') {
		size_t len = strcspn(p, " ");

		assert_true(n < WORDS_MAX);
		l->argv[n] = p;
		l->lens[n++] = len == 2 && p[0] == '\'' ? 0 : len;
		p += len;
		p += *p == ' ';
	}
	l->command.argc = n;
	l->command.argv = l->argv;
	l->command.argvlen = l->lens;
}

static void want_key(const char *text, const char *want)
{
	rb_slice key = { "untouched", 9 };
	line l;
	bool has;

	split(&l, text);
	has = rbi_first_key(&l.command, &key);
	assert_int_equal(has, key.data != NULL);
	if (has != (want != NULL))
		fail_msg("%s: a key: %d", text, has);
	if (!has) {
		assert_int_equal(key.len, 0);
		return;
	}
	if (key.len != strlen(want) || memcmp(key.data, want, key.len) != 0)
		fail_msg("%s: %.*s", text, (int)key.len, key.data);
}

typedef struct key_case {
	const char *text;
	const char *want; /* NULL: none */
} key_case;

static void check(const key_case *cases, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		want_key(cases[i].text, cases[i].want);
}

static void test_most_commands_begin_with_their_key(void **state)
{
	static const key_case cases[] = {
		{ "GET k", "k" },
		{ "SET k v", "k" },
		{ "get k", "k" },
		{ "HGET k f", "k" },
		{ "HMGET k f g", "k" },
		{ "MGET k l m", "k" },
		{ "MSET k v l w", "k" },
		{ "DEL k", "k" },
		{ "SADD k m", "k" },
		{ "SPUBLISH c m", "c" },
		{ "SSUBSCRIBE c", "c" },
		{ "RENAME a b", "a" },
		{ "ZUNIONSTORE d 2 a b", "d" },
		{ "ZADD k 1 m", "k" },
		{ "SORT k STORE d", "k" },
		{ "GEORADIUS k 1 2 3 m STORE d", "k" },
		{ "WATCH k", "k" },
		{ "RESTORE-ASKING k 0 v", "k" },
		{ "GET", NULL },
		{ "GET ''", "" },
	};

	(void)state;
	check(cases, N_OF(cases));
}

/* Nobody knows better, nor do we of a command that a module has. */
static void test_commands_that_are_not_known_begin_with_theirs(void **state)
{
	static const key_case cases[] = {
		{ "JSON.SET k $ 1", "k" },
		{ "X k", "k" },
		{ "LONGERTHANANYTHING k", "k" },
		{ "EVALX k l", "k" },
		{ "EVA k", "k" },
		{ "PIN k", "k" },
		{ "PONG k", "k" },
		{ "_ING k", "k" },
		{ "P_NG k", "k" },
		{ "0123 k", "k" },
		{ "{}~| k", "k" },
		{ "'' k", "k" },
		{ "X", NULL },
		{ "''", NULL },
	};

	(void)state;
	check(cases, N_OF(cases));
}

static void test_commands_without_a_key_are_known(void **state)
{
	static const char *const names[] = {
		"ACL",	      "AUTH",	     "ECHO",	     "EXEC",
		"INFO",	      "KEYS",	     "PING",	     "QUIT",
		"ROLE",	      "SAVE",	     "SCAN",	     "SYNC",
		"TIME",	      "WAIT",	     "DEBUG",	     "HELLO",
		"MULTI",      "PSYNC",	     "RESET",	     "ASKING",
		"BGSAVE",     "CLIENT",	     "CONFIG",	     "DBSIZE",
		"LOLWUT",     "MEMORY",	     "MODULE",	     "PUBSUB",
		"SCRIPT",     "SELECT",	     "SWAPDB",	     "CLUSTER",
		"COMMAND",    "DISCARD",     "FLUSHDB",	     "HOTKEYS",
		"LATENCY",    "MONITOR",     "PUBLISH",	     "SLAVEOF",
		"SLOWLOG",    "UNWATCH",     "WAITAOF",	     "FAILOVER",
		"FLUSHALL",   "FUNCTION",    "LASTSAVE",     "READONLY",
		"REPLCONF",   "SHUTDOWN",    "RANDOMKEY",    "READWRITE",
		"REPLICAOF",  "SUBSCRIBE",   "COMMANDLOG",   "PFSELFTEST",
		"PSUBSCRIBE", "UNSUBSCRIBE", "BGREWRITEAOF", "PUNSUBSCRIBE",
	};
	char text[100];
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < N_OF(names); i++) {
		want_key(names[i], NULL);
		snprintf(text, sizeof(text), "%s 1 2 3 4 5", names[i]);
		want_key(text, NULL);
		for (k = 0; k < strlen(names[i]); k++)
			text[k] = (char)(text[k] + 'a' - 'A');
		want_key(text, NULL);
		/* One letter more is another name. */
		snprintf(text, sizeof(text), "%sS 1", names[i]);
		want_key(text, "1");
	}
}

static void test_a_key_may_be_the_second_argument(void **state)
{
	static const key_case cases[] = {
		{ "OBJECT ENCODING k", "k" },
		{ "object freq k", "k" },
		{ "OBJECT HELP", NULL },
		{ "XGROUP CREATE k g $", "k" },
		{ "XGROUP HELP", NULL },
		{ "XINFO STREAM k FULL", "k" },
		{ "XINFO HELP", NULL },
		{ "BITOP AND d a b", "d" },
		{ "BITOP", NULL },
		{ "PFDEBUG GETREG k", "k" },
		{ "MEMORY USAGE k", "k" },
		{ "memory usage k SAMPLES 5", "k" },
		{ "MEMORY USAGE", NULL },
		{ "MEMORY STATS", NULL },
		{ "MEMORY DOCTOR USAGE k", NULL },
		{ "MEMORY USAGES k", NULL },
		{ "DEBUG OBJECT k", "k" },
		{ "debug Object k", "k" },
		{ "DEBUG OBJECT", NULL },
		{ "DEBUG SLEEP 0", NULL },
		{ "DEBUG", NULL },
	};

	(void)state;
	check(cases, N_OF(cases));
}

static void test_keys_may_be_counted(void **state)
{
	static const key_case cases[] = {
		{ "EVAL script 1 k a", "k" },
		{ "EVAL script 2 k l a", "k" },
		{ "eval script 10 k", "k" },
		{ "EVAL script 01 k", "k" },
		{ "EVALSHA hash 1 k", "k" },
		{ "EVAL_RO script 1 k", "k" },
		{ "eval_ro script 1 k", "k" },
		{ "EVALSHA_RO hash 1 k", "k" },
		{ "FCALL f 1 k", "k" },
		{ "FCALL_RO f 1 k", "k" },
		{ "EVAL script 0 a", NULL },
		{ "EVAL script 00 a", NULL },
		{ "EVAL script '' a", NULL },
		{ "EVAL script x a", NULL },
		{ "EVAL script 1x a", NULL },
		{ "EVAL script -1 a", NULL },
		{ "EVAL script +1 a", NULL },
		{ "EVAL script 1", NULL },
		{ "EVAL script", NULL },
		{ "EVAL", NULL },
		{ "FCALL f 0", NULL },
		{ "ZUNION 2 k l", "k" },
		{ "ZINTER 2 k l WITHSCORES", "k" },
		{ "ZDIFF 1 k", "k" },
		{ "ZINTERCARD 2 k l", "k" },
		{ "SINTERCARD 2 k l LIMIT 1", "k" },
		{ "ZMPOP 1 k MIN", "k" },
		{ "LMPOP 1 k LEFT", "k" },
		{ "MSETEX 1 k v EX 10", "k" },
		{ "ZUNION 0 k", NULL },
		{ "ZUNION k", NULL },
		{ "ZUNION 1", NULL },
		{ "BLMPOP 0 1 k LEFT", "k" },
		{ "BZMPOP 1.5 2 k l MIN", "k" },
		{ "BLMPOP 5 0 k LEFT", NULL },
	};

	(void)state;
	check(cases, N_OF(cases));
}

static void test_keys_of_streams_are_behind_a_word(void **state)
{
	static const key_case cases[] = {
		{ "XREAD STREAMS k 0", "k" },
		{ "XREAD COUNT 2 BLOCK 0 STREAMS k l 0 0", "k" },
		{ "xread count 2 streams k 0", "k" },
		{ "XREAD STREAMS STREAMS 0", "STREAMS" },
		{ "XREAD COUNT 2", NULL },
		{ "XREAD STREAMS", NULL },
		{ "XREAD", NULL },
		{ "XREADGROUP GROUP g c STREAMS k >", "k" },
		{ "XREADGROUP GROUP g c COUNT 1 NOACK STREAMS k >", "k" },
		/* Names of groups and consumers are no options. */
		{ "XREADGROUP GROUP STREAMS STREAMS STREAMS k >", "k" },
		{ "XREADGROUP GROUP g", NULL },
		{ "XREADGROUP", NULL },
	};

	(void)state;
	check(cases, N_OF(cases));
}

static void test_migrate_has_a_key_or_several(void **state)
{
	static const key_case cases[] = {
		{ "MIGRATE h 7 k 0 10", "k" },
		{ "MIGRATE h 7 k 0 10 COPY REPLACE", "k" },
		{ "migrate h 7 '' 0 10 keys k l", "k" },
		{ "MIGRATE h 7 '' 0 10 COPY AUTH pw KEYS k l", "k" },
		{ "MIGRATE h 7 '' 0 10 AUTH KEYS KEYS k", "k" },
		{ "MIGRATE h 7 '' 0 10 AUTH2 KEYS KEYS KEYS k", "k" },
		{ "MIGRATE h 7 '' 0 10", NULL },
		{ "MIGRATE h 7 '' 0 10 KEYS", NULL },
		{ "MIGRATE h 7 '' 0 10 COPY", NULL },
		{ "MIGRATE h 7", NULL },
		{ "MIGRATE", NULL },
	};

	(void)state;
	check(cases, N_OF(cases));
}

static void test_arguments_may_end_with_a_nul(void **state)
{
	static const char *argv[] = { "EVAL", "script", "1", "key" };
	const rb_command c = { 4, argv, NULL };
	rb_slice key;

	(void)state;
	assert_true(rbi_first_key(&c, &key));
	assert_ptr_equal(key.data, argv[3]);
	assert_int_equal(key.len, 3);
}

static void test_a_key_is_bytes_and_may_be_nowhere(void **state)
{
	static const char *argv[] = { "GET", "a\0b" };
	static const char *none[] = { "GET", NULL };
	static const size_t lens[] = { 3, 3 };
	static const size_t no_lens[] = { 3, 0 };
	const rb_command c = { 2, argv, lens };
	const rb_command d = { 2, none, no_lens };
	rb_slice key;

	(void)state;
	assert_true(rbi_first_key(&c, &key));
	assert_int_equal(key.len, 3);
	assert_memory_equal(key.data, "a\0b", 3);
	assert_true(rbi_first_key(&d, &key));
	assert_non_null(key.data);
	assert_int_equal(key.len, 0);
}

/* In blocks of their size, as are the arrays, so that a sanitizer sees a read
 * too far. */
static void check_exact(const char *text, bool want)
{
	const char **argv;
	size_t *lens;
	rb_slice key;
	line l;
	int i;

	split(&l, text);
	argv = malloc((size_t)l.command.argc * sizeof(*argv));
	lens = malloc((size_t)l.command.argc * sizeof(*lens));
	assert_true(argv && lens);
	for (i = 0; i < l.command.argc; i++) {
		lens[i] = l.lens[i];
		argv[i] = exact_copy(l.argv[i], l.lens[i]);
	}
	l.command.argv = argv;
	l.command.argvlen = lens;
	assert_int_equal(rbi_first_key(&l.command, &key), want);
	if (want)
		assert_memory_equal(key.data, "k", 1);
	for (i = 0; i < l.command.argc; i++)
		free((void *)argv[i]);
	free(argv);
	free(lens);
}

static void test_nothing_behind_an_argument_is_read(void **state)
{
	static const char *const without[] = {
		"G",
		"''",
		"EVAL",
		"EVAL s",
		"EVAL s 1",
		"XREAD",
		"XREAD COUNT",
		"XREADGROUP",
		"DEBUG",
		"DEBUG OBJEC",
		"DEBUG OBJECT",
		"MEMORY",
		"MIGRATE",
		"MIGRATE h 7",
		"OBJECT",
		"BLMPOP 0",
		"MIGRATE h 7 '' 0 10 AUTH",
		"MIGRATE h 7 '' 0 10 AUTH2",
		"MIGRATE h 7 '' 0 10 KEYS",
		"XREAD STREAMS",
	};
	static const char *const with[] = {
		"G k",
		"EVAL s 1 k",
		"XREAD STREAMS k 0",
		"DEBUG OBJECT k",
		"MIGRATE h 7 k",
		"MIGRATE h 7 '' 0 10 AUTH x KEYS k",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(without); i++)
		check_exact(without[i], false);
	for (i = 0; i < N_OF(with); i++)
		check_exact(with[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_commands_begin_with_their_key),
		cmocka_unit_test(
			test_commands_that_are_not_known_begin_with_theirs),
		cmocka_unit_test(test_commands_without_a_key_are_known),
		cmocka_unit_test(test_a_key_may_be_the_second_argument),
		cmocka_unit_test(test_keys_may_be_counted),
		cmocka_unit_test(test_keys_of_streams_are_behind_a_word),
		cmocka_unit_test(test_migrate_has_a_key_or_several),
		cmocka_unit_test(test_arguments_may_end_with_a_nul),
		cmocka_unit_test(test_a_key_is_bytes_and_may_be_nowhere),
		cmocka_unit_test(test_nothing_behind_an_argument_is_read),
	};

	return cmocka_run_group_tests_name("firstkey", tests, NULL, NULL);
}

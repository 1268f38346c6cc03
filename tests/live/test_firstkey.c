/*
 * Where commands have their first key, against a server that knows its own: by
 * its table of commands, and by its answer to COMMAND GETKEYS.
 */
#include "firstkey.h"
#include "live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS_MAX 16

/* ------------------------------------------------------- COMMAND's table -- */

/* Of an entry: its name, arguments, flags, and where the keys stand. */
enum { NAME, ARITY, FLAGS, FIRST_KEY, SUBCOMMANDS = 9 };

static bool has_flag(const redisReply *entry, const char *flag)
{
	const redisReply *flags = entry->element[FLAGS];
	size_t i;

	for (i = 0; i < flags->elements; i++) {
		if (strcmp(flags->element[i]->str, flag) == 0)
			return true;
	}
	return false;
}

static const redisReply *subcommands(const redisReply *entry)
{
	return entry->elements > SUBCOMMANDS ? entry->element[SUBCOMMANDS] :
					       NULL;
}

/* As few arguments as it takes, but one more than the place of its key. */
static void check_entry(const redisReply *entry)
{
	static const char *const words[WORDS_MAX] = { "0", "1", "2", "3",
						      "4", "5", "6", "7" };
	long long arity = entry->element[ARITY]->integer;
	long long first = entry->element[FIRST_KEY]->integer;
	const char *argv[WORDS_MAX];
	rb_command c = { 0, argv, NULL };
	rb_slice key;
	char name[100];
	char *bar;

	memcpy(argv, words, sizeof(words));
	snprintf(name, sizeof(name), "%s", entry->element[NAME]->str);
	argv[0] = name;
	bar = strchr(name, '|');
	if (bar != NULL) {
		*bar = '\0';
		argv[1] = bar + 1;
	}
	c.argc = (int)(arity < 0 ? -arity : arity);
	if (c.argc <= first)
		c.argc = (int)first + 1;
	assert_in_range(c.argc, 1, 8);
	if (rbi_first_key(&c, &key) != (first > 0))
		fail_msg("%s: a key at %lld", entry->element[NAME]->str, first);
	if (first > 0)
		assert_ptr_equal(key.data, argv[first]);
}

/*
 * A container of other commands is looked at through these. What a module
 * brings along is not ours to know, nor what only a script can say.
 */
static size_t check_entries(const redisReply *list)
{
	size_t checked = 0;
	size_t i;

	for (i = 0; i < list->elements; i++) {
		const redisReply *entry = list->element[i];
		const redisReply *subs = subcommands(entry);

		if (subs != NULL && subs->elements > 0) {
			checked += check_entries(subs);
			continue;
		}
		if (entry->element[FIRST_KEY]->integer == 0 &&
		    has_flag(entry, "movablekeys"))
			continue;
		if (strchr(entry->element[NAME]->str, '.') != NULL)
			continue;
		check_entry(entry);
		checked++;
	}
	return checked;
}

static void test_keys_are_where_the_server_has_them(void **state)
{
	rbt_live *live = rbt_live_use(state);
	redisReply *list = redisCommand(live->admin, "COMMAND");
	size_t checked;

	assert_non_null(list);
	checked = check_entries(list);
	freeReplyObject(list);
	assert_true(checked > 200);
}

/* ------------------------------------------------------ COMMAND GETKEYS -- */

/* Words between blanks; '' is an empty one. */
static const char *const commands[] = {
	"GET k",
	"MSET k v l w",
	"BITOP AND d a b",
	"OBJECT ENCODING k",
	"MEMORY USAGE k",
	"XGROUP CREATE k g $",
	"XINFO STREAM k",
	"RENAME a b",
	"SORT k BY w GET # STORE d",
	"SORT_RO k",
	"GEORADIUS k 1 2 3 m STORE d",
	"GEORADIUSBYMEMBER k m 3 m STORE d",
	"ZUNIONSTORE d 2 a b",
	"ZINTERSTORE d 2 a b",
	"ZDIFFSTORE d 2 a b",
	"EVAL script 2 k l a",
	"EVAL script 0 a",
	"EVAL script x a",
	"EVAL script -1 a",
	"EVALSHA hash 1 k",
	"EVAL_RO script 1 k",
	"EVALSHA_RO hash 1 k a",
	"FCALL f 1 k",
	"FCALL f 0 k",
	"FCALL_RO f 2 k l",
	"ZUNION 2 k l",
	"ZINTER 2 k l WITHSCORES",
	"ZDIFF 2 k l",
	"ZDIFF 0 k",
	"ZINTERCARD 2 k l",
	"SINTERCARD 2 k l LIMIT 1",
	"ZMPOP 2 k l MIN",
	"LMPOP 1 k LEFT",
	"BLMPOP 0 1 k LEFT",
	"BZMPOP 1 2 k l MIN",
	"BLPOP k l 0",
	"XREAD STREAMS k 0",
	"XREAD COUNT 2 BLOCK 0 STREAMS k l 0 0",
	"XREAD STREAMS STREAMS 0",
	"XREADGROUP GROUP g c STREAMS k >",
	"XREADGROUP GROUP STREAMS STREAMS STREAMS k >",
	"XREADGROUP GROUP g c COUNT 1 BLOCK 0 NOACK STREAMS k l > >",
	"MIGRATE h 7 k 0 10",
	"MIGRATE h 7 k 0 10 COPY REPLACE",
	"MIGRATE h 7 '' 0 10 KEYS k l",
	"MIGRATE h 7 '' 0 10 COPY AUTH pw KEYS k l",
	"MIGRATE h 7 '' 0 10 AUTH KEYS KEYS k",
	"MIGRATE h 7 '' 0 10 AUTH2 KEYS KEYS KEYS k",
	"PUBLISH c m",
	"PING k",
	"SCAN 0",
};

typedef struct line {
	char text[200];
	const char *argv[WORDS_MAX + 2];
	size_t lens[WORDS_MAX + 2];
	int n;
} line;

/* Behind the two words of the question. */
static void split(line *l, const char *text)
{
	char *p = l->text;

	snprintf(l->text, sizeof(l->text), "%s", text);
	l->argv[0] = "COMMAND";
	l->argv[1] = "GETKEYS";
	l->lens[0] = l->lens[1] = 7;
	l->n = 2;
	while (*p != '\0') {
		size_t len = strcspn(p, " ");

		assert_true(l->n < WORDS_MAX + 2);
		l->argv[l->n] = p;
		l->lens[l->n++] = len == 2 && p[0] == '\'' ? 0 : len;
		p += len;
		p += *p == ' ';
	}
}

/* The answer is a list of keys, or an error where there is none. */
static void check_command(redisContext *ctx, const char *text)
{
	redisReply *reply;
	rb_command c;
	rb_slice key;
	bool has;
	line l;

	split(&l, text);
	reply = redisCommandArgv(ctx, l.n, l.argv, l.lens);
	assert_non_null(reply);
	c.argc = l.n - 2;
	c.argv = l.argv + 2;
	c.argvlen = l.lens + 2;
	has = rbi_first_key(&c, &key);
	if (has != (reply->type == REDIS_REPLY_ARRAY && reply->elements > 0))
		fail_msg("%s: a key: %d", text, has);
	if (has) {
		const redisReply *first = reply->element[0];

		if (key.len != first->len ||
		    memcmp(key.data, first->str, key.len) != 0)
			fail_msg("%s: %.*s", text, (int)key.len, key.data);
	}
	freeReplyObject(reply);
}

static void test_keys_are_those_that_the_server_finds(void **state)
{
	rbt_live *live = rbt_live_use(state);
	size_t i;

	for (i = 0; i < COUNT(commands); i++)
		check_command(live->admin, commands[i]);
}

static bool is_asked_about(const char *name)
{
	size_t len = strlen(name);
	size_t i;
	size_t k;

	for (i = 0; i < COUNT(commands); i++) {
		for (k = 0; k < len; k++) {
			if ((commands[i][k] | 0x20) != (name[k] | 0x20))
				break;
		}
		if (k == len && commands[i][k] == ' ')
			return true;
	}
	return false;
}

/* Those whose keys the first test cannot find in the table. */
static void test_no_command_with_movable_keys_is_forgotten(void **state)
{
	rbt_live *live = rbt_live_use(state);
	redisReply *list = redisCommand(live->admin, "COMMAND");
	size_t i;

	assert_non_null(list);
	for (i = 0; i < list->elements; i++) {
		const redisReply *entry = list->element[i];
		const char *name = entry->element[NAME]->str;

		if (has_flag(entry, "movablekeys") &&
		    strchr(name, '.') == NULL && !is_asked_about(name))
			fail_msg("%s", name);
	}
	freeReplyObject(list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_keys_are_where_the_server_has_them),
		RBT_LIVE(test_keys_are_those_that_the_server_finds),
		RBT_LIVE(test_no_command_with_movable_keys_is_forgotten),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}

#include "firstkey.h"

#include "batch.h"
#include "command.h"

typedef enum rule {
	NO_KEY,
	KEY,	 /* the key is argument at */
	USAGE,	 /* as KEY, where argument 1 is this word */
	OBJECT,	 /* likewise */
	COUNT,	 /* argument at is a number of keys, which follow it */
	STREAMS, /* the key is behind this word, looked for from at on */
	MIGRATE
} rule;

#define LONGEST 12

typedef struct known {
	char name[LONGEST + 1];
	unsigned char rule;
	unsigned char at;
} known;

/* By the length of the name. */
static const known table[] = {
	{ "ACL", NO_KEY, 0 },

	{ "AUTH", NO_KEY, 0 },	       { "ECHO", NO_KEY, 0 },
	{ "EVAL", COUNT, 2 },	       { "EXEC", NO_KEY, 0 },
	{ "INFO", NO_KEY, 0 },	       { "KEYS", NO_KEY, 0 },
	{ "PING", NO_KEY, 0 },	       { "QUIT", NO_KEY, 0 },
	{ "ROLE", NO_KEY, 0 },	       { "SAVE", NO_KEY, 0 },
	{ "SCAN", NO_KEY, 0 },	       { "SYNC", NO_KEY, 0 },
	{ "TIME", NO_KEY, 0 },	       { "WAIT", NO_KEY, 0 },

	{ "BITOP", KEY, 2 },	       { "DEBUG", OBJECT, 2 },
	{ "FCALL", COUNT, 2 },	       { "HELLO", NO_KEY, 0 },
	{ "LMPOP", COUNT, 1 },	       { "MULTI", NO_KEY, 0 },
	{ "PSYNC", NO_KEY, 0 },	       { "RESET", NO_KEY, 0 },
	{ "XINFO", KEY, 2 },	       { "XREAD", STREAMS, 1 },
	{ "ZDIFF", COUNT, 1 },	       { "ZMPOP", COUNT, 1 },

	{ "ASKING", NO_KEY, 0 },       { "BGSAVE", NO_KEY, 0 },
	{ "BLMPOP", COUNT, 2 },	       { "BZMPOP", COUNT, 2 },
	{ "CLIENT", NO_KEY, 0 },       { "CONFIG", NO_KEY, 0 },
	{ "DBSIZE", NO_KEY, 0 },       { "LOLWUT", NO_KEY, 0 },
	{ "MEMORY", USAGE, 2 },	       { "MODULE", NO_KEY, 0 },
	{ "MSETEX", COUNT, 1 },	       { "OBJECT", KEY, 2 },
	{ "PUBSUB", NO_KEY, 0 },       { "SCRIPT", NO_KEY, 0 },
	{ "SELECT", NO_KEY, 0 },       { "SWAPDB", NO_KEY, 0 },
	{ "XGROUP", KEY, 2 },	       { "ZINTER", COUNT, 1 },
	{ "ZUNION", COUNT, 1 },

	{ "CLUSTER", NO_KEY, 0 },      { "COMMAND", NO_KEY, 0 },
	{ "DISCARD", NO_KEY, 0 },      { "EVALSHA", COUNT, 2 },
	{ "EVAL_RO", COUNT, 2 },       { "FLUSHDB", NO_KEY, 0 },
	{ "HOTKEYS", NO_KEY, 0 },      { "LATENCY", NO_KEY, 0 },
	{ "MIGRATE", MIGRATE, 3 },     { "MONITOR", NO_KEY, 0 },
	{ "PFDEBUG", KEY, 2 },	       { "PUBLISH", NO_KEY, 0 },
	{ "SLAVEOF", NO_KEY, 0 },      { "SLOWLOG", NO_KEY, 0 },
	{ "UNWATCH", NO_KEY, 0 },      { "WAITAOF", NO_KEY, 0 },

	{ "FAILOVER", NO_KEY, 0 },     { "FCALL_RO", COUNT, 2 },
	{ "FLUSHALL", NO_KEY, 0 },     { "FUNCTION", NO_KEY, 0 },
	{ "LASTSAVE", NO_KEY, 0 },     { "READONLY", NO_KEY, 0 },
	{ "REPLCONF", NO_KEY, 0 },     { "SHUTDOWN", NO_KEY, 0 },

	{ "RANDOMKEY", NO_KEY, 0 },    { "READWRITE", NO_KEY, 0 },
	{ "REPLICAOF", NO_KEY, 0 },    { "SUBSCRIBE", NO_KEY, 0 },

	{ "COMMANDLOG", NO_KEY, 0 },   { "EVALSHA_RO", COUNT, 2 },
	{ "PFSELFTEST", NO_KEY, 0 },   { "PSUBSCRIBE", NO_KEY, 0 },
	{ "SINTERCARD", COUNT, 1 },    { "XREADGROUP", STREAMS, 4 },
	{ "ZINTERCARD", COUNT, 1 },

	{ "UNSUBSCRIBE", NO_KEY, 0 },

	{ "BGREWRITEAOF", NO_KEY, 0 }, { "PUNSUBSCRIBE", NO_KEY, 0 },
};

/* Where in the table the names of a length begin, and those of the next. */
static const unsigned char begin_of[LONGEST + 2] = {
	0, 0, 0, 0, 1, 15, 27, 46, 62, 70, 74, 81, 82, 84
};

/* ---------------------------------------------------------------- names -- */

/* Of a letter its bit, whatever its case. Other bytes have one too, and are
 * told from letters later. */
#define L(c) (1u << ((c)&31))

/* The first and the last letters of the names of each length: most other names
 * are told by these alone, and they are asked for in each command. */
static const struct {
	uint32_t first;
	uint32_t last;
} letters[LONGEST + 1] = {
	[3] = { L('A'), L('L') },
	[4] = { L('A') | L('E') | L('I') | L('K') | L('P') | L('Q') | L('R') |
			L('S') | L('T') | L('W'),
		L('C') | L('E') | L('G') | L('H') | L('L') | L('N') | L('O') |
			L('S') | L('T') },
	[5] = { L('B') | L('D') | L('F') | L('H') | L('L') | L('M') | L('P') |
			L('R') | L('X') | L('Z'),
		L('C') | L('D') | L('F') | L('G') | L('I') | L('L') | L('O') |
			L('P') | L('T') },
	[6] = { L('A') | L('B') | L('C') | L('D') | L('L') | L('M') | L('O') |
			L('P') | L('S') | L('X') | L('Z'),
		L('B') | L('E') | L('G') | L('N') | L('P') | L('R') | L('T') |
			L('X') | L('Y') },
	[7] = { L('C') | L('D') | L('E') | L('F') | L('H') | L('L') | L('M') |
			L('P') | L('S') | L('U') | L('W'),
		L('A') | L('B') | L('D') | L('E') | L('F') | L('G') | L('H') |
			L('O') | L('R') | L('S') | L('Y') },
	[8] = { L('F') | L('L') | L('R') | L('S'),
		L('E') | L('F') | L('L') | L('N') | L('O') | L('R') | L('Y') },
	[9] = { L('R') | L('S'), L('E') | L('F') | L('Y') },
	[10] = { L('C') | L('E') | L('P') | L('S') | L('X') | L('Z'),
		 L('D') | L('E') | L('G') | L('O') | L('P') | L('T') },
	[11] = { L('U'), L('E') },
	[12] = { L('B') | L('P'), L('E') | L('F') },
};

static bool may_be_known(const char *name, size_t len)
{
	return len > 0 && len <= LONGEST &&
	       (letters[len].first & L(name[0])) != 0 &&
	       (letters[len].last & L(name[len - 1])) != 0;
}

/* Of a name that may be; NULL: it is not. */
static const known *find(const rb_command *c)
{
	size_t len = rbi_command_arglen(c, 0);
	const known *end = &table[begin_of[len + 1]];
	const known *k = &table[begin_of[len]];
	char last = (char)(c->argv[0][len - 1] & 0xdf);
	char first = (char)(c->argv[0][0] & 0xdf);

	for (; k < end; k++) {
		if (k->name[0] == first && k->name[len - 1] == last &&
		    rbi_command_is(c, 0, k->name))
			return k;
	}
	return NULL;
}

/* ---------------------------------------------------------------- rules -- */

/* Whether argument i is a number above 0; how large it is does not matter. */
static bool is_count(const rb_command *c, size_t i)
{
	size_t len = i < (size_t)c->argc ? rbi_command_arglen(c, i) : 0;
	bool is = false;
	size_t k;

	for (k = 0; k < len; k++) {
		if (c->argv[i][k] < '0' || c->argv[i][k] > '9')
			return false;
		is = is || c->argv[i][k] != '0';
	}
	return is;
}

static bool has_second(const rb_command *c, const char *word)
{
	return c->argc > 1 && rbi_command_is(c, 1, word);
}

/* Behind the first argument from i on that is this word; 0: there is none. */
static size_t behind(const rb_command *c, size_t i, const char *word)
{
	for (; i < (size_t)c->argc; i++) {
		if (rbi_command_is(c, i, word))
			return i + 1;
	}
	return 0;
}

/* MIGRATE host port key db timeout [option]...: instead of an empty key there
 * are several behind the option KEYS, which a password may be spelled like. */
static size_t place_of_migrate(const rb_command *c)
{
	size_t i;

	if (c->argc < 4 || rbi_command_arglen(c, 3) > 0)
		return 3;
	for (i = 6; i < (size_t)c->argc; i++) {
		if (rbi_command_is(c, i, "KEYS"))
			return i + 1;
		if (rbi_command_is(c, i, "AUTH"))
			i += 1;
		else if (rbi_command_is(c, i, "AUTH2"))
			i += 2;
	}
	return 0;
}

/* The argument that is the key, if there is such an argument; 0: none. Not
 * inlined, so that the short way has no registers to save. */
__attribute__((noinline)) static size_t place_of(const rb_command *c)
{
	const known *k = find(c);

	if (k == NULL)
		return 1;
	switch ((rule)k->rule) {
	case NO_KEY:
		break;
	case KEY:
		return k->at;
	case USAGE:
		return has_second(c, "USAGE") ? k->at : 0;
	case OBJECT:
		return has_second(c, "OBJECT") ? k->at : 0;
	case COUNT:
		return is_count(c, k->at) ? k->at + 1u : 0;
	case STREAMS:
		return behind(c, k->at, "STREAMS");
	case MIGRATE:
		return place_of_migrate(c);
	}
	return 0;
}

bool rbi_first_key(const rb_command *c, rb_slice *key)
{
	size_t len = rbi_command_arglen(c, 0);
	size_t i = 1;

	if (RBI_UNLIKELY(may_be_known(c->argv[0], len)))
		i = place_of(c);
	key->data = NULL;
	key->len = 0;
	if (i == 0 || i >= (size_t)c->argc)
		return false;
	key->len = rbi_command_arglen(c, i);
	/* An empty one may have no address. */
	key->data = key->len > 0 ? c->argv[i] : "";
	return true;
}

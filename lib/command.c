#include "command.h"

#include <string.h>

typedef struct known {
	const char *name;
	const char *sub; /* the second argument; NULL: any or none */
	rbi_command_kind kind;
} known;

static const known table[] = {
	{ "MULTI", NULL, RBI_COMMAND_MULTI },
	{ "EXEC", NULL, RBI_COMMAND_END },
	{ "DISCARD", NULL, RBI_COMMAND_END },
	/* Answered several times, or pushed to for ever after. */
	{ "SUBSCRIBE", NULL, RBI_COMMAND_REFUSED },
	{ "PSUBSCRIBE", NULL, RBI_COMMAND_REFUSED },
	{ "SSUBSCRIBE", NULL, RBI_COMMAND_REFUSED },
	{ "UNSUBSCRIBE", NULL, RBI_COMMAND_REFUSED },
	{ "PUNSUBSCRIBE", NULL, RBI_COMMAND_REFUSED },
	{ "SUNSUBSCRIBE", NULL, RBI_COMMAND_REFUSED },
	{ "MONITOR", NULL, RBI_COMMAND_REFUSED },
	{ "SYNC", NULL, RBI_COMMAND_REFUSED },
	{ "PSYNC", NULL, RBI_COMMAND_REFUSED },
	/* Answered never, or the last one. */
	{ "CLIENT", "REPLY", RBI_COMMAND_REFUSED },
	{ "QUIT", NULL, RBI_COMMAND_REFUSED },
	{ "SHUTDOWN", NULL, RBI_COMMAND_REFUSED },
};

/* The lengths of these names, and their first letters. */
#define SHORTEST 4
#define LONGEST 12
#define LETTER(c) (1u << ((c) - 'A'))

static const uint32_t letters = LETTER('C') | LETTER('D') | LETTER('E') |
				LETTER('M') | LETTER('P') | LETTER('Q') |
				LETTER('S') | LETTER('U');

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

bool rbi_command_is(const rb_command *c, size_t i, const char *word)
{
	size_t len = c->argvlen != NULL ? c->argvlen[i] : strlen(c->argv[i]);
	size_t k;

	if (len != strlen(word))
		return false;
	for (k = 0; k < len; k++) {
		if (upper(c->argv[i][k]) != word[k])
			return false;
	}
	return true;
}

/* Most commands can be told by this alone, and it is asked for each. */
static bool may_be_known(const rb_command *c)
{
	size_t len = c->argvlen != NULL ? c->argvlen[0] : strlen(c->argv[0]);
	char first;

	if (len < SHORTEST || len > LONGEST)
		return false;
	first = upper(c->argv[0][0]);
	return first >= 'A' && first <= 'Z' && (letters & LETTER(first)) != 0;
}

rbi_command_kind rbi_command_kind_of(const rb_command *c)
{
	size_t i;

	if (!may_be_known(c))
		return RBI_COMMAND_PLAIN;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!rbi_command_is(c, 0, table[i].name))
			continue;
		if (table[i].sub == NULL ||
		    (c->argc > 1 && rbi_command_is(c, 1, table[i].sub)))
			return table[i].kind;
	}
	return RBI_COMMAND_PLAIN;
}

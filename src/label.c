#include "label.h"

#include <string.h>

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

bool label_is(const rb_command *c, size_t word, const char *name)
{
	size_t len = strlen(name);

	if (word >= (size_t)c->argc || c->argvlen[word] != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (upper(c->argv[word][i]) != name[i])
			return false;
	}
	return true;
}

/* Behind AUTH or AUTH2 among the options of a command. */
static size_t behind_auth(const rb_command *c, size_t from)
{
	while (from < (size_t)c->argc && !label_is(c, from, "AUTH") &&
	       !label_is(c, from, "AUTH2"))
		from++;
	return from + 1;
}

static size_t behind_secret_setting(const rb_command *c)
{
	static const char *const secrets[] = { "REQUIREPASS", "MASTERAUTH",
					       "PRIMARYAUTH",
					       "TLS-KEY-FILE-PASS" };

	for (size_t i = 2; i + 1 < (size_t)c->argc; i += 2) {
		for (size_t k = 0; k < sizeof(secrets) / sizeof(secrets[0]);
		     k++) {
			if (label_is(c, i, secrets[k]))
				return i + 1;
		}
	}
	return (size_t)c->argc;
}

/* From which word on a command is not to be shown. */
static size_t first_secret(const rb_command *c)
{
	if (label_is(c, 0, "AUTH"))
		return 1;
	if (label_is(c, 0, "HELLO"))
		return behind_auth(c, 1);
	if (label_is(c, 0, "MIGRATE"))
		return behind_auth(c, 6);
	if (label_is(c, 0, "ACL") && label_is(c, 1, "SETUSER"))
		return 3;
	if (label_is(c, 0, "CONFIG") && label_is(c, 1, "SET"))
		return behind_secret_setting(c);
	return (size_t)c->argc;
}

static size_t add(char *label, size_t used, const char *data, size_t len)
{
	size_t room = LABEL_SIZE - used;

	if (len > room)
		len = room;
	memcpy(label + used, data, len);
	return used + len;
}

rb_slice label_make(const rb_command *c, char label[LABEL_SIZE])
{
	static const char hidden[] = " (hidden)";
	size_t n = (size_t)c->argc;
	size_t end = first_secret(c);
	size_t used = 0;

	for (size_t i = 0; i < n && i < end && used < LABEL_SIZE; i++) {
		if (i > 0)
			used = add(label, used, " ", 1);
		used = add(label, used, c->argv[i], c->argvlen[i]);
	}
	if (end < n)
		used = add(label, used, hidden, sizeof(hidden) - 1);
	return (rb_slice){ label, used };
}

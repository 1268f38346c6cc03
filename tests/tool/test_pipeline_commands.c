/*
 * What is known of commands before they are sent: how a message names them, and
 * which are not for a pipeline.
 */
#include "label.h"
#include "refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { WORDS = 10 };

typedef struct spoken {
	const char *words[WORDS];
	const char *want;
} spoken;

static rb_command command_of(const char *const *text, size_t *lens)
{
	rb_command c = { 0, (const char **)(uintptr_t)text, lens };

	for (; c.argc < WORDS && text[c.argc] != NULL; c.argc++)
		lens[c.argc] = strlen(text[c.argc]);
	return c;
}

static void test_a_label_has_the_words_but_no_secrets(void **state)
{
	static const spoken cases[] = {
		{ { "GET", "a" }, "GET a" },
		{ { "AUTH", "pw" }, "AUTH (hidden)" },
		{ { "auth", "user", "pw" }, "auth (hidden)" },
		{ { "HELLO", "3", "AUTH", "u", "pw", "SETNAME", "x" },
		  "HELLO 3 AUTH (hidden)" },
		{ { "HELLO", "3" }, "HELLO 3" },
		{ { "ACL", "SETUSER", "u", "on", ">pw" },
		  "ACL SETUSER u (hidden)" },
		{ { "ACL", "LIST" }, "ACL LIST" },
		{ { "CONFIG", "SET", "save", "", "requirepass", "pw" },
		  "CONFIG SET save  requirepass (hidden)" },
		{ { "CONFIG", "SET", "masterauth", "pw" },
		  "CONFIG SET masterauth (hidden)" },
		{ { "CONFIG", "SET", "maxmemory", "1" },
		  "CONFIG SET maxmemory 1" },
		{ { "MIGRATE", "h", "1", "k", "0", "9", "AUTH2", "u", "pw" },
		  "MIGRATE h 1 k 0 9 AUTH2 (hidden)" },
		{ { "SET", "AUTH", "v" }, "SET AUTH v" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char label[LABEL_SIZE];
		size_t lens[WORDS];
		rb_command c = command_of(cases[i].words, lens);
		rb_slice made = label_make(&c, label);

		if (made.len != strlen(cases[i].want) ||
		    memcmp(made.data, cases[i].want, made.len) != 0)
			fail_msg("'%.*s' is not '%s'", (int)made.len, made.data,
				 cases[i].want);
	}
}

static void test_a_long_command_is_cut(void **state)
{
	char word[4 * LABEL_SIZE];
	const char *words[] = { "SET", word, word, NULL };
	char label[LABEL_SIZE];
	size_t lens[WORDS];
	rb_command c;

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	c = command_of(words, lens);
	assert_int_equal(label_make(&c, label).len, LABEL_SIZE);
	assert_memory_equal(label, "SET xxx", 7);
}

static void test_what_does_not_answer_once_is_refused(void **state)
{
	static const spoken cases[] = {
		{ { "SUBSCRIBE", "c" }, "exactly once" },
		{ { "psubscribe", "c" }, "exactly once" },
		{ { "SUNSUBSCRIBE" }, "exactly once" },
		{ { "Monitor" }, "exactly once" },
		{ { "SYNC" }, "exactly once" },
		{ { "PSYNC", "?", "-1" }, "exactly once" },
		{ { "QUIT" }, "exactly once" },
		{ { "SHUTDOWN" }, "exactly once" },
		{ { "CLIENT", "reply", "OFF" }, "exactly once" },
		{ { "CLIENT", "ID" }, NULL },
		{ { "GET", "SUBSCRIBE" }, NULL },
		{ { "EXEC" }, NULL },
		{ { "SET", "k", "1234567890" }, NULL },
		{ { "SET", "k", "12345678901" }, "--max-value" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		refusal r = { .max_word = 10 };
		size_t lens[WORDS];
		rb_command c = command_of(cases[i].words, lens);
		const char *why = refusal_of(&r, &c);

		if ((why == NULL) != (cases[i].want == NULL) ||
		    (why != NULL && strstr(why, cases[i].want) == NULL))
			fail_msg("%s: %s", cases[i].words[0],
				 why == NULL ? "taken" : why);
	}
}

static const char *ask(refusal *r, const char *name)
{
	const char *words[] = { name, NULL };
	size_t lens[WORDS];
	rb_command c = command_of(words, lens);

	return refusal_of(r, &c);
}

static void test_nothing_of_a_refused_multi_is_sent(void **state)
{
	refusal r = { .max_word = 100 };

	(void)state;
	assert_null(ask(&r, "PING"));
	assert_non_null(ask(&r, "multi"));
	assert_non_null(ask(&r, "PING"));
	assert_non_null(ask(&r, "exec"));
	assert_null(ask(&r, "PING"));
	assert_non_null(ask(&r, "MULTI"));
	assert_non_null(ask(&r, "DISCARD"));
	assert_null(ask(&r, "PING"));
}

static void test_a_transaction_has_no_other_inside(void **state)
{
	refusal r = { .transaction = true, .max_word = 100 };

	(void)state;
	assert_non_null(ask(&r, "MULTI"));
	assert_null(ask(&r, "PING"));
	assert_non_null(ask(&r, "EXEC"));
	assert_non_null(ask(&r, "DISCARD"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_label_has_the_words_but_no_secrets),
		cmocka_unit_test(test_a_long_command_is_cut),
		cmocka_unit_test(test_what_does_not_answer_once_is_refused),
		cmocka_unit_test(test_nothing_of_a_refused_multi_is_sent),
		cmocka_unit_test(test_a_transaction_has_no_other_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void rbt_commands_init(rbt_commands *c)
{
	memset(c, 0, sizeof(*c));
}

void rbt_commands_fini(rbt_commands *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free((void *)(uintptr_t)c->list[i].argv[0]);
		free(c->list[i].argv);
	}
	free(c->list);
	memset(c, 0, sizeof(*c));
}

/* Takes text over: argv[0] is its begin. */
static void add_text(rbt_commands *c, char *text)
{
	size_t most = strlen(text) / 2 + 1;
	const char **argv = malloc(most * sizeof(*argv));
	int argc = 0;

	assert_non_null(argv);
	if (c->n == c->cap) {
		c->cap = 2 * c->cap + 16;
		c->list = realloc(c->list, c->cap * sizeof(*c->list));
		assert_non_null(c->list);
	}
	for (char *p = text; p;) {
		argv[argc++] = p;
		p = strchr(p, ' ');
		if (p)
			*p++ = '\0';
	}
	c->list[c->n].argc = argc;
	c->list[c->n].argv = argv;
	c->list[c->n].argvlen = NULL;
	c->n++;
}

void rbt_commands_add(rbt_commands *c, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	assert_true(len > 0);
	text = malloc((size_t)len + 1);
	assert_non_null(text);
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	add_text(c, text);
}

void rbt_commands_lines(rbt_commands *c, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rbt_commands_add(c, "%s", lines[i]);
}

void rbt_pairs_init(rbt_pairs *p, const char *prefix, size_t n, size_t len)
{
	p->n = n;
	assert_true(rbt_keys_init(&p->keys, prefix, n));
	p->values = malloc((n + 1) * sizeof(*p->values));
	p->lens = malloc((n + 1) * sizeof(*p->lens));
	p->bytes = malloc(n * len + 1);
	assert_true(p->values && p->lens && p->bytes);
	for (size_t i = 0; i < n; i++) {
		p->values[i] = p->bytes + i * len;
		p->lens[i] = len;
		rbt_value_fill(p->bytes + i * len, len, i);
	}
}

void rbt_pairs_fini(rbt_pairs *p)
{
	rbt_keys_fini(&p->keys);
	free(p->values);
	free(p->lens);
	free(p->bytes);
	memset(p, 0, sizeof(*p));
}

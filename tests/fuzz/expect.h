/*
 * What a server reads of a chunk, held against the batch that it was cut from:
 * by the decoder of the tests' own peer.
 */
#ifndef RBT_EXPECT_H
#define RBT_EXPECT_H

#include "fuzz.h"
#include "peer_request.h"
#include "plan.h"

/* The arguments of one command, as they are read back one after another. */
typedef struct command {
	const rbt_arg *argv;
	size_t argc;
	size_t next;
} command;

static inline void open_command(rbt_request *r, command *c)
{
	must(rbt_request_next(r, &c->argc, &c->argv) == 1);
	c->next = 0;
}

static inline void expect(command *c, const char *data, size_t len)
{
	must(c->next < c->argc);
	must(c->argv[c->next].len == len);
	must(len == 0 || memcmp(c->argv[c->next].data, data, len) == 0);
	c->next++;
}

static inline void expect_tail(command *c, const rbi_batch *b)
{
	size_t i;

	for (i = 0; i < b->ntail; i++)
		expect(c, b->tail[i].data, b->tail[i].len);
	must(c->next == c->argc);
}

static inline void expect_pair(command *c, const rbi_batch *b, size_t i)
{
	expect(c, b->keys[i], b->keylens[i]);
	if (b->values != NULL)
		expect(c, b->values[i], b->valuelens[i]);
}

static inline void expect_gathered(rbt_request *r, const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	char number[24];
	command c;
	size_t i;

	open_command(r, &c);
	expect(&c, b->command.data, b->command.len);
	if (b->fixed.data != NULL)
		expect(&c, b->fixed.data, b->fixed.len);
	(void)snprintf(number, sizeof(number), "%zu", cut->count);
	if (b->counted)
		expect(&c, number, strlen(number));
	for (i = cut->first; i < cut->first + cut->count; i++)
		expect_pair(&c, b, i);
	expect_tail(&c, b);
}

static inline void expect_each(rbt_request *r, const rbi_batch *b, size_t i)
{
	const rb_command *given = &b->commands[i];
	command c;
	size_t k;

	open_command(r, &c);
	if (b->form == RBI_FORM_EACH) {
		expect(&c, b->command.data, b->command.len);
		expect_pair(&c, b, i);
		expect_tail(&c, b);
		return;
	}
	must(c.argc == (size_t)given->argc);
	for (k = 0; k < c.argc; k++)
		expect(&c, given->argv[k], given->argvlen[k]);
}

static inline void expect_word(rbt_request *r, const char *word)
{
	command c;

	open_command(r, &c);
	must(c.argc == 1);
	expect(&c, word, strlen(word));
}

static inline void expect_chunk(rbt_request *r, const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	size_t argc;
	const rbt_arg *argv;
	size_t i;

	if (b->transaction)
		expect_word(r, "MULTI");
	if (b->form == RBI_FORM_GATHER)
		expect_gathered(r, cut);
	else
		for (i = cut->first; i < cut->first + cut->count; i++)
			expect_each(r, b, i);
	if (b->transaction)
		expect_word(r, "EXEC");
	must(rbt_request_next(r, &argc, &argv) == 0);
}

#endif

/*
 * A played server that keeps what is written to it, and refuses what the test
 * says: for the rig.
 *
 * Keys are six digits, and the value of a key that was never written is the
 * key itself. Values to be written are the numbers of their entries. So each
 * answer can be told from every other, and what was applied last is known.
 */
#ifndef RBT_REFUSER_H
#define RBT_REFUSER_H

#include "rig.h"

#include <stdio.h>

#define REFUSER_MOST 1024
#define REFUSER_WIDTH 6

typedef struct refuser refuser;

/* True: the command is refused, with the words in the reply. */
typedef bool refuser_rule(refuser *f, size_t argc, const rbt_arg *argv,
			  rbt_reply *reply);

struct refuser {
	rig *rig;
	refuser_rule *rule; /* NULL: none */
	const char *words;  /* for the rules below */
	uint64_t until_us;
	size_t limit;
	bool forbidden[REFUSER_MOST];
	size_t refused; /* commands */
	size_t served;
	/* The entry that was applied to each key last, + 1; how often. */
	size_t applied[REFUSER_MOST];
	size_t times[REFUSER_MOST];
	/* How often each entry was applied; how often an earlier one was
	 * applied to a key behind a later one. */
	size_t entry_times[REFUSER_MOST];
	size_t overtaken;
	size_t bytes; /* of the command at hand */
	/* A transaction. */
	bool in_multi;
	bool dirty;
	size_t queued;
	size_t queue[REFUSER_MOST][2];
	char values[REFUSER_MOST][24];
	const char *value_list[REFUSER_MOST];
	size_t value_lens[REFUSER_MOST];
};

static inline size_t refuser_number(const rbt_arg *arg)
{
	size_t n = 0;
	size_t i;

	assert_int_equal(arg->len, REFUSER_WIDTH);
	for (i = 0; i < arg->len; i++) {
		assert_in_range(arg->data[i], '0', '9');
		n = 10 * n + (size_t)(arg->data[i] - '0');
	}
	assert_true(n < REFUSER_MOST);
	return n;
}

/* ----------------------------------------------------------------- rules -- */

static inline bool refuser_says(refuser *f, rbt_reply *reply)
{
	rbt_reply_text(reply, f->words);
	return true;
}

/* Everything, until a time. */
static inline bool refuse_early(refuser *f, size_t argc, const rbt_arg *argv,
				rbt_reply *reply)
{
	(void)argc;
	(void)argv;
	return f->rig->now_us < f->until_us && refuser_says(f, reply);
}

/* Commands with a key that is forbidden. */
static inline bool refuse_keys(refuser *f, size_t argc, const rbt_arg *argv,
			       rbt_reply *reply)
{
	size_t step = f->rig->batch.values != NULL ? 2 : 1;
	size_t i = f->rig->batch.fixed.data != NULL ? 2 : 1;

	for (; i < argc; i += step) {
		if (f->forbidden[refuser_number(&argv[i])])
			return refuser_says(f, reply);
	}
	return false;
}

/* Commands of more bytes, or more arguments, than the limit. */
static inline bool refuse_bytes(refuser *f, size_t argc, const rbt_arg *argv,
				rbt_reply *reply)
{
	(void)argc;
	(void)argv;
	return f->bytes > f->limit && refuser_says(f, reply);
}

static inline bool refuse_arguments(refuser *f, size_t argc,
				    const rbt_arg *argv, rbt_reply *reply)
{
	(void)argv;
	if (argc <= f->limit)
		return false;
	reply->then = RBT_THEN_CLOSE;
	return refuser_says(f, reply);
}

/* Commands that have the argument too long, after which it closes. */
static inline bool refuse_long(refuser *f, size_t argc, const rbt_arg *argv,
			       rbt_reply *reply)
{
	size_t i;

	for (i = 0; i < argc; i++) {
		if (argv[i].len <= f->limit)
			continue;
		reply->then = RBT_THEN_CLOSE;
		return refuser_says(f, reply);
	}
	return false;
}

/* ---------------------------------------------------------------- serving -- */

static inline void refuser_apply(refuser *f, size_t key, size_t value)
{
	f->overtaken += value + 1 < f->applied[key];
	f->entry_times[value]++;
	f->applied[key] = value + 1;
	f->times[key]++;
}

static inline void refuser_write(refuser *f, const rbt_arg *pairs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t key = refuser_number(&pairs[2 * i]);
		size_t value = strtoul(pairs[2 * i + 1].data, NULL, 10);

		if (!f->in_multi) {
			refuser_apply(f, key, value);
			continue;
		}
		f->queue[f->queued][0] = key;
		f->queue[f->queued++][1] = value;
	}
}

static inline void refuser_exec(refuser *f, rbt_reply *reply)
{
	size_t i;

	f->in_multi = false;
	if (f->dirty) {
		rbt_reply_text(reply, "-EXECABORT Transaction discarded "
				      "because of previous errors.\r\n");
		return;
	}
	for (i = 0; i < f->queued; i++)
		refuser_apply(f, f->queue[i][0], f->queue[i][1]);
	rbt_reply_text(reply, "*1\r\n+OK\r\n");
}

static inline bool refuser_is(const rbt_arg *name, const char *word)
{
	return name->len == strlen(word) &&
	       memcmp(name->data, word, name->len) == 0;
}

static inline void refuser_do(refuser *f, size_t argc, const rbt_arg *argv,
			      rbt_reply *reply)
{
	size_t i;

	if (refuser_is(&argv[0], "MULTI")) {
		f->in_multi = true;
		f->dirty = false;
		f->queued = 0;
		rbt_reply_text(reply, "+OK\r\n");
	} else if (refuser_is(&argv[0], "EXEC")) {
		refuser_exec(f, reply);
	} else if (refuser_is(&argv[0], "MGET")) {
		rbt_reply_array(reply, argc - 1);
		for (i = 1; i < argc; i++)
			rbt_reply_bulk(reply, argv[i].data, argv[i].len);
	} else if (refuser_is(&argv[0], "HSET")) {
		refuser_write(f, argv + 2, (argc - 2) / 2);
		rbt_reply_text(reply, ":0\r\n");
	} else {
		assert_true(refuser_is(&argv[0], "MSET") ||
			    refuser_is(&argv[0], "SET"));
		refuser_write(f, argv + 1, (argc - 1) / 2);
		rbt_reply_text(reply, f->in_multi ? "+QUEUED\r\n" : "+OK\r\n");
	}
}

static inline size_t refuser_size(size_t argc, const rbt_arg *argv)
{
	char number[24];
	size_t size = (size_t)sprintf(number, "*%zu\r\n", argc);
	size_t i;

	for (i = 0; i < argc; i++)
		size += (size_t)sprintf(number, "$%zu\r\n", argv[i].len) +
			argv[i].len + 2;
	return size;
}

static inline void refuser_serve(rig *r, size_t argc, const rbt_arg *argv,
				 rbt_reply *reply)
{
	refuser *f = r->server_arg;
	bool frames =
		refuser_is(&argv[0], "MULTI") || refuser_is(&argv[0], "EXEC");

	f->bytes = refuser_size(argc, argv);
	if (f->rule != NULL && !frames && f->rule(f, argc, argv, reply)) {
		f->refused++;
		f->dirty = true;
		return;
	}
	f->served += !frames;
	refuser_do(f, argc, argv, reply);
}

/* ------------------------------------------------------------ the bench -- */

/* A rig of n keys, all in one chunk until the test says otherwise, read from
 * a refuser with this rule. */
static inline void refuser_init(refuser *f, rig *r, size_t n,
				refuser_rule *rule, const char *words)
{
	char digits[24];
	size_t i;

	assert_true(n <= REFUSER_MOST);
	memset(f, 0, sizeof(*f));
	f->rig = r;
	f->rule = rule;
	f->words = words;
	rig_init(r, n, REFUSER_WIDTH);
	for (i = 0; i < n; i++) {
		snprintf(digits, sizeof(digits), "%06zu", i);
		memcpy(r->keys.bytes + i * REFUSER_WIDTH, digits,
		       REFUSER_WIDTH);
	}
	rig_play(r, refuser_serve, f);
	r->batch.reads = true;
	r->options.chunk_keys = n;
	r->engine.seed = 7;
}

/* Makes it a write of all pairs, by MSET unless told otherwise. */
static inline void refuser_writes(refuser *f, const char *name)
{
	rig *r = f->rig;
	size_t i;

	for (i = 0; i < r->batch.n; i++) {
		snprintf(f->values[i], sizeof(f->values[i]), "%zu", i);
		f->value_list[i] = f->values[i];
		f->value_lens[i] = strlen(f->values[i]);
	}
	r->batch.reads = false;
	r->batch.shape = RBI_SHAPE_OK;
	r->batch.command.data = name;
	r->batch.command.len = strlen(name);
	r->batch.values = f->value_list;
	r->batch.valuelens = f->value_lens;
	if (strcmp(name, "HSET") != 0)
		return;
	r->batch.shape = RBI_SHAPE_INTEGER;
	r->batch.fixed.data = "hash";
	r->batch.fixed.len = 4;
}

/* A SET for each pair. */
typedef struct refuser_list {
	rb_command commands[REFUSER_MOST];
	const char *argv[REFUSER_MOST][3];
	size_t lens[REFUSER_MOST][3];
} refuser_list;

/* Makes a batch of writes a pipeline of commands, with the keys as they are by
 * now. */
static inline void refuser_commands(refuser *f, refuser_list *list)
{
	rig *r = f->rig;
	size_t i;

	for (i = 0; i < r->batch.n; i++) {
		list->argv[i][0] = "SET";
		list->argv[i][1] = r->keys.keys[i];
		list->argv[i][2] = f->value_list[i];
		list->lens[i][0] = 3;
		list->lens[i][1] = REFUSER_WIDTH;
		list->lens[i][2] = f->value_lens[i];
		list->commands[i].argc = 3;
		list->commands[i].argv = list->argv[i];
		list->commands[i].argvlen = list->lens[i];
	}
	r->batch.form = RBI_FORM_COMMANDS;
	r->batch.shape = RBI_SHAPE_REPLIES;
	r->batch.commands = list->commands;
}

/* Lets entry i have the key of another. */
static inline void refuser_same_key(refuser *f, size_t i, size_t other)
{
	f->rig->keys.keys[i] = f->rig->keys.keys[other];
}

static inline size_t refuser_key(const refuser *f, size_t i)
{
	rbt_arg arg = { f->rig->keys.keys[i], REFUSER_WIDTH };

	return refuser_number(&arg);
}

/* ----------------------------------------------------------------- looks -- */

/* Entry i was read, or applied. */
static inline void refuser_check_fine(const refuser *f, size_t i)
{
	const rig *r = f->rig;
	rb_slice value = rb_result_value(r->res, i);

	assert_status(rb_result_status(r->res, i), RB_OK);
	assert_outcome(rb_result_outcome(r->res, i), RB_ANSWERED);
	if (r->batch.values != NULL)
		return;
	assert_int_equal(value.len, REFUSER_WIDTH);
	assert_memory_equal(value.data, r->keys.keys[i], REFUSER_WIDTH);
}

/* Entry i was refused with these words, and nothing else. */
static inline void refuser_check_refused(const refuser *f, size_t i,
					 const char *words)
{
	const rig *r = f->rig;

	assert_status(rb_result_status(r->res, i), RB_ERR_SERVER);
	assert_outcome(rb_result_outcome(r->res, i), RB_REJECTED);
	if (strstr(rb_result_message(r->res, i), words) == NULL)
		fail_msg("entry %zu: %s", i, rb_result_message(r->res, i));
}

/* Of every key the last value is that of its last entry that was answered,
 * and nothing was applied that is said not to have been. */
static inline void refuser_check_order(const refuser *f)
{
	size_t last[REFUSER_MOST] = { 0 };
	size_t times[REFUSER_MOST] = { 0 };
	const rig *r = f->rig;
	size_t i;

	for (i = 0; i < r->batch.n; i++) {
		if (rb_result_outcome(r->res, i) != RB_ANSWERED)
			continue;
		last[refuser_key(f, i)] = i + 1;
		times[refuser_key(f, i)]++;
	}
	for (i = 0; i < REFUSER_MOST; i++) {
		if (f->applied[i] != last[i] || f->times[i] != times[i])
			fail_msg("key %zu: entry %zu was applied last, not "
				 "%zu; %zu were, not %zu",
				 i, f->applied[i], last[i], f->times[i],
				 times[i]);
	}
}

#endif

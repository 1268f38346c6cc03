#include "request.h"

/* ------------------------------------------------------ large arguments -- */

/* The large arguments of a cut: how many, and their bytes. */
typedef struct large {
	size_t n;
	size_t bytes;
} large;

static void count_large(large *l, size_t len)
{
	if (len < RBI_OUTBUF_BORROW)
		return;
	l->n++;
	l->bytes += len;
}

static void count_command(large *l, const rb_command *c)
{
	size_t k;

	for (k = 0; k < (size_t)c->argc; k++)
		count_large(l, rbi_command_arglen(c, k));
}

/* What stands in every command is copied, and so never large. */
static bool stands_once(const rbi_cut *cut)
{
	return cut->batch->form == RBI_FORM_GATHER && !rbi_plan_is_grouped(cut);
}

/* Whether none of the strings is large. Lengths of NULL are not known. */
static bool all_small(const size_t *lens, size_t first, size_t count)
{
	size_t bits = 0;
	size_t i;

	if (lens == NULL)
		return false;
	for (i = first; i < first + count; i++)
		bits |= lens[i];
	return bits < RBI_OUTBUF_BORROW;
}

static bool entries_small(const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;

	return b->form != RBI_FORM_COMMANDS &&
	       all_small(b->keylens, cut->first, cut->count) &&
	       (b->values == NULL ||
		all_small(b->valuelens, cut->first, cut->count));
}

/* Only a cut that is large itself can have large arguments. */
static large find_large(const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	large l = { 0, 0 };
	size_t i;

	if (cut->request_bytes < RBI_OUTBUF_BORROW)
		return l;
	if (b->fixed.data != NULL && stands_once(cut))
		count_large(&l, b->fixed.len);
	if (entries_small(cut))
		return l;
	for (i = cut->first; i < cut->first + cut->count; i++) {
		if (b->form == RBI_FORM_COMMANDS) {
			count_command(&l, &b->commands[i]);
			continue;
		}
		count_large(&l, rbi_batch_keylen(b, i));
		if (b->values != NULL)
			count_large(&l, rbi_batch_valuelen(b, i));
	}
	return l;
}

/* ---------------------------------------------------------------- bytes -- */

/* Each of these writes at p, for which there is room, and answers where it
 * stopped. */

static char *append_large(rbi_outbuf *out, char *p, const char *data,
			  size_t len)
{
	p = rbi_encode_number(p, '$', len);
	rbi_outbuf_wrote(out, p);
	rbi_outbuf_borrow(out, data, len);
	*p++ = '\r';
	*p++ = '\n';
	return p;
}

static inline char *append_arg(rbi_outbuf *out, char *p, const char *data,
			       size_t len)
{
	if (RBI_LIKELY(len < RBI_OUTBUF_BORROW))
		return rbi_encode_arg(p, data, len);
	return append_large(out, p, data, len);
}

/* Names, and whatever else is small or stands in many commands. */
static char *append_name(char *p, const rb_slice *name)
{
	return rbi_encode_arg(p, name->data, name->len);
}

static char *append_word(char *p, const char *word)
{
	p = rbi_encode_header(p, 1);
	return rbi_encode_arg(p, word, strlen(word));
}

static char *append_tail(char *p, const rbi_batch *b)
{
	size_t i;

	for (i = 0; i < b->ntail; i++)
		p = rbi_encode_arg(p, b->tail[i].data, b->tail[i].len);
	return p;
}

static char *append_count(char *p, size_t count)
{
	char text[24];
	size_t digits = rbi_encode_digits(count);

	(void)rbi_encode_number(text, '$', count);
	return rbi_encode_arg(p, text + 1, digits);
}

static char *append_pairs(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	size_t i;

	for (i = cut->first; i < cut->first + cut->count; i++) {
		p = append_arg(out, p, b->keys[i], rbi_batch_keylen(b, i));
		p = append_arg(out, p, b->values[i], rbi_batch_valuelen(b, i));
	}
	return p;
}

/* Locals, since each byte written could change the batch for all the compiler
 * knows. */
static char *append_keys(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	const char **key = cut->batch->keys + cut->first;
	const char **end = key + cut->count;
	const size_t *len = cut->batch->keylens;

	if (len == NULL) {
		for (; key < end; key++)
			p = append_arg(out, p, *key, strlen(*key));
		return p;
	}
	for (len += cut->first; key < end; key++, len++)
		p = append_arg(out, p, *key, *len);
	return p;
}

static char *append_entries(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	return cut->batch->values != NULL ? append_pairs(out, p, cut) :
					    append_keys(out, p, cut);
}

static char *append_gathered(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;

	p = rbi_encode_header(p, rbi_batch_fixed_args(b) +
					 cut->count * rbi_batch_entry_args(b));
	p = append_name(p, rbi_plan_name(cut, cut->count));
	if (b->fixed.data != NULL)
		p = stands_once(cut) ?
			    append_arg(out, p, b->fixed.data, b->fixed.len) :
			    append_name(p, &b->fixed);
	if (b->counted)
		p = append_count(p, cut->count);
	return append_tail(append_entries(out, p, cut), b);
}

static char *append_each(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	const rbi_batch *b = cut->batch;
	rbi_cut one = { .batch = b, .count = 1 };
	size_t args = rbi_batch_fixed_args(b) + rbi_batch_entry_args(b);
	size_t i;

	for (i = cut->first; i < cut->first + cut->count; i++) {
		one.first = i;
		p = rbi_encode_header(p, args);
		p = append_name(p, &b->command);
		if (b->fixed.data != NULL)
			p = append_name(p, &b->fixed);
		p = append_tail(append_entries(out, p, &one), b);
	}
	return p;
}

static char *append_commands(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	size_t i;
	size_t k;

	for (i = cut->first; i < cut->first + cut->count; i++) {
		const rb_command *c = &cut->batch->commands[i];

		p = rbi_encode_header(p, (size_t)c->argc);
		for (k = 0; k < (size_t)c->argc; k++)
			p = append_arg(out, p, c->argv[k],
				       rbi_command_arglen(c, k));
	}
	return p;
}

/* What is neither asked for command by command nor in groups. */
static char *append_plain(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	switch (cut->batch->form) {
	case RBI_FORM_GATHER:
		return append_gathered(out, p, cut);
	case RBI_FORM_EACH:
		return append_each(out, p, cut);
	case RBI_FORM_COMMANDS:
		return append_commands(out, p, cut);
	}
	return p;
}

static char *append_body(rbi_outbuf *out, char *p, const rbi_cut *cut)
{
	bool asks = cut->asking && !cut->batch->transaction;
	rbi_cut group = *cut;
	size_t skip = 0;

	if (!asks && !rbi_plan_is_grouped(cut))
		return append_plain(out, p, cut);
	while (skip < cut->count) {
		group.first = cut->first + skip;
		group.count = rbi_plan_group(cut, skip);
		if (asks)
			p = append_word(p, "ASKING");
		p = append_plain(out, p, &group);
		skip += group.count;
	}
	return p;
}

rb_status rbi_request_append(rbi_outbuf *out, const rbi_cut *cut)
{
	large l = find_large(cut);
	char *p = rbi_outbuf_reserve(out, cut->request_bytes - l.bytes, l.n);

	if (p == NULL)
		return RB_ERR_NOMEM;
	if (cut->batch->transaction && cut->asking)
		p = append_word(p, "ASKING");
	if (cut->batch->transaction)
		p = append_word(p, "MULTI");
	p = append_body(out, p, cut);
	if (cut->batch->transaction)
		p = append_word(p, "EXEC");
	rbi_outbuf_wrote(out, p);
	return RB_OK;
}

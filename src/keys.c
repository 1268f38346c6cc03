#include "keys.h"

#include "rest.h"
#include "say.h"
#include "signals.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
	const char *path;
	text *text;
	/* The number of its first entry. A record is an entry, so that the
	 * place of each is known without a list of them. */
	size_t first;
} part;

struct keys {
	char **operands;
	size_t noperands;
	part *parts;
	size_t nparts;
	/* Which part is being read. */
	size_t current;
	scan *scan;
	char delimiter;
	size_t given;
	exits status;
};

keys *keys_new(void)
{
	keys *k = calloc(1, sizeof(*k));

	if (k == NULL)
		say("out of memory");
	return k;
}

void keys_free(keys *k)
{
	if (k == NULL)
		return;
	for (size_t i = 0; i < k->nparts; i++)
		text_close(k->parts[i].text);
	free(k->parts);
	free(k);
}

exits keys_add_file(keys *k, const char *path)
{
	part *parts = realloc(k->parts, (k->nparts + 1) * sizeof(*parts));

	if (parts == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	k->parts = parts;
	parts[k->nparts++] = (part){ .path = path };
	return EXITS_FINE;
}

bool keys_has_files(const keys *k)
{
	return k->nparts > 0;
}

exits keys_open(keys *k, char **operands, size_t noperands, char delimiter)
{
	k->operands = operands;
	k->noperands = noperands;
	k->delimiter = delimiter;
	for (size_t i = 0; i < k->nparts; i++) {
		part *p = &k->parts[i];

		p->text = text_open(p->path, delimiter);
		if (p->text == NULL) {
			say("cannot open '%s': %s", p->path, strerror(errno));
			return EXITS_LOCAL;
		}
	}
	if (k->nparts > 0)
		k->parts[0].first = noperands;
	return EXITS_FINE;
}

void keys_use_scan(keys *k, scan *s)
{
	k->scan = s;
}

static int give(keys *k)
{
	k->given++;
	return 1;
}

/* -1, after it was said what is wrong with the file, unless a signal ended the
 * reading of it. */
static int fail_reading(keys *k, const text *t, text_got got)
{
	if (signals_caught() != 0)
		return -1;
	if (got == TEXT_TOO_LONG)
		say("%s: line %zu: a key of more than 512 MiB", text_name(t),
		    text_line(t) + 1);
	else
		say("cannot read %s: %s", text_name(t), strerror(errno));
	k->status = EXITS_LOCAL;
	return -1;
}

static int next_of_files(keys *k, rb_slice *key)
{
	while (k->current < k->nparts) {
		text *t = k->parts[k->current].text;
		text_got got = text_next(t, key);

		if (got == TEXT_RECORD)
			return give(k);
		if (got != TEXT_END)
			return fail_reading(k, t, got);
		if (++k->current < k->nparts)
			k->parts[k->current].first = k->given;
	}
	return 0;
}

static int next_of_scan(keys *k, rb_slice *key)
{
	int got = scan_next(k->scan, key);

	if (got < 0)
		k->status = scan_status(k->scan);
	return got > 0 ? give(k) : got;
}

int keys_next(void *arg, rb_slice *key)
{
	keys *k = arg;

	if (signals_caught() != 0)
		return -1;
	if (k->scan != NULL)
		return next_of_scan(k, key);
	if (k->given < k->noperands) {
		key->data = k->operands[k->given];
		key->len = strlen(key->data);
		return give(k);
	}
	return next_of_files(k, key);
}

exits keys_status(const keys *k)
{
	return k->status;
}

size_t keys_given(const keys *k)
{
	return k->given;
}

keys_place keys_find(const keys *k, size_t number)
{
	size_t i = k->current < k->nparts ? k->current + 1 : k->nparts;

	if (k->scan != NULL || number < k->noperands)
		return (keys_place){ NULL, 0 };
	while (i > 0 && k->parts[i - 1].first > number)
		i--;
	if (i == 0)
		return (keys_place){ NULL, 0 };
	return (keys_place){ text_name(k->parts[i - 1].text),
			     number - k->parts[i - 1].first + 1 };
}

size_t keys_count(const keys *k)
{
	return k->scan == NULL && k->nparts == 0 ? k->noperands : 0;
}

uint64_t keys_size(const keys *k)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < k->nparts; i++) {
		uint64_t size = text_size(k->parts[i].text);

		if (size == 0)
			return 0;
		sum += size;
	}
	return sum;
}

uint64_t keys_taken(const keys *k)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < k->nparts; i++)
		sum += text_taken(k->parts[i].text);
	return sum;
}

static void keep_operands(const keys *k, report *r)
{
	for (size_t i = k->given; i < k->noperands; i++) {
		const char *key = k->operands[i];

		report_keep(r, (rb_slice){ key, strlen(key) });
		report_keep(r, (rb_slice){ &k->delimiter, 1 });
	}
	if (k->given < k->noperands)
		report_say(r, "%zu keys of the command line were not tried",
			   k->noperands - k->given);
}

void keys_keep_rest(const keys *k, report *r)
{
	if (k->scan != NULL)
		return;
	keep_operands(k, r);
	if (k->current < k->nparts)
		rest_keep(r, k->parts[k->current].path,
			  text_taken(k->parts[k->current].text));
	/* A file may begin with a mark that is no part of a key, so what was
	 * not begun is named alone. */
	for (size_t i = k->current + 1; i < k->nparts; i++)
		report_say(r, "%s was not read", text_name(k->parts[i].text));
}

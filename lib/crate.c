#include "crate.h"

#include "alloc.h"

static bool grow(const rb_allocator *a, void *array, size_t n, size_t size)
{
	void *old;
	void *grown;

	memcpy(&old, array, sizeof(old));
	grown = rbi_alloc_array(a, old, n, size);
	if (grown == NULL)
		return false;
	memcpy(array, &grown, sizeof(grown));
	return true;
}

rbi_crate *rbi_crate_new(const rb_allocator *a, rbi_cargo cargo)
{
	rbi_crate *c = rbi_alloc_zero(a, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->allocator = a;
	c->cargo = cargo;
	return c;
}

void rbi_crate_free(rbi_crate *c)
{
	const rb_allocator *a = c->allocator;
	int k;

	for (k = 0; k < 2; k++) {
		rbi_free(a, c->pointers[k]);
		rbi_free(a, c->lens[k]);
	}
	rbi_free(a, c->bytes);
	rbi_free(a, c->commands);
	rbi_free(a, c->entries);
	rbi_free(a, c->keys);
	rbi_free(a, c->values);
	rbi_free(a, c->replies);
	rbi_free(a, c->statuses);
	rbi_free(a, c);
}

void rbi_crate_clear(rbi_crate *c, const rbi_batch *form)
{
	c->batch = *form;
	c->n = 0;
	c->nbytes = 0;
	c->nstrings[0] = c->nstrings[1] = 0;
}

/* ----------------------------------------------------------------- room -- */

/* Room for one more entry in what this cargo needs. */
static bool reserve_entry(rbi_crate *c)
{
	const rb_allocator *a = c->allocator;
	size_t cap = rbi_max(16, 2 * c->cap);

	if (c->n < c->cap)
		return true;
	if (!grow(a, &c->entries, cap, sizeof(*c->entries)) ||
	    !grow(a, &c->statuses, cap, sizeof(*c->statuses)))
		return false;
	if (c->cargo == RBI_CARGO_KEYS &&
	    (!grow(a, &c->keys, cap, sizeof(*c->keys)) ||
	     !grow(a, &c->values, cap, sizeof(*c->values))))
		return false;
	if (c->cargo == RBI_CARGO_COMMANDS &&
	    (!grow(a, &c->commands, cap, sizeof(*c->commands)) ||
	     !grow(a, &c->replies, cap, sizeof(*c->replies))))
		return false;
	c->cap = cap;
	return true;
}

static bool reserve_string(rbi_crate *c, int k)
{
	const rb_allocator *a = c->allocator;
	size_t cap = rbi_max(16, 2 * c->strings_cap[k]);

	if (c->nstrings[k] < c->strings_cap[k])
		return true;
	if (!grow(a, &c->pointers[k], cap, sizeof(*c->pointers[k])) ||
	    !grow(a, &c->lens[k], cap, sizeof(*c->lens[k])))
		return false;
	c->strings_cap[k] = cap;
	return true;
}

static bool reserve_bytes(rbi_crate *c, size_t len)
{
	size_t cap = rbi_max(1024, c->bytes_cap);

	if (c->bytes != NULL && c->bytes_cap - c->nbytes >= len)
		return true;
	while (cap - c->nbytes < len) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	if (!grow(c->allocator, &c->bytes, cap, 1))
		return false;
	c->bytes_cap = cap;
	return true;
}

/* -------------------------------------------------------------- filling -- */

static bool add_string(rbi_crate *c, int k, const char *data, size_t len)
{
	if (!reserve_string(c, k) || !reserve_bytes(c, len))
		return false;
	if (len > 0)
		memcpy(c->bytes + c->nbytes, data, len);
	c->nbytes += len;
	c->lens[k][c->nstrings[k]++] = len;
	return true;
}

static bool add_command(rbi_crate *c, const rb_command *command)
{
	size_t k;

	c->commands[c->n].argc = command->argc;
	for (k = 0; k < (size_t)command->argc; k++) {
		if (!add_string(c, 0, command->argv[k],
				rbi_command_arglen(command, k)))
			return false;
	}
	return true;
}

static bool add_strings(rbi_crate *c, const rbi_batch *item)
{
	switch (c->cargo) {
	case RBI_CARGO_COMMANDS:
		return add_command(c, &item->commands[0]);
	case RBI_CARGO_PAIRS:
		return add_string(c, 0, item->keys[0],
				  rbi_batch_keylen(item, 0)) &&
		       add_string(c, 1, item->values[0],
				  rbi_batch_valuelen(item, 0));
	case RBI_CARGO_KEYS:
		break;
	}
	return add_string(c, 0, item->keys[0], rbi_batch_keylen(item, 0));
}

bool rbi_crate_add(rbi_crate *c, const rbi_batch *item)
{
	const size_t nbytes = c->nbytes;
	const size_t nstrings[2] = { c->nstrings[0], c->nstrings[1] };

	if (!reserve_entry(c))
		return false;
	if (!add_strings(c, item)) {
		c->nbytes = nbytes;
		c->nstrings[0] = nstrings[0];
		c->nstrings[1] = nstrings[1];
		return false;
	}
	rbi_entry_set(&c->entries[c->n], RBI_STATE_UNSET, NULL, 0);
	c->n++;
	return true;
}

static void point_at_arguments(rbi_crate *c)
{
	size_t argument = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		c->commands[i].argv = c->pointers[0] + argument;
		c->commands[i].argvlen = c->lens[0] + argument;
		argument += (size_t)c->commands[i].argc;
	}
	c->batch.commands = c->commands;
}

void rbi_crate_close(rbi_crate *c)
{
	bool pairs = c->cargo == RBI_CARGO_PAIRS;
	const char *at = c->bytes;
	size_t i;

	for (i = 0; i < c->nstrings[0]; i++) {
		c->pointers[0][i] = at;
		at += c->lens[0][i];
		if (!pairs)
			continue;
		c->pointers[1][i] = at;
		at += c->lens[1][i];
	}
	c->batch.n = c->n;
	if (c->cargo == RBI_CARGO_COMMANDS) {
		point_at_arguments(c);
		return;
	}
	c->batch.keys = c->pointers[0];
	c->batch.keylens = c->lens[0];
	c->batch.values = pairs ? c->pointers[1] : NULL;
	c->batch.valuelens = pairs ? c->lens[1] : NULL;
}

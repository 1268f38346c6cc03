#include "overlap.h"

#include "alloc.h"
#include "firstkey.h"

/* FNV-1a. */
static size_t hash(const char *data, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (unsigned char)data[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

/* Where the key stands in the table, or the free place where it would. */
static rb_slice *place(rb_slice *table, size_t cap, const char *key, size_t len)
{
	size_t i = hash(key, len) & (cap - 1);

	while (table[i].data != NULL &&
	       (table[i].len != len || memcmp(table[i].data, key, len) != 0))
		i = (i + 1) & (cap - 1);
	return &table[i];
}

/* An empty key may have no address. */
static const char *address(const rbi_batch *b, size_t i)
{
	return b->keys[i] != NULL ? b->keys[i] : "";
}

static void put_keys(rb_slice *table, size_t cap, const rbi_cut *cut)
{
	size_t i;

	for (i = cut->first; i < cut->first + cut->count; i++) {
		const char *key = address(cut->batch, i);
		size_t len = rbi_batch_keylen(cut->batch, i);
		rb_slice *slot = place(table, cap, key, len);

		slot->data = key;
		slot->len = len;
	}
}

static bool has_any(rb_slice *table, size_t cap, const rbi_cut *cut)
{
	size_t i;

	for (i = cut->first; i < cut->first + cut->count; i++) {
		const char *key = address(cut->batch, i);
		size_t len = rbi_batch_keylen(cut->batch, i);

		if (place(table, cap, key, len)->data != NULL)
			return true;
	}
	return false;
}

/* Whether a command has the key among its arguments. What is no key may look
 * like it, which does no harm. */
static bool mentions(const rb_command *c, const rb_slice *key)
{
	size_t i;

	for (i = 1; i < (size_t)c->argc; i++) {
		if (rbi_command_arglen(c, i) == key->len &&
		    (key->len == 0 ||
		     memcmp(c->argv[i], key->data, key->len) == 0))
			return true;
	}
	return false;
}

/* Whether two commands are of the same key. One without a key is of none. */
static bool same_key(const rb_command *one, const rb_command *two)
{
	rb_slice first;
	rb_slice second;

	return rbi_first_key(one, &first) && rbi_first_key(two, &second) &&
	       (mentions(two, &first) || mentions(one, &second));
}

/* Of commands it is not known which of their arguments are keys, but for the
 * first. */
static bool commands_overlap(const rbi_cut *one, const rbi_cut *two)
{
	const rb_command *a = &one->batch->commands[one->first];
	const rb_command *b = &two->batch->commands[two->first];
	size_t i;
	size_t k;

	for (i = 0; i < one->count; i++) {
		for (k = 0; k < two->count; k++) {
			if (same_key(&a[i], &b[k]))
				return true;
		}
	}
	return false;
}

bool rbi_overlap(const rb_allocator *a, const rbi_cut *one, const rbi_cut *two)
{
	size_t cap = 16;
	rb_slice *table;
	bool found;

	/* Reads change nothing, and a key that was removed stays so. Where all
	 * commands go the same way, they are not looked into. */
	if (one->batch->form == RBI_FORM_COMMANDS)
		return !one->batch->clustered || commands_overlap(one, two);
	if (one->batch->values == NULL)
		return false;
	while (cap < 2 * one->count)
		cap *= 2;
	if (cap > SIZE_MAX / sizeof(*table))
		return true;
	table = rbi_alloc_zero(a, cap * sizeof(*table));
	if (table == NULL)
		return true;
	put_keys(table, cap, one);
	found = has_any(table, cap, two);
	rbi_free(a, table);
	return found;
}

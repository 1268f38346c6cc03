#include "block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *array(size_t size)
{
	return calloc(BLOCK_RECORDS, size);
}

block *block_new(void)
{
	block *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->keys = array(sizeof(*b->keys));
	b->keylens = array(sizeof(*b->keylens));
	b->values = array(sizeof(*b->values));
	b->valuelens = array(sizeof(*b->valuelens));
	b->origins = array(sizeof(*b->origins));
	if (b->keys == NULL || b->keylens == NULL || b->values == NULL ||
	    b->valuelens == NULL || b->origins == NULL) {
		block_free(b);
		return NULL;
	}
	return b;
}

void block_free(block *b)
{
	if (b == NULL)
		return;
	free(b->keys);
	free(b->keylens);
	free(b->values);
	free(b->valuelens);
	free(b->origins);
	free(b->data);
	free(b);
}

/* Whether a part of a record stands in it as it is. */
static bool is_within(const rb_slice *part, const rb_slice *record)
{
	uintptr_t at = (uintptr_t)part->data;
	uintptr_t start = (uintptr_t)record->data;

	return record->data != NULL && at >= start &&
	       at + part->len <= start + record->len;
}

static size_t bytes_beside(const rb_slice *part, const rb_slice *record)
{
	return is_within(part, record) ? 0 : part->len;
}

static char *put(block *b, rb_slice bytes)
{
	char *at = b->data + b->used;

	if (bytes.len > 0)
		memcpy(at, bytes.data, bytes.len);
	b->used += bytes.len;
	return at;
}

static const char *put_part(block *b, const rb_slice *part, const pair *p,
			    const char *record)
{
	if (is_within(part, &p->record))
		return record + (part->data - p->record.data);
	return put(b, *part);
}

static block_added make_room(block *b, size_t need)
{
	size_t capacity = need > BLOCK_BYTES ? need : BLOCK_BYTES;

	if (b->n == BLOCK_RECORDS || (b->n > 0 && need > b->capacity - b->used))
		return BLOCK_FULL;
	if (need <= b->capacity - b->used)
		return BLOCK_ADDED;
	free(b->data);
	b->data = malloc(capacity);
	b->capacity = b->data == NULL ? 0 : capacity;
	return b->data == NULL ? BLOCK_NOMEM : BLOCK_ADDED;
}

static const char *put_record(block *b, const pair *p, block_origin *origin)
{
	static const rb_slice newline = { "\n", 1 };
	const char *record;

	*origin = (block_origin){ .file = p->file, .line = p->line };
	if (p->record.data == NULL)
		return NULL;
	record = put(b, p->record);
	put(b, newline);
	origin->record = (rb_slice){ record, p->record.len + newline.len };
	return record;
}

block_added block_add(block *b, const pair *p)
{
	size_t need = p->record.len + 1 + bytes_beside(&p->key, &p->record) +
		      bytes_beside(&p->value, &p->record);
	block_added added = make_room(b, need);
	size_t i = b->n;
	const char *record;

	if (added != BLOCK_ADDED)
		return added;
	record = put_record(b, p, &b->origins[i]);
	b->keys[i] = put_part(b, &p->key, p, record);
	b->keylens[i] = p->key.len;
	b->values[i] = put_part(b, &p->value, p, record);
	b->valuelens[i] = p->value.len;
	b->n++;
	return BLOCK_ADDED;
}

void block_clear(block *b)
{
	b->n = 0;
	b->used = 0;
	if (b->capacity > BLOCK_BYTES) {
		free(b->data);
		b->data = NULL;
		b->capacity = 0;
	}
}

#include "outbuf.h"

#include "alloc.h"

#include <string.h>

#define OUTBUF_MIN ((size_t)1024)

void rbi_outbuf_init(rbi_outbuf *o, const rb_allocator *allocator)
{
	memset(o, 0, sizeof(*o));
	o->allocator = allocator;
}

void rbi_outbuf_fini(rbi_outbuf *o)
{
	rbi_free(o->allocator, o->bytes);
	rbi_free(o->allocator, o->borrows);
	rbi_outbuf_init(o, o->allocator);
}

void rbi_outbuf_clear(rbi_outbuf *o)
{
	o->head = o->tail = 0;
	o->first = o->nborrows = 0;
	o->pending = 0;
}

/* Moves what waits to the front, so that the room in front is not lost. */
static void compact(rbi_outbuf *o)
{
	size_t i;

	if (o->head == 0)
		return;
	memmove(o->bytes, o->bytes + o->head, o->tail - o->head);
	for (i = o->first; i < o->nborrows; i++) {
		o->borrows[i - o->first] = o->borrows[i];
		o->borrows[i - o->first].position -= o->head;
	}
	o->nborrows -= o->first;
	o->first = 0;
	o->tail -= o->head;
	o->head = 0;
}

static bool reserve_own(rbi_outbuf *o, size_t own)
{
	size_t cap = rbi_max(o->cap, OUTBUF_MIN);
	char *bytes;

	if (o->cap - o->tail >= own)
		return true;
	compact(o);
	if (o->cap - o->tail >= own)
		return true;
	if (own > SIZE_MAX / 2 - o->tail)
		return false;
	while (cap < o->tail + own)
		cap *= 2;
	bytes = rbi_alloc_array(o->allocator, o->bytes, cap, 1);
	if (bytes == NULL)
		return false;
	o->bytes = bytes;
	o->cap = cap;
	return true;
}

static bool reserve_borrows(rbi_outbuf *o, size_t n)
{
	rbi_borrow *borrows;
	size_t cap;

	if (o->borrow_cap - o->nborrows >= n)
		return true;
	if (n > SIZE_MAX / 2 - o->nborrows)
		return false;
	cap = rbi_max(2 * o->borrow_cap, o->nborrows + n);
	borrows = rbi_alloc_array(o->allocator, o->borrows, cap,
				  sizeof(*borrows));
	if (borrows == NULL)
		return false;
	o->borrows = borrows;
	o->borrow_cap = cap;
	return true;
}

char *rbi_outbuf_reserve(rbi_outbuf *o, size_t own, size_t borrows)
{
	if (!reserve_own(o, own) || !reserve_borrows(o, borrows))
		return NULL;
	return o->bytes + o->tail;
}

void rbi_outbuf_wrote(rbi_outbuf *o, const char *end)
{
	size_t tail = (size_t)(end - o->bytes);

	o->pending += tail - o->tail;
	o->tail = tail;
}

void rbi_outbuf_borrow(rbi_outbuf *o, const char *data, size_t len)
{
	rbi_borrow *b = &o->borrows[o->nborrows++];

	b->position = o->tail;
	b->data = data;
	b->len = len;
	o->pending += len;
}

static void put(struct iovec *iov, const char *data, size_t len)
{
	/* The type has no const; the bytes are only read. */
	iov->iov_base = (void *)(uintptr_t)data;
	iov->iov_len = len;
}

int rbi_outbuf_offer(const rbi_outbuf *o, struct iovec *iov, int max)
{
	size_t at = o->head;
	size_t i = o->first;
	int n = 0;

	while (n < max && (at < o->tail || i < o->nborrows)) {
		size_t end = i < o->nborrows ? o->borrows[i].position : o->tail;

		if (at < end) {
			put(&iov[n++], o->bytes + at, end - at);
			at = end;
		} else {
			put(&iov[n++], o->borrows[i].data, o->borrows[i].len);
			i++;
		}
	}
	return n;
}

/* Takes at most n bytes from the first piece; how many. */
static size_t piece_sent(rbi_outbuf *o, size_t n)
{
	rbi_borrow *b = o->first < o->nborrows ? &o->borrows[o->first] : NULL;
	size_t end = b != NULL ? b->position : o->tail;
	size_t took;

	if (o->head < end || b == NULL) {
		took = rbi_min(n, end - o->head);
		o->head += took;
		return took;
	}
	took = rbi_min(n, b->len);
	b->data += took;
	b->len -= took;
	if (b->len == 0)
		o->first++;
	return took;
}

void rbi_outbuf_sent(rbi_outbuf *o, size_t n)
{
	n = rbi_min(n, o->pending);
	o->pending -= n;
	while (n > 0)
		n -= piece_sent(o, n);
	if (o->pending == 0)
		rbi_outbuf_clear(o);
}

#include "slab.h"

#include "alloc.h"

#include <stdalign.h>
#include <string.h>

#define SLAB_MIN ((size_t)8 * 1024)
#define SLAB_MAX ((size_t)4 * 1024 * 1024)

/* A step of warming takes no longer than a system call or two. */
#define WARM_PAGES 8
#define PAGE ((size_t)4096)

void rbi_slabs_init(rbi_slabs *s, const rb_allocator *allocator)
{
	s->allocator = allocator;
	s->newest = NULL;
	s->spare = NULL;
	s->cap = 0;
}

void rbi_slabs_drop_spare(rbi_slabs *s)
{
	rbi_free(s->allocator, s->spare);
	s->spare = NULL;
}

void rbi_slabs_fini(rbi_slabs *s)
{
	rbi_slab *slab = s->newest;

	rbi_slabs_drop_spare(s);
	while (slab != NULL) {
		rbi_slab *next = slab->next;

		rbi_free(s->allocator, slab);
		slab = next;
	}
	s->newest = NULL;
	s->cap = 0;
}

void rbi_slabs_keep_newest(rbi_slabs *s)
{
	rbi_slabs older = { .allocator = s->allocator };

	if (s->newest == NULL)
		return;
	older.newest = s->newest->next;
	rbi_slabs_fini(&older);
	s->newest->next = NULL;
	s->cap = s->newest->cap;
}

void rbi_slabs_reset(rbi_slabs *s)
{
	rbi_slabs_keep_newest(s);
	if (s->newest != NULL)
		s->newest->len = 0;
}

static rbi_slab *slab_new(rbi_slabs *s, size_t at_least)
{
	size_t cap = rbi_min(rbi_max(s->cap, SLAB_MIN), SLAB_MAX);
	rbi_slab *slab;

	cap = rbi_max(cap, at_least);
	if (cap > SIZE_MAX - sizeof(*slab))
		return NULL;
	slab = rbi_alloc(s->allocator, sizeof(*slab) + cap);
	if (slab == NULL)
		return NULL;
	slab->cap = cap;
	slab->len = 0;
	slab->warm = 0;
	slab->next = NULL;
	return slab;
}

static void slab_push(rbi_slabs *s, rbi_slab *slab)
{
	slab->next = s->newest;
	s->newest = slab;
	s->cap = rbi_add_sat(s->cap, slab->cap);
}

/* Frees the slab before the newest one if that has taken over all it held. */
static void drop_emptied(rbi_slabs *s)
{
	rbi_slab *old = s->newest->next;

	if (old == NULL || old->len > 0)
		return;
	s->newest->next = old->next;
	s->cap -= old->cap;
	rbi_free(s->allocator, old);
}

/* The spare one if it is large enough. */
static rbi_slab *next_slab(rbi_slabs *s, size_t at_least)
{
	rbi_slab *slab = s->spare;

	if (slab == NULL || slab->cap < at_least)
		return slab_new(s, at_least);
	s->spare = NULL;
	return slab;
}

rb_status rbi_slabs_extend(rbi_slabs *s, size_t tail, size_t need)
{
	rbi_slab *old = s->newest;
	rbi_slab *slab;

	if (old != NULL && old->cap - old->len >= need)
		return RB_OK;
	slab = next_slab(s, rbi_add_sat(tail, need));
	if (slab == NULL)
		return RB_ERR_NOMEM;
	if (tail > 0) {
		memcpy(slab->bytes, old->bytes + old->len - tail, tail);
		old->len -= tail;
		slab->len = tail;
	}
	slab_push(s, slab);
	drop_emptied(s);
	return RB_OK;
}

/* Touches a few of the pages up to end; false: all are. */
static bool touch(rbi_slab *slab, size_t end)
{
	int pages;

	slab->warm = rbi_max(slab->warm, slab->len);
	for (pages = 0; pages < WARM_PAGES && slab->warm < end; pages++) {
		slab->bytes[slab->warm] = 0;
		slab->warm += rbi_min(PAGE, slab->cap - slab->warm);
	}
	return pages > 0;
}

bool rbi_slabs_warm(rbi_slabs *s, size_t ahead)
{
	rbi_slab *slab = s->newest;
	size_t left;

	if (slab == NULL)
		return false;
	left = slab->cap - slab->len;
	if (touch(slab, slab->len + rbi_min(ahead, left)))
		return true;
	if (ahead <= left)
		return false;
	if (s->spare == NULL)
		s->spare = slab_new(s, 0);
	return s->spare != NULL &&
	       touch(s->spare, rbi_min(ahead - left, s->spare->cap));
}

void *rbi_slabs_take(rbi_slabs *s, size_t size)
{
	size_t align = alignof(max_align_t);
	rbi_slab *slab;
	size_t pad = 0;
	char *ptr;

	if (size > SIZE_MAX - align)
		return NULL;
	if (rbi_slabs_extend(s, 0, size + align) != RB_OK)
		return NULL;
	slab = s->newest;
	ptr = slab->bytes + slab->len;
	if ((uintptr_t)ptr % align != 0)
		pad = align - (uintptr_t)ptr % align;
	slab->len += pad + size;
	return ptr + pad;
}

char *rbi_slabs_copy(rbi_slabs *s, const char *data, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		return NULL;
	copy = rbi_slabs_take(s, len + 1);
	if (copy == NULL)
		return NULL;
	if (len > 0)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

/*
 * Each block begins with its size, in a header as large as the strictest
 * alignment, so that what follows is aligned as malloc's.
 */
#include "count.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef union count_header {
	size_t size;
	max_align_t align;
} count_header;

static int must_fail(rbt_count *count)
{
	count->asked++;
	if (count->fail_at == 0)
		return 0;
	return count->fail_on ? count->asked >= count->fail_at :
				count->asked == count->fail_at;
}

static void count_size(rbt_count *count, size_t before, size_t after)
{
	count->live_bytes += after - before;
	if (count->live_bytes > count->peak_bytes)
		count->peak_bytes = count->live_bytes;
}

static void *count_alloc(void *arg, size_t size)
{
	rbt_count *count = arg;
	count_header *h = NULL;

	if (!must_fail(count) && size <= SIZE_MAX - sizeof(*h))
		h = malloc(sizeof(*h) + size);
	if (!h)
		return NULL;
	h->size = size;
	count->allocs++;
	count->live_blocks++;
	count_size(count, 0, size);
	return h + 1;
}

static void *count_realloc(void *arg, void *ptr, size_t size)
{
	rbt_count *count = arg;
	count_header *h = ptr;
	size_t before;

	if (!ptr)
		return count_alloc(arg, size);
	h--;
	before = h->size;
	if (must_fail(count) || size > SIZE_MAX - sizeof(*h))
		return NULL;
	h = realloc(h, sizeof(*h) + size);
	if (!h)
		return NULL;
	h->size = size;
	count->reallocs++;
	count_size(count, before, size);
	return h + 1;
}

static void count_free(void *arg, void *ptr)
{
	rbt_count *count = arg;
	count_header *h = ptr;

	if (!ptr)
		return;
	h--;
	count->frees++;
	count->live_blocks--;
	count_size(count, h->size, 0);
	free(h);
}

void rbt_count_init(rbt_count *count)
{
	memset(count, 0, sizeof(*count));
	count->allocator.alloc = count_alloc;
	count->allocator.realloc = count_realloc;
	count->allocator.free = count_free;
	count->allocator.arg = count;
}

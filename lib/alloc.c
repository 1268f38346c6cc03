#include "alloc.h"

#include <stdlib.h>
#include <string.h>

static void *default_alloc(void *arg, size_t size)
{
	(void)arg;
	return malloc(size);
}

static void *default_realloc(void *arg, void *ptr, size_t size)
{
	(void)arg;
	return realloc(ptr, size);
}

static void default_free(void *arg, void *ptr)
{
	(void)arg;
	free(ptr);
}

const rb_allocator rbi_alloc_default = {
	.alloc = default_alloc,
	.realloc = default_realloc,
	.free = default_free,
	.arg = NULL,
};

void *rbi_alloc(const rb_allocator *a, size_t size)
{
	return a->alloc(a->arg, size);
}

/* The system's fresh pages are of zeros: calloc() knows, and touches none. */
void *rbi_alloc_zero(const rb_allocator *a, size_t size)
{
	void *ptr;

	if (a->alloc == default_alloc)
		return calloc(1, size);
	ptr = rbi_alloc(a, size);
	if (ptr != NULL)
		memset(ptr, 0, size);
	return ptr;
}

void *rbi_alloc_array(const rb_allocator *a, void *ptr, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size)
		return NULL;
	if (ptr == NULL)
		return a->alloc(a->arg, n * size);
	return a->realloc(a->arg, ptr, n * size);
}

char *rbi_alloc_copy(const rb_allocator *a, const char *data, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		return NULL;
	copy = rbi_alloc(a, len + 1);
	if (copy == NULL)
		return NULL;
	if (len > 0)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

void rbi_free(const rb_allocator *a, void *ptr)
{
	if (ptr != NULL)
		a->free(a->arg, ptr);
}

void rbi_alloc_wipe(void *ptr, size_t len)
{
	volatile unsigned char *p = ptr;

	while (len-- > 0)
		*p++ = 0;
}

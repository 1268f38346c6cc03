/*
 * Memory through the caller's allocator. The one place that knows malloc.
 */
#ifndef RBI_ALLOC_H
#define RBI_ALLOC_H

#include "internal.h"

#include <redisbatch/redisbatch.h>

/* malloc, realloc and free. */
extern const rb_allocator rbi_alloc_default;

/* Uninitialised bytes, or NULL. size 0 may be NULL. */
void *rbi_alloc(const rb_allocator *a, size_t size) RBI_MUST_CHECK;

/* As rbi_alloc(), all bytes 0. */
void *rbi_alloc_zero(const rb_allocator *a, size_t size) RBI_MUST_CHECK;

/*
 * Grows the array at ptr (NULL: none yet) to n members of size bytes each.
 * NULL: no memory, or the product does not fit; the old array stays.
 */
void *rbi_alloc_array(const rb_allocator *a, void *ptr, size_t n,
		      size_t size) RBI_MUST_CHECK;

/* A copy of len bytes with a NUL behind them. */
char *rbi_alloc_copy(const rb_allocator *a, const char *data,
		     size_t len) RBI_MUST_CHECK;

void rbi_free(const rb_allocator *a, void *ptr);

/* Overwrites what must not stay in memory, a password; not optimised away. */
void rbi_alloc_wipe(void *ptr, size_t len);

#endif

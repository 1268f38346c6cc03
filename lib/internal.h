/*
 * What every module may use: nothing but small words. No types of the
 * library live here.
 */
#ifndef RBI_INTERNAL_H
#define RBI_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RBI_MUST_CHECK __attribute__((warn_unused_result))
#define RBI_FORMAT(fmt, args) __attribute__((format(printf, fmt, args)))

#if defined(__GNUC__)
#define RBI_LIKELY(x) __builtin_expect(!!(x), 1)
#define RBI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define RBI_LIKELY(x) (x)
#define RBI_UNLIKELY(x) (x)
#endif

static inline size_t rbi_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t rbi_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* a + b, or SIZE_MAX when that does not fit: for sums that are compared to a
 * bound afterwards. */
static inline size_t rbi_add_sat(size_t a, size_t b)
{
	return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/*
 * snprintf() that always ends with a NUL, takes a buffer of size 0, and never
 * fails: what does not fit is cut.
 */
void rbi_print(char *buf, size_t size, const char *format, ...)
	RBI_FORMAT(3, 4);

#endif

/*
 * What all fuzz targets share.
 *
 * A target is a function that takes any bytes and must hold what it says with
 * each. It runs under libFuzzer (make fuzz) and, over the inputs that were
 * kept in tests/fuzz/corpus, with replay.c under any compiler (make check). It
 * keeps nothing from one input to the next, and opens no connection.
 */
#ifndef RBT_FUZZ_H
#define RBT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* As assert(), in every build. */
#define must(condition) \
	((condition) ? (void)0 : must_fail(#condition, __FILE__, __LINE__))

static inline void must_fail(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: this must be: %s\n", file, line, condition);
	abort();
}

/* What is left of the input. */
typedef struct input {
	const uint8_t *data;
	size_t size;
} input;

/* The next byte; 0 once there is none. */
static inline unsigned take_byte(input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

static inline uint64_t take_number(input *in, int bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | take_byte(in);
	return n;
}

/* The next n bytes, which there are. */
static inline const uint8_t *take_bytes(input *in, size_t n)
{
	const uint8_t *bytes = in->data;

	must(n <= in->size);
	in->data += n;
	in->size -= n;
	return bytes;
}

/* size bytes with no byte behind them, so that a sanitizer sees a read too
 * far. The caller frees them. */
static inline char *exact_copy(const void *data, size_t size)
{
	char *copy = calloc(1, size > 0 ? size : 1);

	must(copy != NULL);
	if (size > 0)
		memcpy(copy, data, size);
	return copy;
}

#endif

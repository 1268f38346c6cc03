#include "bench_keys.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number and a NUL. */
enum { DIGITS = 21 };

bool bench_keys_init(bench_keys *keys, const char *prefix, size_t n)
{
	size_t most = strlen(prefix) + DIGITS;
	char *at;

	*keys = (bench_keys){ .n = n };
	if (n == 0 || n > SIZE_MAX / most)
		return false;
	keys->names = calloc(n, sizeof(*keys->names));
	keys->lens = calloc(n, sizeof(*keys->lens));
	keys->bytes = malloc(n * most);
	if (keys->names == NULL || keys->lens == NULL || keys->bytes == NULL) {
		bench_keys_fini(keys);
		return false;
	}
	at = keys->bytes;
	for (size_t i = 0; i < n; i++) {
		int len = snprintf(at, most, "%s%zu", prefix, i);

		keys->names[i] = at;
		keys->lens[i] = (size_t)len;
		at += len + 1;
	}
	return true;
}

void bench_keys_fini(bench_keys *keys)
{
	free(keys->names);
	free(keys->lens);
	free(keys->bytes);
	*keys = (bench_keys){ .n = 0 };
}

char *bench_keys_pattern(const char *prefix)
{
	char *pattern = malloc(2 * strlen(prefix) + 2);
	char *at = pattern;

	if (pattern == NULL)
		return NULL;
	for (const char *p = prefix; *p != '\0'; p++) {
		if (strchr("*?[]\\", *p) != NULL)
			*at++ = '\\';
		*at++ = *p;
	}
	*at++ = '*';
	*at = '\0';
	return pattern;
}

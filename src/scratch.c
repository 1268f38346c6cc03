#include "scratch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 4096 };
#define KEPT ((size_t)4 * 1024 * 1024)

bool scratch_reserve(scratch *s, size_t more)
{
	size_t capacity = s->capacity < LEAST ? LEAST : s->capacity;
	char *data;

	if (more <= s->capacity - s->len)
		return true;
	if (more > SIZE_MAX / 4 - s->len)
		return false;
	while (capacity - s->len < more)
		capacity *= 2;
	data = realloc(s->data, capacity);
	if (data == NULL)
		return false;
	s->data = data;
	s->capacity = capacity;
	return true;
}

bool scratch_add(scratch *s, const void *data, size_t len)
{
	if (!scratch_reserve(s, len))
		return false;
	if (len > 0)
		memcpy(s->data + s->len, data, len);
	s->len += len;
	return true;
}

void scratch_clear(scratch *s)
{
	s->len = 0;
	if (s->capacity > KEPT)
		scratch_free(s);
}

void scratch_free(scratch *s)
{
	free(s->data);
	*s = (scratch){ .data = NULL };
}

#include "words.h"

#include <stdlib.h>

enum { LEAST = 16, KEPT = 65536 };

static bool grow(words *w)
{
	size_t capacity = w->capacity == 0 ? LEAST : 2 * w->capacity;
	size_t *begins = realloc(w->begins, capacity * sizeof(*begins));
	size_t *lens = NULL;
	const char **argv = NULL;

	if (begins != NULL) {
		w->begins = begins;
		lens = realloc(w->lens, capacity * sizeof(*lens));
	}
	if (lens != NULL) {
		w->lens = lens;
		argv = realloc(w->argv, capacity * sizeof(*argv));
	}
	if (argv == NULL)
		return false;
	w->argv = argv;
	w->capacity = capacity;
	return true;
}

bool words_add(words *w, size_t begin, size_t len)
{
	if (w->n == w->capacity && !grow(w))
		return false;
	w->begins[w->n] = begin;
	w->lens[w->n] = len;
	w->n++;
	return true;
}

rb_command words_command(words *w, const char *base)
{
	for (size_t i = 0; i < w->n; i++)
		w->argv[i] = base + w->begins[i];
	return (rb_command){ (int)w->n, w->argv, w->lens };
}

void words_clear(words *w)
{
	w->n = 0;
	if (w->capacity > KEPT)
		words_free(w);
}

void words_free(words *w)
{
	free(w->begins);
	free(w->lens);
	free(w->argv);
	*w = (words){ .n = 0 };
}

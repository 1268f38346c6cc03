#include "peer_request.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER = 20 };

void rbt_request_init(rbt_request *r)
{
	memset(r, 0, sizeof(*r));
}

void rbt_request_fini(rbt_request *r)
{
	free(r->buf);
	free(r->args);
	free(r->offsets);
	memset(r, 0, sizeof(*r));
}

void rbt_request_reset(rbt_request *r)
{
	r->start = r->pos = r->len = 0;
	r->nargs = r->want = 0;
}

/* Moves the unfinished command to the front of the buffer. */
static void drop_done(rbt_request *r)
{
	if (r->start == 0)
		return;
	memmove(r->buf, r->buf + r->start, r->len - r->start);
	for (size_t i = 0; i < r->nargs; i++)
		r->offsets[i] -= r->start;
	r->pos -= r->start;
	r->len -= r->start;
	r->start = 0;
}

char *rbt_request_space(rbt_request *r, size_t n)
{
	size_t cap = r->cap ? r->cap : 16384;
	char *buf;

	drop_done(r);
	while (cap - r->len < n)
		cap *= 2;
	if (cap != r->cap) {
		buf = realloc(r->buf, cap);
		if (!buf)
			return NULL;
		r->buf = buf;
		r->cap = cap;
	}
	return r->buf + r->len;
}

void rbt_request_filled(rbt_request *r, size_t n)
{
	r->len += n;
}

/* A line "<mark>number\r\n" at pos: 1 and past it, 0: not there yet, -1. */
static int read_number(rbt_request *r, char mark, size_t *number)
{
	size_t n = r->len - r->pos, i = 1, value = 0;
	const char *at;

	if (n == 0)
		return 0;
	at = r->buf + r->pos;
	if (at[0] != mark)
		return -1;
	for (; i < n && at[i] >= '0' && at[i] <= '9'; i++) {
		if (i > MAX_NUMBER - 4)
			return -1;
		value = value * 10 + (size_t)(at[i] - '0');
	}
	if (n < i + 2)
		return i < n && at[i] != '\r' ? -1 : 0;
	if (i == 1 || at[i] != '\r' || at[i + 1] != '\n')
		return -1;
	r->pos += i + 2;
	*number = value;
	return 1;
}

static int make_args(rbt_request *r)
{
	size_t cap = r->args_cap ? r->args_cap : 1024;
	void *p;

	while (cap < r->want)
		cap *= 2;
	if (cap == r->args_cap)
		return 0;
	p = realloc(r->args, cap * sizeof(*r->args));
	if (!p)
		return -1;
	r->args = p;
	p = realloc(r->offsets, cap * sizeof(*r->offsets));
	if (!p)
		return -1;
	r->offsets = p;
	r->args_cap = cap;
	return 0;
}

static int read_arg(rbt_request *r)
{
	size_t before = r->pos, len;
	int got = read_number(r, '$', &len);

	if (got <= 0)
		return got;
	if (r->len - r->pos < 2 || r->len - r->pos - 2 < len) {
		r->pos = before;
		return 0;
	}
	if (memcmp(r->buf + r->pos + len, "\r\n", 2) != 0)
		return -1;
	r->offsets[r->nargs] = r->pos;
	r->args[r->nargs].len = len;
	r->nargs++;
	r->pos += len + 2;
	return 1;
}

int rbt_request_next(rbt_request *r, size_t *argc, const rbt_arg **argv)
{
	int got;

	if (r->want == 0) {
		got = read_number(r, '*', &r->want);
		if (got <= 0)
			return got;
		if (r->want == 0 || r->want > 1u << 24 || make_args(r) < 0)
			return -1;
		r->nargs = 0;
	}
	while (r->nargs < r->want) {
		got = read_arg(r);
		if (got <= 0)
			return got;
	}
	for (size_t i = 0; i < r->nargs; i++)
		r->args[i].data = r->buf + r->offsets[i];
	*argc = r->nargs;
	*argv = r->args;
	r->start = r->pos;
	r->want = 0;
	r->nargs = 0;
	return 1;
}

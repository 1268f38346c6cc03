#include "floor.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Small enough to stay in the cache of the processor. */
enum { BUFFER = 256 * 1024, MAX_LINE = 32 };

struct rbt_floor {
	char *requests;
	size_t *request_ends; /* of chunk i, from the beginning */
	size_t *reply_ends;
	size_t nchunks;
	char *buffer;
};

void rbt_floor_free(rbt_floor *f)
{
	if (!f)
		return;
	free(f->requests);
	free(f->request_ends);
	free(f->reply_ends);
	free(f->buffer);
	free(f);
}

static size_t put_line(char *out, char mark, size_t n)
{
	return (size_t)snprintf(out, MAX_LINE, "%c%zu\r\n", mark, n);
}

static char *put_bulk(char *at, const char *data, size_t len)
{
	at += put_line(at, '$', len);
	memcpy(at, data, len);
	memcpy(at + len, "\r\n", 2);
	return at + len + 2;
}

static void encode(rbt_floor *f, const rbt_keys *keys, size_t value_len,
		   size_t chunk)
{
	char line[MAX_LINE], *at = f->requests;
	size_t reply = 0, bulk = put_line(line, '$', value_len) + value_len + 2;

	for (size_t c = 0, i = 0; c < f->nchunks; c++) {
		size_t n = keys->n - i < chunk ? keys->n - i : chunk;

		at += put_line(at, '*', n + 1);
		at = put_bulk(at, "MGET", 4);
		for (size_t end = i + n; i < end; i++)
			at = put_bulk(at, keys->keys[i], keys->lens[i]);
		reply += put_line(line, '*', n) + n * bulk;
		f->request_ends[c] = (size_t)(at - f->requests);
		f->reply_ends[c] = reply;
	}
}

rbt_floor *rbt_floor_new(const rbt_keys *keys, size_t value_len, size_t chunk)
{
	rbt_floor *f = calloc(1, sizeof(*f));
	size_t bytes = MAX_LINE;

	if (!f)
		return NULL;
	f->nchunks = (keys->n + chunk - 1) / chunk;
	for (size_t i = 0; i < keys->n; i++)
		bytes += keys->lens[i] + MAX_LINE;
	f->requests = malloc(bytes + 2 * MAX_LINE * f->nchunks);
	f->request_ends = calloc(f->nchunks + 1, sizeof(size_t));
	f->reply_ends = calloc(f->nchunks + 1, sizeof(size_t));
	f->buffer = malloc(BUFFER);
	if (!f->requests || !f->request_ends || !f->reply_ends || !f->buffer) {
		rbt_floor_free(f);
		return NULL;
	}
	/* Touched beforehand: the floor pays for no fresh page. */
	memset(f->buffer, 1, BUFFER);
	encode(f, keys, value_len, chunk);
	return f;
}

/* 1: moved some bytes, 0: not now, -1: lost. */
static int move(int fd, char *bytes, size_t n, bool out, size_t *done)
{
	ssize_t r = out ? send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) :
			  recv(fd, bytes, n, MSG_DONTWAIT);

	if (r > 0) {
		*done += (size_t)r;
		return 1;
	}
	return r < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* Sends what the window has room for. 1: all of it, 0: not now, -1: lost. */
static int send_window(rbt_floor *f, int fd, size_t answered, size_t *sent)
{
	size_t last = answered + RBT_FLOOR_WINDOW, end;
	int r = 1;

	if (last > f->nchunks)
		last = f->nchunks;
	end = f->request_ends[last - 1];
	while (r > 0 && *sent < end)
		r = move(fd, f->requests + *sent, end - *sent, true, sent);
	return r;
}

/* Bytes are asked for first, and waited for only when there are none. */
bool rbt_floor_read(rbt_floor *f, int fd)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	size_t sent = 0, got = 0, answered = 0;
	int in, out;

	while (answered < f->nchunks) {
		out = send_window(f, fd, answered, &sent);
		in = move(fd, f->buffer, BUFFER, false, &got);
		if (out < 0 || in < 0)
			return false;
		while (answered < f->nchunks && f->reply_ends[answered] <= got)
			answered++;
		pfd.events = POLLIN;
		if (out == 0)
			pfd.events |= POLLOUT;
		if (in == 0 && poll(&pfd, 1, -1) < 0 && errno != EINTR)
			return false;
	}
	return got == f->reply_ends[f->nchunks - 1];
}

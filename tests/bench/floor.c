#include "floor.h"

#include <errno.h>
#include <poll.h>
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
	size_t commands;
	char *buffer;
};

/* Encodes the n entries from first on to at, gives the end, and adds the bytes
 * of the answer. */
typedef char *encode_fn(char *at, const rbt_job *job, size_t first, size_t n,
			size_t *reply);

/* ------------------------------------------------------------ encoding -- */

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

static char *put_key(char *at, const rbt_job *job, size_t i)
{
	return put_bulk(at, job->keys->keys[i], job->keys->lens[i]);
}

/* Of the answer with one value. */
static size_t value_bytes(const rbt_job *job)
{
	char line[MAX_LINE];

	return put_line(line, '$', job->value_len) + job->value_len + 2;
}

static char *encode_mget(char *at, const rbt_job *job, size_t first, size_t n,
			 size_t *reply)
{
	char line[MAX_LINE];

	at += put_line(at, '*', n + 1);
	at = put_bulk(at, "MGET", 4);
	for (size_t i = first; i < first + n; i++)
		at = put_key(at, job, i);
	*reply += put_line(line, '*', n) + n * value_bytes(job);
	return at;
}

static char *encode_mset(char *at, const rbt_job *job, size_t first, size_t n,
			 size_t *reply)
{
	at += put_line(at, '*', 2 * n + 1);
	at = put_bulk(at, "MSET", 4);
	for (size_t i = first; i < first + n; i++) {
		at = put_key(at, job, i);
		at = put_bulk(at, job->values->values[i + job->shift],
			      job->value_len);
	}
	*reply += strlen("+OK\r\n");
	return at;
}

static char *encode_gets(char *at, const rbt_job *job, size_t first, size_t n,
			 size_t *reply)
{
	for (size_t i = first; i < first + n; i++) {
		at += put_line(at, '*', 2);
		at = put_bulk(at, "GET", 3);
		at = put_key(at, job, i);
	}
	*reply += n * value_bytes(job);
	return at;
}

static void encode(rbt_floor *f, const rbt_job *job, encode_fn *encode_chunk)
{
	char *at = f->requests;
	size_t reply = 0;

	for (size_t c = 0; c < f->nchunks; c++) {
		size_t first = c * job->chunk, n = job->keys->n - first;

		if (n > job->chunk)
			n = job->chunk;
		at = encode_chunk(at, job, first, n, &reply);
		f->request_ends[c] = (size_t)(at - f->requests);
		f->reply_ends[c] = reply;
	}
}

/* ---------------------------------------------------------- new, free -- */

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

/* What an entry takes besides its key is at most entry bytes. */
static rbt_floor *floor_new(const rbt_job *job, encode_fn *encode_chunk,
			    size_t entry)
{
	rbt_floor *f = calloc(1, sizeof(*f));
	size_t bytes = MAX_LINE;

	if (!f)
		return NULL;
	f->nchunks = (job->keys->n + job->chunk - 1) / job->chunk;
	f->commands = f->nchunks;
	for (size_t i = 0; i < job->keys->n; i++)
		bytes += job->keys->lens[i] + entry;
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
	encode(f, job, encode_chunk);
	return f;
}

rbt_floor *rbt_floor_new_mgets(const rbt_job *job)
{
	return floor_new(job, encode_mget, MAX_LINE);
}

rbt_floor *rbt_floor_new_msets(const rbt_job *job)
{
	return floor_new(job, encode_mset, 2 * MAX_LINE + job->value_len);
}

rbt_floor *rbt_floor_new_gets(const rbt_job *job)
{
	rbt_floor *f = floor_new(job, encode_gets, 2 * MAX_LINE);

	if (f)
		f->commands = job->keys->n;
	return f;
}

/* -------------------------------------------------------------- moving -- */

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
static bool move_all(rbt_floor *f, int fd)
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
	return f->nchunks == 0 || got == f->reply_ends[f->nchunks - 1];
}

bool rbt_floor_run(const rbt_job *job, rbt_held *held)
{
	(void)job;
	held->commands = held->floor->commands;
	return move_all(held->floor, held->ctx->fd) ||
	       rbt_method_fail(held, "the floor lost its connection");
}

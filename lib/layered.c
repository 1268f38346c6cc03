/*
 * How a layer tells of an end: hiredis's TLS calls it REDIS_ERR_EOF if the peer
 * took its leave. One that did not is an error with the words of an errno that
 * has no cause, which is told by a look at the socket.
 */
#include "layered.h"

#include "sigpipe.h"

#include <hiredis/hiredis.h>

#if HIREDIS_MAJOR >= 1

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

/* ------------------------------------------------------- taking and giving -- */

/* hiredis does not name them: a new context has them. */
const void *rbi_layered_plain(void)
{
	redisContext *ctx = redisConnectFd(-1);
	const void *funcs;

	if (ctx == NULL)
		return NULL;
	funcs = ctx->funcs;
	redisFree(ctx);
	return funcs;
}

/* Where they are unknown, the way that is right for all. */
bool rbi_layered_is(const redisContext *ctx, const void *plain)
{
	return ctx->privctx != NULL || ctx->funcs != plain;
}

bool rbi_layered_left_push(const redisContext *ctx)
{
	const redisReader *r = ctx->reader;

	return r != NULL && r->len == r->pos + 1 && r->ridx == -1 &&
	       r->reply == NULL && r->buf[r->pos] == '>';
}

/* Takes back what was left with the reader. */
static void reclaim(rbi_layered *l)
{
	if (!rbi_layered_left_push(l->ctx))
		return;
	l->ctx->reader->pos++;
	l->byte = '>';
	l->held = true;
}

void rbi_layered_take(rbi_layered *l, redisContext *ctx)
{
	memset(l, 0, sizeof(*l));
	l->ctx = ctx;
	l->blocks = (ctx->flags & REDIS_BLOCK) != 0;
	ctx->flags &= ~REDIS_BLOCK;
	l->fd_flags = fcntl(ctx->fd, F_GETFL);
	if (l->fd_flags >= 0)
		(void)fcntl(ctx->fd, F_SETFL, l->fd_flags | O_NONBLOCK);
	reclaim(l);
}

void rbi_layered_give(rbi_layered *l)
{
	redisContext *ctx = l->ctx;

	if (ctx == NULL)
		return;
	if (l->blocks)
		ctx->flags |= REDIS_BLOCK;
	if (l->fd_flags >= 0)
		(void)fcntl(ctx->fd, F_SETFL, l->fd_flags);
	if (l->held && ctx->err == 0)
		(void)redisReaderFeed(ctx->reader, &l->byte, 1);
	l->held = l->more = false;
	l->ctx = NULL;
}

/* ------------------------------------------------------------------ errors -- */

static bool is_closed(const redisContext *ctx)
{
	char byte;

	return recv(ctx->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* hiredis tells of an errno, whether there was one or not. */
static bool has_cause(const redisContext *ctx)
{
	char none[sizeof(ctx->errstr)];

	return ctx->err != 0 && (ctx->err != REDIS_ERR_IO ||
				 strerror_r(0, none, sizeof(none)) != 0 ||
				 strcmp(ctx->errstr, none) != 0);
}

static rbi_io failed(rbi_layered *l)
{
	const redisContext *ctx = l->ctx;
	const char *words = ctx->errstr;

	if (ctx->err == REDIS_ERR_EOF)
		return RBI_IO_END;
	if (!has_cause(ctx)) {
		if (is_closed(ctx))
			return RBI_IO_END;
		words = "the layer between failed";
	}
	rbi_print(l->words, sizeof(l->words), "%s", words);
	return RBI_IO_ERROR;
}

/* ----------------------------------------------------------------- receive -- */

/* Once; > 0: so many bytes, otherwise *io says what it was. */
static size_t read_once(rbi_layered *l, char *buf, size_t len, rbi_io *io)
{
	ssize_t n;

	errno = 0;
	n = l->ctx->funcs->read(l->ctx, buf, len);
	if (n < 0)
		*io = failed(l);
	else
		*io = n == 0 ? RBI_IO_LATER : RBI_IO_DONE;
	return n > 0 ? (size_t)n : 0;
}

static size_t take_held(rbi_layered *l, char *buf)
{
	if (!l->held)
		return 0;
	buf[0] = l->byte;
	l->held = false;
	return 1;
}

static rbi_io read_on(rbi_layered *l, char *buf, size_t len, size_t *got)
{
	rbi_io io = RBI_IO_DONE;
	rbi_sigpipe quiet;

	rbi_sigpipe_begin(&quiet);
	while (*got < len && io == RBI_IO_DONE)
		*got += read_once(l, buf + *got, len - *got, &io);
	rbi_sigpipe_end(&quiet);
	return io;
}

rbi_io rbi_layered_recv(rbi_layered *l, void *buf, size_t len, size_t *moved)
{
	rbi_io io = l->then;
	size_t got = take_held(l, buf);

	/* An end or an error that came behind bytes is told by itself. */
	if (io == RBI_IO_DONE)
		io = read_on(l, buf, len, &got);
	l->more = io != RBI_IO_LATER;
	if (io == RBI_IO_END || io == RBI_IO_ERROR)
		l->then = io;
	if (got == 0)
		return io;
	*moved = got;
	return RBI_IO_DONE;
}

rbi_io rbi_layered_look(rbi_layered *l, bool *pushed)
{
	rbi_io io = RBI_IO_DONE;
	rbi_sigpipe quiet;

	rbi_sigpipe_begin(&quiet);
	if (!l->held)
		l->held = read_once(l, &l->byte, 1, &io) == 1;
	rbi_sigpipe_end(&quiet);
	l->more = l->held;
	*pushed = l->held && l->byte == '>';
	return io;
}

/* -------------------------------------------------------------------- send -- */

static size_t waiting(const redisContext *ctx)
{
	return ctx->obuf != NULL ? sdslen(ctx->obuf) : 0;
}

bool rbi_layered_unsent(const rbi_layered *l)
{
	return l->ctx != NULL && waiting(l->ctx) > 0;
}

/* RBI_IO_DONE: nothing waits any more. */
static rbi_io flush(rbi_layered *l)
{
	size_t before;
	int done = 0;

	do {
		before = waiting(l->ctx);
		errno = 0;
		if (before > 0 && redisBufferWrite(l->ctx, &done) != REDIS_OK) {
			/* An end of this side is an error for who writes. */
			if (failed(l) == RBI_IO_END)
				rbi_print(l->words, sizeof(l->words), "%s",
					  "the server closed the connection");
			return RBI_IO_ERROR;
		}
	} while (waiting(l->ctx) > 0 && waiting(l->ctx) < before);
	return waiting(l->ctx) == 0 ? RBI_IO_DONE : RBI_IO_LATER;
}

static bool gather(redisContext *ctx, const struct iovec *iov, int n,
		   size_t *moved)
{
	size_t room = RBI_LAYERED_SEND;
	int i;

	for (i = 0; i < n && room > 0; i++) {
		size_t len = rbi_min(iov[i].iov_len, room);

		if (redisAppendFormattedCommand(ctx, iov[i].iov_base, len) !=
		    REDIS_OK)
			return false;
		room -= len;
		*moved += len;
	}
	return true;
}

static rbi_io send_guarded(rbi_layered *l, const struct iovec *iov, int n,
			   size_t *moved)
{
	rbi_io io = flush(l);

	*moved = 0;
	if (io != RBI_IO_DONE || n == 0)
		return io;
	if (!gather(l->ctx, iov, n, moved)) {
		/* Nothing of it has left, and nothing will. */
		rbi_print(l->words, sizeof(l->words), "out of memory");
		return RBI_IO_ERROR;
	}
	return flush(l) == RBI_IO_ERROR ? RBI_IO_ERROR : RBI_IO_DONE;
}

rbi_io rbi_layered_send(rbi_layered *l, const struct iovec *iov, int n,
			size_t *moved)
{
	rbi_io io;
	rbi_sigpipe quiet;

	rbi_sigpipe_begin(&quiet);
	io = send_guarded(l, iov, n, moved);
	rbi_sigpipe_end(&quiet);
	return io;
}

#else

/* hiredis had no layers then. */
typedef int rbi_layered_is_empty;

#endif

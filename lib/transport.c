#include "transport.h"

#include "clock.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/uio.h>

/* Systems without the flag have SO_NOSIGPIPE, set when a context is taken. */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

const rbi_sys rbi_sys_default = {
	.send = sendmsg,
	.recv = recv,
	.poll = poll,
};

/* Before 1.0 a context has no functions of its own. */
#if HIREDIS_MAJOR >= 1
#define IS_LAYERED(t) ((t)->layered.ctx != NULL)
#else
#define IS_LAYERED(t) ((void)(t), false)
#endif

/* ---------------------------------------------------------------- check -- */

static const char *unusable(const redisContext *ctx)
{
	if (ctx == NULL)
		return "ctx is NULL";
	if (ctx->err != 0)
		return "ctx is in error: reconnect it first";
	if ((ctx->flags & REDIS_CONNECTED) == 0 || ctx->fd < 0)
		return "ctx is not connected";
	if ((ctx->flags & (REDIS_DISCONNECTING | REDIS_FREEING)) != 0)
		return "ctx is being closed";
	if ((ctx->flags & (REDIS_SUBSCRIBED | REDIS_MONITORING)) != 0)
		return "ctx is used for subscriptions or MONITOR";
	if ((ctx->flags & REDIS_BLOCK) == 0)
		return "ctx is non-blocking: it belongs to an event loop";
	return NULL;
}

rb_status rbi_transport_check(const redisContext *ctx, const char **problem)
{
	*problem = unusable(ctx);
	return *problem == NULL ? RB_OK : RB_ERR_INVALID;
}

/* ----------------------------------------------------------------- take -- */

#if HIREDIS_MAJOR >= 1
const void *rbi_transport_plain(void)
{
	return rbi_layered_plain();
}

static bool left_push(const redisContext *ctx, const void *plain)
{
	return rbi_layered_left_push(ctx) && rbi_layered_is(ctx, plain);
}
#else
const void *rbi_transport_plain(void)
{
	return NULL;
}

static bool left_push(const redisContext *ctx, const void *plain)
{
	(void)ctx;
	(void)plain;
	return false;
}
#endif

static const char *busy(const redisContext *ctx, const void *plain)
{
	const redisReader *r = ctx->reader;

	/* obuf is an sds: empty ones consist of their NUL. A command never
	 * begins with one. */
	if (ctx->obuf != NULL && ctx->obuf[0] != '\0')
		return "ctx has unsent commands";
	if (r != NULL &&
	    (r->pos != r->len || r->ridx != -1 || r->reply != NULL) &&
	    !left_push(ctx, plain))
		return "ctx has unread replies";
	return NULL;
}

#if HIREDIS_MAJOR >= 1
static rb_status look_through(rbi_transport *t, const char **problem)
{
	switch (rbi_layered_look(&t->layered, &t->pushed)) {
	case RBI_IO_DONE:
		if (t->pushed)
			return RB_OK;
		*problem = "ctx has unread replies";
		return RB_ERR_BUSY;
	case RBI_IO_LATER:
		return RB_OK;
	case RBI_IO_END:
		break;
	case RBI_IO_ERROR:
		t->error = RBI_ERROR_OF_LAYER;
		break;
	}
	return RB_ERR_IO;
}
#endif

/* What has come unasked: nothing, bytes, or the end. */
static rb_status look_ahead(rbi_transport *t, const char **problem)
{
	char byte;
	size_t n;
	ssize_t got;

	do {
		got = t->sys->recv(t->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	} while (got < 0 && errno == EINTR);
	n = got > 0 ? (size_t)got : 0;
	if (n == 1 && byte != '>') {
		*problem = "ctx has unread replies";
		return RB_ERR_BUSY;
	}
	t->pushed = n == 1;
	if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		t->error = errno;
	if (got == 0 || t->error != 0)
		return RB_ERR_IO;
	return RB_OK;
}

static void no_sigpipe(int fd)
{
#ifdef SO_NOSIGPIPE
	int on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#else
	(void)fd;
#endif
}

/* With nothing of the context touched. */
static void name(rbi_transport *t, redisContext *ctx, const rbi_sys *sys)
{
	memset(t, 0, sizeof(*t));
	t->ctx = ctx;
	t->sys = sys != NULL ? sys : &rbi_sys_default;
	t->fd = -1;
}

static void begin(rbi_transport *t, redisContext *ctx, const rbi_sys *sys,
		  const void *plain)
{
	name(t, ctx, sys);
	t->fd = ctx->fd;
#if HIREDIS_MAJOR >= 1
	if (rbi_layered_is(ctx, plain)) {
		rbi_layered_take(&t->layered, ctx);
		return;
	}
#else
	(void)plain;
#endif
	no_sigpipe(t->fd);
}

/* Nobody has given it other functions without a state of their own. */
void rbi_transport_begin(rbi_transport *t, redisContext *ctx,
			 const rbi_sys *sys)
{
#if HIREDIS_MAJOR >= 1
	begin(t, ctx, sys, ctx->funcs);
#else
	begin(t, ctx, sys, NULL);
#endif
}

static rb_status check_idle(const redisContext *ctx, const void *plain,
			    const char **problem)
{
	rb_status status = rbi_transport_check(ctx, problem);

	if (status != RB_OK)
		return status;
	*problem = busy(ctx, plain);
	return *problem == NULL ? RB_OK : RB_ERR_BUSY;
}

rb_status rbi_transport_peek(redisContext *ctx, const rbi_sys *sys,
			     const void *plain, const char **problem)
{
	rb_status status = check_idle(ctx, plain, problem);
	rbi_transport t;

	if (status != RB_OK)
		return status;
#if HIREDIS_MAJOR >= 1
	if (rbi_layered_is(ctx, plain))
		return RB_OK;
#endif
	name(&t, ctx, sys);
	t.fd = ctx->fd;
	return look_ahead(&t, problem);
}

rb_status rbi_transport_take(rbi_transport *t, redisContext *ctx,
			     const rbi_sys *sys, const void *plain,
			     const char **problem)
{
	rb_status status = check_idle(ctx, plain, problem);

	name(t, ctx, sys);
	if (status != RB_OK)
		return status;
	begin(t, ctx, sys, plain);
#if HIREDIS_MAJOR >= 1
	if (IS_LAYERED(t))
		return look_through(t, problem);
#endif
	return look_ahead(t, problem);
}

void rbi_transport_give(rbi_transport *t)
{
	if (IS_LAYERED(t))
		rbi_layered_give(&t->layered);
}

/* ------------------------------------------------------------------ I/O -- */

static rbi_io outcome(rbi_transport *t, ssize_t n, size_t *moved)
{
	if (n >= 0) {
		*moved = (size_t)n;
		return RBI_IO_DONE;
	}
	/* A signal is no reason to wait in here: whoever called looks at the
	 * clock and comes back. */
	if (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)
		return RBI_IO_LATER;
	t->error = errno;
	return RBI_IO_ERROR;
}

static rbi_io of_layer(rbi_transport *t, rbi_io io)
{
	if (io == RBI_IO_ERROR)
		t->error = RBI_ERROR_OF_LAYER;
	return io;
}

rbi_io rbi_transport_send(rbi_transport *t, struct iovec *iov, int n,
			  size_t *moved)
{
	struct msghdr msg;

	if (IS_LAYERED(t))
		return of_layer(t,
				rbi_layered_send(&t->layered, iov, n, moved));
	memset(&msg, 0, sizeof(msg));
	msg.msg_iov = iov;
#ifdef __linux__
	msg.msg_iovlen = (size_t)n;
#else
	msg.msg_iovlen = n;
#endif
	return outcome(t,
		       t->sys->send(t->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT),
		       moved);
}

rbi_io rbi_transport_recv(rbi_transport *t, void *buf, size_t len,
			  size_t *moved)
{
	ssize_t n;

	if (IS_LAYERED(t))
		return of_layer(t,
				rbi_layered_recv(&t->layered, buf, len, moved));
	n = t->sys->recv(t->fd, buf, len, MSG_DONTWAIT);
	if (n == 0)
		return RBI_IO_END;
	return outcome(t, n, moved);
}

bool rbi_transport_unsent(const rbi_transport *t)
{
	return IS_LAYERED(t) && rbi_layered_unsent(&t->layered);
}

bool rbi_transport_more(const rbi_transport *t)
{
	return IS_LAYERED(t) && t->layered.more;
}

uint64_t rbi_transport_patience(const rbi_transport *t)
{
	return IS_LAYERED(t) ? RBI_LAYERED_WAIT_US : RBI_NEVER;
}

/* Rounded up, so that a wait for a deadline does not end before it. */
static int milliseconds(uint64_t us)
{
	if (us == RBI_NEVER)
		return -1;
	return us > 3600000000u ? 3600000 : (int)((us + 999) / 1000);
}

bool rbi_transport_wait(const rbi_transport *t, bool write, uint64_t wait_us)
{
	struct pollfd fds[] = {
		{ .fd = t->fd, .events = write ? POLLIN | POLLOUT : POLLIN },
		{ .fd = rbi_wake_fd(t->wake), .events = POLLIN },
	};
	bool more = rbi_transport_more(t);
	bool ready;

	wait_us = more ? 0 :
			 rbi_clock_earlier(wait_us, rbi_transport_patience(t));
	ready = t->sys->poll(fds, t->wake == NULL ? 1 : 2,
			     milliseconds(wait_us)) > 0;
	if (ready && fds[1].revents != 0)
		rbi_wake_drain(t->wake);
	return ready || more;
}

void rbi_transport_poll(const rbi_sys *sys, struct pollfd *fds, size_t n,
			rbi_wake *wake, uint64_t wait_us)
{
	fds[n].fd = rbi_wake_fd(wake);
	fds[n].events = POLLIN;
	fds[n].revents = 0;
	if (sys->poll(fds, (nfds_t)n + 1, milliseconds(wait_us)) <= 0)
		return;
	if (fds[n].revents != 0)
		rbi_wake_drain(wake);
}

void rbi_transport_pause(const rbi_transport *t, uint64_t wait_us)
{
	rbi_transport nothing = *t;

	nothing.fd = -1;
	nothing.layered.ctx = NULL;
	(void)rbi_transport_wait(&nothing, false, wait_us);
}

/* ---------------------------------------------------------- the context -- */

static int hiredis_error(rb_status status)
{
	if (status == RB_ERR_PROTOCOL)
		return REDIS_ERR_PROTOCOL;
	if (status == RB_ERR_IO)
		return REDIS_ERR_EOF;
	if (status == RB_ERR_NOMEM)
		return REDIS_ERR_OOM;
#ifdef REDIS_ERR_TIMEOUT
	if (status == RB_ERR_TIMEOUT)
		return REDIS_ERR_TIMEOUT;
#endif
	return REDIS_ERR_OTHER;
}

void rbi_transport_break(rbi_transport *t, rb_status status,
			 const char *message)
{
	t->ctx->err = hiredis_error(status);
	rbi_print(t->ctx->errstr, sizeof(t->ctx->errstr), "%s", message);
	/* Answers that are still on their way would be taken for those of the
	 * next commands by anyone who clears err: let nothing more arrive. */
	(void)shutdown(t->fd, SHUT_RDWR);
	rbi_transport_give(t);
}

uint32_t rbi_transport_timeout_ms(const redisContext *ctx)
{
	struct timeval tv = { 0, 0 };
	socklen_t len = sizeof(tv);
	uint64_t ms;

	if (getsockopt(ctx->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len) != 0 ||
	    tv.tv_sec < 0 || tv.tv_usec < 0)
		return 0;
	if (tv.tv_sec > 1000000)
		return 0;
	ms = (uint64_t)tv.tv_sec * 1000 + ((uint64_t)tv.tv_usec + 999) / 1000;
	return (uint32_t)ms;
}

void rbi_transport_node(const redisContext *ctx, char *buf, size_t size)
{
	const char *host = ctx->tcp.host;

	if (ctx->connection_type == REDIS_CONN_UNIX &&
	    ctx->unix_sock.path != NULL)
		rbi_print(buf, size, "%s", ctx->unix_sock.path);
	else if (host != NULL && strchr(host, ':') != NULL)
		rbi_print(buf, size, "[%s]:%d", host, ctx->tcp.port);
	else if (host != NULL)
		rbi_print(buf, size, "%s:%d", host, ctx->tcp.port);
	else
		rbi_print(buf, size, "descriptor %d", ctx->fd);
}

void rbi_transport_words(const rbi_transport *t, int error, char *buf,
			 size_t size)
{
	if (error == RBI_ERROR_OF_LAYER)
		rbi_print(buf, size, "%s", t->layered.words);
	else
		rbi_transport_error_text(error, buf, size);
}

void rbi_transport_error_text(int error, char *buf, size_t size)
{
	if (strerror_r(error, buf, size) != 0)
		rbi_print(buf, size, "error %d", error);
}

void rbi_transport_close(redisContext *ctx)
{
	if (ctx != NULL)
		redisFree(ctx);
}

bool rbi_transport_is_broken(const redisContext *ctx)
{
	return ctx->err != 0;
}

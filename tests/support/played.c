#include "played.h"

#include "client.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* The library's system calls know nothing of who is played. */
static rbt_played *now;

/* ---------------------------------------------------------- the socket -- */

static void hear(rbt_played *p, const void *bytes, size_t n)
{
	const rbt_arg *argv;
	size_t argc;
	char *room = rbt_request_space(&p->request, n);

	assert_non_null(room);
	memcpy(room, bytes, n);
	rbt_request_filled(&p->request, n);
	while (rbt_request_next(&p->request, &argc, &argv) == 1)
		p->heard++;
}

static ssize_t play_send(int fd, const struct msghdr *msg, int flags)
{
	size_t sum = 0;

	(void)flags;
	assert_int_equal(fd, now->ctx->fd);
	for (size_t i = 0; i < (size_t)msg->msg_iovlen; i++) {
		hear(now, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len);
		sum += msg->msg_iov[i].iov_len;
	}
	return (ssize_t)sum;
}

/* How many bytes a receive may take now. */
static size_t ready(const rbt_played *p)
{
	size_t until = p->len;

	if (p->heard < p->commands || p->waiting)
		return 0;
	if (p->pause > p->taken && p->pause < until)
		until = p->pause;
	if (p->hook_at > p->taken && p->hook_at < until)
		until = p->hook_at;
	return p->dribble && until > p->taken ? 1 : until - p->taken;
}

static void call_hook(rbt_played *p)
{
	void (*hook)(rbt_played *) = p->hook;

	if (!hook || p->hook_at == 0 || p->taken < p->hook_at)
		return;
	p->hook = NULL;
	hook(p);
}

static ssize_t nothing(const rbt_played *p)
{
	bool over = p->heard >= p->commands && !p->waiting &&
		    p->taken == p->len && p->end != RBT_PLAYED_SILENCE;

	if (over && p->end == RBT_PLAYED_END)
		return 0;
	errno = over ? p->end : EAGAIN;
	return -1;
}

static ssize_t play_recv(int fd, void *buf, size_t len, int flags)
{
	rbt_played *p = now;
	size_t n;

	assert_int_equal(fd, p->ctx->fd);
	if ((flags & MSG_PEEK) != 0) {
		errno = EAGAIN;
		return -1;
	}
	call_hook(p);
	n = ready(p);
	if (n == 0)
		return nothing(p);
	if (n > len)
		n = len;
	memcpy(buf, p->bytes + p->taken, n);
	p->taken += n;
	p->waiting = p->dribble || p->taken == p->pause;
	return (ssize_t)n;
}

static int pass_time(rbt_played *p, int timeout_ms)
{
	if (timeout_ms < 0)
		fail_msg("it waits for ever, %zu commands heard", p->heard);
	p->now_us += (uint64_t)timeout_ms * 1000;
	return 0;
}

/* Only the connection is played: another descriptor is asked for real. */
static bool is_woken(const struct pollfd *fds, nfds_t n)
{
	struct pollfd other = fds[n - 1];

	return other.fd != now->ctx->fd && poll(&other, 1, 0) > 0;
}

static int say_ready(struct pollfd *fd)
{
	fd->revents = (short)(fd->events & (POLLIN | POLLOUT));
	return 1;
}

static int play_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	rbt_played *p = now;
	bool heard = p->heard >= p->commands;

	if (is_woken(fds, n))
		return 1;
	if (fds[0].fd != p->ctx->fd)
		return pass_time(p, timeout_ms);
	if ((fds[0].events & POLLOUT) != 0)
		return say_ready(&fds[0]);
	if (!heard || (!p->waiting && ready(p) == 0 && p->end == 0))
		return pass_time(p, timeout_ms);
	/* A look that does not wait sees no time pass. */
	if (p->waiting && timeout_ms == 0)
		return 0;
	p->now_us += p->waiting ? 10 : 0;
	p->waiting = false;
	return say_ready(&fds[0]);
}

static const rbi_sys played_sys = { play_send, play_recv, play_poll };

static uint64_t played_clock(void *arg)
{
	const rbt_played *p = arg;

	return p->now_us;
}

/* -------------------------------------------------------- begin and end -- */

void rbt_played_begin(rbt_played *p, const rb_options *defaults)
{
	rb_options own;
	int fds[2];

	memset(p, 0, sizeof(*p));
	now = p;
	rb_options_init(&own);
	if (defaults)
		own = *defaults;
	rbt_count_init(&p->count);
	own.allocator = &p->count.allocator;
	rbt_request_init(&p->request);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	p->peer = fds[1];
	p->ctx = redisConnectFd(fds[0]);
	assert_non_null(p->ctx);
	assert_int_equal(rb_client_wrap(&p->rb, p->ctx, &own), RB_OK);
	p->now_us = 1000000;
	p->clock.now_us = played_clock;
	p->clock.arg = p;
	p->rb->clock = &p->clock;
	p->rb->sys = &played_sys;
}

void rbt_played_end(rbt_played *p)
{
	rb_client_free(p->rb);
	redisFree(p->ctx);
	close(p->peer);
	rbt_request_fini(&p->request);
	assert_int_equal(p->count.live_blocks, 0);
	now = NULL;
}

void rbt_played_want_broken(rbt_played *p)
{
	const char *key = "any";
	rb_result *res = NULL;
	size_t heard = p->heard;

	assert_int_not_equal(p->ctx->err, 0);
	assert_int_not_equal(p->ctx->errstr[0], '\0');
	assert_null(redisCommand(p->ctx, "PING"));
	assert_int_equal(rb_mget_chunked(p->rb, &key, NULL, 1, NULL, &res),
			 RB_ERR_INVALID);
	assert_null(res);
	assert_int_equal(p->heard, heard);
}

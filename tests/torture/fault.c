#include "fault.h"

#include <errno.h>
#include <string.h>

/* Of a row that are struck. */
#define LOOKS 2

#define HOUR_US ((uint64_t)3600 * 1000 * 1000)

const fault fault_list[] = {
	{ "send: EINTR", FAULT_SEND, FAULT_ERROR, EINTR, true },
	{ "send: EAGAIN", FAULT_SEND, FAULT_ERROR, EAGAIN, true },
	{ "send: one byte", FAULT_SEND, FAULT_SHORT, 1, true },
	{ "send: ECONNRESET", FAULT_SEND, FAULT_ERROR, ECONNRESET, false },
	{ "send: EPIPE", FAULT_SEND, FAULT_ERROR, EPIPE, false },
	{ "send: ETIMEDOUT", FAULT_SEND, FAULT_ERROR, ETIMEDOUT, false },
	{ "recv: EINTR", FAULT_RECV, FAULT_ERROR, EINTR, true },
	{ "recv: EAGAIN", FAULT_RECV, FAULT_ERROR, EAGAIN, true },
	{ "recv: one byte", FAULT_RECV, FAULT_SHORT, 1, true },
	{ "recv: ECONNRESET", FAULT_RECV, FAULT_ERROR, ECONNRESET, false },
	{ "recv: EPIPE", FAULT_RECV, FAULT_ERROR, EPIPE, false },
	{ "recv: ETIMEDOUT", FAULT_RECV, FAULT_ERROR, ETIMEDOUT, false },
	{ "recv: the end", FAULT_RECV, FAULT_ANSWER, 0, false },
	{ "poll: EINTR", FAULT_POLL, FAULT_ERROR, EINTR, true },
	{ "poll: EAGAIN", FAULT_POLL, FAULT_ERROR, EAGAIN, true },
	{ "poll: ENOMEM", FAULT_POLL, FAULT_ERROR, ENOMEM, true },
	{ "poll: nothing", FAULT_POLL, FAULT_ANSWER, 0, true },
	{ "poll: too soon", FAULT_POLL, FAULT_ANSWER, 1, true },
};

const size_t fault_count = sizeof(fault_list) / sizeof(fault_list[0]);

static fault_line *line_now;

/* Counts a call; whether it is the one. */
static bool is_struck(fault_call call)
{
	fault_line *l = line_now;
	size_t n = ++l->calls[call];

	if (!l->fault || l->fault->call != call || n < l->at)
		return false;
	if (n > l->at && (!l->on || (n - l->at) % 2 != 0))
		return false;
	l->hit = true;
	return true;
}

/* The connection is as dead as the error says; EPIPE is one-sided. */
static void kill_line(int fd, int error)
{
	(void)shutdown(fd, error == EPIPE ? SHUT_WR : SHUT_RDWR);
}

static ssize_t send_one_byte(int fd, const struct msghdr *msg, int flags)
{
	struct iovec one = { NULL, 1 };
	struct msghdr brief = *msg;
	size_t i = 0;

	while (msg->msg_iov[i].iov_len == 0)
		i++;
	one.iov_base = msg->msg_iov[i].iov_base;
	brief.msg_iov = &one;
	brief.msg_iovlen = 1;
	return sendmsg(fd, &brief, flags);
}

static ssize_t line_send(int fd, const struct msghdr *msg, int flags)
{
	const fault *f = line_now->fault;

	if (!is_struck(FAULT_SEND))
		return sendmsg(fd, msg, flags);
	if (f->way == FAULT_SHORT)
		return send_one_byte(fd, msg, flags);
	if (!f->unseen)
		kill_line(fd, f->number);
	errno = f->number;
	return -1;
}

/* A look ahead that is told to come back later sees nothing, where there may
 * be something to see. */
static void note_lie(int fd, int flags)
{
	char byte;

	if ((flags & MSG_PEEK) != 0 && line_now->fault->number == EAGAIN &&
	    recv(fd, &byte, 1, flags) >= 0)
		line_now->lied = true;
}

static ssize_t line_recv(int fd, void *buf, size_t len, int flags)
{
	const fault *f = line_now->fault;
	ssize_t n;

	if (is_struck(FAULT_RECV)) {
		if (f->way == FAULT_ANSWER)
			return 0;
		if (f->way == FAULT_ERROR) {
			note_lie(fd, flags);
			errno = f->number;
			return -1;
		}
		len = 1;
	}
	n = recv(fd, buf, len, flags);
	if (n > 0 && (flags & MSG_PEEK) == 0)
		line_now->received += (size_t)n;
	return n;
}

/* While it waits, the engine looks at the socket again and again: all but the
 * first looks of a row are left alone, or they would be nearly all points. */
static bool is_one_more_look(int timeout_ms)
{
	fault_line *l = line_now;

	l->looks = timeout_ms == 0 ? l->looks + 1 : 0;
	return l->looks > LOOKS;
}

static int line_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	const fault *f = line_now->fault;

	if (!is_one_more_look(timeout_ms) && is_struck(FAULT_POLL)) {
		errno = f->way == FAULT_ERROR ? f->number : 0;
		return f->way == FAULT_ERROR ? -1 : f->number;
	}
	if (line_now->late_after > 0 && fds->events == POLLIN &&
	    line_now->received >= line_now->late_after) {
		line_now->now_us += HOUR_US;
		return 0;
	}
	return poll(fds, n, timeout_ms);
}

static uint64_t line_now_us(void *arg)
{
	fault_line *l = arg;

	return ++l->now_us;
}

void fault_line_init(fault_line *line)
{
	memset(line, 0, sizeof(*line));
	line->now_us = HOUR_US;
	line->sys.send = line_send;
	line->sys.recv = line_recv;
	line->sys.poll = line_poll;
	line->clock.now_us = line_now_us;
	line->clock.arg = line;
	line_now = line;
}

#include "fault.h"

#include <errno.h>
#include <string.h>

/* Of a row that are struck. */
#define LOOKS 2

#define PIECES 64

#define HOUR_US ((uint64_t)3600 * 1000 * 1000)

const fault fault_list[] = {
	{ "send: EINTR", FAULT_SEND, FAULT_ERROR, EINTR, true },
	{ "send: EAGAIN", FAULT_SEND, FAULT_ERROR, EAGAIN, true },
	{ "send: one byte", FAULT_SEND, FAULT_SHORT, 1, true },
	{ "send: ECONNRESET", FAULT_SEND, FAULT_ERROR, ECONNRESET, false },
	{ "send: EPIPE", FAULT_SEND, FAULT_ERROR, EPIPE, false },
	{ "send: ETIMEDOUT", FAULT_SEND, FAULT_ERROR, ETIMEDOUT, false },
	{ "send: half, and the end", FAULT_SEND, FAULT_CUT, EPIPE, false },
	{ "send: half, and a reset", FAULT_SEND, FAULT_CUT, ECONNRESET, false },
	{ "recv: EINTR", FAULT_RECV, FAULT_ERROR, EINTR, true },
	{ "recv: EAGAIN", FAULT_RECV, FAULT_ERROR, EAGAIN, true },
	{ "recv: one byte", FAULT_RECV, FAULT_SHORT, 1, true },
	{ "recv: ECONNRESET", FAULT_RECV, FAULT_ERROR, ECONNRESET, false },
	{ "recv: EPIPE", FAULT_RECV, FAULT_ERROR, EPIPE, false },
	{ "recv: ETIMEDOUT", FAULT_RECV, FAULT_ERROR, ETIMEDOUT, false },
	{ "recv: the end", FAULT_RECV, FAULT_ANSWER, 0, false },
	{ "recv: half, and the end", FAULT_RECV, FAULT_CUT, 0, false },
	{ "poll: EINTR", FAULT_POLL, FAULT_ERROR, EINTR, true },
	{ "poll: EAGAIN", FAULT_POLL, FAULT_ERROR, EAGAIN, true },
	{ "poll: ENOMEM", FAULT_POLL, FAULT_ERROR, ENOMEM, true },
	{ "poll: nothing", FAULT_POLL, FAULT_ANSWER, 0, true },
	{ "poll: too soon", FAULT_POLL, FAULT_ANSWER, 1, true },
};

const size_t fault_count = sizeof(fault_list) / sizeof(fault_list[0]);

const fault *fault_cut_send(void)
{
	size_t i = 0;

	while (fault_list[i].call != FAULT_SEND ||
	       fault_list[i].way != FAULT_CUT ||
	       fault_list[i].number != ECONNRESET)
		i++;
	return &fault_list[i];
}

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

/* Sends no more than so many bytes. */
static ssize_t send_part(int fd, const struct msghdr *msg, int flags,
			 size_t most)
{
	struct iovec iov[PIECES];
	struct msghdr brief = *msg;
	size_t n = 0;

	while (most > 0 && n < (size_t)msg->msg_iovlen && n < PIECES) {
		iov[n] = msg->msg_iov[n];
		if (iov[n].iov_len > most)
			iov[n].iov_len = most;
		most -= iov[n++].iov_len;
	}
	brief.msg_iov = iov;
	brief.msg_iovlen = n;
	return sendmsg(fd, &brief, flags);
}

static size_t size_of(const struct msghdr *msg)
{
	size_t size = 0;

	for (size_t i = 0; i < (size_t)msg->msg_iovlen; i++)
		size += msg->msg_iov[i].iov_len;
	return size;
}

static ssize_t line_send(int fd, const struct msghdr *msg, int flags)
{
	const fault *f = line_now->fault;
	ssize_t n = -1;

	if (!is_struck(FAULT_SEND))
		return sendmsg(fd, msg, flags);
	if (f->way == FAULT_SHORT)
		return send_part(fd, msg, flags, 1);
	if (f->way == FAULT_CUT)
		n = send_part(fd, msg, flags, (size_of(msg) + 1) / 2);
	if (!f->unseen)
		kill_line(fd, f->number);
	errno = f->number;
	return n;
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

/* Half of what lies there; the rest is lost. */
static ssize_t recv_half(int fd, void *buf, size_t len, int flags)
{
	ssize_t n = recv(fd, buf, len, MSG_PEEK | MSG_DONTWAIT);
	char rest[4096];
	int error;

	n = recv(fd, buf, n > 1 ? (size_t)n / 2 : 1, flags);
	error = errno;
	(void)shutdown(fd, SHUT_RDWR);
	while (recv(fd, rest, sizeof(rest), MSG_DONTWAIT) > 0)
		continue;
	errno = error;
	return n;
}

static ssize_t struck_recv(int fd, void *buf, size_t len, int flags)
{
	const fault *f = line_now->fault;

	switch (f->way) {
	case FAULT_ANSWER:
		return f->number;
	case FAULT_SHORT:
		return recv(fd, buf, 1, flags);
	case FAULT_CUT:
		return recv_half(fd, buf, len, flags);
	case FAULT_ERROR:
		break;
	}
	note_lie(fd, flags);
	errno = f->number;
	return -1;
}

static ssize_t line_recv(int fd, void *buf, size_t len, int flags)
{
	bool peeks = (flags & MSG_PEEK) != 0;
	ssize_t n;

	n = is_struck(FAULT_RECV) ? struck_recv(fd, buf, len, flags) :
				    recv(fd, buf, len, flags);
	if (n > 0 && !peeks)
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

/* The deadline does not pass on a connection that was made to end: which of
 * the two is told would hang on what came first. */
static bool is_late(void)
{
	const fault_line *l = line_now;

	return l->late_after > 0 && l->received >= l->late_after &&
	       (!l->hit || l->fault->unseen);
}

static int line_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	const fault *f = line_now->fault;
	int ready;

	if (!is_one_more_look(timeout_ms) && is_struck(FAULT_POLL)) {
		errno = f->way == FAULT_ERROR ? f->number : 0;
		return f->way == FAULT_ERROR ? -1 : f->number;
	}
	if (fds->events == POLLIN && is_late()) {
		line_now->now_us += HOUR_US;
		return 0;
	}
	ready = poll(fds, n, timeout_ms);
	if (ready == 0 && timeout_ms > 0)
		line_now->now_us += (uint64_t)timeout_ms * 1000;
	return ready;
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

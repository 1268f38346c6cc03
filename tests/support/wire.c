#define _DEFAULT_SOURCE /* mkdtemp, with struct linger and all of unistd */

#include "wire.h"

#include "tick.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void set_flags(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* A listener hands its sizes down to what it accepts; those of TCP must be
 * there before the connection, since the window is agreed upon then. */
static void set_sizes(const rbt_wire *w, int fd)
{
	if (w->sndbuf > 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &w->sndbuf,
			   sizeof(w->sndbuf));
	if (w->rcvbuf > 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &w->rcvbuf,
			   sizeof(w->rcvbuf));
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int listen_tcp(rbt_wire *w)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	memset(&in, 0, sizeof(in));
	in.sin_family = AF_INET;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	w->listener = socket(AF_INET, SOCK_STREAM, 0);
	if (w->listener < 0)
		return -1;
	set_sizes(w, w->listener);
	if (bind(w->listener, (struct sockaddr *)&in, sizeof(in)) < 0 ||
	    listen(w->listener, 16) < 0 ||
	    getsockname(w->listener, (struct sockaddr *)&in, &len) < 0)
		return -1;
	w->port = ntohs(in.sin_port);
	return 0;
}

static int listen_unix(rbt_wire *w)
{
	struct sockaddr_un un;

	snprintf(w->dir, sizeof(w->dir), "/tmp/redisbatch-peer-XXXXXX");
	if (!mkdtemp(w->dir)) {
		w->dir[0] = '\0';
		return -1;
	}
	snprintf(w->path, sizeof(w->path), "%s/socket", w->dir);
	memset(&un, 0, sizeof(un));
	un.sun_family = AF_UNIX;
	memcpy(un.sun_path, w->path, strlen(w->path) + 1);
	w->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (w->listener < 0)
		return -1;
	set_sizes(w, w->listener);
	if (bind(w->listener, (struct sockaddr *)&un, sizeof(un)) < 0 ||
	    listen(w->listener, 16) < 0)
		return -1;
	return 0;
}

static int make_pair(rbt_wire *w)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return -1;
	w->fd = fds[0];
	w->client_fd = fds[1];
	set_sizes(w, w->fd);
	set_flags(w->fd);
	fcntl(w->client_fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

int rbt_wire_init(rbt_wire *w, rbt_family family, int sndbuf, int rcvbuf)
{
	int r = -1;

	memset(w, 0, sizeof(*w));
	w->family = family;
	w->sndbuf = sndbuf;
	w->rcvbuf = rcvbuf;
	w->listener = w->fd = w->client_fd = -1;
	w->stop[0] = w->stop[1] = -1;
	if (pipe(w->stop) < 0)
		return -1;
	set_flags(w->stop[0]);
	set_flags(w->stop[1]);
	switch (family) {
	case RBT_TCP:
		r = listen_tcp(w);
		break;
	case RBT_UNIX:
		r = listen_unix(w);
		break;
	case RBT_PAIR:
		r = make_pair(w);
		break;
	}
	if (r == 0 && w->listener >= 0)
		set_flags(w->listener);
	if (r < 0) {
		int saved = errno;

		rbt_wire_fini(w);
		errno = saved;
	}
	return r;
}

void rbt_wire_fini(rbt_wire *w)
{
	close_fd(&w->fd);
	close_fd(&w->listener);
	close_fd(&w->client_fd);
	close_fd(&w->stop[0]);
	close_fd(&w->stop[1]);
	if (w->path[0] != '\0')
		unlink(w->path);
	if (w->dir[0] != '\0')
		rmdir(w->dir);
	w->path[0] = w->dir[0] = '\0';
}

void rbt_wire_stop(rbt_wire *w)
{
	ssize_t n = write(w->stop[1], "", 1);

	(void)n; /* a full pipe is readable as well */
}

rbt_got rbt_wire_wait(const rbt_wire *w, int fd, short events, uint64_t end_us)
{
	struct pollfd pfds[2];
	uint64_t now;
	int r, ms;

	pfds[0].fd = w->stop[0];
	pfds[0].events = POLLIN;
	pfds[1].fd = fd;
	pfds[1].events = events;
	for (;;) {
		now = rbt_now_us();
		ms = now < end_us ? (int)((end_us - now + 999) / 1000) : 0;
		r = poll(pfds, 2, ms);
		if (r < 0 && errno != EINTR)
			return RBT_GOT_ERROR;
		if (r > 0)
			return pfds[0].revents ? RBT_GOT_STOP : RBT_GOT_DONE;
		if (r == 0 && rbt_now_us() >= end_us)
			return RBT_GOT_LATE;
	}
}

rbt_got rbt_wire_accept(rbt_wire *w, uint64_t end_us)
{
	int on = 1;
	rbt_got got;

	if (w->listener < 0)
		return RBT_GOT_END; /* a pair connects once */
	for (;;) {
		got = rbt_wire_wait(w, w->listener, POLLIN, end_us);
		if (got != RBT_GOT_DONE)
			return got;
		w->fd = accept(w->listener, NULL, NULL);
		if (w->fd >= 0)
			break;
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			return RBT_GOT_ERROR;
	}
	set_flags(w->fd);
	set_sizes(w, w->fd);
	if (w->family == RBT_TCP)
		setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return RBT_GOT_DONE;
}

static rbt_got name_error(void)
{
	if (errno == EPIPE || errno == ECONNRESET)
		return RBT_GOT_END;
	return RBT_GOT_ERROR;
}

rbt_got rbt_wire_recv(const rbt_wire *w, void *buf, size_t size, size_t *n,
		      uint64_t end_us)
{
	ssize_t r;
	rbt_got got;

	*n = 0;
	for (;;) {
		got = rbt_wire_wait(w, w->fd, POLLIN, end_us);
		if (got != RBT_GOT_DONE)
			return got;
		r = recv(w->fd, buf, size, 0);
		if (r == 0)
			return RBT_GOT_END;
		if (r > 0) {
			*n = (size_t)r;
			return RBT_GOT_DONE;
		}
		if (errno != EAGAIN && errno != EINTR)
			return name_error();
	}
}

rbt_got rbt_wire_send(const rbt_wire *w, const void *bytes, size_t len,
		      uint64_t end_us)
{
	const char *at = bytes;
	ssize_t r;
	rbt_got got;

	while (len > 0) {
		r = send(w->fd, at, len, MSG_NOSIGNAL);
		if (r >= 0) {
			at += r;
			len -= (size_t)r;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return name_error();
		got = rbt_wire_wait(w, w->fd, POLLOUT, end_us);
		if (got != RBT_GOT_DONE)
			return got;
	}
	return RBT_GOT_DONE;
}

void rbt_wire_shut(const rbt_wire *w)
{
	if (w->fd >= 0)
		shutdown(w->fd, SHUT_WR);
}

void rbt_wire_close(rbt_wire *w)
{
	close_fd(&w->fd);
}

void rbt_wire_reset(rbt_wire *w)
{
	struct linger hard = { 1, 0 };

	if (w->fd >= 0 && w->family == RBT_TCP)
		setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close_fd(&w->fd);
}

#include "connect.h"

#include "clock.h"
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RETRY_US 5000

static void close_socket(rbi_connect *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
	c->underway = false;
}

void rbi_connect_begin(rbi_connect *c, const rbi_uri *uri)
{
	memset(c, 0, sizeof(*c));
	c->uri = uri;
	c->fd = -1;
}

int rbi_connect_take(rbi_connect *c)
{
	int fd = c->fd;

	c->fd = -1;
	return fd;
}

void rbi_connect_fini(rbi_connect *c)
{
	close_socket(c);
	if (c->list != NULL)
		freeaddrinfo(c->list);
	c->list = NULL;
	c->at = NULL;
}

static bool look_up(rbi_connect *c)
{
	struct addrinfo hints;
	char port[8];
	int error;

	memset(&hints, 0, sizeof(hints));
	hints.ai_family = AF_UNSPEC;
	hints.ai_socktype = SOCK_STREAM;
	rbi_print(port, sizeof(port), "%u", c->uri->port);
	error = getaddrinfo(c->uri->host, port, &hints, &c->list);
	if (error != 0) {
		c->list = NULL;
		rbi_print(c->problem, sizeof(c->problem), "%s",
			  gai_strerror(error));
		return false;
	}
	c->at = c->list;
	return true;
}

/* ----------------------------------------------------------- one address -- */

/* Answers 0 or an errno, as all below do. */
static int open_socket(rbi_connect *c, int family)
{
	int flags;

	if (c->fd >= 0)
		return 0;
	c->fd = socket(family, SOCK_STREAM, 0);
	if (c->fd < 0)
		return errno;
	flags = fcntl(c->fd, F_GETFL);
	if (fcntl(c->fd, F_SETFD, FD_CLOEXEC) != 0 || flags < 0 ||
	    fcntl(c->fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return errno;
	return 0;
}

static int connect_to(rbi_connect *c, const struct sockaddr *address,
		      socklen_t len)
{
	int error = open_socket(c, address->sa_family);

	if (error != 0)
		return error;
	if (connect(c->fd, address, len) == 0)
		return 0;
	/* An interrupted connect goes on by itself. */
	return errno == EINTR ? EINPROGRESS : errno;
}

static int start(rbi_connect *c)
{
	struct sockaddr_un address;
	size_t len;

	if (c->uri->path == NULL)
		return connect_to(c, c->at->ai_addr, c->at->ai_addrlen);
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	len = strlen(c->uri->path);
	if (len >= sizeof(address.sun_path))
		return ENAMETOOLONG;
	memcpy(address.sun_path, c->uri->path, len);
	return connect_to(c, (const struct sockaddr *)&address,
			  sizeof(address));
}

/* What has become of a connect that goes on by itself. */
static int look(const rbi_connect *c)
{
	struct pollfd out = { .fd = c->fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error = 0;

	/* A step may come for any reason, and the error is told once only. */
	if (poll(&out, 1, 0) <= 0)
		return EINPROGRESS;
	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return errno;
	return error;
}

/* ---------------------------------------------------------------------- */

static rbi_connect_state connected(const rbi_connect *c)
{
	int on = 1;

	if (c->uri->path == NULL)
		(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on));
	return RBI_CONNECT_DONE;
}

/* Gives this address up. False: it was the last. */
static bool next_address(rbi_connect *c, int error)
{
	rbi_transport_error_text(error, c->problem, sizeof(c->problem));
	close_socket(c);
	if (c->at != NULL)
		c->at = c->at->ai_next;
	return c->at != NULL;
}

rbi_connect_state rbi_connect_step(rbi_connect *c)
{
	int error;

	if (c->uri->path == NULL && c->list == NULL && !look_up(c))
		return RBI_CONNECT_FAILED;
	do {
		error = c->underway ? look(c) : start(c);
		if (error == 0)
			return connected(c);
		/* A unix socket whose server has its queue full: it was not
		 * begun. */
		if (error == EAGAIN)
			return RBI_CONNECT_WAITING;
		c->underway = error == EINPROGRESS;
		if (c->underway)
			return RBI_CONNECT_WAITING;
	} while (next_address(c, error));
	return RBI_CONNECT_FAILED;
}

int rbi_connect_wants(const rbi_connect *c, uint64_t *wait_us)
{
	*wait_us = c->underway ? RBI_NEVER : RETRY_US;
	return c->underway ? c->fd : -1;
}

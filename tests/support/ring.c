/*
 * The sockets of a cluster that is played.
 */
#include "ring.h"
#include "ring_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { READ_SIZE = 65536, SEND_S = 60 };

rbt_ring *rbt_ring_lock(const rbt_ring *ring)
{
	union {
		const rbt_ring *fixed;
		rbt_ring *loose;
	} both = { ring };

	pthread_mutex_lock(&both.loose->mutex);
	return both.loose;
}

void rbt_ring_unlock(rbt_ring *ring)
{
	pthread_mutex_unlock(&ring->mutex);
}

/* ---------------------------------------------------------- connections -- */

static void drop_line(ring_line *line, bool reset)
{
	struct linger hard = { 1, 0 };

	if (reset)
		setsockopt(line->fd, SOL_SOCKET, SO_LINGER, &hard,
			   sizeof(hard));
	close(line->fd);
	line->fd = -1;
	rbt_request_reset(&line->request);
}

static void accept_line(rbt_ring *ring, size_t node)
{
	struct timeval patience = { SEND_S, 0 };
	size_t i = 0;
	int fd = accept(ring->listeners[node], NULL, NULL);
	int on = 1;

	while (i < RBT_RING_LINES && ring->lines[i].fd >= 0)
		i++;
	if (fd < 0 || i == RBT_RING_LINES) {
		if (fd >= 0)
			close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	rbt_ring_lock(ring);
	ring->lines[i].number = ring->counts.connections[node]++;
	rbt_ring_unlock(ring);
	ring->lines[i].fd = fd;
	ring->lines[i].node = node;
	ring->lines[i].asking = false;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* Another command lies there already, if only in part. */
static bool has_more(const rbt_request *r)
{
	return r->len > r->start;
}

static bool is_asking(size_t argc, const rbt_arg *argv)
{
	return argc == 1 && argv[0].len == 6 &&
	       memcmp(argv[0].data, "ASKING", 6) == 0;
}

static bool answer_one(rbt_ring *ring, ring_line *line, size_t argc,
		       const rbt_arg *argv, rbt_reply *reply)
{
	rbt_visit v = { ring,
			line->node,
			line->number,
			line->asking,
			has_more(&line->request),
			argc,
			argv };

	line->asking = is_asking(argc, argv);
	reply->len = 0;
	reply->then = RBT_THEN_GO_ON;
	rbt_ring_answer(&v, reply);
	if (send_all(line->fd, reply->buf, reply->len) &&
	    reply->then == RBT_THEN_GO_ON)
		return true;
	drop_line(line, reply->then == RBT_THEN_RESET);
	return false;
}

static void serve_line(rbt_ring *ring, ring_line *line, rbt_reply *reply)
{
	char *room = rbt_request_space(&line->request, READ_SIZE);
	ssize_t n = room ? recv(line->fd, room, READ_SIZE, 0) : -1;
	const rbt_arg *argv;
	size_t argc;
	int r;

	if (n <= 0) {
		drop_line(line, false);
		return;
	}
	rbt_request_filled(&line->request, (size_t)n);
	do {
		r = rbt_request_next(&line->request, &argc, &argv);
		if (r < 0)
			drop_line(line, false);
	} while (r > 0 && answer_one(ring, line, argc, argv, reply));
}

/* ------------------------------------------------------------ the thread -- */

static size_t list_sockets(const rbt_ring *ring, struct pollfd *list)
{
	size_t n = 0;

	list[n++].fd = ring->stop[0];
	for (size_t i = 0; i < ring->options.nodes; i++)
		list[n++].fd = ring->listeners[i];
	for (size_t i = 0; i < RBT_RING_LINES; i++)
		list[n++].fd = ring->lines[i].fd;
	for (size_t i = 0; i < n; i++)
		list[i].events = POLLIN;
	return n;
}

static void *run(void *arg)
{
	struct pollfd list[1 + RBT_RING_NODES + RBT_RING_LINES];
	rbt_ring *ring = arg;
	size_t nodes = ring->options.nodes;
	rbt_reply reply;

	rbt_reply_init(&reply);
	for (;;) {
		size_t n = list_sockets(ring, list);

		if (poll(list, (nfds_t)n, -1) < 0 && errno != EINTR)
			break;
		if (list[0].revents)
			break;
		/* First those that there are: a new one may take the place of
		 * one that ends. */
		for (size_t i = 0; i < RBT_RING_LINES; i++)
			if (list[1 + nodes + i].revents &&
			    ring->lines[i].fd >= 0)
				serve_line(ring, &ring->lines[i], &reply);
		for (size_t i = 0; i < nodes; i++)
			if (list[1 + i].revents)
				accept_line(ring, i);
	}
	rbt_reply_fini(&reply);
	return NULL;
}

/* ---------------------------------------------------- start and finish -- */

static int listen_anywhere(bool ipv6, int *port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	socklen_t len = ipv6 ? sizeof(a.in6) : sizeof(a.in);
	int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);

	memset(&a, 0, sizeof(a));
	a.any.sa_family = ipv6 ? AF_INET6 : AF_INET;
	if (ipv6)
		a.in6.sin6_addr = in6addr_loopback;
	else
		a.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd >= 0 && bind(fd, &a.any, len) == 0 && listen(fd, 64) == 0 &&
	    getsockname(fd, &a.any, &len) == 0) {
		*port = ntohs(ipv6 ? a.in6.sin6_port : a.in.sin_port);
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static void free_ring(rbt_ring *ring)
{
	for (size_t i = 0; i < RBT_RING_LINES; i++) {
		if (ring->lines[i].fd >= 0)
			close(ring->lines[i].fd);
		rbt_request_fini(&ring->lines[i].request);
	}
	for (size_t i = 0; i < ring->options.nodes; i++)
		if (ring->listeners[i] >= 0)
			close(ring->listeners[i]);
	for (size_t i = 0; i < 2; i++)
		if (ring->stop[i] >= 0)
			close(ring->stop[i]);
	free(ring);
}

static rbt_ring *make_ring(const rbt_ring_options *options)
{
	rbt_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->options = *options;
	if (ring->options.nodes == 0)
		ring->options.nodes = 2;
	if (!ring->options.host)
		ring->options.host = "127.0.0.1";
	for (size_t i = 0; i < RBT_RING_LINES; i++) {
		ring->lines[i].fd = -1;
		rbt_request_init(&ring->lines[i].request);
	}
	for (size_t i = 0; i < RBT_RING_NODES; i++)
		ring->listeners[i] = -1;
	ring->stop[0] = ring->stop[1] = -1;
	return ring;
}

rbt_ring *rbt_ring_start(const rbt_ring_options *options)
{
	rbt_ring *ring = make_ring(options);
	bool fine = ring && pipe(ring->stop) == 0;

	for (size_t i = 0; fine && i < ring->options.nodes; i++) {
		ring->listeners[i] =
			listen_anywhere(options->ipv6, &ring->ports[i]);
		fine = ring->listeners[i] >= 0;
	}
	fine = fine && pthread_mutex_init(&ring->mutex, NULL) == 0 &&
	       pthread_create(&ring->thread, NULL, run, ring) == 0;
	if (fine || !ring)
		return ring;
	free_ring(ring);
	return NULL;
}

void rbt_ring_stop(rbt_ring *ring)
{
	ssize_t n;

	if (!ring)
		return;
	n = write(ring->stop[1], "", 1);
	(void)n;
	pthread_join(ring->thread, NULL);
	pthread_mutex_destroy(&ring->mutex);
	free_ring(ring);
}

/* ---------------------------------------------------- what others ask -- */

int rbt_ring_port(const rbt_ring *ring, size_t node)
{
	return ring->ports[node];
}

void rbt_ring_uri(const rbt_ring *ring, size_t nseeds, char *out, size_t size)
{
	size_t len = (size_t)snprintf(out, size, "redis+cluster://");

	if (nseeds == 0)
		nseeds = ring->options.nodes;
	for (size_t i = 0; i < nseeds && len < size; i++)
		len += (size_t)snprintf(
			out + len, size - len, "%s%s:%d", i > 0 ? "," : "",
			ring->options.ipv6 ? "[::1]" : "127.0.0.1",
			ring->ports[i]);
}

rbt_ring_counts rbt_ring_look(const rbt_ring *ring)
{
	rbt_ring *r = rbt_ring_lock(ring);
	rbt_ring_counts counts = r->counts;

	rbt_ring_unlock(r);
	return counts;
}

void rbt_ring_written(const rbt_ring *ring, char *out, size_t size)
{
	rbt_ring *r = rbt_ring_lock(ring);

	snprintf(out, size, "%.*s", (int)r->nwritten, r->written);
	rbt_ring_unlock(r);
}

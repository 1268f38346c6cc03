/*
 * The process has one loop around pselect(), which waits to the microsecond:
 * poll() would round every delay to a millisecond.
 */
#include "delay.h"

#include "bench_child.h"
#include "delay_way.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { UP = 0, DOWN = 1, MOST_LINKS = 128, BACKLOG = 64 };

typedef union address {
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
	struct sockaddr_un local;
} address;

struct delay {
	bench_child child;
	address server;
	socklen_t server_len;
	uint64_t delay_ns;
	int listener;
	unsigned port;
};

/* One connection: the client's descriptor and the server's. */
typedef struct link_pair {
	int client;
	int server;
	delay_way ways[2];
} link_pair;

typedef struct relay {
	const delay *d;
	int parent;
	link_pair links[MOST_LINKS];
	size_t nlinks;
} relay;

/* -------------------------------------------------------- connections -- */

static bool prepare(int fd)
{
	const int on = 1;
	int flags = fcntl(fd, F_GETFL);

	/* Fails on a unix socket, which has no such delay to turn off. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd < FD_SETSIZE && flags >= 0 &&
	       fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* Blocks for as long as the connection takes: nobody measures that. */
static void add_link(relay *r)
{
	const delay *d = r->d;
	link_pair *l = &r->links[r->nlinks];

	l->client = accept(d->listener, NULL, NULL);
	if (l->client < 0)
		return;
	l->server = socket(d->server.any.sa_family, SOCK_STREAM, 0);
	if (l->server < 0 ||
	    connect(l->server, &d->server.any, d->server_len) != 0 ||
	    !prepare(l->client) || !prepare(l->server)) {
		close(l->client);
		if (l->server >= 0)
			close(l->server);
		return;
	}
	delay_way_init(&l->ways[UP], l->client, l->server, d->delay_ns);
	delay_way_init(&l->ways[DOWN], l->server, l->client, d->delay_ns);
	r->nlinks++;
}

static void drop_link(relay *r, size_t i)
{
	link_pair *l = &r->links[i];

	for (int way = UP; way <= DOWN; way++)
		delay_way_fini(&l->ways[way]);
	close(l->client);
	close(l->server);
	*l = r->links[--r->nlinks];
}

/* --------------------------------------------------------------- loop -- */

typedef struct wanted {
	fd_set in;
	fd_set out;
	int most;
	uint64_t due_ns;
} wanted;

static void want(wanted *w, fd_set *set, int fd)
{
	FD_SET(fd, set);
	w->most = fd > w->most ? fd : w->most;
}

static void want_way(wanted *w, const delay_way *way, uint64_t now_ns)
{
	uint64_t due = delay_way_due_ns(way);

	if (delay_way_wants_in(way))
		want(w, &w->in, way->from);
	if (due <= now_ns)
		want(w, &w->out, way->to);
	else if (due < w->due_ns)
		w->due_ns = due;
}

static void gather(const relay *r, wanted *w, uint64_t now_ns)
{
	FD_ZERO(&w->in);
	FD_ZERO(&w->out);
	w->most = 0;
	w->due_ns = UINT64_MAX;
	want(w, &w->in, r->parent);
	if (r->nlinks < MOST_LINKS)
		want(w, &w->in, r->d->listener);
	for (size_t i = 0; i < r->nlinks; i++) {
		want_way(w, &r->links[i].ways[UP], now_ns);
		want_way(w, &r->links[i].ways[DOWN], now_ns);
	}
}

static bool await(wanted *w, uint64_t now_ns)
{
	struct timespec left;
	struct timespec *until = NULL;

	if (w->due_ns != UINT64_MAX) {
		uint64_t ns = w->due_ns - now_ns;

		left.tv_sec = (time_t)(ns / 1000000000u);
		left.tv_nsec = (long)(ns % 1000000000u);
		until = &left;
	}
	if (pselect(w->most + 1, &w->in, &w->out, NULL, until, NULL) >= 0)
		return true;
	FD_ZERO(&w->in);
	FD_ZERO(&w->out);
	return errno == EINTR;
}

/* False: the connection is over. */
static bool pass_on(link_pair *l, const wanted *w, uint64_t now_ns)
{
	for (int i = UP; i <= DOWN; i++) {
		delay_way *way = &l->ways[i];

		if (FD_ISSET(way->from, &w->in) && delay_way_wants_in(way) &&
		    !delay_way_take(way, now_ns))
			return false;
		if (delay_way_wants_out(way, now_ns) &&
		    !delay_way_give(way, now_ns))
			return false;
	}
	return !l->ways[UP].done || !l->ways[DOWN].done;
}

static void relay_all(relay *r)
{
	wanted w;

	for (;;) {
		uint64_t now = bench_now_ns();

		gather(r, &w, now);
		if (!await(&w, now) || FD_ISSET(r->parent, &w.in))
			return;
		now = bench_now_ns();
		for (size_t i = r->nlinks; i > 0; i--) {
			if (!pass_on(&r->links[i - 1], &w, now))
				drop_link(r, i - 1);
		}
		if (FD_ISSET(r->d->listener, &w.in))
			add_link(r);
	}
}

/* Ends when the parent closes its pipe, whatever signals come. */
static void run(void *arg, int from, int to)
{
	relay *r = calloc(1, sizeof(*r));

	(void)to;
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (r == NULL)
		return;
	r->d = arg;
	r->parent = from;
	relay_all(r);
	while (r->nlinks > 0)
		drop_link(r, 0);
	free(r);
}

/* -------------------------------------------------------------- start -- */

static bool use_path(delay *d, const char *path)
{
	if (strlen(path) >= sizeof(d->server.local.sun_path))
		return false;
	d->server.local.sun_family = AF_UNIX;
	memcpy(d->server.local.sun_path, path, strlen(path) + 1);
	d->server_len = sizeof(d->server.local);
	return true;
}

static bool use_host(delay *d, const char *host, const char *port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	bool fits;

	if (getaddrinfo(host, port, &hints, &found) != 0)
		return false;
	fits = found->ai_addrlen <= sizeof(d->server);
	if (fits) {
		memcpy(&d->server, found->ai_addr, found->ai_addrlen);
		d->server_len = found->ai_addrlen;
	}
	freeaddrinfo(found);
	return fits;
}

static bool find_server(delay *d, const char *server)
{
	const char *colon = strrchr(server, ':');
	char host[256];
	size_t len;

	if (server[0] == '/')
		return use_path(d, server);
	if (colon == NULL)
		return false;
	len = (size_t)(colon - server);
	if (len > 2 && server[0] == '[' && colon[-1] == ']') {
		server++;
		len -= 2;
	}
	if (len == 0 || len >= sizeof(host))
		return false;
	memcpy(host, server, len);
	host[len] = '\0';
	return use_host(d, host, colon + 1);
}

static bool listen_somewhere(delay *d)
{
	struct sockaddr_in here = { .sin_family = AF_INET };
	socklen_t len = sizeof(here);

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	d->listener = socket(AF_INET, SOCK_STREAM, 0);
	if (d->listener < 0 || !prepare(d->listener) ||
	    bind(d->listener, (struct sockaddr *)&here, sizeof(here)) != 0 ||
	    listen(d->listener, BACKLOG) != 0 ||
	    getsockname(d->listener, (struct sockaddr *)&here, &len) != 0)
		return false;
	d->port = ntohs(here.sin_port);
	return true;
}

delay *delay_start(const char *server, uint64_t rtt_us)
{
	delay *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->listener = -1;
	/* Half of it each way, and no part lost. */
	d->delay_ns = rtt_us * 1000 / 2;
	if (!find_server(d, server)) {
		delay_stop(d);
		errno = EADDRNOTAVAIL;
		return NULL;
	}
	if (!listen_somewhere(d) || !bench_child_start(&d->child, run, d)) {
		int error = errno;

		delay_stop(d);
		errno = error;
		return NULL;
	}
	return d;
}

unsigned delay_port(const delay *d)
{
	return d->port;
}

void delay_stop(delay *d)
{
	if (d == NULL)
		return;
	bench_child_end(&d->child);
	if (d->listener >= 0)
		close(d->listener);
	free(d);
}

/*
 * The thread of a proxy: one poll() for all of its connections.
 */
#ifdef __linux__
#define _GNU_SOURCE /* ppoll */
#endif

#include "proxy_state.h"
#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* No wait is longer, whatever else was forgotten. */
enum { LONGEST_WAIT_US = 1000000 };

/* ----------------------------------------------------------- connecting -- */

static int open_socket(int family)
{
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

/* What connect() leaves undone shows when the socket is written to. */
static int finish(int fd, int connected)
{
	if (fd < 0 || connected == 0 || errno == EINPROGRESS)
		return fd;
	close(fd);
	return -1;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un un;
	int fd;

	memset(&un, 0, sizeof(un));
	un.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(un.sun_path))
		return -1;
	memcpy(un.sun_path, path, strlen(path) + 1);
	fd = open_socket(AF_UNIX);
	if (fd < 0)
		return -1;
	return finish(fd, connect(fd, (struct sockaddr *)&un, sizeof(un)));
}

static int connect_tcp(int port)
{
	struct sockaddr_in in;
	int fd = open_socket(AF_INET);
	int on = 1;

	if (fd < 0)
		return -1;
	memset(&in, 0, sizeof(in));
	in.sin_family = AF_INET;
	in.sin_port = htons((uint16_t)port);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return finish(fd, connect(fd, (struct sockaddr *)&in, sizeof(in)));
}

static int connect_server(const rbt_proxy *proxy)
{
	if (proxy->options.server_path)
		return connect_unix(proxy->options.server_path);
	return connect_tcp(proxy->options.server_port);
}

/* A client whose server is not there is closed, as a server would that goes
 * away. */
static void accept_one(rbt_proxy *proxy)
{
	const char *path = proxy->options.server_path;
	size_t number;
	int client, server;

	if (rbt_wire_accept(&proxy->wire, 0) != RBT_GOT_DONE)
		return;
	client = proxy->wire.fd;
	proxy->wire.fd = -1;
	server = connect_server(proxy);
	pthread_mutex_lock(&proxy->mutex);
	number = (size_t)++proxy->counts.connections;
	proxy->counts.ends += server < 0;
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->mutex);
	if (server < 0)
		close(client);
	else
		rbt_link_init(&proxy->links[proxy->nlinks++], number, client,
			      proxy->options.family == RBT_UNIX, server,
			      path != NULL);
}

/* -------------------------------------------------------------- counting -- */

static void note_arrival(rbt_proxy *proxy, uint64_t now_us)
{
	if (proxy->narrivals == RBT_PROXY_ARRIVALS)
		return;
	proxy->arrivals[proxy->narrivals].us = now_us;
	proxy->arrivals[proxy->narrivals].commands =
		(size_t)proxy->counts.commands;
	proxy->narrivals++;
}

static void count(rbt_proxy *proxy, const rbt_link *link,
		  const rbt_moved *moved, uint64_t now_us)
{
	pthread_mutex_lock(&proxy->mutex);
	proxy->counts.bytes[RBT_UP] += moved->bytes[RBT_UP];
	proxy->counts.bytes[RBT_DOWN] += moved->bytes[RBT_DOWN];
	proxy->counts.ends += link->state == RBT_LINK_OVER;
	proxy->counts.commands += moved->commands;
	if (moved->commands > 0)
		note_arrival(proxy, now_us);
	pthread_cond_broadcast(&proxy->changed);
	pthread_mutex_unlock(&proxy->mutex);
}

/* ----------------------------------------------------------------- rules -- */

static void take_rules(rbt_proxy *proxy)
{
	char bytes[64];
	ssize_t n = read(proxy->wake[0], bytes, sizeof(bytes));

	(void)n; /* only there to wake us */
	pthread_mutex_lock(&proxy->mutex);
	if (proxy->applied != proxy->rules.version) {
		proxy->current = proxy->rules;
		proxy->applied = proxy->rules.version;
		pthread_cond_broadcast(&proxy->changed);
	}
	pthread_mutex_unlock(&proxy->mutex);
}

static void rules_for(const rbt_proxy *proxy, const rbt_link *link,
		      rbt_rule out[2])
{
	memcpy(out, proxy->current.all, sizeof(proxy->current.all));
	for (size_t i = 0; i < RBT_PROXY_OWN_RULES; i++) {
		if (proxy->current.own[i].number != link->number)
			continue;
		for (int way = 0; way < 2; way++)
			if (proxy->current.own[i].set[way])
				out[way] = proxy->current.own[i].rule[way];
	}
}

/* -------------------------------------------------------------- the loop -- */

static void drop_link(rbt_proxy *proxy, size_t i)
{
	rbt_link_fini(&proxy->links[i]);
	proxy->nlinks--;
	if (i < proxy->nlinks)
		proxy->links[i] = proxy->links[proxy->nlinks];
}

static void step_links(rbt_proxy *proxy)
{
	for (size_t i = proxy->nlinks; i-- > 0;) {
		rbt_link *link = &proxy->links[i];
		uint64_t now_us = rbt_now_us();
		rbt_rule rules[2];
		rbt_moved moved;

		rules_for(proxy, link, rules);
		rbt_link_step(link, rules, proxy->buf, now_us, &moved);
		if (moved.bytes[RBT_UP] + moved.bytes[RBT_DOWN] +
				    moved.commands >
			    0 ||
		    link->state == RBT_LINK_OVER)
			count(proxy, link, &moved, now_us);
		if (link->state == RBT_LINK_OVER)
			drop_link(proxy, i);
	}
}

static void wait_until(struct pollfd *pfds, size_t n, uint64_t end_us)
{
	uint64_t now_us = rbt_now_us();
	uint64_t us = now_us < end_us ? end_us - now_us : 0;

	if (us > LONGEST_WAIT_US)
		us = LONGEST_WAIT_US;
#ifdef __linux__
	struct timespec ts = { (time_t)(us / 1000000),
			       (long)(us % 1000000) * 1000 };

	ppoll(pfds, n, &ts, NULL);
#else
	poll(pfds, (nfds_t)n, (int)((us + 999) / 1000));
#endif
}

/* Fills pfds in: stop, wake, listener, then two for each link. */
static uint64_t gather(const rbt_proxy *proxy, struct pollfd *pfds)
{
	uint64_t end_us = UINT64_MAX;

	memset(pfds, 0, 3 * sizeof(*pfds));
	pfds[0].fd = proxy->wire.stop[0];
	pfds[1].fd = proxy->wake[0];
	pfds[2].fd =
		proxy->nlinks < RBT_PROXY_LINKS ? proxy->wire.listener : -1;
	for (size_t i = 0; i < 3; i++)
		pfds[i].events = POLLIN;
	for (size_t i = 0; i < proxy->nlinks; i++) {
		rbt_rule rules[2];
		uint64_t us;

		rules_for(proxy, &proxy->links[i], rules);
		us = rbt_link_wants(&proxy->links[i], rules, pfds + 3 + 2 * i);
		if (us < end_us)
			end_us = us;
	}
	return end_us;
}

void *rbt_proxy_run(void *arg)
{
	rbt_proxy *proxy = arg;
	struct pollfd pfds[3 + 2 * RBT_PROXY_LINKS];

	for (;;) {
		uint64_t end_us = gather(proxy, pfds);

		wait_until(pfds, 3 + 2 * proxy->nlinks, end_us);
		if (pfds[0].revents)
			break;
		take_rules(proxy);
		if (pfds[2].revents)
			accept_one(proxy);
		step_links(proxy);
	}
	while (proxy->nlinks > 0)
		drop_link(proxy, proxy->nlinks - 1);
	return NULL;
}

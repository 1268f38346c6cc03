#define _DEFAULT_SOURCE /* struct linger with all of unistd */

#include "proxy_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A client that was told of the end may take its time to close. */
enum { LINGER_US = 20000000 };

static rbt_way opposite(rbt_way way)
{
	return way == RBT_UP ? RBT_DOWN : RBT_UP;
}

void rbt_link_init(rbt_link *link, size_t number, int client, bool client_unix,
		   int server, bool server_unix)
{
	memset(link, 0, sizeof(*link));
	link->number = number;
	link->fds[RBT_UP] = client;
	link->fds[RBT_DOWN] = server;
	link->is_unix[RBT_UP] = client_unix;
	link->is_unix[RBT_DOWN] = server_unix;
	rbt_pipe_init(&link->pipes[RBT_UP]);
	rbt_pipe_init(&link->pipes[RBT_DOWN]);
	rbt_request_init(&link->request);
	link->readable = true;
}

/* --------------------------------------------------------------- ending -- */

static void close_side(rbt_link *link, rbt_way way, bool hard)
{
	struct linger now = { 1, 0 };

	if (link->fds[way] < 0)
		return;
	if (hard && !link->is_unix[way])
		setsockopt(link->fds[way], SOL_SOCKET, SO_LINGER, &now,
			   sizeof(now));
	close(link->fds[way]);
	link->fds[way] = -1;
}

static void end_now(rbt_link *link, bool hard)
{
	close_side(link, RBT_UP, hard);
	close_side(link, RBT_DOWN, hard);
	link->state = RBT_LINK_OVER;
}

void rbt_link_fini(rbt_link *link)
{
	end_now(link, false);
	rbt_pipe_fini(&link->pipes[RBT_UP]);
	rbt_pipe_fini(&link->pipes[RBT_DOWN]);
	rbt_request_fini(&link->request);
}

static void start_draining(rbt_link *link, uint64_t now_us)
{
	rbt_line_clear(&link->pipes[RBT_UP].line);
	rbt_line_clear(&link->pipes[RBT_DOWN].line);
	link->end_us = now_us + LINGER_US;
	link->state = RBT_LINK_DRAINING;
}

/* Not closed at once: a close with unread bytes makes a reset of it. */
static void end_gently(rbt_link *link, uint64_t now_us)
{
	shutdown(link->fds[RBT_UP], SHUT_WR);
	shutdown(link->fds[RBT_DOWN], SHUT_WR);
	start_draining(link, now_us);
}

static void lose_server(rbt_link *link, uint64_t now_us)
{
	close_side(link, RBT_DOWN, false);
	start_draining(link, now_us);
	link->end_us = UINT64_MAX;
}

static void drain_side(rbt_link *link, rbt_way way, char *buf)
{
	ssize_t r;

	if (link->fds[way] < 0)
		return;
	r = recv(link->fds[way], buf, RBT_PIPE_READ, 0);
	if (r == 0 || (r < 0 && errno != EAGAIN && errno != EINTR))
		close_side(link, way, false);
}

static void drain(rbt_link *link, char *buf, uint64_t now_us)
{
	drain_side(link, RBT_UP, buf);
	drain_side(link, RBT_DOWN, buf);
	if ((link->fds[RBT_UP] < 0 && link->fds[RBT_DOWN] < 0) ||
	    now_us >= link->end_us)
		end_now(link, false);
}

/* -------------------------------------------------------------- passing -- */

static size_t count_commands(rbt_link *link, const char *bytes, size_t n)
{
	const rbt_arg *argv;
	size_t argc, commands = 0;
	char *space;
	int got;

	if (!link->readable || n == 0)
		return 0;
	space = rbt_request_space(&link->request, n);
	if (!space) {
		link->readable = false;
		return 0;
	}
	memcpy(space, bytes, n);
	rbt_request_filled(&link->request, n);
	do {
		got = rbt_request_next(&link->request, &argc, &argv);
		commands += got > 0;
	} while (got > 0);
	link->readable = got == 0;
	return commands;
}

/* True if the fault has ended the connection. */
static bool strike(rbt_link *link, const rbt_rule *rule, uint64_t now_us)
{
	switch (rule->fault) {
	case RBT_FAULT_CLOSE:
		end_gently(link, now_us);
		return true;
	case RBT_FAULT_RESET:
		end_now(link, true);
		return true;
	case RBT_FAULT_HALF_OPEN:
		lose_server(link, now_us);
		return true;
	case RBT_FAULT_NONE:
	case RBT_FAULT_SWALLOW:
	case RBT_FAULT_STALL:
		break;
	}
	return false;
}

/* The end of a side is passed on behind its last byte. */
static void pass_end(rbt_link *link, rbt_way way, const rbt_rule *rule)
{
	const rbt_pipe *pipe = &link->pipes[way];

	if (pipe->end == RBT_PIPE_OPEN || pipe->line.bytes > 0 ||
	    link->told[way])
		return;
	if (rule->fault == RBT_FAULT_SWALLOW && rbt_pipe_struck(pipe, rule))
		return;
	if (pipe->end == RBT_PIPE_BROKEN) {
		end_now(link, true);
		return;
	}
	shutdown(link->fds[opposite(way)], SHUT_WR);
	link->told[way] = true;
	if (link->told[opposite(way)])
		end_now(link, false);
}

static void step_way(rbt_link *link, rbt_way way, const rbt_rule *rule,
		     char *buf, uint64_t now_us, rbt_moved *moved)
{
	rbt_pipe *pipe = &link->pipes[way];
	rbt_way to = opposite(way);
	size_t n = rbt_pipe_take(pipe, rule, link->fds[way], buf, now_us);
	bool fine;

	if (way == RBT_UP)
		moved->commands = count_commands(link, buf, n);
	fine = rbt_pipe_give(pipe, rule, link->fds[to], link->is_unix[to],
			     now_us, &moved->bytes[way]);
	if (rbt_pipe_struck(pipe, rule) && strike(link, rule, now_us))
		return;
	if (!fine)
		end_now(link, true);
	else
		pass_end(link, way, rule);
}

void rbt_link_step(rbt_link *link, const rbt_rule rules[2], char *buf,
		   uint64_t now_us, rbt_moved *moved)
{
	memset(moved, 0, sizeof(*moved));
	/* Down first: what goes up is counted before its answer can pass. */
	for (int i = 1; i >= 0 && link->state == RBT_LINK_OPEN; i--)
		step_way(link, (rbt_way)i, &rules[i], buf, now_us, moved);
	if (link->state == RBT_LINK_DRAINING)
		drain(link, buf, now_us);
}

/* -------------------------------------------------------------- waiting -- */

uint64_t rbt_link_wants(const rbt_link *link, const rbt_rule rules[2],
			struct pollfd pfds[2])
{
	uint64_t end_us =
		link->state == RBT_LINK_DRAINING ? link->end_us : UINT64_MAX;

	memset(pfds, 0, 2 * sizeof(*pfds));
	for (int i = 0; i < 2; i++) {
		const rbt_pipe *out = &link->pipes[opposite((rbt_way)i)];
		uint64_t next_us = rbt_pipe_next(&link->pipes[i]);

		if (link->state == RBT_LINK_DRAINING ||
		    rbt_pipe_wants(&link->pipes[i], &rules[i]))
			pfds[i].events |= POLLIN;
		if (link->state == RBT_LINK_OPEN && out->full)
			pfds[i].events |= POLLOUT;
		if (next_us < end_us)
			end_us = next_us;
		/* A side that has hung up would wake us for nothing. */
		pfds[i].fd = pfds[i].events ? link->fds[i] : -1;
	}
	return end_us;
}

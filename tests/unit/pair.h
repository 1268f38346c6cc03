/*
 * A context that is connected to the test itself, over a socketpair.
 */
#ifndef RBT_PAIR_H
#define RBT_PAIR_H

#include "unit.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct pair {
	redisContext *ctx;
	int peer; /* our end; -1: closed */
} pair;

static inline void pair_init(pair *p)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	p->ctx = redisConnectFd(fds[0]);
	assert_non_null(p->ctx);
	p->peer = fds[1];
}

static inline void pair_close_peer(pair *p)
{
	if (p->peer >= 0)
		assert_int_equal(close(p->peer), 0);
	p->peer = -1;
}

static inline void pair_fini(pair *p)
{
	pair_close_peer(p);
	redisFree(p->ctx);
}

/* What a server says; all of it fits in the socket's buffer. */
static inline void pair_say(const pair *p, const char *bytes, size_t len)
{
	assert_int_equal(send(p->peer, bytes, len, MSG_NOSIGNAL), len);
}

/* True if the other side ended the conversation. */
static inline bool pair_is_ended(const pair *p)
{
	char byte;

	return recv(p->peer, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

#endif

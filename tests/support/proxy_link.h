/*
 * One connection through a proxy: a client's socket, a server's, two pipes
 * between them, and how it ends.
 */
#ifndef RBT_PROXY_LINK_H
#define RBT_PROXY_LINK_H

#include "peer_request.h"
#include "proxy_pipe.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rbt_link_state {
	RBT_LINK_OPEN = 0,
	/* Sides that are still open are read, and what comes is dropped. */
	RBT_LINK_DRAINING,
	RBT_LINK_OVER
} rbt_link_state;

/* fds, pipes and told are indexed by rbt_way: pipe UP reads from fds[UP], the
 * client, and writes to fds[DOWN], the server. */
typedef struct rbt_link {
	rbt_link_state state;
	size_t number; /* from 1 */
	int fds[2];
	bool is_unix[2];
	rbt_pipe pipes[2];
	bool told[2];	 /* the end of this pipe was passed on */
	uint64_t end_us; /* when draining is given up */
	rbt_request request;
	bool readable; /* the client speaks RESP so far */
} rbt_link;

/* What a step has moved. */
typedef struct rbt_moved {
	size_t bytes[2];
	size_t commands;
} rbt_moved;

/* Takes both sockets over. */
void rbt_link_init(rbt_link *link, size_t number, int client, bool client_unix,
		   int server, bool server_unix);
void rbt_link_fini(rbt_link *link);

/* Does what can be done now; buf has RBT_PIPE_READ bytes. */
void rbt_link_step(rbt_link *link, const rbt_rule rules[2], char *buf,
		   uint64_t now_us, rbt_moved *moved);

/* What to wait for: fills both entries in, with fd -1 where there is nothing;
 * the moment until when. */
uint64_t rbt_link_wants(const rbt_link *link, const rbt_rule rules[2],
			struct pollfd pfds[2]);

#endif

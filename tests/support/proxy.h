/*
 * A proxy that does harm: a thread between clients and a real server that
 * passes the bytes of many connections in both directions, and delays,
 * throttles, cuts into slices, swallows, holds up or ends them as it is told.
 *
 *	rbt_proxy_options o = { .family = RBT_UNIX,
 *				.server_path = rbt_server_socket(server) };
 *	rbt_proxy *proxy = rbt_proxy_start(&o);
 *	rbt_rule rule = { .fault = RBT_FAULT_CLOSE, .after = 100 };
 *
 *	rbt_proxy_rule(proxy, RBT_DOWN, &rule);
 *	ctx = redisConnectUnix(rbt_proxy_path(proxy));
 *
 * Each direction has a rule, which may be changed at any time and from any
 * thread, for all connections or for one of them. The change is complete when
 * the function returns: no byte passes by the old rule any more.
 *
 * No wait in here is without a bound, and rbt_proxy_stop() ends all of them.
 */
#ifndef RBT_PROXY_H
#define RBT_PROXY_H

#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbt_proxy rbt_proxy;

typedef enum rbt_way {
	RBT_UP = 0, /* from the client to the server */
	RBT_DOWN    /* from the server to the client */
} rbt_way;

/* What happens once `after` bytes of a connection went this way. */
typedef enum rbt_fault {
	RBT_FAULT_NONE = 0,
	/* Both sides are told that nothing more comes. What they still send
	 * is dropped until they close, too. */
	RBT_FAULT_CLOSE,
	/* Both connections are reset (TCP; elsewhere they are just closed). */
	RBT_FAULT_RESET,
	/* All further bytes of this way are taken and dropped, and an end is
	 * not passed on: a black hole. */
	RBT_FAULT_SWALLOW,
	/* Nothing more is read from this side, which finds its buffers full. */
	RBT_FAULT_STALL,
	/* The server's side is closed, but the client is not told; what it
	 * sends is dropped. */
	RBT_FAULT_HALF_OPEN
} rbt_fault;

/* What is done to the bytes of one way. All zero: they are passed. */
typedef struct rbt_rule {
	/* Each byte is passed on so much later than it came, however many are
	 * under way. */
	uint64_t delay_us;
	uint64_t bytes_per_second; /* 0: as fast as it goes */
	/* At most so many bytes a write, and, to a unix socket, the next one
	 * only when they were read. 0: any. */
	size_t slice;
	uint64_t pause_us; /* between two writes */
	rbt_fault fault;
	uint64_t after; /* counted from the start of the connection */
} rbt_rule;

typedef struct rbt_proxy_options {
	rbt_family family; /* to the clients: RBT_TCP or RBT_UNIX */
	/* The server: a socket's path, borrowed, or a port of 127.0.0.1. */
	const char *server_path;
	int server_port;
	/* Socket buffer sizes towards clients; 0: the system's. */
	int sndbuf, rcvbuf;
} rbt_proxy_options;

/* NULL: no socket or no thread could be made (errno). */
rbt_proxy *rbt_proxy_start(const rbt_proxy_options *options);
/* Ends the thread, closes everything, frees. NULL is fine. */
void rbt_proxy_stop(rbt_proxy *proxy);

int rbt_proxy_port(const rbt_proxy *proxy);	    /* RBT_TCP, 127.0.0.1 */
const char *rbt_proxy_path(const rbt_proxy *proxy); /* RBT_UNIX */

/* The rule for all connections, present and future, that have none of their
 * own. NULL: pass all. */
void rbt_proxy_rule(rbt_proxy *proxy, rbt_way way, const rbt_rule *rule);
/* The rule for the n-th connection alone, from 1; at most 16 connections have
 * rules of their own. NULL: that for all. */
void rbt_proxy_rule_of(rbt_proxy *proxy, size_t n, rbt_way way,
		       const rbt_rule *rule);

/* Bytes passed on, of all connections; connections accepted; those whose both
 * sides are closed; whole commands that came from clients. Whoever has an
 * answer finds its command counted; the bytes of the answer a moment later. */
uint64_t rbt_proxy_bytes(const rbt_proxy *proxy, rbt_way way);
size_t rbt_proxy_connections(const rbt_proxy *proxy);
size_t rbt_proxy_ends(const rbt_proxy *proxy);
size_t rbt_proxy_commands(const rbt_proxy *proxy);

/* Wait, at most ms, until there were so many. False: there were not. */
bool rbt_proxy_await_bytes(rbt_proxy *proxy, rbt_way way, uint64_t n,
			   unsigned ms);
bool rbt_proxy_await_ends(rbt_proxy *proxy, size_t n, unsigned ms);

/* So many commands had come at that moment of rbt_now_us(). */
typedef struct rbt_arrival {
	uint64_t us;
	size_t commands;
} rbt_arrival;

/* Copies the first arrivals, at most n; returns how many. */
size_t rbt_proxy_arrivals(const rbt_proxy *proxy, rbt_arrival *out, size_t n);

#endif

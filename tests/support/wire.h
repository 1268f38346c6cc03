/*
 * The sockets of a scripted peer: one listener and at most one connection.
 *
 * Every wait also ends when the peer is stopped, and has a bound, so that a
 * test cannot hang on it. Sockets are non-blocking inside; a send that finds
 * the buffers full waits without reading, as a server with blocking sends.
 */
#ifndef RBT_WIRE_H
#define RBT_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum rbt_family {
	RBT_TCP = 0, /* an ephemeral port of 127.0.0.1 */
	RBT_UNIX,    /* a socket in a temporary directory */
	RBT_PAIR     /* one end of a socketpair */
} rbt_family;

typedef enum rbt_got {
	RBT_GOT_DONE = 0,
	RBT_GOT_STOP, /* the peer is being stopped */
	RBT_GOT_LATE, /* the bound passed */
	RBT_GOT_END,  /* the client has closed, or reset, its side */
	RBT_GOT_ERROR /* errno */
} rbt_got;

typedef struct rbt_wire {
	rbt_family family;
	int sndbuf, rcvbuf; /* 0: the system's */
	int listener;
	int fd;	       /* the connection, -1: none */
	int client_fd; /* of a pair, until it is taken */
	int stop[2];   /* readable once the peer is to stop */
	int port;
	char dir[64];
	char path[80];
} rbt_wire;

/* 0, or -1 with errno. */
int rbt_wire_init(rbt_wire *w, rbt_family family, int sndbuf, int rcvbuf);
void rbt_wire_fini(rbt_wire *w);

/* Makes all waits end, now and later. From any thread. */
void rbt_wire_stop(rbt_wire *w);

/* Waits for events on fd (-1: for nothing but the time to pass) until the
 * moment end_us of rbt_now_us(). */
rbt_got rbt_wire_wait(const rbt_wire *w, int fd, short events, uint64_t end_us);

rbt_got rbt_wire_accept(rbt_wire *w, uint64_t end_us);

/* Receives at least one byte, at most size; *n is 0 unless DONE. */
rbt_got rbt_wire_recv(const rbt_wire *w, void *buf, size_t size, size_t *n,
		      uint64_t end_us);

/* Sends all of it. */
rbt_got rbt_wire_send(const rbt_wire *w, const void *bytes, size_t len,
		      uint64_t end_us);

void rbt_wire_shut(const rbt_wire *w);
void rbt_wire_close(rbt_wire *w);
/* Closes so that the client's side is reset, where the family can. */
void rbt_wire_reset(rbt_wire *w);

#endif

/*
 * The server's side of RESP requests: bytes in, whole commands out.
 *
 * Only what a client sends: arrays of bulk strings. Incremental; bytes are
 * looked at once, however they are cut.
 */
#ifndef RBT_PEER_REQUEST_H
#define RBT_PEER_REQUEST_H

#include <stddef.h>

typedef struct rbt_arg {
	const char *data;
	size_t len;
} rbt_arg;

typedef struct rbt_request {
	char *buf;
	size_t start; /* the command being read starts here */
	size_t pos;   /* parsed up to here */
	size_t len;   /* filled up to here */
	size_t cap;
	rbt_arg *args;
	size_t *offsets;
	size_t nargs;
	size_t args_cap;
	size_t want; /* arguments of this command; 0: header not seen */
} rbt_request;

void rbt_request_init(rbt_request *r);
void rbt_request_fini(rbt_request *r);

/* Room for at least n bytes to be received into; NULL: out of memory. Ends the
 * life of the arguments last given out. */
char *rbt_request_space(rbt_request *r, size_t n);

/* n bytes were put into the room. */
void rbt_request_filled(rbt_request *r, size_t n);

/* 1: a command, valid until the next call; 0: more bytes needed; -1: this is no
 * RESP request, or no memory. */
int rbt_request_next(rbt_request *r, size_t *argc, const rbt_arg **argv);

/* Forgets all bytes: for a new connection. */
void rbt_request_reset(rbt_request *r);

#endif

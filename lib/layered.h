/*
 * A context that moves its bytes by functions of its own (hiredis 1.0 and
 * later): TLS, RDMA, or what a caller has put there. Its socket is not to be
 * touched, so its bytes go through those functions, which never block while
 * the context is taken: O_NONBLOCK is on and REDIS_BLOCK is off until it is
 * given back.
 *
 * What is sent is copied into ctx->obuf, at most RBI_LAYERED_SEND at a time.
 * From then on it counts as sent, for a part of it may have left. A layer may
 * want to be offered the same bytes again, so obuf is not added to while
 * something waits in it.
 *
 * Bytes that a layer has taken from the socket and not given out are invisible
 * to poll(). A receive goes on until its buffer is full or the layer has
 * nothing; `more` tells of what may be left then.
 */
#ifndef RBI_LAYERED_H
#define RBI_LAYERED_H

#include "internal.h"

#include <redisbatch/redisbatch.h>
#include <sys/uio.h>

#define RBI_LAYERED_SEND ((size_t)64 * 1024)

/* Which of the two directions a layer waits for is its secret; so nobody waits
 * for longer than this without having tried both. */
#define RBI_LAYERED_WAIT_US 1000000u

typedef enum rbi_io {
	RBI_IO_DONE,  /* some bytes moved */
	RBI_IO_LATER, /* none can now */
	RBI_IO_END,   /* the peer has closed its side */
	RBI_IO_ERROR  /* rbi_transport_words() has the reason */
} rbi_io;

typedef struct rbi_layered {
	struct redisContext *ctx; /* NULL: none, or a plain one */
	int fd_flags;		  /* as they were; -1: unknown */
	bool blocks;		  /* had REDIS_BLOCK */
	bool held;		  /* byte was read, and is received first */
	char byte;
	bool more;   /* something may be had without a wait */
	rbi_io then; /* what is behind the bytes received; RBI_IO_DONE: more */
	char words[128];
} rbi_layered;

/* The functions that hiredis gives to contexts which move no bytes by
 * themselves. NULL: unknown, for lack of memory. It costs a context. */
const void *rbi_layered_plain(void);

/* Whether the context's bytes go through other functions than those. */
bool rbi_layered_is(const struct redisContext *ctx, const void *plain);

/* Whether the beginning of a push, read at the last look and not received, is
 * all that lies in such a context. It is no reply of the caller's. */
bool rbi_layered_left_push(const struct redisContext *ctx);

/* Makes the context not block, and gives it back as it was. */
void rbi_layered_take(rbi_layered *l, struct redisContext *ctx);
void rbi_layered_give(rbi_layered *l);

/*
 * What has come unasked is found by reading a byte, which is held: what lies
 * in the socket tells nothing of what is in it for us. *pushed: it begins a
 * push. RBI_IO_DONE: there is one; RBI_IO_LATER: there is none.
 */
rbi_io rbi_layered_look(rbi_layered *l, bool *pushed);

/* As of a transport; n may be 0 where bytes wait in obuf, which then leave. */
rbi_io rbi_layered_send(rbi_layered *l, const struct iovec *iov, int n,
			size_t *moved);
rbi_io rbi_layered_recv(rbi_layered *l, void *buf, size_t len, size_t *moved);

/* Whether bytes that count as sent wait in obuf. */
bool rbi_layered_unsent(const rbi_layered *l);

#endif

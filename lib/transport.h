/*
 * Bytes to and from the socket of a redisContext. Behind the handshake the
 * only place where the operating system is asked for anything, and so the place
 * where a test makes it fail (rbi_sys).
 *
 * hiredis connects and owns the descriptor. It does not move our bytes: its
 * writes raise SIGPIPE, it writes all before it reads, and its buffers copy
 * twice. So sockets are used directly, never blocking and never signalling,
 * by the flags of each call; the descriptor's own flags and timeouts stay as
 * the caller set them. Only a context with functions of its own, as for TLS,
 * moves the bytes itself (layered.h).
 *
 * A context is taken for one call and given back: in step, as it was, or
 * broken, which hiredis sees in ctx->err and the peer as a closed connection.
 */
#ifndef RBI_TRANSPORT_H
#define RBI_TRANSPORT_H

#include "internal.h"
#include "layered.h"
#include "wake.h"

#include <poll.h>
#include <redisbatch/redisbatch.h>
#include <sys/socket.h>

/* The system calls, so that a test can let the n-th one fail. */
typedef struct rbi_sys {
	ssize_t (*send)(int fd, const struct msghdr *msg, int flags);
	ssize_t (*recv)(int fd, void *buf, size_t len, int flags);
	int (*poll)(struct pollfd *fds, nfds_t n, int timeout_ms);
} rbi_sys;

extern const rbi_sys rbi_sys_default;

/* Of rbi_transport.error: no errno; the words are the layer's. */
#define RBI_ERROR_OF_LAYER (-1)

typedef struct rbi_transport {
	struct redisContext *ctx;
	const rbi_sys *sys;
	int fd;
	rbi_wake *wake; /* ends a wait; NULL: nobody can */
	int error;
	rbi_layered layered;
	bool pushed; /* a push lies unread: nothing may be sent before it and
			what follows it were looked at */
} rbi_transport;

/*
 * Checks what can be told without touching the connection. RB_OK, or
 * RB_ERR_INVALID or RB_ERR_UNSUPPORTED with *problem, a static text.
 */
rb_status rbi_transport_check(const struct redisContext *ctx,
			      const char **problem) RBI_MUST_CHECK;

/*
 * Finds out what taking ctx over would answer, and leaves it alone; but what a
 * layer of its own holds is not looked at.
 */
rb_status rbi_transport_peek(struct redisContext *ctx, const rbi_sys *sys,
			     const void *plain,
			     const char **problem) RBI_MUST_CHECK;

/*
 * Takes ctx over. Besides the failures of the check: RB_ERR_BUSY for unsent or
 * unread data, and RB_ERR_IO for a connection that the peer has closed; then
 * t->error is an errno or RBI_ERROR_OF_LAYER, or 0 for an orderly end. sys NULL:
 * the real one. plain: what rbi_transport_plain() answered, at any time before.
 * Whatever comes of it, it is to be given back, or broken.
 */
rb_status rbi_transport_take(rbi_transport *t, struct redisContext *ctx,
			     const rbi_sys *sys, const void *plain,
			     const char **problem) RBI_MUST_CHECK;

/* What tells contexts whose sockets are used from those that move their bytes
 * themselves. Not for each call: it takes a context to find out. */
const void *rbi_transport_plain(void);

/* For an own context that is known to be fresh: takes it without a look. */
void rbi_transport_begin(rbi_transport *t, struct redisContext *ctx,
			 const rbi_sys *sys);

/* Gives the context back as it was. Does nothing the second time, nor to one
 * that is all zeros or was broken. */
void rbi_transport_give(rbi_transport *t);

/* Sends from the pieces; *moved is set with RBI_IO_DONE. n may be 0 where
 * something is unsent: RBI_IO_DONE says that it has left. */
rbi_io rbi_transport_send(rbi_transport *t, struct iovec *iov, int n,
			  size_t *moved);

/*
 * Whether bytes that were sent, as far as is told, wait for the socket. Until
 * they have left it is to be waited for and tried again, even if nothing else
 * is to be sent.
 */
bool rbi_transport_unsent(const rbi_transport *t);

/* Whether something may be received that no poll() knows of. */
bool rbi_transport_more(const rbi_transport *t);

/* Until when to wait at the longest before a step is tried without a cause. */
uint64_t rbi_transport_patience(const rbi_transport *t);

/* Receives at most len bytes; *moved is set with RBI_IO_DONE. */
rbi_io rbi_transport_recv(rbi_transport *t, void *buf, size_t len,
			  size_t *moved);

/*
 * Waits until the descriptor can be read, or written if write is set, or
 * wait_us microseconds have passed; RBI_NEVER waits without an end. What is
 * ready is found out by trying. Signals end it early, which is no failure.
 * False: nothing is ready.
 */
bool rbi_transport_wait(const rbi_transport *t, bool write, uint64_t wait_us);

/*
 * Waits for any of the n descriptors, and to be woken, which fds has room for
 * one more of. Those with fd -1 are left out.
 */
void rbi_transport_poll(const rbi_sys *sys, struct pollfd *fds, size_t n,
			rbi_wake *wake, uint64_t wait_us);

/* Waits likewise, but for nothing except being woken. */
void rbi_transport_pause(const rbi_transport *t, uint64_t wait_us);

/* Marks the context broken, for hiredis too, and closes the conversation. */
void rbi_transport_break(rbi_transport *t, rb_status status,
			 const char *message);

/* The command timeout of the context in milliseconds; 0: none. */
uint32_t rbi_transport_timeout_ms(const struct redisContext *ctx);

/* "host:port" or the path, as far as the context knows, into buf. */
void rbi_transport_node(const struct redisContext *ctx, char *buf, size_t size);

/* The words for an error of the transport, into buf. */
void rbi_transport_words(const rbi_transport *t, int error, char *buf,
			 size_t size);

/* The system's words for an errno, into buf. */
void rbi_transport_error_text(int error, char *buf, size_t size);

/* Frees an own context with its connection; NULL is fine. */
void rbi_transport_close(struct redisContext *ctx);

/* Whether the context was marked broken, by us or by hiredis. */
bool rbi_transport_is_broken(const struct redisContext *ctx);

#endif

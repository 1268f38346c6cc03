/*
 * A scripted peer: a thread that plays a server's part, for what a real server
 * will not do.
 *
 * Either it plays a script, an array of steps that ends with RBT_END:
 *
 *	static const rbt_step script[] = {
 *		RBT_EXPECT(1),
 *		RBT_SEND("*2\r\n$1\r\na\r\n"),
 *		RBT_EXPECT(1),
 *		RBT_RESET,
 *		RBT_EXPECT(1),		(of the next connection)
 *		RBT_SEND("+OK\r\n"),
 *		RBT_END
 *	};
 *	rbt_peer *peer = rbt_peer_play(RBT_TCP, script);
 *
 * or it asks a handler for the answer to every command, like a small server:
 *
 *	rbt_peer_options o = { .handler = answer, .handler_arg = &state,
 *			       .rcvbuf = 4096, .sndbuf = 4096 };
 *	rbt_peer *peer = rbt_peer_start(&o);
 *
 * Connections are served one after another. A step that needs a connection
 * accepts one if there is none. At the end of a script the connection stays
 * open, unread, until rbt_peer_stop(). A handler goes on with the next
 * connection when one ends.
 *
 * Every wait is bounded (give_up_ms) and ends at rbt_peer_stop(); a test never
 * hangs on a peer. Counters may be read from any thread at any time.
 */
#ifndef RBT_PEER_H
#define RBT_PEER_H

#include "peer_reply.h"
#include "peer_request.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbt_peer rbt_peer;

typedef enum rbt_step_kind {
	RBT_STEP_END = 0,
	RBT_STEP_EXPECT,
	RBT_STEP_SEND,
	RBT_STEP_TRICKLE,
	RBT_STEP_DELAY,
	RBT_STEP_READ,
	RBT_STEP_DRAIN,
	RBT_STEP_WAIT,
	RBT_STEP_SHUT,
	RBT_STEP_CLOSE,
	RBT_STEP_RESET,
	RBT_STEP_ACCEPT
} rbt_step_kind;

typedef struct rbt_step {
	rbt_step_kind kind;
	const void *bytes;
	size_t len;
	size_t n;
	unsigned ms;
} rbt_step;

/* clang-format off */

/* Read until n more complete commands have come. What follows them stays for
 * the next step. */
#define RBT_EXPECT(count) { RBT_STEP_EXPECT, NULL, 0, (count), 0 }
/* Send a string literal, without its NUL; or bytes; or a literal n times. */
#define RBT_SEND(text) { RBT_STEP_SEND, (text), sizeof(text) - 1, 1, 0 }
#define RBT_SEND_BYTES(ptr, size) { RBT_STEP_SEND, (ptr), (size), 1, 0 }
#define RBT_REPEAT(text, times) \
	{ RBT_STEP_SEND, (text), sizeof(text) - 1, (times), 0 }
/* Send one byte at a time, with a pause of some milliseconds (0: none) after
 * each. */
#define RBT_TRICKLE(text, pause) \
	{ RBT_STEP_TRICKLE, (text), sizeof(text) - 1, 1, (pause) }
#define RBT_TRICKLE_BYTES(ptr, size, pause) \
	{ RBT_STEP_TRICKLE, (ptr), (size), 1, (pause) }
/* Do nothing, not even read, for so long. */
#define RBT_DELAY(time) { RBT_STEP_DELAY, NULL, 0, 0, (time) }
/* Read exactly n bytes, commands or not. Cuts a command if it likes: do not
 * RBT_EXPECT after that on the same connection. */
#define RBT_READ(count) { RBT_STEP_READ, NULL, 0, (count), 0 }
/* Read and count until the client closes its side, or so long. */
#define RBT_DRAIN(time) { RBT_STEP_DRAIN, NULL, 0, 0, (time) }
/* Wait for one rbt_peer_release() of the test. */
#define RBT_WAIT { RBT_STEP_WAIT, NULL, 0, 0, 0 }
/* Say that nothing more will be sent, and stay. */
#define RBT_SHUT { RBT_STEP_SHUT, NULL, 0, 0, 0 }
#define RBT_CLOSE { RBT_STEP_CLOSE, NULL, 0, 0, 0 }
/* Close with a reset (TCP; elsewhere it just closes). */
#define RBT_RESET { RBT_STEP_RESET, NULL, 0, 0, 0 }
/* Accept a connection now, without reading from it. */
#define RBT_ACCEPT { RBT_STEP_ACCEPT, NULL, 0, 0, 0 }
#define RBT_END { RBT_STEP_END, NULL, 0, 0, 0 }

/* clang-format on */

/*
 * Puts the answer to one command into reply (nothing: no answer yet), and what
 * to do behind it into reply->then. Runs in the peer's thread; argv is valid
 * during the call. The answer is sent whole before the next byte is read.
 */
typedef void rbt_handler(void *arg, size_t argc, const rbt_arg *argv,
			 rbt_reply *reply);

/* Zero in a member: its default. */
typedef struct rbt_peer_options {
	rbt_family family;	/* RBT_TCP */
	const rbt_step *script; /* this one, borrowed, ... */
	rbt_handler *handler;	/* ... or this one */
	void *handler_arg;
	int sndbuf, rcvbuf;  /* socket buffer sizes: the system's */
	size_t read_size;    /* most bytes taken by one recv: 16 KiB */
	size_t record;	     /* keep so many of the first bytes received: 0 */
	unsigned give_up_ms; /* bound of each step: 60,000 */
} rbt_peer_options;

/* NULL: no socket or no thread could be made (errno). */
rbt_peer *rbt_peer_start(const rbt_peer_options *options);
/* The same with a script and defaults. */
rbt_peer *rbt_peer_play(rbt_family family, const rbt_step *script);
/* Ends the thread, closes everything, frees. NULL is fine. */
void rbt_peer_stop(rbt_peer *peer);

int rbt_peer_port(const rbt_peer *peer);	 /* RBT_TCP, on 127.0.0.1 */
const char *rbt_peer_path(const rbt_peer *peer); /* RBT_UNIX */
/* RBT_PAIR: the client's end, once; the caller closes it. */
int rbt_peer_take_fd(rbt_peer *peer);

/* Lets the script pass one RBT_WAIT, present or future. */
void rbt_peer_release(rbt_peer *peer);

/* Complete commands taken by steps or handed to the handler; bytes received;
 * connections accepted; connections that the client ended. */
size_t rbt_peer_commands(const rbt_peer *peer);
size_t rbt_peer_bytes(const rbt_peer *peer);
size_t rbt_peer_connections(const rbt_peer *peer);
size_t rbt_peer_ends(const rbt_peer *peer);

/* Copies what was recorded, at most size bytes; returns how many. */
size_t rbt_peer_recorded(const rbt_peer *peer, void *out, size_t size);

/* Wait, at most ms, until so many commands (bytes, ends, steps) were seen, or
 * until the script is over. False: they were not. */
bool rbt_peer_await_commands(rbt_peer *peer, size_t n, unsigned ms);
bool rbt_peer_await_bytes(rbt_peer *peer, size_t n, unsigned ms);
bool rbt_peer_await_ends(rbt_peer *peer, size_t n, unsigned ms);
/* Until step number n (from 0) has begun. */
bool rbt_peer_await_step(rbt_peer *peer, size_t n, unsigned ms);
/* Until the script was played to its end, without a problem. */
bool rbt_peer_await_over(rbt_peer *peer, unsigned ms);

/* Copies what went wrong with the script into out, "" if nothing did: "step 2:
 * the client closed the connection". */
void rbt_peer_problem(const rbt_peer *peer, char *out, size_t size);

#endif

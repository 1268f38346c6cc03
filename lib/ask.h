/*
 * One command and its one reply over a connection, as a step: what a
 * handshake and the questions about a cluster are made of.
 *
 * A step sends and receives what can be now, and never waits. The command is
 * held here, and wiped once it has left: it may carry a password. The reply
 * lies in memory of its own.
 *
 * After an answer nothing but that has come, and the connection may be asked
 * again, unless the command was cut: then the answer is an error, the server's
 * last words. After a failure the connection is of no use.
 *
 * Bounded are the bytes received for an answer, and its elements, by max: a
 * reply that takes more is refused as soon as it is announced. Time is the
 * caller's.
 */
#ifndef RBI_ASK_H
#define RBI_ASK_H

#include "reader.h"
#include "reply.h"
#include "slab.h"
#include "transport.h"

/* Enough for a map of 16384 ranges of slots, each with many replicas. */
#define RBI_ASK_MAX ((size_t)16 * 1024 * 1024)

typedef enum rbi_ask_state {
	RBI_ASK_WAITING,
	RBI_ASK_ANSWERED, /* also by an error */
	RBI_ASK_FAILED
} rbi_ask_state;

typedef struct rbi_ask {
	/* With RBI_ASK_ANSWERED; valid until fini. */
	const struct redisReply *reply;
	/* With RBI_ASK_FAILED: RB_ERR_IO, RB_ERR_PROTOCOL or RB_ERR_NOMEM, and
	 * words that hold nothing of the command. */
	rb_status status;
	char problem[128];

	rbi_ask_state state;
	const rb_allocator *allocator;
	char *command; /* NULL: nothing is left to send */
	size_t size;
	size_t sent;
	bool cut; /* it could not be sent whole; problem says why */
	size_t max;
	size_t received;
	uint64_t elements; /* announced */
	rbi_reader reader;
	rbi_reply_builder builder;
	rbi_slabs bytes; /* as received */
	rbi_slabs nodes; /* what the reply is built of */
} rbi_ask;

/*
 * A command of argc strings, whose reply takes at most max bytes, and so many
 * elements as if each took 16 of them. RB_ERR_NOMEM: nothing is to be freed.
 * An ask that was used before must have seen its fini.
 */
rb_status rbi_ask_begin(rbi_ask *ask, const rb_allocator *a,
			const char *const *argv, size_t argc,
			size_t max) RBI_MUST_CHECK;

/* Does what can be done now. After the end it answers the same again. */
rbi_ask_state rbi_ask_step(rbi_ask *ask, rbi_transport *t);

/*
 * What to poll the connection for until the next step, and for nothing else:
 * POLLOUT while the command has not left, POLLIN after it.
 */
short rbi_ask_events(const rbi_ask *ask);

/* Frees everything, whatever the state. Memory of zeros is fine. */
void rbi_ask_fini(rbi_ask *ask);

#endif

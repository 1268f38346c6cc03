/*
 * A small server that refuses what the test says, for a scripted peer:
 *
 *	rbt_refusing refusing = { .words = "-BUSY a script\r\n", .first = 3 };
 *	rbt_peer_options o = rbt_refusing_peer(&refusing, RBT_PAIR);
 *
 *	rbt_scene_start(s, &o);
 *
 * What it reads of a key is the key itself, and it counts what it writes. Set
 * the rules before the peer starts; the counters may be read at any time.
 */
#ifndef RBT_REFUSING_H
#define RBT_REFUSING_H

#include "peer.h"

#include <stdatomic.h>

typedef struct rbt_refusing {
	const char *words; /* a line of RESP, with its end */
	/* Which commands are refused: the first ones; those with an argument
	 * that begins so; with more arguments or bytes than that, or an
	 * argument longer than that. A member of 0: none for that reason. */
	size_t first;
	const char *prefix;
	size_t most_args;
	size_t most_bytes;
	size_t most_len;
	/* What it does behind the words. */
	rbt_then then;
	/* Values are so long instead of being their key; and it closes without
	 * a word instead of giving an answer of more bytes than that. */
	size_t value_len;
	size_t most_reply;
	/* Commands of each kind; entries that were written or read. */
	atomic_size_t refused;
	atomic_size_t served;
	atomic_size_t entries;
} rbt_refusing;

/* Borrows refusing for as long as the peer runs. */
rbt_peer_options rbt_refusing_peer(rbt_refusing *refusing, rbt_family family);

#endif

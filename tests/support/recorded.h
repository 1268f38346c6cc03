/*
 * Recorded answers: what a server says to a call, byte for byte, and what the
 * call is to make of it.
 *
 * A stream is a list of parts. Each says which entries are answered once its
 * last byte has come, and how they are printed then:
 *
 *	"text"		a value, or a reply as rbt_reply_print() has it
 *	nil		the server said nil
 *	-text		refused by the server, with its words
 *	done, unmet	a write that was applied, one whose condition was not met
 *	?words		anything else that failed: its status
 *	lost		the connection ended first
 *
 * So whatever the stream is cut into, and wherever it ends, the table tells
 * what each entry must be.
 */
#ifndef RBT_RECORDED_H
#define RBT_RECORDED_H

#include "load.h"

#include <redisbatch/redisbatch.h>

#include <stdbool.h>
#include <stddef.h>

typedef enum rbt_verb {
	RBT_DO_MGET,
	RBT_DO_MGET_SHORT, /* with max_value_bytes 5 */
	RBT_DO_HMGET,
	RBT_DO_MSET,
	RBT_DO_SETNX, /* rb_mset_chunked() with RB_IF_ABSENT */
	RBT_DO_HSET,
	RBT_DO_UNLINK,
	RBT_DO_PIPELINE,
	RBT_DO_GROUP,	   /* rb_transaction() */
	RBT_DO_MSET_GROUP, /* rb_mset_chunked() with RB_TRANSACTION */
	RBT_DO_PIPE_GROUP
} rbt_verb;

typedef struct rbt_part {
	const char *bytes;
	size_t len;
	const char *want; /* NULL: it answers no entry by itself */
	size_t first;	  /* of the entries, RBT_NEXT: behind those before */
	size_t count;
	/* Not 0: the part is a string of so many bytes, of rbt_value_fill(). */
	size_t fill;
} rbt_part;

#define RBT_NEXT ((size_t)-1)

enum { RBT_PARTS = 24, RBT_ENTRIES = 16 };

typedef struct rbt_recorded {
	const char *name;
	rbt_verb verb;
	size_t entries;
	size_t chunk_keys;
	rb_status status; /* of the call when all has come */
	rbt_part parts[RBT_PARTS];
} rbt_recorded;

extern const rbt_recorded rbt_recordings[];
extern const size_t rbt_nrecordings;

/* One of them put together. */
typedef struct rbt_stream {
	const rbt_recorded *recorded;
	char *bytes;
	size_t len;
	size_t commands; /* that it answers */
	/* Of each entry: behind which byte it is answered, and how. */
	size_t end[RBT_ENTRIES];
	const char *want[RBT_ENTRIES];
	size_t fill[RBT_ENTRIES];
	rbt_keys keys;
} rbt_stream;

void rbt_stream_init(rbt_stream *s, const rbt_recorded *recorded);
void rbt_stream_fini(rbt_stream *s);

/* The call that the stream answers. All chunks are in flight at once. */
rb_status rbt_stream_call(const rbt_stream *s, rb_client *rb, rb_result **res);

/* Whether the first n bytes answer all entries. */
bool rbt_stream_is_whole(const rbt_stream *s, size_t n);

/* Ends the test unless each entry is as the first n bytes tell, and lost if
 * they do not tell. */
void rbt_stream_check(const rbt_stream *s, const rb_result *res, size_t n);

#endif

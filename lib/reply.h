/*
 * hiredis replies, built from tokens in memory that is freed all at once:
 * the structures lie in an arena, the texts where they were received.
 *
 * The types of RESP3 have the numbers that hiredis 1.x gives them, with any
 * hiredis. hiredis 0.14 has no member for a double: its text is in str.
 */
#ifndef RBI_REPLY_H
#define RBI_REPLY_H

#include "reader.h"
#include "slab.h"

struct redisReply;
typedef struct rbi_reply_node rbi_reply_node;

/* An aggregate whose elements are still coming. */
typedef struct rbi_reply_frame {
	rbi_reply_node *node;
	rbi_reply_node *first;
	rbi_reply_node *last;
	int64_t left;
} rbi_reply_frame;

typedef struct rbi_reply_builder {
	rbi_slabs *memory;
	bool full; /* nothing more is kept of the reply under way */
	unsigned depth;
	rbi_reply_frame frames[RBI_READER_DEPTH];
} rbi_reply_builder;

void rbi_reply_init(rbi_reply_builder *b, rbi_slabs *memory);

/*
 * Takes the next token. *whole is the reply once its last token was taken,
 * otherwise NULL. RB_ERR_NOMEM: the builder cannot go on.
 */
rb_status rbi_reply_take(rbi_reply_builder *b, rbi_token_kind kind,
			 const rbi_token *t,
			 const struct redisReply **whole) RBI_MUST_CHECK;

/*
 * Keeps nothing more of the reply under way, which will be rbi_reply_dropped()
 * in the end.
 */
static inline void rbi_reply_drop(rbi_reply_builder *b)
{
	b->full = true;
}

/* What stands for a reply that was dropped: an error. */
const struct redisReply *rbi_reply_dropped(void);

/* Whether it is an array whose first element is not nil. */
bool rbi_reply_has_element(const struct redisReply *reply);

/*
 * What is in a reply, for those who do not know hiredis. NULL is a reply that
 * has nothing of what is asked for, so that an element may be looked into
 * without asking whether there is one.
 */

/* How many elements an array, a set or a map (twice the pairs) has; otherwise
 * 0. */
size_t rbi_reply_count(const struct redisReply *reply);

/* Element i, or NULL. */
const struct redisReply *rbi_reply_element(const struct redisReply *reply,
					   size_t i);

/* Whether it is an integer; *out is the number, or 0. */
bool rbi_reply_integer(const struct redisReply *reply, int64_t *out);

bool rbi_reply_is_error(const struct redisReply *reply);
bool rbi_reply_is_nil(const struct redisReply *reply);

/* The text of a string, a status or an error; data NULL: it has none. */
rb_slice rbi_reply_text(const struct redisReply *reply);

#endif

#include "reply.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

/* hiredis 1.x's numbers for what 0.14 does not know. */
enum {
	TYPE_DOUBLE = 7,
	TYPE_BOOL = 8,
	TYPE_MAP = 9,
	TYPE_SET = 10,
	TYPE_BIGNUM = 13,
	TYPE_VERB = 14
};

struct rbi_reply_node {
	redisReply reply;
	rbi_reply_node *next; /* in the aggregate it is an element of */
};

void rbi_reply_init(rbi_reply_builder *b, rbi_slabs *memory)
{
	b->memory = memory;
	b->full = false;
	b->depth = 0;
}

static int reply_type(rbi_token_kind kind)
{
	switch (kind) {
	case RBI_TOKEN_BULK:
		return REDIS_REPLY_STRING;
	case RBI_TOKEN_SIMPLE:
		return REDIS_REPLY_STATUS;
	case RBI_TOKEN_INTEGER:
		return REDIS_REPLY_INTEGER;
	case RBI_TOKEN_DOUBLE:
		return TYPE_DOUBLE;
	case RBI_TOKEN_BOOLEAN:
		return TYPE_BOOL;
	case RBI_TOKEN_BIG_NUMBER:
		return TYPE_BIGNUM;
	case RBI_TOKEN_VERBATIM:
		return TYPE_VERB;
	case RBI_TOKEN_ARRAY:
		return REDIS_REPLY_ARRAY;
	case RBI_TOKEN_MAP:
		return TYPE_MAP;
	case RBI_TOKEN_SET:
		return TYPE_SET;
	case RBI_TOKEN_NIL:
	case RBI_TOKEN_NIL_ARRAY:
	case RBI_TOKEN_MORE:
	case RBI_TOKEN_BROKEN:
		return REDIS_REPLY_NIL;
	case RBI_TOKEN_LONG:
	case RBI_TOKEN_ERROR:
		break;
	}
	return REDIS_REPLY_ERROR;
}

static char too_long[] = "the string is longer than allowed";

static const redisReply dropped = { .type = REDIS_REPLY_ERROR,
				    .str = too_long,
				    .len = sizeof(too_long) - 1 };

const redisReply *rbi_reply_dropped(void)
{
	return &dropped;
}

static void set_text(redisReply *reply, rbi_token_kind kind, const rbi_token *t)
{
	if (kind == RBI_TOKEN_LONG) {
		reply->str = too_long;
		reply->len = sizeof(too_long) - 1;
		return;
	}
	if (t->data == NULL || kind == RBI_TOKEN_INTEGER ||
	    kind == RBI_TOKEN_BOOLEAN)
		return;
	reply->str = t->data;
	reply->len = t->len;
	if (kind == RBI_TOKEN_VERBATIM) {
		reply->str += 4;
		reply->len -= 4;
	}
#if HIREDIS_MAJOR >= 1
	if (kind == RBI_TOKEN_VERBATIM)
		memcpy(reply->vtype, t->data, 3);
	if (kind == RBI_TOKEN_DOUBLE)
		reply->dval = strtod(t->data, NULL);
#endif
}

static rbi_reply_node *node_new(rbi_reply_builder *b, rbi_token_kind kind,
				const rbi_token *t)
{
	rbi_reply_node *node = rbi_slabs_take(b->memory, sizeof(*node));

	if (node == NULL)
		return NULL;
	memset(node, 0, sizeof(*node));
	node->reply.type = reply_type(kind);
	if (kind == RBI_TOKEN_INTEGER || kind == RBI_TOKEN_BOOLEAN)
		node->reply.integer = t->number;
	set_text(&node->reply, kind, t);
	return node;
}

/* Hangs a node into the innermost aggregate. */
static void attach(rbi_reply_builder *b, rbi_reply_node *node)
{
	rbi_reply_frame *frame;

	if (b->depth == 0)
		return;
	frame = &b->frames[b->depth - 1];
	frame->left--;
	if (b->full)
		return;
	if (frame->last != NULL)
		frame->last->next = node;
	else
		frame->first = node;
	frame->last = node;
	frame->node->reply.elements++;
}

/* All elements are there: only now is so much memory taken for their array,
 * however many the server had announced. */
static rb_status close_frame(rbi_reply_builder *b, rbi_reply_frame *frame)
{
	redisReply *reply = &frame->node->reply;
	rbi_reply_node *node = frame->first;
	size_t i;

	reply->element = rbi_slabs_take(
		b->memory, reply->elements * sizeof(*reply->element));
	if (reply->element == NULL)
		return RB_ERR_NOMEM;
	for (i = 0; i < reply->elements; i++) {
		reply->element[i] = &node->reply;
		node = node->next;
	}
	return RB_OK;
}

static bool is_aggregate(rbi_token_kind kind)
{
	return kind == RBI_TOKEN_ARRAY || kind == RBI_TOKEN_MAP ||
	       kind == RBI_TOKEN_SET;
}

rb_status rbi_reply_take(rbi_reply_builder *b, rbi_token_kind kind,
			 const rbi_token *t, const redisReply **whole)
{
	rbi_reply_node *node = b->full ? NULL : node_new(b, kind, t);
	rbi_reply_frame *frame;

	*whole = NULL;
	if (node == NULL && !b->full)
		return RB_ERR_NOMEM;
	attach(b, node);
	if (is_aggregate(kind) && t->number > 0) {
		frame = &b->frames[b->depth++];
		memset(frame, 0, sizeof(*frame));
		frame->node = node;
		frame->left = t->number;
		return RB_OK;
	}
	while (b->depth > 0 && b->frames[b->depth - 1].left == 0) {
		frame = &b->frames[--b->depth];
		node = frame->node;
		if (!b->full && close_frame(b, frame) != RB_OK)
			return RB_ERR_NOMEM;
	}
	if (b->depth > 0)
		return RB_OK;
	*whole = b->full ? &dropped : &node->reply;
	b->full = false;
	return RB_OK;
}

bool rbi_reply_has_element(const redisReply *reply)
{
	return reply != NULL && reply->type == REDIS_REPLY_ARRAY &&
	       reply->elements > 0 &&
	       reply->element[0]->type != REDIS_REPLY_NIL;
}

size_t rbi_reply_count(const redisReply *reply)
{
	if (reply == NULL)
		return 0;
	switch (reply->type) {
	case REDIS_REPLY_ARRAY:
	case TYPE_SET:
	case TYPE_MAP:
		return reply->elements;
	default:
		return 0;
	}
}

const redisReply *rbi_reply_element(const redisReply *reply, size_t i)
{
	return i < rbi_reply_count(reply) ? reply->element[i] : NULL;
}

bool rbi_reply_integer(const redisReply *reply, int64_t *out)
{
	bool is = reply != NULL && reply->type == REDIS_REPLY_INTEGER;

	*out = is ? reply->integer : 0;
	return is;
}

bool rbi_reply_is_error(const redisReply *reply)
{
	return reply != NULL && reply->type == REDIS_REPLY_ERROR;
}

bool rbi_reply_is_nil(const redisReply *reply)
{
	return reply != NULL && reply->type == REDIS_REPLY_NIL;
}

rb_slice rbi_reply_text(const redisReply *reply)
{
	rb_slice text = { NULL, 0 };

	if (reply != NULL) {
		text.data = reply->str;
		text.len = reply->len;
	}
	return text;
}

#include "replies.h"

#include <stdlib.h>
#include <string.h>

bool rbt_replies_init(rbt_held *held, size_t n)
{
	held->replies = calloc(n + 1, sizeof(*held->replies));
	return held->replies || rbt_method_fail(held, "out of memory");
}

bool rbt_replies_append(rbt_held *held, size_t argc, const char **argv,
			const size_t *lens)
{
	return redisAppendCommandArgv(held->ctx, (int)argc, argv, lens) ==
		       REDIS_OK ||
	       rbt_method_fail(held, held->ctx->errstr);
}

bool rbt_replies_take(rbt_held *held)
{
	void *got = NULL;
	redisReply *reply;

	if (redisGetReply(held->ctx, &got) != REDIS_OK)
		return rbt_method_fail(held, held->ctx->errstr);
	reply = got;
	held->replies[held->nreplies++] = reply;
	held->commands++;
	if (reply->type == REDIS_REPLY_ERROR)
		return rbt_method_fail(held, reply->str);
	return true;
}

redisReply *rbt_replies_untake(rbt_held *held)
{
	return held->replies[--held->nreplies];
}

bool rbt_replies_is(const redisReply *reply, const rbt_job *job, size_t i)
{
	return reply->type == REDIS_REPLY_STRING &&
	       rbt_value_is(reply->str, reply->len, job->value_len, i);
}

size_t rbt_replies_count(const rbt_job *job, rbt_held *held)
{
	size_t right = 0, i = 0;

	for (size_t r = 0; r < held->nreplies; r++) {
		const redisReply *reply = held->replies[r];

		if (reply->type != REDIS_REPLY_ARRAY) {
			right += rbt_replies_is(reply, job, i++);
			continue;
		}
		for (size_t e = 0; e < reply->elements; e++)
			right += rbt_replies_is(reply->element[e], job, i++);
	}
	return i == job->keys->n ? right : 0;
}

size_t rbt_replies_in_step(const rbt_job *job, rbt_held *held)
{
	redisReply *reply = redisCommand(held->ctx, "PING");
	bool in_step = reply && reply->type == REDIS_REPLY_STATUS &&
		       strcmp(reply->str, "PONG") == 0;

	if (reply)
		freeReplyObject(reply);
	return in_step ? job->keys->n : 0;
}

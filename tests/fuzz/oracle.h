/*
 * The tokens of a stream as hiredis's own reader sees them, by way of object
 * functions that build no objects: an announced array of 2^31 elements takes
 * no memory.
 *
 * hiredis 0.14 reads RESP2, eight levels deep. Releases from 1.0 on read RESP3;
 * what they make a reply of and our reader walks over, a push and what is in
 * it, is left out here. At an attribute, which 1.3 reads, and at a push inside
 * of an answer, which our reader refuses, the oracle ends.
 */
#ifndef RBT_ORACLE_H
#define RBT_ORACLE_H

#include "journal.h"

#include <hiredis/hiredis.h>

typedef struct oracle {
	journal journal;
	bool refused; /* it has ended: nothing more is known */
} oracle;

static inline oracle *oracle_of(const redisReadTask *task)
{
	return task->privdata;
}

static inline bool oracle_hides(const redisReadTask *task)
{
#if HIREDIS_MAJOR >= 1
	for (; task != NULL; task = task->parent) {
		if (task->type == REDIS_REPLY_ATTR ||
		    (task->type == REDIS_REPLY_PUSH && task->parent != NULL))
			oracle_of(task)->refused = true;
		if (task->type == REDIS_REPLY_PUSH)
			return true;
	}
#else
	(void)task;
#endif
	return false;
}

/* NULL: the token is not to be written down. */
static inline journal_token *oracle_add(const redisReadTask *task,
					rbi_token_kind kind, const char *data,
					size_t len)
{
	const redisReadTask *parent;
	oracle *o = oracle_of(task);
	unsigned depth = 0;

	if (oracle_hides(task) || o->refused)
		return NULL;
	for (parent = task->parent; parent != NULL; parent = parent->parent)
		depth++;
	return journal_add(&o->journal, kind, depth, data, len);
}

/* What hiredis takes for an object; it is only passed through. */
static inline void *oracle_number(const redisReadTask *task,
				  rbi_token_kind kind, int64_t number)
{
	journal_token *t = oracle_add(task, kind, NULL, 0);

	if (t != NULL)
		journal_number(t, number);
	return task->privdata;
}

static inline void *oracle_string(const redisReadTask *task, char *data,
				  size_t len)
{
	rbi_token_kind kind = RBI_TOKEN_BULK;

	if (task->type == REDIS_REPLY_STATUS)
		kind = RBI_TOKEN_SIMPLE;
	else if (task->type == REDIS_REPLY_ERROR)
		kind = RBI_TOKEN_ERROR;
#if HIREDIS_MAJOR >= 1
	else if (task->type == REDIS_REPLY_VERB)
		kind = RBI_TOKEN_VERBATIM;
	else if (task->type == REDIS_REPLY_BIGNUM)
		kind = RBI_TOKEN_BIG_NUMBER;
#endif
	(void)oracle_add(task, kind, data, len);
	return task->privdata;
}

static inline void *oracle_integer(const redisReadTask *task, long long number)
{
	return oracle_number(task, RBI_TOKEN_INTEGER, number);
}

static inline void *oracle_nil(const redisReadTask *task)
{
	(void)oracle_add(task, RBI_TOKEN_NIL, NULL, 0);
	return task->privdata;
}

#if HIREDIS_MAJOR >= 1
typedef size_t oracle_count;

static inline rbi_token_kind oracle_aggregate(const redisReadTask *task)
{
	if (task->type == REDIS_REPLY_MAP)
		return RBI_TOKEN_MAP;
	return task->type == REDIS_REPLY_SET ? RBI_TOKEN_SET : RBI_TOKEN_ARRAY;
}

static inline void *oracle_double(const redisReadTask *task, double value,
				  char *data, size_t len)
{
	(void)value;
	(void)oracle_add(task, RBI_TOKEN_DOUBLE, data, len);
	return task->privdata;
}

static inline void *oracle_bool(const redisReadTask *task, int value)
{
	return oracle_number(task, RBI_TOKEN_BOOLEAN, value);
}
#else
typedef int oracle_count;

static inline rbi_token_kind oracle_aggregate(const redisReadTask *task)
{
	(void)task;
	return RBI_TOKEN_ARRAY;
}
#endif

static inline void *oracle_array(const redisReadTask *task, oracle_count n)
{
	return oracle_number(task, oracle_aggregate(task), (int64_t)n);
}

static inline void oracle_free(void *object)
{
	(void)object;
}

static inline void oracle_read(oracle *o, const char *stream, size_t len)
{
	static redisReplyObjectFunctions functions = {
		.createString = oracle_string,
		.createArray = oracle_array,
		.createInteger = oracle_integer,
		.createNil = oracle_nil,
#if HIREDIS_MAJOR >= 1
		.createDouble = oracle_double,
		.createBool = oracle_bool,
#endif
		.freeObject = oracle_free,
	};
	redisReader *r = redisReaderCreateWithFunctions(&functions);
	journal *j = &o->journal;
	void *reply;
	size_t before;

	must(r != NULL);
	r->privdata = o;
	must(redisReaderFeed(r, stream, len) == REDIS_OK);
	do {
		before = j->n;
		reply = NULL;
		if (redisReaderGetReply(r, &reply) != REDIS_OK)
			o->refused = true;
		if (reply != NULL && j->n > before && !o->refused)
			j->tokens[j->n - 1].last = true;
	} while (reply != NULL);
	redisReaderFree(r);
}

#endif

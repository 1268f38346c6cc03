/*
 * What the methods that use plain hiredis have in common: replies that are
 * kept, and looked at afterwards.
 */
#ifndef RBT_REPLIES_H
#define RBT_REPLIES_H

#include "method.h"

#include <stdbool.h>
#include <stddef.h>

/* Room for n replies in held. */
bool rbt_replies_init(rbt_held *held, size_t n);

/* Puts a command into the context's buffer. */
bool rbt_replies_append(rbt_held *held, size_t argc, const char **argv,
			const size_t *lens);

/* Awaits the next reply, and keeps it. False: none came, or an error. */
bool rbt_replies_take(rbt_held *held);

/* The last reply kept, which is kept no longer. */
redisReply *rbt_replies_untake(rbt_held *held);

/* True if it is value i of the job. */
bool rbt_replies_is(const redisReply *reply, const rbt_job *job, size_t i);

/* How many are right, of replies that are values, or arrays of values, or
 * both, in the order of the keys. */
size_t rbt_replies_count(const rbt_job *job, rbt_held *held);

/* For the floor, which looks at no value. All that can be said is that nothing
 * is left over, so that the count of its bytes was right: all keys, or 0. */
size_t rbt_replies_in_step(const rbt_job *job, rbt_held *held);

#endif

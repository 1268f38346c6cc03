/*
 * What the streams of the benchmark are fed from and end in: the keys of a job
 * over and over, and a look at each value as it goes by.
 */
#ifndef RBT_FLOW_H
#define RBT_FLOW_H

#include "method.h"

#include <stddef.h>

/* Where a stream is. Set up with job and held, the rest 0. */
typedef struct rbt_flow {
	const rbt_job *job;
	rbt_held *held; /* right ones are counted there */
	size_t next;	/* entry to be given */
	const char *argv[2];
	size_t lens[2];
} rbt_flow;

/* rb_source and rb_command_source (of GETs); arg is a flow. */
int rbt_flow_key(void *arg, rb_slice *key);
int rbt_flow_get(void *arg, rb_command *command);

/* rb_sink and rb_reply_sink; arg is a flow. */
int rbt_flow_values(void *arg, size_t first, const rb_slice *keys,
		    const rb_slice *values, const rb_status *statuses,
		    size_t n);
int rbt_flow_replies(void *arg, size_t first,
		     const struct redisReply *const *replies,
		     const rb_status *statuses, size_t n);

/* Looks at the value of key i, and counts it if it is right. */
void rbt_flow_look(const rbt_job *job, rbt_held *held, const char *data,
		   size_t len, size_t i);

/* For methods whose values were looked at on their way. */
size_t rbt_flow_count(const rbt_job *job, rbt_held *held);

#endif

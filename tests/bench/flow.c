#include "flow.h"

#include <string.h>

/* The values of two keys differ in their first 8 bytes already. */
enum { FIRST = 8 };

void rbt_flow_look(const rbt_job *job, rbt_held *held, const char *data,
		   size_t len, size_t i)
{
	char first[FIRST];
	size_t n = len < FIRST ? len : FIRST;

	if (job->whole) {
		held->right += rbt_value_is(data, len, job->value_len, i);
		return;
	}
	rbt_value_fill(first, n, i);
	held->right +=
		data && len == job->value_len && memcmp(data, first, n) == 0;
}

static const char *next_key(rbt_flow *flow, size_t *len)
{
	const rbt_keys *keys = flow->job->keys;
	size_t i;

	if (flow->next == rbt_job_entries(flow->job))
		return NULL;
	i = flow->next++ % keys->n;
	*len = keys->lens[i];
	return keys->keys[i];
}

int rbt_flow_key(void *arg, rb_slice *key)
{
	key->data = next_key(arg, &key->len);
	return key->data ? 1 : 0;
}

int rbt_flow_get(void *arg, rb_command *command)
{
	rbt_flow *flow = arg;

	flow->argv[0] = "GET";
	flow->lens[0] = 3;
	flow->argv[1] = next_key(flow, &flow->lens[1]);
	command->argc = 2;
	command->argv = flow->argv;
	command->argvlen = flow->lens;
	return flow->argv[1] ? 1 : 0;
}

int rbt_flow_values(void *arg, size_t first, const rb_slice *keys,
		    const rb_slice *values, const rb_status *statuses, size_t n)
{
	rbt_flow *flow = arg;
	size_t nkeys = flow->job->keys->n;

	(void)keys;
	for (size_t i = 0; i < n; i++)
		if (statuses[i] == RB_OK)
			rbt_flow_look(flow->job, flow->held, values[i].data,
				      values[i].len, (first + i) % nkeys);
	return 0;
}

int rbt_flow_replies(void *arg, size_t first,
		     const struct redisReply *const *replies,
		     const rb_status *statuses, size_t n)
{
	rbt_flow *flow = arg;
	size_t nkeys = flow->job->keys->n;

	for (size_t i = 0; i < n; i++)
		if (statuses[i] == RB_OK &&
		    replies[i]->type == REDIS_REPLY_STRING)
			rbt_flow_look(flow->job, flow->held, replies[i]->str,
				      replies[i]->len, (first + i) % nkeys);
	return 0;
}

size_t rbt_flow_count(const rbt_job *job, rbt_held *held)
{
	(void)job;
	return held->right;
}

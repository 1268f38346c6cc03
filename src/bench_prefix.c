#include "bench_prefix.h"

#include "bench_keys.h"
#include "say.h"
#include "signals.h"

#include <hiredis/hiredis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
	connection *connection;
	rb_client *client;
	const char *prefix;
	const char *pattern;
} search;

typedef struct redisReply reply_type;

/* The answer to one command, which lives as long as *res. NULL: said. */
static const reply_type *ask(const search *s, int argc, const char **argv,
			     rb_result **res)
{
	rb_command command = { .argc = argc, .argv = argv };
	rb_status status =
		rb_pipeline_chunked(s->client, &command, 1, NULL, res);

	if (status == RB_OK)
		return rb_result_reply(*res, 0);
	if (signals_caught() == 0)
		say("%s: %s", connection_name(s->connection),
		    *res != NULL ? rb_result_message(*res, 0) :
				   rb_client_error(s->client));
	return NULL;
}

static exits say_shape(const char *command)
{
	say("%s: the server gave an answer of another shape", command);
	return EXITS_SERVER;
}

/* ---------------------------------------------------------- one server -- */

static exits refuse(const search *s, const char *key, size_t len)
{
	say("the server has keys that begin with '%s' already, such as '%.*s': "
	    "remove them, or choose another --prefix",
	    s->prefix, (int)(len > 200 ? 200 : len), key);
	return EXITS_USAGE;
}

/* One answer of SCAN: the cursor of the next one, and whether it found any. */
static exits look(const search *s, const reply_type *found, char *cursor,
		  size_t size)
{
	const reply_type *keys;

	if (found->type != REDIS_REPLY_ARRAY || found->elements != 2 ||
	    found->element[0]->type != REDIS_REPLY_STRING ||
	    found->element[0]->len >= size ||
	    found->element[1]->type != REDIS_REPLY_ARRAY) {
		return say_shape("SCAN");
	}
	memcpy(cursor, found->element[0]->str, found->element[0]->len + 1);
	keys = found->element[1];
	if (keys->elements == 0)
		return EXITS_FINE;
	return refuse(s, keys->element[0]->str, keys->element[0]->len);
}

static exits scan(const search *s)
{
	char cursor[32] = "0";
	exits status;

	do {
		const char *argv[] = { "SCAN",	   cursor,  "MATCH",
				       s->pattern, "COUNT", "1000" };
		rb_result *res = NULL;
		const reply_type *found = ask(s, 6, argv, &res);

		status = found == NULL ? EXITS_SERVER :
					 look(s, found, cursor, sizeof(cursor));
		rb_result_free(res);
	} while (status == EXITS_FINE && strcmp(cursor, "0") != 0);
	return status;
}

/* ------------------------------------------------------------- cluster -- */

static exits scan_node(const search *s, const reply_type *node)
{
	search there = *s;
	rb_options o;
	exits status;

	rb_options_init(&o);
	status = connection_open_node(s->connection, node->element[0]->str,
				      (unsigned)node->element[1]->integer, &o,
				      &there.client);
	if (status != EXITS_FINE)
		return status;
	status = scan(&there);
	signals_watch(s->client);
	rb_client_free(there.client);
	return status;
}

/* A range of CLUSTER SLOTS: first slot, last slot, its primary, replicas. */
static const reply_type *primary_of(const reply_type *range)
{
	const reply_type *node;

	if (range->type != REDIS_REPLY_ARRAY || range->elements < 3)
		return NULL;
	node = range->element[2];
	if (node->type != REDIS_REPLY_ARRAY || node->elements < 2 ||
	    node->element[0]->type != REDIS_REPLY_STRING ||
	    node->element[1]->type != REDIS_REPLY_INTEGER)
		return NULL;
	return node;
}

/* A node may have several ranges, and is looked at once. */
static bool seen_before(const reply_type *slots, size_t i)
{
	const reply_type *node = primary_of(slots->element[i]);

	for (size_t k = 0; k < i; k++) {
		const reply_type *other = primary_of(slots->element[k]);

		if (other != NULL &&
		    other->element[1]->integer == node->element[1]->integer &&
		    strcmp(other->element[0]->str, node->element[0]->str) == 0)
			return true;
	}
	return false;
}

static exits scan_nodes(const search *s)
{
	const char *argv[] = { "CLUSTER", "SLOTS" };
	rb_result *res = NULL;
	const reply_type *slots = ask(s, 2, argv, &res);
	exits status = slots == NULL ? EXITS_SERVER : EXITS_FINE;
	size_t n = slots == NULL || slots->type != REDIS_REPLY_ARRAY ?
			   0 :
			   slots->elements;

	for (size_t i = 0; i < n && status == EXITS_FINE; i++) {
		const reply_type *node = primary_of(slots->element[i]);

		if (node == NULL)
			status = say_shape("CLUSTER SLOTS");
		else if (!seen_before(slots, i))
			status = scan_node(s, node);
	}
	rb_result_free(res);
	return status;
}

exits bench_prefix_check(connection *c, rb_client *client, const char *prefix)
{
	char *pattern = bench_keys_pattern(prefix);
	search s = { c, client, prefix, pattern };
	exits status = EXITS_LOCAL;

	if (pattern == NULL)
		say("out of memory");
	else if (connection_is_cluster(c))
		status = scan_nodes(&s);
	else
		status = scan(&s);
	free(pattern);
	return status;
}

#include "scan.h"

#include "say.h"
#include "signals.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
	/* NULL: the server of the connection. */
	char *host;
	unsigned port;
} node;

struct scan {
	const connection *connection;
	rb_client *main_client;
	rb_options options;
	const scan_order *order;
	char count[24];

	node *nodes;
	size_t nnodes;
	/* The node that is being asked, if client is not NULL. */
	size_t at;
	rb_client *client;
	char cursor[24];

	/* The last answer, and which of its keys is next. */
	rb_result *page;
	const struct redisReply *found;
	size_t next;

	rb_stats stats;
	exits status;
};

static exits out_of_memory(void)
{
	say("out of memory");
	return EXITS_LOCAL;
}

/* -------------------------------------------------------------- nodes -- */

static exits add_node(scan *s, const char *host, unsigned port)
{
	node *nodes;

	for (size_t i = 0; i < s->nnodes; i++) {
		if (s->nodes[i].port == port &&
		    strcmp(s->nodes[i].host, host) == 0)
			return EXITS_FINE;
	}
	nodes = realloc(s->nodes, (s->nnodes + 1) * sizeof(*nodes));
	if (nodes == NULL)
		return out_of_memory();
	s->nodes = nodes;
	nodes[s->nnodes] = (node){ strdup(host), port };
	if (nodes[s->nnodes].host == NULL)
		return out_of_memory();
	s->nnodes++;
	return EXITS_FINE;
}

/* A row of CLUSTER SLOTS: first and last slot, then the primary. */
static exits add_row(scan *s, const struct redisReply *row)
{
	const struct redisReply *primary;

	if (row->type != REDIS_REPLY_ARRAY || row->elements < 3)
		goto strange;
	primary = row->element[2];
	if (primary->type != REDIS_REPLY_ARRAY || primary->elements < 2 ||
	    primary->element[0]->type != REDIS_REPLY_STRING ||
	    primary->element[0]->len == 0 ||
	    primary->element[1]->type != REDIS_REPLY_INTEGER)
		goto strange;
	return add_node(s, primary->element[0]->str,
			(unsigned)primary->element[1]->integer);
strange:
	say("CLUSTER SLOTS names a primary without an address");
	return EXITS_SERVER;
}

static exits add_rows(scan *s, const struct redisReply *slots)
{
	exits status = EXITS_FINE;

	if (slots == NULL || slots->type != REDIS_REPLY_ARRAY ||
	    slots->elements == 0) {
		say("CLUSTER SLOTS names no node");
		return EXITS_SERVER;
	}
	for (size_t i = 0; i < slots->elements && status == EXITS_FINE; i++)
		status = add_row(s, slots->element[i]);
	return status;
}

static exits find_nodes(scan *s)
{
	const char *words[] = { "CLUSTER", "SLOTS" };
	const rb_command command = { 2, words, NULL };
	rb_result *res = NULL;
	exits status;

	if (rb_pipeline_chunked(s->main_client, &command, 1, NULL, &res) !=
	    RB_OK) {
		say("%s", rb_client_error(s->main_client));
		rb_result_free(res);
		return EXITS_SERVER;
	}
	status = add_rows(s, rb_result_reply(res, 0));
	rb_result_free(res);
	return status;
}

/* ---------------------------------------------------------------- open -- */

exits scan_open(const connection *c, rb_client *main_client,
		const rb_options *options, const scan_order *order, scan **out)
{
	scan *s = calloc(1, sizeof(*s));
	exits status = EXITS_FINE;

	*out = NULL;
	if (s == NULL)
		return out_of_memory();
	s->connection = c;
	s->main_client = main_client;
	s->options = *options;
	s->options.connections = 1;
	s->order = order;
	s->stats.struct_size = sizeof(s->stats);
	snprintf(s->count, sizeof(s->count), "%" PRIu64, order->count);
	if (connection_is_cluster(c)) {
		status = find_nodes(s);
	} else {
		s->nodes = calloc(1, sizeof(*s->nodes));
		s->nnodes = 1;
		if (s->nodes == NULL) {
			s->nnodes = 0;
			status = out_of_memory();
		}
	}
	if (status != EXITS_FINE) {
		scan_free(s);
		return status;
	}
	*out = s;
	return EXITS_FINE;
}

void scan_free(scan *s)
{
	if (s == NULL)
		return;
	rb_result_free(s->page);
	signals_unwatch(s->client);
	rb_client_free(s->client);
	for (size_t i = 0; i < s->nnodes; i++)
		free(s->nodes[i].host);
	free(s->nodes);
	free(s);
}

/* ---------------------------------------------------------------- scan -- */

static void add_stats(rb_stats *sum, const rb_stats *more)
{
	sum->commands += more->commands;
	sum->request_bytes += more->request_bytes;
	sum->reply_bytes += more->reply_bytes;
	sum->round_trips += more->round_trips;
	sum->retries += more->retries;
	sum->reconnects += more->reconnects;
}

/* Connects to the node whose turn it is. */
static bool begin_node(scan *s)
{
	const node *n = &s->nodes[s->at];

	s->status = connection_open_node(s->connection, n->host, n->port,
					 &s->options, &s->client);
	/* It may have been watched in the place of the main one. */
	signals_watch(s->main_client);
	s->cursor[0] = '0';
	s->cursor[1] = '\0';
	if (s->status == EXITS_FINE) {
		signals_watch_also(s->client);
		return true;
	}
	s->client = NULL;
	if (signals_caught() != 0)
		s->status = EXITS_FINE;
	return false;
}

static void end_node(scan *s)
{
	signals_unwatch(s->client);
	rb_client_free(s->client);
	s->client = NULL;
	s->at++;
}

static bool fail(scan *s, const char *words)
{
	if (signals_caught() == 0) {
		say("SCAN: %s", words);
		s->status = EXITS_SERVER;
	}
	return false;
}

/* Keeps the answer: the next cursor, and keys. */
static bool take_page(scan *s)
{
	const struct redisReply *reply = rb_result_reply(s->page, 0);
	const struct redisReply *cursor;

	if (reply == NULL || reply->type != REDIS_REPLY_ARRAY ||
	    reply->elements != 2)
		return fail(s, "a strange answer");
	cursor = reply->element[0];
	if (cursor->type != REDIS_REPLY_STRING ||
	    cursor->len >= sizeof(s->cursor) ||
	    reply->element[1]->type != REDIS_REPLY_ARRAY)
		return fail(s, "a strange answer");
	memcpy(s->cursor, cursor->str, cursor->len + 1);
	s->found = reply->element[1];
	return true;
}

static bool ask(scan *s)
{
	const char *words[] = { "SCAN",	 s->cursor, "MATCH", s->order->pattern,
				"COUNT", s->count };
	const rb_command command = { 6, words, NULL };
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_status status;

	rb_result_free(s->page);
	s->page = NULL;
	s->found = NULL;
	s->next = 0;
	status = rb_pipeline_chunked(s->client, &command, 1, NULL, &s->page);
	if (rb_result_stats(s->page, &stats) == RB_OK)
		add_stats(&s->stats, &stats);
	if (status == RB_ERR_PARTIAL)
		return fail(s, rb_result_message(s->page, 0));
	if (status != RB_OK)
		return fail(s, rb_client_error(s->client));
	return take_page(s);
}

static bool is_over(const scan *s)
{
	return s->found != NULL && strcmp(s->cursor, "0") == 0;
}

int scan_next(scan *s, rb_slice *key)
{
	for (;;) {
		if (s->found != NULL && s->next < s->found->elements) {
			const struct redisReply *r =
				s->found->element[s->next++];

			*key = (rb_slice){ r->str, r->len };
			return 1;
		}
		if (s->client != NULL && is_over(s)) {
			end_node(s);
			s->found = NULL;
		}
		if (s->at == s->nnodes)
			return 0;
		if (s->client == NULL && !begin_node(s))
			return -1;
		if (!ask(s))
			return -1;
	}
}

exits scan_status(const scan *s)
{
	return s->status;
}

void scan_add_stats(const scan *s, rb_stats *sum)
{
	add_stats(sum, &s->stats);
}

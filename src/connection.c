#include "connection.h"

#include "number.h"
#include "say.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const args_option options[] = {
	{ 'u', "uri", "URI",
	  "redis://[USER:PASSWORD@]HOST[:PORT][/DB], unix://PATH or "
	  "redis+cluster://HOST:PORT,..." },
	{ 'h', "host", "HOST", "the server's host (127.0.0.1)" },
	{ 'p', "port", "PORT", "the server's port (6379)" },
	{ 's', "socket", "PATH", "a unix socket instead" },
	{ 'n', "db", "NUMBER", "the database (0)" },
};

struct connection {
	const char *uri;
	const char *host;
	const char *socket;
	unsigned port;
	unsigned db;
	char name[300];
};

connection *connection_new(void)
{
	connection *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		say("out of memory");
		return NULL;
	}
	c->host = "127.0.0.1";
	c->port = 6379;
	return c;
}

void connection_free(connection *c)
{
	free(c);
}

static exits take_port(connection *c, const char *value)
{
	uint64_t n;

	if (!number_count(value, 1, 65535, &n))
		return args_bad("port", value, "a number from 1 to 65535");
	c->port = (unsigned)n;
	return EXITS_FINE;
}

static exits take_db(connection *c, const char *value)
{
	uint64_t n;

	if (!number_count(value, 0, INT32_MAX, &n))
		return args_bad("db", value, "a number from 0");
	c->db = (unsigned)n;
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	connection *c = to;

	switch (key) {
	case 'u':
		c->uri = value;
		return EXITS_FINE;
	case 'h':
		c->host = value;
		return EXITS_FINE;
	case 's':
		c->socket = value;
		return EXITS_FINE;
	case 'p':
		return take_port(c, value);
	default:
		return take_db(c, value);
	}
}

args_group connection_group(connection *c)
{
	return (args_group){ "Connection", options,
			     sizeof(options) / sizeof(options[0]), take, c };
}

exits connection_open(connection *c, const rb_options *o, rb_client **out)
{
	char uri[512];

	if (c->socket != NULL)
		snprintf(uri, sizeof(uri), "unix://%s?db=%u", c->socket, c->db);
	else
		snprintf(uri, sizeof(uri), "redis://%s:%u/%u", c->host, c->port,
			 c->db);
	if (rb_client_open(out, c->uri ? c->uri : uri, o) != RB_OK)
		return say_usage("%s", rb_uri_problem(c->uri ? c->uri : uri));
	signals_watch(*out);
	if (rb_client_connect(*out) == RB_OK)
		return EXITS_FINE;
	say("%s", rb_client_error(*out));
	signals_watch(NULL);
	rb_client_free(*out);
	*out = NULL;
	return EXITS_SERVER;
}

exits connection_open_node(const connection *c, const char *host, unsigned port,
			   const rb_options *o, rb_client **out)
{
	connection node = *c;

	node.uri = NULL;
	if (host != NULL) {
		node.host = host;
		node.port = port;
		node.socket = NULL;
	}
	return connection_open(&node, o, out);
}

bool connection_is_cluster(const connection *c)
{
	return c->uri != NULL && strncmp(c->uri, "redis+cluster", 13) == 0;
}

const char *connection_name(const connection *c)
{
	return c->socket != NULL ? c->socket : c->host;
}

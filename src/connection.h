/*
 * Which server, and who asks: the options that redis-cli has, under the same
 * names, made into a client of the library.
 *
 * Passwords come from a file, the terminal, the environment or, with a warning,
 * from the command line, where they are wiped at once. They are in no message.
 */
#ifndef REDISBATCH_SRC_CONNECTION_H
#define REDISBATCH_SRC_CONNECTION_H

#include "args.h"

#include <redisbatch/redisbatch.h>

typedef struct connection connection;

/* NULL: out of memory. */
connection *connection_new(void);
void connection_free(connection *c);

/* The options, for args_parse(). */
args_group connection_group(connection *c);

/* Makes a client with these defaults and connects it. What is wrong was said;
 * EXITS_USAGE or EXITS_SERVER then. Before anything else is done with it, the
 * client is made known to signals_watch(). */
exits connection_open(connection *c, const rb_options *options,
		      rb_client **out);

/* Another client to the same server (or one node of the same cluster, if host
 * is not NULL), as the same user. */
exits connection_open_node(const connection *c, const char *host, unsigned port,
			   const rb_options *options, rb_client **out);
bool connection_is_cluster(const connection *c);

/* host:port or the path, for messages; no password in it. */
const char *connection_name(const connection *c);

#endif

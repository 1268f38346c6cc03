/*
 * Which server, and who asks: the options that redis-cli has, under the same
 * names, made into a client of the library.
 *
 * The server is that of --uri; else that of --socket, or of --host and --port;
 * else that of REDIS_URL; else 127.0.0.1:6379. --db wins over a database in a
 * URI. The password is that of --askpass, --pass-file or --pass; else that in
 * the URI; else REDISCLI_AUTH. What is secret on the command line is overwritten
 * at once, and --pass is warned of. No password is in a message.
 *
 * Where the library was built without TLS, what asks for it is refused with
 * EXITS_USAGE, and not done without.
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

/* Makes a client with these defaults, but for RB_TRANSACTION, which is left to
 * each call, and connects it. What is wrong was said;
 * EXITS_USAGE, EXITS_LOCAL or EXITS_SERVER then, or EXITS_SIGNAL and the number
 * of a signal. Before anything else is done with it, the client is made known
 * to signals_watch(). A password is asked for once. */
exits connection_open(connection *c, const rb_options *options,
		      rb_client **out);

/* Another client to the same server (or one node of the same cluster, if host
 * is not NULL), as the same user; after connection_open(). A signal ends the
 * connecting; what follows is for the caller to make known to signals. */
exits connection_open_node(const connection *c, const char *host, unsigned port,
			   const rb_options *options, rb_client **out);

/* Known once the options were taken. */
bool connection_is_cluster(const connection *c);

/* host:port or the path, for messages; no password in it. Known once
 * connection_open() was called. */
const char *connection_name(const connection *c);

#endif

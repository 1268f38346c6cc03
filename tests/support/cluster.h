/*
 * A private cluster for one test program: servers on ephemeral ports of
 * 127.0.0.1, each in a temporary directory of its own, that die with the thread
 * that started them.
 *
 *	rbt_cluster_options o = { .primaries = 3, .replicas = 1 };
 *	rbt_cluster *c = rbt_cluster_start(&o);
 *
 *	rbt_cluster_uri(c, 2, uri, sizeof(uri));
 *	rbt_cluster_kill(c, 0);
 *	if (!rbt_cluster_await_owner(c, 0, 0, 10000)) ...
 *
 * Nodes have numbers: first the primaries, in the order of their slots, then
 * their replicas, in the same order. A number stays with its process and port,
 * whatever role the node takes on.
 *
 * Nothing here fails a test by itself, so that it can be used from any thread,
 * by one at a time: what can fail answers false, and rbt_cluster_why() says why.
 */
#ifndef RBT_CLUSTER_H
#define RBT_CLUSTER_H

#include "server.h"

#include <hiredis/hiredis.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RBT_SLOTS = 16384, RBT_MOST_NODES = 12 };

typedef struct rbt_cluster rbt_cluster;

/* Zero in a member: its default. */
typedef struct rbt_cluster_options {
	size_t primaries; /* 1 */
	size_t replicas;  /* of each primary; at most 1 */
	/* How long a node is silent before it counts as failed: 2,000. */
	unsigned node_timeout_ms;
	/* What is served goes on when other slots are not. */
	bool partial;
	/* Who may do anything; the default user then needs a password that
	 * nobody has. A password alone is that of the default user. */
	const char *user, *password;
	const char *const *extra_args; /* of each server; ends with NULL */
} rbt_cluster_options;

/* NULL: rbt_cluster_why(). Comes back when all nodes serve, and agree on who
 * has which slot. */
rbt_cluster *rbt_cluster_start(const rbt_cluster_options *options);
/* NULL is fine. */
void rbt_cluster_stop(rbt_cluster *c);

/* What went wrong last: one line, "" at first. */
const char *rbt_cluster_why(const rbt_cluster *c);
/* Of a start that failed. */
const char *rbt_cluster_why_not(void);

/* ----------------------------------------------------------- the nodes -- */

size_t rbt_cluster_size(const rbt_cluster *c);
int rbt_cluster_port(const rbt_cluster *c, size_t node);
pid_t rbt_cluster_pid(const rbt_cluster *c, size_t node);
/* Its id in the cluster. */
const char *rbt_cluster_id(const rbt_cluster *c, size_t node);
/* The node at this port; rbt_cluster_size() if there is none. */
size_t rbt_cluster_at_port(const rbt_cluster *c, long long port);

/* The URI with the addresses of the first nseeds nodes; 0: of all. */
void rbt_cluster_uri(const rbt_cluster *c, size_t nseeds, char *out,
		     size_t size);

/* A connection to the node over its unix socket, logged in, for commands of the
 * test; the cluster's to keep, and made anew when it was lost. It gives up on an
 * answer after 5 s. NULL: there is none. */
redisContext *rbt_cluster_admin(rbt_cluster *c, size_t node);

/* The answer to a command, to be freed; NULL: there was none. */
redisReply *rbt_cluster_ask(rbt_cluster *c, size_t node, const char *format,
			    ...);
/* True if the node answered, and with no error. */
bool rbt_cluster_do(rbt_cluster *c, size_t node, const char *format, ...);
/* The same by every node that runs. */
bool rbt_cluster_do_all(rbt_cluster *c, const char *format, ...);
/* The same by every primary that runs. */
bool rbt_cluster_do_primaries(rbt_cluster *c, const char *format, ...);

/* A number of INFO by its name; 0 if it is not there. */
uint64_t rbt_cluster_info(rbt_cluster *c, size_t node, const char *section,
			  const char *name);

/* How often a command was called (MGET is "mget"), or errors that begin with
 * this word were answered, at all nodes that run; at one. */
uint64_t rbt_cluster_calls(rbt_cluster *c, const char *command);
uint64_t rbt_cluster_errors(rbt_cluster *c, const char *word);
uint64_t rbt_cluster_calls_at(rbt_cluster *c, size_t node, const char *command);

/* ------------------------------------------------------- what befalls them -- */

/* By SIGKILL, and waits until it is gone. */
void rbt_cluster_kill(rbt_cluster *c, size_t node);
/* On the same port with the same directory. */
bool rbt_cluster_restart(rbt_cluster *c, size_t node);
/* By SIGSTOP, and waits until it stands still; SIGCONT. */
void rbt_cluster_freeze(rbt_cluster *c, size_t node);
void rbt_cluster_thaw(rbt_cluster *c, size_t node);
/* Neither killed nor frozen. */
bool rbt_cluster_runs(const rbt_cluster *c, size_t node);

#endif

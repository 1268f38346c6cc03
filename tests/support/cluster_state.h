/*
 * Inside a cluster of the tests.
 */
#ifndef RBT_CLUSTER_STATE_H
#define RBT_CLUSTER_STATE_H

#include "cluster.h"

#include <stdarg.h>

typedef struct rbt_node {
	rbt_server *server;
	redisContext *admin; /* NULL: not connected */
	char id[64];
	bool frozen;
} rbt_node;

struct rbt_cluster {
	rbt_cluster_options options;
	size_t n;
	rbt_node nodes[RBT_MOST_NODES];
	size_t found; /* who had the slot that was last asked for */
	char why[512];
};

/* Sets the line, and answers false. */
bool rbt_cluster_fail(rbt_cluster *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

bool rbt_cluster_vdo(rbt_cluster *c, size_t node, const char *format,
		     va_list args);

/* MIGRATE's own words for who we are: "" or " AUTH2 user password". */
void rbt_cluster_migrate_auth(const rbt_cluster *c, char *out, size_t size);

#endif

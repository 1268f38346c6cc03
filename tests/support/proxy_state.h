/*
 * What a proxy's thread (proxy_run.c) and those who talk to it (proxy.c) share.
 */
#ifndef RBT_PROXY_STATE_H
#define RBT_PROXY_STATE_H

#include "proxy.h"
#include "proxy_link.h"

#include <pthread.h>

enum { RBT_PROXY_OWN_RULES = 16, RBT_PROXY_LINKS = 64 };

typedef struct rbt_rules {
	rbt_rule all[2];
	struct {
		size_t number; /* of the connection; 0: unused */
		bool set[2];
		rbt_rule rule[2];
	} own[RBT_PROXY_OWN_RULES];
	uint64_t version;
} rbt_rules;

typedef struct rbt_proxy_counts {
	uint64_t bytes[2];
	uint64_t connections;
	uint64_t ends;
	uint64_t commands;
} rbt_proxy_counts;

struct rbt_proxy {
	/* Fixed while the thread runs; but for wire.fd, which is its own. */
	rbt_proxy_options options;
	rbt_wire wire;
	pthread_t thread;
	int wake[2]; /* readable when there is a new rule */

	/* The thread's own. */
	rbt_link links[RBT_PROXY_LINKS];
	size_t nlinks;
	rbt_rules current;
	char buf[RBT_PIPE_READ];

	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed;
	rbt_rules rules;
	uint64_t applied; /* the version that the thread goes by */
	rbt_proxy_counts counts;
	rbt_arrival *arrivals;
	size_t narrivals;
};

enum { RBT_PROXY_ARRIVALS = 65536 };

void *rbt_proxy_run(void *proxy);

#endif

/*
 * What is measured on: a server that was found to have no keys with our prefix,
 * and then has so many of them, with values of one size, until they are removed
 * again, however the run ends.
 */
#ifndef REDISBATCH_SRC_BENCH_WORK_H
#define REDISBATCH_SRC_BENCH_WORK_H

#include "args.h"
#include "bench_keys.h"
#include "connection.h"
#include "delay.h"

#include <redisbatch/redisbatch.h>

typedef struct bench_work {
	connection *connection;
	/* Of the command line, as tuning_group() has them. */
	rb_options options;
	const char *prefix;
	size_t value_size;
	/* 0: no distance is added. */
	uint64_t rtt_ms;
	bench_keys keys;
	/* For what is not measured: straight to the server. */
	rb_client *client;
	delay *delay;
	/* The first ones of the keys, which may have been written. */
	size_t nwritten;
} bench_work;

/* The defaults, and out of memory: EXITS_LOCAL. bench_work_fini() in both
 * cases. */
exits bench_work_init(bench_work *w);

/* Parses the command line of a command with options of its own, and with those
 * of the connection and the tuning: --prefix, --value-size, --rtt are for here.
 * It has no operands. *done: --help or --version was answered. */
exits bench_work_args(bench_work *w, const args_usage *usage,
		      const args_group *own, int argc, char **argv, bool *done);

/* Connects, looks for keys with the prefix, writes nkeys of them, and sets up
 * the distance. What is wrong was said. bench_work_end() in all cases. */
exits bench_work_begin(bench_work *w, size_t nkeys);

/* Another client to the server, from as far away as it is to be. */
exits bench_work_open(const bench_work *w, const rb_options *options,
		      rb_client **out);

/* Removes the keys, also after a signal. EXITS_SERVER: they could not be
 * removed, which was said. */
exits bench_work_end(bench_work *w);

void bench_work_fini(bench_work *w);

#endif

/*
 * The ways to read many keys that people argue about. All of them go through
 * the library, which sends exactly what each of them is known for; so that what
 * differs is the way and not the client.
 */
#ifndef REDISBATCH_SRC_BENCH_METHOD_H
#define REDISBATCH_SRC_BENCH_METHOD_H

#include "bench_keys.h"

#include <redisbatch/redisbatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_METHODS = 7 };

/* What came of one run. Small enough for one write to a pipe. */
typedef struct bench_outcome {
	/* Values that came and are of the right length; all others. */
	uint64_t right;
	uint64_t wrong;
	uint64_t commands;
	/* Of the first failure, "" if there was none. */
	char why[160];
} bench_outcome;

/* What a method reads: the first n of the keys. */
typedef struct bench_job {
	const bench_keys *keys;
	size_t n;
	size_t value_size;
	/* Of the command line. */
	const rb_options *options;
	/* GET for each key; only if the method has needs_commands. */
	const rb_command *commands;
} bench_job;

typedef struct bench_method {
	/* In a list of methods, and in data. */
	const char *name;
	/* In a table. */
	const char *title;
	bool needs_commands;
	void (*run)(rb_client *client, const bench_job *job,
		    bench_outcome *out);
} bench_method;

extern const bench_method bench_methods[BENCH_METHODS];

/* A bit for each method named in a list with commas; 0: one of the names is
 * unknown. */
unsigned bench_method_set(const char *list);

/* A GET for each of n keys; free() gives it back. NULL: out of memory. */
rb_command *bench_method_gets(const bench_keys *keys, size_t n);

#endif

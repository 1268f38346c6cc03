/*
 * A run of redisbatch pipeline: what its two ways, a stream and one transaction,
 * have in common.
 */
#ifndef REDISBATCH_SRC_PIPELINE_H
#define REDISBATCH_SRC_PIPELINE_H

#include "connection.h"
#include "out.h"
#include "refusal.h"
#include "reply.h"
#include "report.h"
#include "script.h"

typedef struct pipeline {
	rb_client *client;
	rb_options options;
	report *report;
	out *out;
	script *script;
	/* Where error replies come from, where that is not told. */
	const char *server;

	reply_format format;
	bool only_failures;
	/* There are several files, so that a line alone says too little. */
	bool names_files;
	/* The first bad record ends it. */
	bool strict;

	refusal refusal;
	rb_stats stats;
	/* Nothing was sent, nor will be: there is nothing to sum up. */
	bool given_up;
	/* What ended the input early: EXITS_LOCAL for a file that cannot be
	 * read, EXITS_PARTIAL for a record that is bad. */
	exits stopped;
} pipeline;

/* A command that failed, or a record that is bad. */
typedef struct pipeline_failure {
	rb_slice raw;
	const char *file;
	size_t line;
	const char *node;
	const char *words;
	/* RB_ANSWERED: with an error, which was printed. */
	rb_outcome outcome;
} pipeline_failure;

/* Lists it on standard error. */
void pipeline_list(pipeline *p, const pipeline_failure *failure);
/* Lists it, and prints what became of it unless its reply was. */
void pipeline_fail(pipeline *p, const pipeline_failure *failure);

/* Print a reply, if it is wanted, or what became of a command without one;
 * nothing is flushed. */
void pipeline_put(pipeline *p, const char *file, size_t line,
		  const redisReply *reply);
void pipeline_put_none(pipeline *p, const char *file, size_t line,
		       rb_outcome outcome, const char *why);

/* What a call that ended so makes of the run, but for failures of single
 * commands; what is not said yet is said. */
exits pipeline_conclude(pipeline *p, rb_status status);

/* Runs the script. EXITS_FINE unless something other than single commands went
 * wrong, which are counted by the report. */
exits pipeline_stream(pipeline *p);
exits pipeline_transaction(pipeline *p);

#endif

/*
 * Ways to do the same work, measured alike.
 *
 * What is timed is the work: reading all keys, setting them all, running all
 * commands. The processor time is that of the work and of giving back what it
 * left. A method either keeps all values until the last has come, to have them
 * compared afterwards, or hands them on as they come; then its sink looks at
 * them.
 */
#ifndef RBT_METHOD_H
#define RBT_METHOD_H

#include "load.h"
#include "target.h"
#include "values.h"

#include <redisbatch/redisbatch.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rbt_crew;
struct rbt_floor;
struct rbt_places;

/* What is to be done, the same for all methods. */
typedef struct rbt_job {
	const rbt_target *target;
	const struct rbt_places *places; /* of a cluster; NULL: one server */
	const rbt_keys *keys;
	size_t value_len;
	size_t chunk;		   /* entries a chunk, where methods cut */
	const rb_options *options; /* for the library; NULL: defaults */
	/* Streams only: how often the keys are gone through; 0: once. */
	size_t laps;
	/* Streams only: their sinks compare values whole, which takes longer
	 * than looking at their lengths and first bytes. */
	bool whole;
	/* Writes only: key i is set to value i + shift. */
	const rbt_values *values;
	size_t shift;
} rbt_job;

/* What a method has in hand. */
typedef struct rbt_held {
	redisContext *ctx;
	redisReply **replies;
	size_t nreplies;
	rb_client *client;
	rb_result *result;
	rb_command *gets; /* one for each key, and their arguments */
	const char **argv;
	size_t *lens;
	struct rbt_floor *floor;
	struct rbt_crew *crew; /* to all nodes of a cluster */
	size_t commands;
	size_t right; /* counted while the values went by */
	char why[160];
} rbt_held;

typedef struct rbt_method {
	const char *name;
	/* Before the clock starts; NULL: nothing to do. */
	bool (*prepare)(const rbt_job *job, rbt_held *held);
	/* Timed. False: held->why. */
	bool (*run)(const rbt_job *job, rbt_held *held);
	/* How many of the entries are as they should be. */
	size_t (*count_right)(const rbt_job *job, rbt_held *held);
} rbt_method;

/* What one run cost. Small enough for one write to a pipe. */
typedef struct rbt_sample {
	bool done;	   /* false: why */
	size_t right;	   /* entries compared and found right */
	uint64_t start_ns; /* of rbt_now_ns() */
	uint64_t wall_ns;
	uint64_t cpu_ns;
	size_t growth; /* bytes, peak over what was resident before */
	size_t commands;
	char why[160];
} rbt_sample;

/* Entries that a run of the job has. */
size_t rbt_job_entries(const rbt_job *job);

/* Connects and prepares. False: held->why. Ended by rbt_method_end() in both
 * cases. */
bool rbt_method_begin(const rbt_method *method, const rbt_job *job,
		      rbt_held *held);
void rbt_method_end(rbt_held *held);

/* Gives back what the run left. */
void rbt_method_release(rbt_held *held);

/* Of this process so far, user and system. */
uint64_t rbt_method_cpu_ns(void);

/* The commands that the run sent. */
size_t rbt_method_commands(const rbt_held *held);

/* For methods: puts the reason down. Always false. */
bool rbt_method_fail(rbt_held *held, const char *why);

/* For methods: a client of the library on held->ctx. */
bool rbt_method_wrap(const rbt_job *job, rbt_held *held);

/* Runs a method in this process. wait, if given, is called once all is ready,
 * just before the clock starts. */
void rbt_method_measure(const rbt_method *method, const rbt_job *job,
			void (*wait)(void *arg), void *arg, rbt_sample *out);

#endif

/*
 * Ways to read the same keys, measured alike.
 *
 * Each method reads all keys and keeps all values until the last has come;
 * they are compared and given back afterwards. What is timed is the reading;
 * the processor time is that of reading and of giving back.
 */
#ifndef RBT_METHOD_H
#define RBT_METHOD_H

#include "load.h"
#include "target.h"

#include <redisbatch/redisbatch.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rbt_floor;

/* What is to be read, the same for all methods. */
typedef struct rbt_job {
	const rbt_target *target;
	const rbt_keys *keys;
	size_t value_len;
	size_t chunk;		   /* keys per MGET of the methods that cut */
	const rb_options *options; /* for the library; NULL: defaults */
} rbt_job;

/* What a method has in hand. */
typedef struct rbt_held {
	redisContext *ctx;
	redisReply **replies;
	size_t nreplies;
	rb_client *client;
	rb_result *result;
	struct rbt_floor *floor;
	size_t commands;
	char why[160];
} rbt_held;

typedef struct rbt_method {
	const char *name;
	/* Before the clock starts; NULL: nothing to do. */
	bool (*prepare)(const rbt_job *job, rbt_held *held);
	/* Timed. False: held->why. */
	bool (*read)(const rbt_job *job, rbt_held *held);
	/* How many of the values are the right ones. */
	size_t (*count_right)(const rbt_job *job, const rbt_held *held);
} rbt_method;

extern const rbt_method rbt_method_get_pipeline; /* GETs in one pipeline */
extern const rbt_method rbt_method_one_mget;
extern const rbt_method rbt_method_mget_loop; /* one chunk after the other */
extern const rbt_method rbt_method_mget_pipeline; /* all chunks appended */
extern const rbt_method rbt_method_library;	  /* rb_mget_chunked */
extern const rbt_method rbt_method_floor;	  /* floor.h */

/* What one run cost. Small enough for one write to a pipe. */
typedef struct rbt_sample {
	bool done;	   /* false: why */
	size_t right;	   /* values compared and found right */
	uint64_t start_ns; /* of rbt_now_ns() */
	uint64_t wall_ns;
	uint64_t cpu_ns;
	size_t growth; /* bytes, peak over what was resident before */
	size_t commands;
	char why[160];
} rbt_sample;

/* Connects and prepares. False: held->why. Ended by rbt_method_end() in both
 * cases. */
bool rbt_method_begin(const rbt_method *method, const rbt_job *job,
		      rbt_held *held);
void rbt_method_end(rbt_held *held);

/* Gives back the values that were read. */
void rbt_method_release(rbt_held *held);

/* Runs a method in this process. wait, if given, is called once all is ready,
 * just before the clock starts. */
void rbt_method_measure(const rbt_method *method, const rbt_job *job,
			void (*wait)(void *arg), void *arg, rbt_sample *out);

#endif

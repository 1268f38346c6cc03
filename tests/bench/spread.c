#include "spread.h"

#include "child.h"
#include "crew.h"
#include "instructions.h"
#include "interrupt.h"
#include "nodewise.h"
#include "series.h"
#include "tick.h"

#include <stdio.h>
#include <string.h>

enum {
	PRIMARIES = 3,
	MOST_METHODS = 3,
	VALUE_LEN = 100,
	ROUNDS = 21,
	/* A run does small jobs so often that it has so many entries at least,
	 * or what it takes could not be told from what measuring takes. */
	RUN_ENTRIES = 50000,
	MAX_SHIFT = 1024
};

/* ----------------------------------------------------------- one method -- */

/* What one run cost: all its laps together. */
typedef struct cost {
	bool done; /* false: why */
	uint64_t wall_ns, cpu_ns, server_ns;
	size_t commands; /* of a lap */
	size_t right;	 /* entries of the last lap */
	char why[160];
} cost;

typedef struct work {
	const rbt_method *method;
	const rbt_job *job;
	size_t laps;
} work;

static bool time_laps(const work *w, rbt_held *held, cost *out)
{
	uint64_t start, cpu;
	bool fine = true;

	cpu = rbt_method_cpu_ns();
	start = rbt_now_ns();
	for (size_t lap = 0; fine && lap < w->laps; lap++) {
		rbt_method_release(held);
		fine = w->method->run(w->job, held);
	}
	out->wall_ns = rbt_now_ns() - start;
	out->cpu_ns = rbt_method_cpu_ns() - cpu;
	return fine;
}

/* In the child. The processor time of the nodes is asked for by another crew
 * than the one that may be at work. */
static void measure(const work *w, rbt_crew *nodes, cost *out)
{
	rbt_held held;
	uint64_t before = 0, after = 0, cpu;

	out->done = rbt_method_begin(w->method, w->job, &held) &&
		    rbt_crew_server_cpu(nodes, &before) &&
		    time_laps(w, &held, out) &&
		    rbt_crew_server_cpu(nodes, &after);
	out->server_ns = after - before;
	out->commands = rbt_method_commands(&held);
	if (out->done)
		out->right = w->method->count_right(w->job, &held);
	cpu = rbt_method_cpu_ns();
	rbt_method_release(&held);
	out->cpu_ns += rbt_method_cpu_ns() - cpu;
	memcpy(out->why, held.why, sizeof(out->why));
	rbt_method_end(&held);
}

static void run_work(void *arg, int in, int out)
{
	const work *w = arg;
	cost c;
	rbt_crew *nodes;

	(void)in;
	memset(&c, 0, sizeof(c));
	nodes = rbt_crew_new(w->job->places, c.why, sizeof(c.why));
	if (nodes)
		measure(w, nodes, &c);
	rbt_crew_free(nodes);
	rbt_child_put(out, &c, sizeof(c));
}

/* In a process of its own, checked. */
static bool run(const rbt_method *method, rbt_job *job, size_t laps, cost *out)
{
	work w = { method, job, laps };
	rbt_child child;
	bool fine;

	if (job->values)
		job->shift = job->shift % MAX_SHIFT + 1;
	if (!rbt_child_start(&child, run_work, &w))
		return rbt_complain("no more processes");
	fine = rbt_child_get(child.in, out, sizeof(*out));
	rbt_child_end(&child);
	if (!fine)
		return rbt_complain("%s: its process ended early",
				    method->name);
	if (!out->done)
		return rbt_complain("%s: %s", method->name, out->why);
	return out->right == job->keys->n ||
	       rbt_complain("%s: of %zu entries only %zu are right",
			    method->name, job->keys->n, out->right);
}

/* --------------------------------------------------------------- a table -- */

typedef const rbt_method *methods[MOST_METHODS];

static cost costs[MOST_METHODS][RBT_MAX_ROUNDS];

static double wall_of(const cost *c)
{
	return (double)c->wall_ns;
}

static double server_of(const cost *c)
{
	return (double)c->server_ns;
}

static double cpu_of(const cost *c)
{
	return (double)c->cpu_ns;
}

/* The ratio to the first method, round by round: the median, and the quartiles
 * around it. */
static void print_ratio(size_t m, size_t rounds, double (*of)(const cost *c))
{
	double ratio[RBT_MAX_ROUNDS], mid;

	for (size_t r = 0; r < rounds; r++)
		ratio[r] = of(&costs[m][r]) / of(&costs[0][r]);
	mid = rbt_series_median_of(ratio, rounds);
	printf(" %5.2f %4.2f..%4.2f", mid, ratio[rounds / 4],
	       ratio[rounds - 1 - rounds / 4]);
}

static void print_row(const rbt_method *method, size_t m, size_t rounds,
		      size_t laps)
{
	double ms[RBT_MAX_ROUNDS];

	for (size_t r = 0; r < rounds; r++)
		ms[r] = wall_of(&costs[m][r]) / 1e6 / (double)laps;
	printf("%-21s %6.2f", method->name, rbt_series_median_of(ms, rounds));
	print_ratio(m, rounds, wall_of);
	print_ratio(m, rounds, server_of);
	print_ratio(m, rounds, cpu_of);
	printf(" %8s\n", rbt_series_grouped(costs[m][0].commands));
}

static void print_rows(const rbt_job *job, const methods list, size_t rounds,
		       size_t laps, const char *what)
{
	printf("\n%s %s of %zu bytes on %d primaries, %zu rounds of %zu\n",
	       rbt_series_grouped(job->keys->n), what, job->value_len,
	       PRIMARIES, rounds, laps);
	printf("%-21s %6s %-16s %-16s %-16s %8s\n", "", "ms", " wall time",
	       " server CPU", " client CPU", "commands");
	for (size_t m = 0; m < MOST_METHODS; m++)
		print_row(list[m], m, rounds, laps);
	fflush(stdout);
}

static bool print_table(rbt_job *job, const methods list, size_t rounds,
			const char *what)
{
	size_t n = job->keys->n, laps = n < RUN_ENTRIES ? RUN_ENTRIES / n : 1;
	cost unused;

	for (size_t m = 0; m < MOST_METHODS; m++)
		if (!run(list[m], job, 1, &unused))
			return false;
	for (size_t r = 0; r < rounds; r++)
		for (size_t i = 0; i < MOST_METHODS; i++) {
			size_t m = (i + r) % MOST_METHODS;

			if (!run(list[m], job, laps, &costs[m][r]))
				return false;
		}
	print_rows(job, list, rounds, laps, what);
	return true;
}

/* ------------------------------------------------------------- the keys -- */

/* Bijective: keys that were different stay so. */
static uint32_t scatter(uint32_t x)
{
	x = (x ^ (x >> 16)) * 0x45d9f3bu;
	x = (x ^ (x >> 16)) * 0x45d9f3bu;
	return x ^ (x >> 16);
}

/* Writes random digits over those of the keys. */
static void scatter_keys(const rbt_keys *keys)
{
	char digits[16], *at = keys->bytes;

	for (size_t i = 0; i < keys->n; i++, at += keys->lens[i - 1] + 1) {
		snprintf(digits, sizeof(digits), "%08x", scatter((uint32_t)i));
		memcpy(at + keys->lens[i] - 8, digits, 8);
	}
}

typedef struct field {
	rbt_cluster *cluster;
	rbt_places places;
	rbt_job job;
	rbt_keys keys;
	rbt_values values;
} field;

static bool begin(field *f, const rbt_setup *s)
{
	static const rbt_cluster_options options = { .primaries = PRIMARIES };

	memset(f, 0, sizeof(*f));
	f->cluster = rbt_cluster_start(&options);
	if (!f->cluster)
		return rbt_complain("%s", rbt_cluster_why_not());
	f->job.value_len = rbt_either(s->value_len, VALUE_LEN);
	f->job.options = &s->options;
	f->job.places = &f->places;
	f->job.target = &f->places.targets[0];
	f->job.keys = &f->keys;
	return rbt_places_init(&f->places, f->cluster) ||
	       rbt_complain("%s", rbt_cluster_why(f->cluster));
}

static bool load(field *f, size_t n)
{
	cost unused;

	rbt_keys_fini(&f->keys);
	rbt_values_fini(&f->values);
	if (!rbt_keys_init(&f->keys, "key:", n) ||
	    !rbt_values_init(&f->values, n + MAX_SHIFT, f->job.value_len))
		return rbt_complain("out of memory");
	scatter_keys(&f->keys);
	f->job.values = &f->values;
	return run(&rbt_nodewise_load, &f->job, 1, &unused);
}

static void end(field *f)
{
	rbt_keys_fini(&f->keys);
	rbt_values_fini(&f->values);
	rbt_cluster_stop(f->cluster);
}

static bool print_tables(field *f, size_t n, size_t rounds)
{
	static const methods reads = { &rbt_nodewise_gets, &rbt_nodewise_mget,
				       &rbt_nodewise_pipeline };
	static const methods writes = { &rbt_nodewise_sets, &rbt_nodewise_mset,
					&rbt_nodewise_pipe_sets };
	bool fine = load(f, n);

	/* What is read is what was set: nothing is written meanwhile. */
	f->job.values = NULL;
	fine = fine && print_table(&f->job, reads, rounds, "keys");
	f->job.values = &f->values;
	return fine && print_table(&f->job, writes, rounds, "pairs");
}

bool rbt_spread_print(const rbt_setup *s)
{
	static const size_t counts[] = { 1000, 10000, 100000 };
	size_t rounds = rbt_either(s->rounds, ROUNDS);
	static field f;
	bool fine = begin(&f, s);

	if (fine && s->nkeys)
		fine = print_tables(&f, s->nkeys, rounds);
	for (size_t i = 0; fine && !s->nkeys && i < 3; i++)
		fine = print_tables(&f, counts[i], rounds);
	end(&f);
	return fine;
}

/* --------------------------------------------------------- instructions -- */

static const rbt_method *find_method(const char *name)
{
	static const struct {
		const char *name;
		const rbt_method *method;
	} known[] = {
		{ "cluster-gets", &rbt_nodewise_gets },
		{ "cluster-mget", &rbt_nodewise_mget },
		{ "cluster-pipeline", &rbt_nodewise_pipeline },
		{ "cluster-sets", &rbt_nodewise_sets },
		{ "cluster-mset", &rbt_nodewise_mset },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].method;
	return NULL;
}

bool rbt_spread_count(const rbt_setup *s, const char *name, size_t n)
{
	const rbt_method *method = find_method(name);
	static field f;
	bool fine;

	if (!method)
		return rbt_complain("there is no method %s", name);
	fine = begin(&f, s) && load(&f, rbt_either(s->nkeys, n));
	if (fine)
		fine = rbt_instructions_of(method, &f.job, n);
	end(&f);
	return fine;
}

/*
 * `make bench`: how far rb_mget_chunked is from the least that any client has
 * to do, and from plain hiredis.
 *
 * Only ratios within one run mean anything. So each method runs in a process
 * of its own, the methods take turns round by round, and the ratio of a method
 * is the median of the ratios of the rounds, each against the floor of the
 * same round.
 */
#include "allocations.h"
#include "instructions.h"
#include "interrupt.h"
#include "run.h"
#include "series.h"
#include "server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { METHODS = 4, MAX_ROUNDS = 101 };

typedef struct bench {
	/* From the arguments; 0: each part's own. */
	size_t nkeys, value_len, rounds, chunk;
	rb_options options;
	rbt_server *server;
	rbt_target unix_target, tcp_target;
	bool tcp;
} bench;

__attribute__((format(printf, 1, 2))) static bool complain(const char *format,
							   ...)
{
	va_list ap;

	if (rbt_interrupted())
		return false;
	fputs("bench: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return false;
}

static size_t either(size_t given, size_t usual)
{
	return given ? given : usual;
}

/* One run, its values checked. */
static bool run_checked(const rbt_method *method, const rbt_job *job,
			rbt_sample *sample)
{
	if (!rbt_run(method, job, sample, NULL))
		return complain("%s: %s", method->name, sample->why);
	if (sample->right != job->keys->n)
		return complain("%s: of %zu values only %zu are right",
				method->name, job->keys->n, sample->right);
	return true;
}

/* A job with its keys made and set; end_job() takes both away. */
static bool begin_job(bench *b, rbt_job *job, rbt_keys *keys, size_t nkeys,
		      size_t value_len)
{
	char why[160];

	memset(job, 0, sizeof(*job));
	if (!rbt_keys_init(keys, "key:", nkeys))
		return complain("out of memory");
	job->target = &b->unix_target;
	job->keys = keys;
	job->value_len = value_len;
	job->chunk = either(b->chunk, 1000);
	job->options = &b->options;
	if (rbt_run_load(job, why, sizeof(why)))
		return true;
	return complain("loading the keys failed: %s", why);
}

static void end_job(rbt_job *job, rbt_keys *keys)
{
	char why[160];

	if (!rbt_interrupted() && !rbt_run_unload(job, why, sizeof(why)))
		complain("deleting the keys failed: %s", why);
	rbt_keys_fini(keys);
}

/* --------------------------------------------------------------- speed -- */

static const rbt_method *const methods[METHODS] = { &rbt_method_floor,
						    &rbt_method_library,
						    &rbt_method_mget_loop,
						    &rbt_method_mget_pipeline };

static rbt_sample samples[METHODS][MAX_ROUNDS];

static void print_speed_row(size_t m, size_t rounds)
{
	uint64_t wall[MAX_ROUNDS], cpu[MAX_ROUNDS], growth[MAX_ROUNDS];
	double ratio[MAX_ROUNDS], mid;

	for (size_t r = 0; r < rounds; r++) {
		wall[r] = samples[m][r].wall_ns;
		cpu[r] = samples[m][r].cpu_ns;
		growth[r] = samples[m][r].growth;
		ratio[r] = (double)wall[r] / (double)samples[0][r].wall_ns;
	}
	mid = rbt_series_median_of(ratio, rounds);
	printf("%-24s %7.1f  %5.2f %5.2f..%-5.2f %8.1f %8.1f %9s\n",
	       methods[m]->name, (double)rbt_series_median(wall, rounds) / 1e6,
	       mid, ratio[0], ratio[rounds - 1],
	       (double)rbt_series_median(cpu, rounds) / 1e6,
	       (double)rbt_series_median(growth, rounds) / 1e6,
	       rbt_series_grouped(samples[m][0].commands));
}

static bool measure_speed(const rbt_job *job, size_t rounds, const char *line)
{
	for (size_t r = 0; r < rounds; r++) {
		for (size_t i = 0; i < METHODS; i++) {
			size_t m = (i + r) % METHODS;

			if (!run_checked(methods[m], job, &samples[m][r]))
				return false;
		}
	}
	printf("\n%s keys of %zu bytes, %s, %zu rounds\n",
	       rbt_series_grouped(job->keys->n), job->value_len, line, rounds);
	printf("%-24s %7s  %17s %8s %8s %9s\n", "", "ms", "/ floor min..max  ",
	       "CPU ms", "MB", "commands");
	for (size_t m = 0; m < METHODS; m++)
		print_speed_row(m, rounds);
	fflush(stdout);
	return true;
}

static bool bench_speed_of(bench *b, size_t value_len)
{
	rbt_job job;
	rbt_keys keys;
	size_t rounds = either(b->rounds, 9);
	bool fine =
		begin_job(b, &job, &keys, either(b->nkeys, 200000), value_len);

	if (fine)
		fine = measure_speed(&job, rounds, "unix socket");
	if (fine && b->tcp) {
		job.target = &b->tcp_target;
		fine = measure_speed(&job, rounds, "TCP on loopback");
		job.target = &b->unix_target;
	}
	end_job(&job, &keys);
	return fine;
}

static bool bench_speed(bench *b)
{
	if (b->value_len)
		return bench_speed_of(b, b->value_len);
	return bench_speed_of(b, 100) && bench_speed_of(b, 1024);
}

/* -------------------------------------------------------------- memory -- */

/* Of the answer to all keys, whose values are there. */
static size_t reply_bytes(const rbt_job *job)
{
	char line[32];
	int header = snprintf(line, sizeof(line), "$%zu\r\n", job->value_len);
	size_t n = job->keys->n, whole = n / job->chunk, rest = n % job->chunk;
	size_t bytes = n * ((size_t)header + job->value_len + 2);

	header = snprintf(line, sizeof(line), "*%zu\r\n", job->chunk);
	bytes += whole * (size_t)header;
	if (rest)
		bytes += (size_t)snprintf(line, sizeof(line), "*%zu\r\n", rest);
	return bytes;
}

static bool print_memory(const rbt_method *method, const rbt_job *job,
			 size_t rounds)
{
	rbt_sample sample;
	uint64_t growth[MAX_ROUNDS];
	double reply = (double)reply_bytes(job), mid;

	for (size_t r = 0; r < rounds; r++) {
		if (!run_checked(method, job, &sample))
			return false;
		growth[r] = sample.growth;
	}
	mid = (double)rbt_series_median(growth, rounds);
	printf("%-24s grew by %6.1f MB: %.3f times the reply, or the reply "
	       "and %.1f bytes a key\n",
	       method->name, mid / 1e6, mid / reply,
	       (mid - reply) / (double)job->keys->n);
	fflush(stdout);
	return true;
}

static bool bench_memory(bench *b)
{
	rbt_job job;
	rbt_keys keys;
	size_t rounds = either(b->rounds, 3);
	bool fine = begin_job(b, &job, &keys, either(b->nkeys, 1000000),
			      either(b->value_len, 100));

	if (fine) {
		double reply = (double)reply_bytes(&job);

		printf("\n%s keys of %zu bytes: the reply is %.1f MB, the "
		       "bound 1.1 x reply + 24 x keys\nis %.1f MB\n",
		       rbt_series_grouped(keys.n), job.value_len, reply / 1e6,
		       (1.1 * reply + 24.0 * (double)keys.n) / 1e6);
		fine = print_memory(&rbt_method_library, &job, rounds) &&
		       print_memory(&rbt_method_mget_loop, &job, rounds);
	}
	end_job(&job, &keys);
	return fine;
}

/* --------------------------------------------------------- allocations -- */

static bool bench_allocations(bench *b)
{
	static const size_t counts[] = { 1000, 10000, 100000, 200000 };
	size_t n = sizeof(counts) / sizeof(counts[0]);
	size_t value_len = either(b->value_len, 100);
	bool fine = true;

	printf("\nAllocations for keys of %zu bytes\n", value_len);
	for (size_t i = 0; fine && i < n; i++) {
		rbt_job job;
		rbt_keys keys;

		fine = begin_job(b, &job, &keys, counts[i], value_len) &&
		       rbt_allocations_print(&job);
		end_job(&job, &keys);
	}
	return fine;
}

/* -------------------------------------------------------- instructions -- */

/* `bench instructions library 20000`, to be run below callgrind. */
static bool bench_instructions(bench *b, const char *name, size_t nread)
{
	rbt_job job;
	rbt_keys keys;
	const rbt_method *method = &rbt_method_library;
	char why[160] = "";
	bool fine = begin_job(b, &job, &keys, either(b->nkeys, 20000),
			      either(b->value_len, 100));

	if (name && strcmp(name, "hiredis") == 0)
		method = &rbt_method_mget_loop;
	if (fine &&
	    !rbt_instructions_run(method, &job, nread, why, sizeof(why)))
		fine = complain("%s", why);
	end_job(&job, &keys);
	return fine;
}

/* Hands over to the script that runs the above, if it can be run here. */
static void run_instructions_script(char *self)
{
	static char script[] = "tests/bench/instructions.sh", shell[] = "sh";
	char *argv[] = { shell, script, self, NULL };

	if (access(script, R_OK) != 0)
		return;
	puts("");
	fflush(stdout);
	execv("/bin/sh", argv);
}

/* ----------------------------------------------------------- arguments -- */

static void print_usage(FILE *to)
{
	fputs("usage: bench [options] [part]\n"
	      "parts: speed, memory, allocations, instructions; all of them if "
	      "none is given\n"
	      "  -n keys    how many keys\n"
	      "  -s bytes   in a value\n"
	      "  -r rounds  of which the medians are shown\n"
	      "  -c keys    in a chunk (library and hiredis: 1,000)\n"
	      "  -w chunks  in flight (library: by itself)\n"
	      "  -t         over TCP too\n",
	      to);
}

static bool parse_number(const char *text, size_t most, size_t *out)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	*out = (size_t)n;
	return *end == '\0' && text[0] != '-' && n <= most;
}

static bool parse_option(bench *b, int c)
{
	switch (c) {
	case 'n':
		return parse_number(optarg, 10000000, &b->nkeys);
	case 's':
		return parse_number(optarg, 1 << 24, &b->value_len);
	case 'r':
		return parse_number(optarg, MAX_ROUNDS, &b->rounds);
	case 'c':
		return parse_number(optarg, 1000000, &b->chunk) &&
		       parse_number(optarg, 1000000, &b->options.chunk_keys);
	case 'w':
		return parse_number(optarg, 1024, &b->options.window);
	case 't':
		b->tcp = true;
		return true;
	default:
		return false;
	}
}

static bool parse_options(bench *b, int argc, char **argv)
{
	int c;

	for (;;) {
		c = getopt(argc, argv, "hn:s:r:c:w:t");
		if (c == -1)
			return true;
		if (!parse_option(b, c))
			return false;
	}
}

static bool run_part(bench *b, const char *part, char **args)
{
	size_t nread = 0;

	if (!part)
		return bench_speed(b) && bench_memory(b) &&
		       bench_allocations(b);
	if (strcmp(part, "speed") == 0)
		return bench_speed(b);
	if (strcmp(part, "memory") == 0)
		return bench_memory(b);
	if (strcmp(part, "allocations") == 0)
		return bench_allocations(b);
	if (strcmp(part, "instructions") == 0 && args[0] && args[1] &&
	    parse_number(args[1], 10000000, &nread))
		return bench_instructions(b, args[0], nread);
	return complain("there is no part %s", part);
}

int main(int argc, char **argv)
{
	static bench b;
	bool fine;
	const char *part;

	rb_options_init(&b.options);
	if (!parse_options(&b, argc, argv)) {
		print_usage(stderr);
		return 2;
	}
	part = argv[optind];
	if (part && strcmp(part, "instructions") == 0 && !argv[optind + 1])
		run_instructions_script(argv[0]);
	rbt_interrupt_catch();
	b.server = rbt_server_start(NULL);
	if (!b.server) {
		complain("%s", rbt_server_why());
		return 1;
	}
	rbt_target_unix(&b.unix_target, rbt_server_socket(b.server));
	rbt_target_tcp(&b.tcp_target, rbt_server_port(b.server));
	fine = run_part(&b, part, part ? argv + optind + 1 : NULL);
	rbt_server_stop(b.server);
	if (rbt_interrupted())
		return 128 + rbt_interrupted();
	if (fine && !part)
		run_instructions_script(argv[0]);
	return fine ? 0 : 1;
}

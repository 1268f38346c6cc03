/*
 * `make demo`: the same 100,000 keys of 1 KB read in four ways, side by side.
 *
 * Each way runs in a process of its own, so that the memory of one is not
 * hidden in what another has left, and several times, in turn, so that a noise
 * of the machine does not meet one of them alone; the medians are shown. Every
 * value that was read is compared with what was written.
 *
 * The server is private, or that of REDIS_URL. There the keys begin with a
 * prefix of their own, and are deleted at the end; nothing else is touched.
 */
#include "interrupt.h"
#include "pipelines.h"
#include "reads.h"
#include "run.h"
#include "series.h"
#include "server.h"
#include "tick.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { METHODS = 4, MAX_ROUNDS = 15, IDLE_MS = 250, CHUNK = 1000 };

typedef struct demo_row {
	const char *label;
	const rbt_method *method;
	rbt_sample samples[MAX_ROUNDS];
	rbt_view views[MAX_ROUNDS];
	size_t rounds;
	size_t counted; /* commands, as the server counted them; 0: not asked */
} demo_row;

typedef struct demo {
	size_t nkeys, value_len, rounds;
	rbt_server *server; /* NULL: REDIS_URL */
	rbt_target target;
	rbt_keys keys;
	rbt_job job;
	demo_row rows[METHODS];
	demo_row idle;
	size_t compared, right;
	bool loaded;
	bool terminal;
} demo;

/* ------------------------------------------------------------ speaking -- */

__attribute__((format(printf, 2, 3))) static void progress(const demo *d,
							   const char *format,
							   ...)
{
	va_list ap;

	if (!d->terminal)
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fflush(stderr);
}

__attribute__((format(printf, 2, 3))) static bool complain(const demo *d,
							   const char *format,
							   ...)
{
	va_list ap;

	progress(d, "%s", "");
	if (rbt_interrupted())
		return false;
	fputs("demo: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return false;
}

static const char *size_text(size_t bytes)
{
	static char text[32];

	if (bytes % 1024 == 0 && bytes > 0)
		snprintf(text, sizeof(text), "%zu KB", bytes / 1024);
	else
		snprintf(text, sizeof(text), "%zu bytes", bytes);
	return text;
}

/* ------------------------------------------------------------ the table -- */

typedef uint64_t pick_fn(const demo_row *row, size_t round);

static uint64_t pick_wall(const demo_row *row, size_t round)
{
	return row->samples[round].wall_ns;
}

static uint64_t pick_growth(const demo_row *row, size_t round)
{
	return row->samples[round].growth;
}

static uint64_t pick_p99(const demo_row *row, size_t round)
{
	return row->views[round].p99_ns;
}

static uint64_t pick_slowest(const demo_row *row, size_t round)
{
	return row->views[round].slowest_ns;
}

static double median(const demo_row *row, pick_fn *pick)
{
	uint64_t values[MAX_ROUNDS];

	for (size_t i = 0; i < row->rounds; i++)
		values[i] = pick(row, i);
	return (double)rbt_series_median(values, row->rounds);
}

static void print_row(const demo_row *row, double loop_wall)
{
	double wall = median(row, pick_wall);
	size_t commands =
		row->counted ? row->counted : row->samples[0].commands;

	printf("%-27s %8.1f %9s %8.1f %8.2f %8.2f %6.2f\n", row->label,
	       wall / 1e6, rbt_series_grouped(commands),
	       median(row, pick_growth) / 1e6, median(row, pick_p99) / 1e6,
	       median(row, pick_slowest) / 1e6, wall / loop_wall);
}

static void print_table(const demo *d)
{
	double loop_wall = median(&d->rows[2], pick_wall);

	printf("%-27s %8s %9s %8s %17s %6s\n", "", "time", "", "memory",
	       "other's GET, ms", "time");
	printf("%-27s %8s %9s %8s %8s %8s %6s\n", "", "ms", "commands", "MB",
	       "p99", "slowest", "/ (c)");
	for (size_t i = 0; i < METHODS; i++)
		print_row(&d->rows[i], loop_wall);
	printf("%-27s %8s %9s %8s %8.2f %8.2f\n", "    nothing at all", "-",
	       "-", "-", median(&d->idle, pick_p99) / 1e6,
	       median(&d->idle, pick_slowest) / 1e6);
	printf("\nMedians of %zu rounds, each method in a process of its own. "
	       "Memory is the peak\nover what the process had before, of which "
	       "the values are %.1f MB. The other\nclient does a GET every "
	       "0.1 ms.\n",
	       d->rounds, (double)d->nkeys * (double)d->value_len / 1e6);
}

static bool print_verdict(const demo *d)
{
	if (d->right == d->compared && d->compared > 0) {
		printf("All %s values were compared with what was written: "
		       "every one is right.\n",
		       rbt_series_grouped(d->compared));
		return true;
	}
	return complain(d,
			"WRONG: of %s values read, %s are not what was "
			"written",
			rbt_series_grouped(d->compared),
			rbt_series_grouped(d->compared - d->right));
}

/* ----------------------------------------------------------- measuring -- */

/* GETs and MGETs that the server has executed since it started. */
static bool ask_commands(const demo *d, uint64_t *count)
{
	static const char *const names[] = { "\ncmdstat_get:calls=",
					     "\ncmdstat_mget:calls=" };
	char why[160];
	redisContext *ctx = rbt_target_connect(&d->target, why, sizeof(why));
	redisReply *reply = ctx ? redisCommand(ctx, "INFO commandstats") : NULL;
	bool fine = reply && reply->type == REDIS_REPLY_STRING;

	*count = 0;
	for (size_t i = 0; fine && i < 2; i++) {
		const char *at = strstr(reply->str, names[i]);

		if (at)
			*count += strtoull(at + strlen(names[i]), NULL, 10);
	}
	if (reply)
		freeReplyObject(reply);
	if (ctx)
		redisFree(ctx);
	return fine;
}

static bool run_row(demo *d, demo_row *row)
{
	rbt_sample *sample = &row->samples[row->rounds];
	rbt_view *view = &row->views[row->rounds];
	uint64_t before = 0, after = 0;
	/* Only on a private server are all commands ours. */
	bool ask = d->server && ask_commands(d, &before);

	if (!rbt_run(row->method, &d->job, sample, view))
		return complain(d, "%s: %s", row->label, sample->why);
	if (ask && ask_commands(d, &after))
		row->counted = (size_t)(after - before) - view->gets;
	row->rounds++;
	d->compared += d->nkeys;
	d->right += sample->right;
	return true;
}

static bool run_idle(demo *d)
{
	demo_row *row = &d->idle;

	if (!rbt_run_idle(&d->job, IDLE_MS, &row->views[row->rounds]))
		return complain(d, "the other client was not answered");
	row->rounds++;
	return true;
}

static bool run_rounds(demo *d)
{
	for (size_t round = 0; round < d->rounds; round++) {
		for (size_t i = 0; i < METHODS; i++) {
			demo_row *row = &d->rows[(i + round) % METHODS];

			progress(d, "round %zu of %zu: %s", round + 1,
				 d->rounds, row->label);
			if (!run_row(d, row))
				return false;
		}
		progress(d, "round %zu of %zu: nothing at all", round + 1,
			 d->rounds);
		if (!run_idle(d))
			return false;
	}
	progress(d, "%s", "");
	return true;
}

/* -------------------------------------------------------------- set up -- */

static bool find_server(demo *d)
{
	const char *url = getenv("REDIS_URL");
	char why[200];
	redisContext *ctx;

	if (!url || !*url) {
		d->server = rbt_server_start(NULL);
		if (!d->server)
			return complain(d, "%s", rbt_server_why());
		rbt_target_unix(&d->target, rbt_server_socket(d->server));
		return true;
	}
	/* The URI may hold a password: it is not repeated. */
	if (!rbt_target_parse(&d->target, url, why, sizeof(why)))
		return complain(d, "REDIS_URL cannot be used: %s", why);
	ctx = rbt_target_connect(&d->target, why, sizeof(why));
	if (!ctx)
		return complain(d, "no server at REDIS_URL: %s", why);
	redisFree(ctx);
	return true;
}

static bool load_keys(demo *d)
{
	char prefix[64], why[200];

	snprintf(prefix, sizeof(prefix), "redisbatch-demo:%08lx%04lx:",
		 (unsigned long)(rbt_now_ns() & 0xffffffffu),
		 (unsigned long)getpid() & 0xffffu);
	if (!rbt_keys_init(&d->keys, d->server ? "key:" : prefix, d->nkeys))
		return complain(d, "out of memory");
	d->job.target = &d->target;
	d->job.keys = &d->keys;
	d->job.value_len = d->value_len;
	d->job.chunk = CHUNK;
	progress(d, "loading %s keys of %s", rbt_series_grouped(d->nkeys),
		 size_text(d->value_len));
	d->loaded = true;
	if (!rbt_run_load(&d->job, why, sizeof(why)))
		return complain(d, "loading the keys failed: %s", why);
	return true;
}

static void name_rows(demo *d)
{
	static const char *const labels[METHODS] = {
		"(a) GETs in one pipeline", "(b) one MGET",
		"(c) loop of MGETs of 1,000", "(d) rb_mget_chunked"
	};
	static const rbt_method *const methods[METHODS] = {
		&rbt_gets_one_pipeline, &rbt_read_one_mget, &rbt_read_loop,
		&rbt_read_library
	};

	for (size_t i = 0; i < METHODS; i++) {
		d->rows[i].label = labels[i];
		d->rows[i].method = methods[i];
	}
}

static bool tidy_up(demo *d)
{
	char why[200];
	bool fine = true;

	progress(d, "%s",
		 d->server ? "ending the server" : "deleting the keys");
	if (!d->server && d->loaded) {
		/* Even after Ctrl-C, what was put there goes. */
		rbt_interrupt_clear();
		fine = rbt_run_unload(&d->job, why, sizeof(why));
		progress(d, "%s", "");
		if (!fine)
			fprintf(stderr,
				"demo: keys that begin with %.*s were left "
				"behind: %s\n",
				(int)d->keys.lens[0] - 8, d->keys.keys[0], why);
	}
	rbt_server_stop(d->server);
	rbt_keys_fini(&d->keys);
	progress(d, "%s", "");
	return fine;
}

static bool run_demo(demo *d)
{
	if (!find_server(d) || !load_keys(d))
		return false;
	progress(d, "%s", "");
	printf("%s keys of %s, from %s\n\n", rbt_series_grouped(d->nkeys),
	       size_text(d->value_len),
	       d->server ? "a private server on a unix socket" :
			   "the server of REDIS_URL");
	fflush(stdout);
	if (!run_rounds(d))
		return false;
	print_table(d);
	return print_verdict(d);
}

/* ---------------------------------------------------------- arguments -- */

static void print_usage(FILE *to)
{
	fputs("usage: demo [-n keys] [-s bytes] [-r rounds]\n"
	      "  -n  how many keys: 100,000\n"
	      "  -s  bytes in a value: 1,024\n"
	      "  -r  rounds, of which the medians are shown: 3\n"
	      "With REDIS_URL set (redis:// or unix://) it uses that server, "
	      "under a key\nprefix of its own.\n",
	      to);
}

static bool parse_number(const char *text, size_t most, size_t *out)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	*out = (size_t)n;
	return *end == '\0' && text[0] != '-' && n > 0 && n <= most;
}

/* 0: go on; otherwise exit with this, less one. */
static int parse_arguments(demo *d, int argc, char **argv)
{
	bool fine = true;
	int c;

	for (;;) {
		c = getopt(argc, argv, "hn:s:r:");
		if (c == -1 || !fine)
			break;
		if (c == 'h') {
			print_usage(stdout);
			return 1;
		}
		if (c == 'n')
			fine = parse_number(optarg, 10000000, &d->nkeys);
		else if (c == 's')
			fine = parse_number(optarg, 1 << 24, &d->value_len);
		else if (c == 'r')
			fine = parse_number(optarg, MAX_ROUNDS, &d->rounds);
		else
			fine = false;
	}
	if (fine && optind == argc)
		return 0;
	print_usage(stderr);
	return 3;
}

int main(int argc, char **argv)
{
	static demo d;
	bool fine;
	int sig, stop;

	d.nkeys = 100000;
	d.value_len = 1024;
	d.rounds = 3;
	stop = parse_arguments(&d, argc, argv);
	if (stop)
		return stop - 1;
	d.terminal = isatty(STDERR_FILENO);
	rbt_interrupt_catch();
	name_rows(&d);
	fine = run_demo(&d);
	sig = rbt_interrupted();
	fine = tidy_up(&d) && fine;
	if (!sig)
		sig = rbt_interrupted();
	return sig ? 128 + sig : fine ? 0 : 1;
}

/*
 * `make bench`: how far the library is from the least that any client has to
 * do, and from plain hiredis: reads, writes, pipelines and streams; and what
 * the same takes on a cluster.
 */
#include "allocations.h"
#include "instructions.h"
#include "interrupt.h"
#include "memory.h"
#include "pipelines.h"
#include "reads.h"
#include "server.h"
#include "spread.h"
#include "table.h"
#include "writes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NKEYS = 200000, SMALL = 100, LARGE = 1024, MAX_KEYS = 10000000 };

/* --------------------------------------------------------------- parts -- */

static bool print_table(const rbt_setup *s, size_t value_len,
			const rbt_table_methods methods, const char *what,
			bool writes)
{
	rbt_task task;
	bool fine = rbt_task_begin(&task, s, rbt_either(s->nkeys, NKEYS),
				   value_len, writes) &&
		    rbt_table_print(s, &task.job, methods, what);

	rbt_task_end(&task);
	return fine;
}

static bool bench_reads(const rbt_setup *s)
{
	static const rbt_table_methods methods = {
		&rbt_read_floor, &rbt_read_library, &rbt_read_stream,
		&rbt_read_loop, &rbt_read_appended
	};

	return print_table(s, rbt_either(s->value_len, SMALL), methods, "keys",
			   false) &&
	       (s->value_len || print_table(s, LARGE, methods, "keys", false));
}

static bool bench_writes(const rbt_setup *s)
{
	static const rbt_table_methods methods = { &rbt_write_floor,
						   &rbt_write_library,
						   &rbt_write_loop };

	return print_table(s, rbt_either(s->value_len, SMALL), methods, "pairs",
			   true) &&
	       (s->value_len || print_table(s, LARGE, methods, "pairs", true));
}

static bool bench_pipelines(const rbt_setup *s)
{
	static const rbt_table_methods methods = {
		&rbt_gets_floor,  &rbt_gets_library,	  &rbt_gets_stream,
		&rbt_gets_chunks, &rbt_gets_chunks_freed, &rbt_gets_one_pipeline
	};

	return print_table(s, rbt_either(s->value_len, SMALL), methods, "GETs",
			   false);
}

static bool bench_speed(const rbt_setup *s)
{
	return bench_reads(s) && bench_writes(s) && bench_pipelines(s);
}

static bool bench_allocations(const rbt_setup *s)
{
	static const size_t counts[] = { 1000, 10000, 100000, 200000 };
	size_t n = sizeof(counts) / sizeof(counts[0]);
	size_t value_len = rbt_either(s->value_len, SMALL);
	bool fine = true;

	printf("\nAllocations for keys of %zu bytes\n", value_len);
	for (size_t i = 0; fine && i < n; i++) {
		rbt_task task;

		fine = rbt_task_begin(&task, s, counts[i], value_len, false) &&
		       rbt_allocations_print(&task.job);
		rbt_task_end(&task);
	}
	return fine;
}

/* Hands over to the script that runs `bench instructions rb_mget_chunked 20000`
 * and its like below callgrind, if it can be run here. */
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
	      "parts: reads, writes, pipelines (speed: these three), cluster, "
	      "memory,\n"
	      "allocations, instructions; all of them if none is given\n"
	      "  -n keys    how many keys\n"
	      "  -s bytes   in a value\n"
	      "  -r rounds  of which the medians are shown\n"
	      "  -c keys    in a chunk (library and hiredis: 1,000)\n"
	      "  -w chunks  in flight (library: by itself)\n"
	      "  -t         the tables of speed over TCP too\n",
	      to);
}

static bool parse_number(const char *text, size_t most, size_t *out)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	*out = (size_t)n;
	return *end == '\0' && text[0] != '-' && n <= most;
}

static bool parse_option(rbt_setup *s, int c)
{
	switch (c) {
	case 'n':
		return parse_number(optarg, MAX_KEYS, &s->nkeys);
	case 's':
		return parse_number(optarg, 1 << 24, &s->value_len);
	case 'r':
		return parse_number(optarg, RBT_MAX_ROUNDS, &s->rounds);
	case 'c':
		return parse_number(optarg, 1000000, &s->chunk) &&
		       parse_number(optarg, 1000000, &s->options.chunk_keys);
	case 'w':
		return parse_number(optarg, 1024, &s->options.window);
	case 't':
		s->tcp = true;
		return true;
	default:
		return false;
	}
}

static bool parse_options(rbt_setup *s, int argc, char **argv)
{
	int c;

	for (;;) {
		c = getopt(argc, argv, "hn:s:r:c:w:t");
		if (c == -1)
			return true;
		if (c == 'h') {
			print_usage(stdout);
			exit(0);
		}
		if (!parse_option(s, c))
			return false;
	}
}

static bool run_part(const rbt_setup *s, const char *part, char **args)
{
	static const struct {
		const char *name;
		bool (*run)(const rbt_setup *s);
	} parts[] = {
		{ "speed", bench_speed },
		{ "cluster", rbt_spread_print },
		{ "memory", rbt_memory_print },
		{ "allocations", bench_allocations },
		{ "reads", bench_reads },
		{ "writes", bench_writes },
		{ "pipelines", bench_pipelines },
	};
	size_t nread = 0;

	/* The first four are everything. */
	if (!part)
		return parts[0].run(s) && parts[1].run(s) && parts[2].run(s) &&
		       parts[3].run(s);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(part, parts[i].name) == 0)
			return parts[i].run(s);
	if (strcmp(part, "instructions") == 0 && args[0] && args[1] &&
	    parse_number(args[1], MAX_KEYS, &nread))
		return strncmp(args[0], "cluster-", 8) == 0 ?
			       rbt_spread_count(s, args[0], nread) :
			       rbt_instructions_run(s, args[0], nread);
	return rbt_complain("there is no part %s", part);
}

int main(int argc, char **argv)
{
	static rbt_setup s;
	rbt_server *server;
	bool fine;
	const char *part;

	rb_options_init(&s.options);
	if (!parse_options(&s, argc, argv)) {
		print_usage(stderr);
		return 2;
	}
	part = argv[optind];
	if (part && strcmp(part, "instructions") == 0 && !argv[optind + 1])
		run_instructions_script(argv[0]);
	rbt_interrupt_catch();
	server = rbt_server_start(NULL);
	if (!server) {
		rbt_complain("%s", rbt_server_why());
		return 1;
	}
	rbt_target_unix(&s.unix_target, rbt_server_socket(server));
	rbt_target_tcp(&s.tcp_target, rbt_server_port(server));
	fine = run_part(&s, part, part ? argv + optind + 1 : NULL);
	rbt_server_stop(server);
	if (rbt_interrupted())
		return 128 + rbt_interrupted();
	if (fine && !part)
		run_instructions_script(argv[0]);
	return fine ? 0 : 1;
}

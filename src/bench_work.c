#include "bench_work.h"

#include "bench_prefix.h"
#include "number.h"
#include "say.h"
#include "signals.h"
#include "tuning.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_PREFIX = 256,
	KEY_VALUE_SIZE,
	KEY_RTT,
	VALUE_SIZE = 100,
	MOST_RTT_MS = 60 * 1000,
	/* The removal of keys ends, whatever the server does. */
	REMOVE_MS = 30 * 1000,
	/* A signal ends the call it comes in, or the next one. */
	REMOVE_TRIES = 3
};

static const size_t most_value = (size_t)512 << 20;

static const args_option options[] = {
	{ KEY_VALUE_SIZE, "value-size", "SIZE", "bytes of each value (100)" },
	{ KEY_RTT, "rtt", "TIME",
	  "as if the server were so far away, there and back, beyond the way "
	  "that there is" },
	{ KEY_PREFIX, "prefix", "TEXT",
	  "what the keys begin with that are written, and removed at the end "
	  "(redisbatch:bench:)" },
};

exits bench_work_init(bench_work *w)
{
	*w = (bench_work){ .prefix = "redisbatch:bench:",
			   .value_size = VALUE_SIZE };
	tuning_init(&w->options);
	w->connection = connection_new();
	return w->connection == NULL ? EXITS_LOCAL : EXITS_FINE;
}

static exits take_prefix(bench_work *w, const char *value)
{
	if (value[0] == '\0')
		return args_bad("prefix", value, "a text that is not empty");
	w->prefix = value;
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	bench_work *w = to;
	uint64_t n;

	switch (key) {
	case KEY_PREFIX:
		return take_prefix(w, value);
	case KEY_VALUE_SIZE:
		if (!number_size(value, most_value, &n))
			return args_bad("value-size", value,
					"a size up to 512M, as 100 or 4k");
		w->value_size = (size_t)n;
		return EXITS_FINE;
	default:
		if (!number_time(value, MOST_RTT_MS, &w->rtt_ms) ||
		    w->rtt_ms == 0)
			return args_bad("rtt", value,
					"a time from 1ms to 60s, as 20ms");
		return EXITS_FINE;
	}
}

exits bench_work_args(bench_work *w, const args_usage *usage,
		      const args_group *own, int argc, char **argv, bool *done)
{
	const args_group groups[] = {
		*own,
		{ "Workload", options, sizeof(options) / sizeof(options[0]),
		  take, w },
		connection_group(w->connection),
		tuning_group(&w->options),
	};
	args_rest rest;
	exits status = args_parse(usage, groups, 4, argc, argv, &rest);

	*done = rest.done;
	if (status == EXITS_FINE && !rest.done && rest.noperands > 0)
		return say_usage("'%s' is one argument too many",
				 rest.operands[0]);
	return status;
}

/* --------------------------------------------------------------- keys -- */

typedef struct pairs {
	const bench_work *w;
	const char *value;
	size_t next;
	/* Of some that were sent it is not known that they were refused. */
	bool applied;
} pairs;

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	pairs *p = arg;
	const bench_keys *keys = &p->w->keys;

	if (p->next == keys->n || signals_caught() != 0)
		return 0;
	*key = (rb_slice){ keys->names[p->next], keys->lens[p->next] };
	*value = (rb_slice){ p->value, p->w->value_size };
	p->next++;
	return 1;
}

static int note_chunk(void *arg, const rb_chunk *chunk)
{
	pairs *p = arg;

	if (chunk->outcome != RB_REJECTED && chunk->outcome != RB_NOT_SENT)
		p->applied = true;
	return 0;
}

/* Letters and digits, the same ones for every key. */
static char *make_value(size_t size)
{
	char *value = malloc(size + 1);
	uint32_t state = 1;

	for (size_t i = 0; value != NULL && i < size; i++) {
		state = state * 1103515245u + 12345u;
		value[i] = "0123456789abcdef"[state >> 28];
	}
	return value;
}

/* A signal does not cut the connection here, since what was sent would then be
 * applied behind our back, and perhaps after the keys were removed. It ends the
 * stream, and what is in flight is awaited. */
static exits write_keys(bench_work *w)
{
	char *value = make_value(w->value_size);
	pairs p = { w, value, 0, false };
	rb_options o = w->options;
	rb_status status;

	if (value == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	o.flags |= RB_STOP_ON_ERROR;
	o.on_chunk = note_chunk;
	o.on_chunk_arg = &p;
	signals_watch(NULL);
	status = rb_mset_stream(w->client, next_pair, &p, &o, NULL);
	signals_watch(w->client);
	w->nwritten = p.next;
	free(value);
	if (status == RB_OK)
		return signals_caught() == 0 ? EXITS_FINE : EXITS_SERVER;
	/* What was only refused needs no removal, which would be refused too. */
	if ((status == RB_ERR_SERVER || status == RB_ERR_PARTIAL) && !p.applied)
		w->nwritten = 0;
	if (signals_caught() == 0)
		say("the keys could not be written: %s",
		    rb_client_error(w->client));
	return EXITS_SERVER;
}

/* ----------------------------------------------------------- distance -- */

/* Asked of the library, which knows whom it is connected to. */
static bool find_server(bench_work *w, char *out, size_t size)
{
	rb_result *res = NULL;
	const rb_chunk *chunk;
	bool found = false;

	if (rb_exists_chunked(w->client, w->keys.names, w->keys.lens, 1, NULL,
			      &res) == RB_OK) {
		chunk = rb_result_chunk(res, 0);
		found = snprintf(out, size, "%s", chunk->node) < (int)size;
	}
	rb_result_free(res);
	return found;
}

static exits add_distance(bench_work *w)
{
	char server[512];

	if (!find_server(w, server, sizeof(server))) {
		say("--rtt: %s", rb_client_error(w->client));
		return EXITS_SERVER;
	}
	w->delay = delay_start(server, w->rtt_ms * 1000);
	if (w->delay != NULL)
		return EXITS_FINE;
	say("--rtt: no way to %s: %s", server, strerror(errno));
	return EXITS_LOCAL;
}

/* ---------------------------------------------------------------- run -- */

exits bench_work_begin(bench_work *w, size_t nkeys)
{
	exits status;

	if (w->rtt_ms > 0 && connection_is_cluster(w->connection))
		return say_usage("--rtt adds a distance to one server only, "
				 "not to a cluster");
	if (!bench_keys_init(&w->keys, w->prefix, nkeys)) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	status = connection_open(w->connection, &w->options, &w->client);
	if (status == EXITS_FINE)
		status =
			bench_prefix_check(w->connection, w->client, w->prefix);
	if (status == EXITS_FINE)
		status = write_keys(w);
	if (status == EXITS_FINE && w->rtt_ms > 0)
		status = add_distance(w);
	return status;
}

exits bench_work_open(const bench_work *w, const rb_options *o, rb_client **out)
{
	if (w->delay == NULL)
		return connection_open(w->connection, o, out);
	return connection_open_node(w->connection, "127.0.0.1",
				    delay_port(w->delay), o, out);
}

static exits remove_keys(bench_work *w)
{
	rb_status status = RB_ERR_CANCELLED;
	rb_options o;

	rb_options_init(&o);
	o.timeout_ms = REMOVE_MS;
	for (int i = 0; i < REMOVE_TRIES && status == RB_ERR_CANCELLED; i++) {
		rb_result *res = NULL;

		status = rb_unlink_chunked(w->client, w->keys.names,
					   w->keys.lens, w->nwritten, &o, &res);
		rb_result_free(res);
	}
	if (status == RB_OK)
		return EXITS_FINE;
	say("keys that begin with '%s' are left at the server: %s", w->prefix,
	    rb_client_error(w->client));
	return EXITS_SERVER;
}

exits bench_work_end(bench_work *w)
{
	exits status = EXITS_FINE;

	delay_stop(w->delay);
	w->delay = NULL;
	/* From here on a signal is too late to end anything. */
	signals_watch(NULL);
	if (w->nwritten > 0)
		status = remove_keys(w);
	rb_client_free(w->client);
	w->client = NULL;
	w->nwritten = 0;
	return status;
}

void bench_work_fini(bench_work *w)
{
	bench_keys_fini(&w->keys);
	connection_free(w->connection);
}

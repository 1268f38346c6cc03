#include "tuning.h"

#include "number.h"

enum {
	KEY_CHUNK_KEYS = 256,
	KEY_CHUNK_ARGS,
	KEY_CHUNK_BYTES,
	KEY_REPLY_BYTES,
	KEY_WINDOW,
	KEY_WINDOW_BYTES,
	KEY_MAX_VALUE,
	KEY_TIMEOUT,
	KEY_CONNECT_TIMEOUT,
	KEY_RATE,
	KEY_ATTEMPTS,
	KEY_FAILOVER,
	KEY_SIZE_FIRST,
	KEY_LANES,
	KEY_REPLICAS
};

static const args_option options[] = {
	{ KEY_CHUNK_KEYS, "chunk-keys", "N",
	  "the most entries of one command (1k)" },
	{ KEY_CHUNK_ARGS, "chunk-args", "N",
	  "the most arguments of one command (1M)" },
	{ KEY_CHUNK_BYTES, "chunk-bytes", "SIZE",
	  "the most bytes of one command (512k)" },
	{ KEY_REPLY_BYTES, "reply-bytes", "SIZE",
	  "cut commands so that an answer stays below (4M)" },
	{ KEY_WINDOW, "window", "N", "the most chunks in flight (by itself)" },
	{ KEY_WINDOW_BYTES, "window-bytes", "SIZE",
	  "the most bytes of answers in flight (8M)" },
	{ KEY_MAX_VALUE, "max-value", "SIZE",
	  "longer values fail alone (512M)" },
	{ KEY_TIMEOUT, "timeout", "TIME",
	  "the whole run ends after it (none)" },
	{ KEY_CONNECT_TIMEOUT, "connect-timeout", "TIME",
	  "connecting gives up after it (5s)" },
	{ KEY_RATE, "rate", "N", "the most commands a second (no bound)" },
	{ KEY_ATTEMPTS, "attempts", "N",
	  "how often an entry is sent before it fails (3)" },
	{ KEY_FAILOVER, "failover", "TIME",
	  "how long a cluster may take to replace a node (10s)" },
	{ KEY_SIZE_FIRST, "size-first", NULL,
	  "ask for the size of each value first, and keep to --reply-bytes "
	  "exactly" },
	{ KEY_LANES, "lanes", "N", "connections to each node (1)" },
	{ KEY_REPLICAS, "replicas", NULL,
	  "read from the replicas of a cluster, which may lag behind" },
};

void tuning_init(rb_options *o)
{
	rb_options_init(o);
}

static exits take_many(const char *name, const char *value, uint64_t max,
		       uint64_t *out)
{
	if (!number_many(value, max, out) || *out == 0)
		return args_bad(name, value, "a number above 0, as 500 or 10k");
	return EXITS_FINE;
}

static exits take_size(const char *name, const char *value, size_t *out)
{
	uint64_t n;

	if (!number_size(value, SIZE_MAX / 2, &n) || n == 0)
		return args_bad(name, value,
				"a size above 0, as 65536, 512k or 4M");
	*out = (size_t)n;
	return EXITS_FINE;
}

static exits take_time(const char *name, const char *value, uint32_t *out)
{
	uint64_t ms;

	if (!number_time(value, UINT32_MAX, &ms) || ms == 0)
		return args_bad(name, value,
				"a time above 0, as 30, 250ms, 1.5s or 10m");
	*out = (uint32_t)ms;
	return EXITS_FINE;
}

static exits take_count(const char *name, const char *value, size_t *out)
{
	uint64_t n;
	exits status = take_many(name, value, SIZE_MAX / 2, &n);

	if (status == EXITS_FINE)
		*out = (size_t)n;
	return status;
}

static exits take_small(const char *name, const char *value, uint32_t *out)
{
	uint64_t n;
	exits status = take_many(name, value, UINT32_MAX, &n);

	if (status == EXITS_FINE)
		*out = (uint32_t)n;
	return status;
}

static exits take(void *to, int key, const char *value)
{
	const char *name = options[key - KEY_CHUNK_KEYS].name;
	rb_options *o = to;

	switch (key) {
	case KEY_CHUNK_KEYS:
		return take_count(name, value, &o->chunk_keys);
	case KEY_CHUNK_ARGS:
		return take_count(name, value, &o->chunk_args);
	case KEY_CHUNK_BYTES:
		return take_size(name, value, &o->chunk_request_bytes);
	case KEY_REPLY_BYTES:
		return take_size(name, value, &o->chunk_reply_bytes);
	case KEY_WINDOW:
		return take_count(name, value, &o->window);
	case KEY_WINDOW_BYTES:
		return take_size(name, value, &o->window_reply_bytes);
	case KEY_MAX_VALUE:
		return take_size(name, value, &o->max_value_bytes);
	case KEY_TIMEOUT:
		return take_time(name, value, &o->timeout_ms);
	case KEY_CONNECT_TIMEOUT:
		return take_time(name, value, &o->connect_timeout_ms);
	case KEY_RATE:
		return take_small(name, value, &o->commands_per_second);
	case KEY_ATTEMPTS:
		return take_small(name, value, &o->attempts);
	case KEY_FAILOVER:
		return take_time(name, value, &o->failover_ms);
	case KEY_LANES:
		return take_small(name, value, &o->connections);
	case KEY_SIZE_FIRST:
		o->flags |= RB_SIZE_FIRST;
		return EXITS_FINE;
	default:
		o->flags |= RB_READ_REPLICAS;
		return EXITS_FINE;
	}
}

args_group tuning_group(rb_options *o)
{
	return (args_group){ "Tuning", options,
			     sizeof(options) / sizeof(options[0]), take, o };
}

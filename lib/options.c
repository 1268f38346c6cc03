#include "options.h"

#include "alloc.h"
#include "encode.h"

#include <string.h>

/* The structure of the first release ends with the allocator. */
#define FIRST_SIZE \
	(offsetof(rb_options, allocator) + sizeof(const rb_allocator *))

#define KNOWN_FLAGS                                                    \
	((uint32_t)(RB_STOP_ON_ERROR | RB_TRANSACTION | RB_IF_ABSENT | \
		    RB_IF_PRESENT | RB_RETRY_WRITES | RB_SIZE_FIRST |  \
		    RB_READ_REPLICAS | RB_TLS_INSECURE))

/* Large enough for any use, small enough for sums of two. */
#define BYTES_MAX (SIZE_MAX / 4)

static const rb_options library_defaults = {
	.chunk_keys = 1000,
	.chunk_args = 1000000,
	.chunk_request_bytes = (size_t)512 * 1024,
	.chunk_reply_bytes = (size_t)4 * 1024 * 1024,
	.window_reply_bytes = (size_t)8 * 1024 * 1024,
	.max_value_bytes = (size_t)512 * 1024 * 1024,
	.max_result_bytes = SIZE_MAX,
	.connect_timeout_ms = 5000,
	.attempts = 3,
	.connections = 1,
	.failover_ms = 10000,
	.allocator = &rbi_alloc_default,
};

void rb_options_init_sized(rb_options *o, size_t struct_size)
{
	if (o == NULL || struct_size < sizeof(o->struct_size))
		return;
	memset(o, 0, struct_size);
	o->struct_size = struct_size;
}

/* Whether all that the caller's structure has beyond ours is left at 0. */
static bool rest_is_default(const rb_options *given)
{
	const char *p = (const char *)given;
	size_t i;

	for (i = sizeof(*given); i < given->struct_size; i++) {
		if (p[i] != 0)
			return false;
	}
	return true;
}

static const char *allocator_problem(const rb_allocator *a)
{
	if (a == NULL)
		return NULL;
	if (a->alloc == NULL || a->realloc == NULL || a->free == NULL)
		return "options.allocator lacks a function";
	return NULL;
}

const char *rbi_options_read(rb_options *out, const rb_options *given)
{
	memset(out, 0, sizeof(*out));
	if (given == NULL)
		return NULL;
	if (given->struct_size < FIRST_SIZE)
		return "options.struct_size is not set: use rb_options_init()";
	if (!rest_is_default(given))
		return "options has members set that this release lacks";
	memcpy(out, given, rbi_min(given->struct_size, sizeof(*out)));
	if ((out->flags & ~KNOWN_FLAGS) != 0)
		return "options.flags has an unknown flag";
	return allocator_problem(out->allocator);
}

static void fill_size(size_t *value, size_t def)
{
	if (*value == 0)
		*value = def;
}

static void fill_u32(uint32_t *value, uint32_t def)
{
	if (*value == 0)
		*value = def;
}

static void fill_from(rb_options *o, const rb_options *d)
{
	fill_size(&o->chunk_keys, d->chunk_keys);
	fill_size(&o->chunk_args, d->chunk_args);
	fill_size(&o->chunk_request_bytes, d->chunk_request_bytes);
	fill_size(&o->chunk_reply_bytes, d->chunk_reply_bytes);
	fill_size(&o->window, d->window);
	fill_size(&o->window_reply_bytes, d->window_reply_bytes);
	fill_size(&o->max_value_bytes, d->max_value_bytes);
	fill_size(&o->max_result_bytes, d->max_result_bytes);
	fill_u32(&o->timeout_ms, d->timeout_ms);
	fill_u32(&o->connect_timeout_ms, d->connect_timeout_ms);
	fill_u32(&o->attempts, d->attempts);
	fill_u32(&o->commands_per_second, d->commands_per_second);
	o->flags |= d->flags;
	if (o->expire_ms == 0)
		o->expire_ms = d->expire_ms;
	fill_size(&o->expected_value_bytes, d->expected_value_bytes);
	if (o->reconnect == NULL) {
		o->reconnect = d->reconnect;
		o->reconnect_arg = d->reconnect_arg;
	}
	fill_u32(&o->connections, d->connections);
	fill_u32(&o->failover_ms, d->failover_ms);
	if (o->allow_node == NULL) {
		o->allow_node = d->allow_node;
		o->allow_node_arg = d->allow_node_arg;
	}
	if (o->on_chunk == NULL) {
		o->on_chunk = d->on_chunk;
		o->on_chunk_arg = d->on_chunk_arg;
	}
	if (o->allocator == NULL)
		o->allocator = d->allocator;
}

void rbi_options_fill(rb_options *o, const rb_options *defaults)
{
	fill_from(o, defaults);
	if (o->chunk_keys == 0)
		o->flags |= RBI_OPTIONS_AUTO_KEYS;
	fill_from(o, &library_defaults);
	if (o->connections > RBI_OPTIONS_CONNECTIONS_MAX)
		o->connections = RBI_OPTIONS_CONNECTIONS_MAX;
	o->chunk_args = rbi_min(o->chunk_args, RBI_ENCODE_MAX_ARGC);
	o->chunk_request_bytes = rbi_min(o->chunk_request_bytes, BYTES_MAX);
	o->chunk_reply_bytes = rbi_min(o->chunk_reply_bytes, BYTES_MAX);
	o->window_reply_bytes = rbi_min(o->window_reply_bytes, BYTES_MAX);
	o->max_value_bytes = rbi_min(o->max_value_bytes, BYTES_MAX);
	o->expected_value_bytes = rbi_min(o->expected_value_bytes, BYTES_MAX);
}

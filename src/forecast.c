#include "forecast.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	CHUNK_KEYS = 1000,
	CHUNK_ARGS = 1000000,
	MOST_ARGS = 1048576,
	CHUNK_BYTES = 512 * 1024,
};

static size_t digits(size_t n)
{
	size_t count = 1;

	for (; n >= 10; n /= 10)
		count++;
	return count;
}

/* A mark, the number, CR LF. */
static size_t header_size(size_t n)
{
	return 1 + digits(n) + 2;
}

static size_t arg_size(size_t len)
{
	return header_size(len) + len + 2;
}

static size_t given(size_t n, size_t usual)
{
	return n != 0 ? n : usual;
}

static size_t most_pairs(const rb_options *o, bool each)
{
	size_t keys = given(o->chunk_keys, CHUNK_KEYS);
	size_t args = given(o->chunk_args, CHUNK_ARGS);
	size_t pairs;

	if (each)
		return keys;
	args = args < MOST_ARGS ? args : MOST_ARGS;
	pairs = args < 3 ? 1 : (args - 1) / 2;
	return pairs < keys ? pairs : keys;
}

forecast forecast_begin(const rb_options *o)
{
	bool condition = (o->flags & (RB_IF_ABSENT | RB_IF_PRESENT)) != 0;
	forecast f = { .each = condition || o->expire_ms != 0 };

	f.max_pairs = most_pairs(o, f.each);
	f.max_bytes = given(o->chunk_request_bytes, CHUNK_BYTES);
	if ((o->flags & RB_TRANSACTION) != 0)
		f.frame = 2 * header_size(1) + arg_size(sizeof("MULTI") - 1) +
			  arg_size(sizeof("EXEC") - 1);
	if (o->expire_ms != 0) {
		int len = snprintf(NULL, 0, "%" PRIu64, o->expire_ms);

		f.tail += arg_size(2) + arg_size((size_t)len);
		f.tail_args += 2;
	}
	if (condition) {
		f.tail += arg_size(2);
		f.tail_args++;
	}
	return f;
}

static size_t pair_size(const forecast *f, size_t key_len, size_t value_len)
{
	size_t size = arg_size(key_len) + arg_size(value_len);

	if (f->each)
		size += header_size(3 + f->tail_args) + arg_size(3) + f->tail;
	return size;
}

static size_t chunk_size(const forecast *f, size_t npairs, size_t body)
{
	if (f->each)
		return f->frame + body;
	return f->frame + header_size(1 + 2 * npairs) + arg_size(4) + body;
}

bool forecast_add(forecast *f, size_t key_len, size_t value_len)
{
	size_t size = pair_size(f, key_len, value_len);

	if (f->npairs == f->max_pairs ||
	    (f->npairs > 0 &&
	     chunk_size(f, f->npairs + 1, f->body + size) > f->max_bytes))
		forecast_end(f);
	f->npairs++;
	f->body += size;
	f->records++;
	if (f->records > 1 && key_len + value_len <= f->largest_record)
		return false;
	f->largest_record = key_len + value_len;
	return true;
}

void forecast_end(forecast *f)
{
	size_t size = chunk_size(f, f->npairs, f->body);

	if (f->npairs == 0)
		return;
	f->chunks++;
	f->commands += (f->each ? f->npairs : 1) + (f->frame > 0 ? 2 : 0);
	f->bytes += size;
	if (size > f->largest_chunk)
		f->largest_chunk = size;
	f->npairs = 0;
	f->body = 0;
}

#include "round.h"

#include "tick.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void take_down(rbt_round *r)
{
	size_t left;

	rb_result_free(r->res);
	rb_client_free(r->rb);
	rbt_ring_stop(r->ring);
	left = r->count.live_blocks;
	memset(r, 0, sizeof(*r));
	/* Whatever a test is about: all memory is given back. */
	assert_int_equal(left, 0);
}

int rbt_round_begin(void **state)
{
	*state = calloc(1, sizeof(rbt_round));
	return *state ? 0 : -1;
}

int rbt_round_end(void **state)
{
	take_down(*state);
	free(*state);
	*state = NULL;
	return 0;
}

rbt_round *rbt_round_bare(void **state, const rbt_ring_options *options)
{
	rbt_round *r = *state;

	take_down(r);
	rbt_count_init(&r->count);
	r->ring = rbt_ring_start(options);
	if (!r->ring) {
		print_message("no such nodes here: %s\n", strerror(errno));
		return NULL;
	}
	return r;
}

rbt_round *rbt_round_use(void **state, const rbt_ring_options *options)
{
	rbt_round *r = rbt_round_bare(state, options);

	if (r)
		rbt_round_client(r, 0, NULL);
	return r;
}

static void make_client(rbt_round *r, const rb_options *defaults)
{
	rb_options o = defaults ? *defaults : rbt_options(0, 0);
	rb_status status;

	rb_client_free(r->rb);
	r->rb = NULL;
	o.allocator = &r->count.allocator;
	status = rb_client_open(&r->rb, r->uri, &o);
	if (status != RB_OK)
		fail_msg("%s: %s", r->uri, rb_status_text(status));
}

void rbt_round_client(rbt_round *r, size_t nseeds, const rb_options *defaults)
{
	rbt_ring_uri(r->ring, nseeds, r->uri, sizeof(r->uri));
	make_client(r, defaults);
}

void rbt_round_client_of(rbt_round *r, const rb_options *defaults,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->uri, sizeof(r->uri), format, args);
	va_end(args);
	make_client(r, defaults);
}

void rbt_round_rest(rbt_round *r)
{
	rbt_ring_stop(r->ring);
	r->ring = NULL;
}

static void begin_call(rbt_round *r)
{
	rb_result_free(r->res);
	r->res = NULL;
	r->start_us = rbt_now_us();
}

rb_status rbt_round_read(rbt_round *r, const char **keys, size_t n,
			 const rb_options *o)
{
	begin_call(r);
	return rb_mget_chunked(r->rb, keys, NULL, n, o, &r->res);
}

rb_status rbt_round_write(rbt_round *r, const char **keys, size_t n,
			  const rb_options *o)
{
	begin_call(r);
	return rb_mset_chunked(r->rb, keys, NULL, keys, NULL, n, o, &r->res);
}

void rbt_round_want_keys(const rbt_round *r, const char **keys, size_t n)
{
	assert_int_equal(rb_result_count(r->res), n);
	for (size_t i = 0; i < n; i++)
		want_bytes(r->res, i, keys[i], strlen(keys[i]));
}

unsigned rbt_round_took(const rbt_round *r)
{
	return (unsigned)((rbt_now_us() - r->start_us) / 1000);
}

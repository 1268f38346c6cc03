#include "nodes.h"

#include "nodes_mend.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FAIL(...)                         \
	do {                              \
		print_error(__VA_ARGS__); \
		print_error("\n");        \
		_fail(file, line);        \
	} while (0)

/* ------------------------------------------------------------ the group -- */

int rbt_nodes_open(void **state, const rbt_cluster_options *options)
{
	rbt_nodes *n = calloc(1, sizeof(*n));

	*state = n;
	if (!n)
		return -1;
	n->options = *options;
	if (!rbt_server_available())
		return 0;
	n->cluster = rbt_cluster_start(options);
	if (n->cluster)
		return 0;
	print_error("%s\n", rbt_cluster_why_not());
	free(n);
	return -1;
}

int rbt_nodes_close(void **state)
{
	rbt_nodes *n = *state;

	rbt_cluster_stop(n->cluster);
	free(n);
	return 0;
}

int rbt_nodes_begin(void **state)
{
	rbt_nodes *n = *state;

	if (!rbt_server_available())
		return 0;
	rbt_count_init(&n->count);
	/* What a program that has not thought about it has; but hiredis may
	 * meet nodes that have gone. */
	signal(SIGPIPE, SIG_IGN);
	if (!n->cluster || !rbt_nodes_mend(n->cluster)) {
		rbt_cluster_stop(n->cluster);
		n->cluster = rbt_cluster_start(&n->options);
	}
	if (!n->cluster)
		print_error("%s\n", rbt_cluster_why_not());
	return n->cluster ? 0 : -1;
}

int rbt_nodes_end(void **state)
{
	rbt_nodes *n = *state;
	size_t left;

	rb_result_free(n->res);
	rb_client_free(n->rb);
	rbt_keys_fini(&n->keys);
	n->res = NULL;
	n->rb = NULL;
	left = n->count.live_blocks;
	/* Whatever a test is about: all memory is given back. */
	assert_int_equal(left, 0);
	return 0;
}

rbt_nodes *rbt_nodes_bare(void **state)
{
	rbt_nodes *n = *state;

	if (!n->cluster) {
		print_message("%s\n", rbt_server_why());
		skip();
	}
	return n;
}

rbt_nodes *rbt_nodes_use(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);

	rbt_nodes_client(n, 0, NULL);
	return n;
}

void rbt_want_done(const rbt_nodes *n, bool done, const char *what,
		   const char *file, int line)
{
	if (!done)
		FAIL("%s: %s", what, rbt_cluster_why(n->cluster));
}

/* ----------------------------------------------------------- the client -- */

static void make_client(rbt_nodes *n, const rb_options *defaults)
{
	rb_options o = defaults ? *defaults : rbt_options(0, 0);
	rb_status status;

	rb_client_free(n->rb);
	n->rb = NULL;
	o.allocator = &n->count.allocator;
	status = rb_client_open(&n->rb, n->uri, &o);
	if (status != RB_OK)
		fail_msg("%s: %s", n->uri, rb_status_text(status));
}

void rbt_nodes_client(rbt_nodes *n, size_t nseeds, const rb_options *defaults)
{
	rbt_cluster_uri(n->cluster, nseeds, n->uri, sizeof(n->uri));
	make_client(n, defaults);
}

void rbt_nodes_client_of(rbt_nodes *n, const rb_options *defaults,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(n->uri, sizeof(n->uri), format, args);
	va_end(args);
	make_client(n, defaults);
}

void rbt_nodes_drop(rbt_nodes *n)
{
	rb_result_free(n->res);
	n->res = NULL;
}

rb_status rbt_nodes_read(rbt_nodes *n, const rb_options *o)
{
	rbt_nodes_drop(n);
	return rb_mget_chunked(n->rb, n->keys.keys, n->keys.lens, n->keys.n, o,
			       &n->res);
}

/* ------------------------------------------------------------ the nodes -- */

void rbt_nodes_reset_stats(rbt_nodes *n)
{
	want_done(n, rbt_cluster_do_all(n->cluster, "CONFIG RESETSTAT"));
}

void rbt_nodes_load(rbt_nodes *n, const char *prefix, size_t count, size_t step,
		    size_t value_len)
{
	rbt_keys_fini(&n->keys);
	assert_true(rbt_keys_init(&n->keys, prefix, count));
	want_done(n, rbt_nodes_fill(n->cluster, &n->keys, step, value_len));
	rbt_nodes_reset_stats(n);
}

bool rbt_nodes_stored(const rbt_nodes *n, size_t step, size_t len)
{
	return rbt_nodes_verify(n->cluster, &n->keys, step, len);
}

static redisReply *ask_owner(rbt_nodes *n, const char *command, const char *key,
			     const char *value)
{
	size_t owner =
		rbt_cluster_owner(n->cluster, rbt_slot_of(key, strlen(key)));
	redisReply *reply;

	assert_in_range(owner, 0, rbt_cluster_size(n->cluster) - 1);
	reply = rbt_cluster_ask(n->cluster, owner, value ? "%s %s %s" : "%s %s",
				command, key, value);
	if (!reply)
		print_error("%s\n", rbt_cluster_why(n->cluster));
	assert_non_null(reply);
	return reply;
}

void rbt_nodes_set(rbt_nodes *n, const char *key, const char *value)
{
	redisReply *reply = ask_owner(n, "SET", key, value);

	assert_int_equal(reply->type, REDIS_REPLY_STATUS);
	freeReplyObject(reply);
}

void rbt_nodes_get(rbt_nodes *n, const char *key, char *out, size_t size)
{
	redisReply *reply = ask_owner(n, "GET", key, NULL);

	snprintf(out, size, "%s", reply->str ? reply->str : "(nil)");
	freeReplyObject(reply);
}

long long rbt_nodes_number(rbt_nodes *n, const char *command, const char *key)
{
	redisReply *reply = ask_owner(n, command, key, NULL);
	long long number = reply->integer;

	assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
	freeReplyObject(reply);
	return number;
}

/* ----------------------------------------------------------- the result -- */

void rbt_want_read(const rbt_nodes *n, size_t step, size_t len,
		   const char *file, int line)
{
	if (rb_result_count(n->res) != n->keys.n ||
	    rb_result_failed(n->res) != 0)
		FAIL("%zu entries, %zu failed, not %zu fine ones",
		     rb_result_count(n->res), rb_result_failed(n->res),
		     n->keys.n);
	for (size_t i = 0; i < n->keys.n; i++)
		if (step > 0 && i % step == 0)
			rbt_want_filled(n->res, i, len, i, file, line);
		else
			rbt_want_nil(n->res, i, file, line);
}

static bool is_node(const rbt_nodes *n, const char *name)
{
	char address[32];

	for (size_t i = 0; i < rbt_cluster_size(n->cluster); i++) {
		snprintf(address, sizeof(address), "127.0.0.1:%d",
			 rbt_cluster_port(n->cluster, i));
		if (strcmp(address, name) == 0)
			return true;
	}
	return false;
}

static void want_chunk_sound(const rbt_nodes *n, const rb_chunk *chunk,
			     const char *file, int line)
{
	size_t failed = 0;

	if (!chunk || chunk->count == 0 || !chunk->entries || !chunk->message ||
	    !chunk->node)
		FAIL("a chunk lacks something");
	for (size_t i = 0; i < chunk->count; i++)
		failed += rb_result_status(n->res, chunk->entries[i]) != RB_OK;
	/* What was never sent need not have been for anybody. */
	if (chunk->attempts > 0 && !is_node(n, chunk->node))
		FAIL("\"%s\" is no node", chunk->node);
	if ((chunk->status == RB_OK) != (chunk->message[0] == '\0'))
		FAIL("a chunk is \"%s\" and says \"%s\"",
		     rb_status_text(chunk->status), chunk->message);
	if (chunk->status == RB_OK && failed > 0)
		FAIL("a chunk is fine, but %zu of its entries failed", failed);
	if (chunk->status == RB_ERR_PARTIAL && failed == 0)
		FAIL("no entry of a chunk failed");
}

void rbt_want_covered(const rbt_nodes *n, const char *file, int line)
{
	size_t count = rb_result_count(n->res), failed = 0;
	unsigned char *seen = calloc(count + 1, 1);

	assert_non_null(seen);
	for (size_t i = 0; i < rb_result_chunks(n->res); i++) {
		const rb_chunk *chunk = rb_result_chunk(n->res, i);

		want_chunk_sound(n, chunk, file, line);
		for (size_t k = 0; k < chunk->count; k++)
			if (chunk->entries[k] >= count ||
			    seen[chunk->entries[k]]++)
				FAIL("chunk %zu has entry %zu, which is "
				     "another's or none",
				     i, chunk->entries[k]);
	}
	for (size_t i = 0; i < count; i++) {
		if (!seen[i])
			FAIL("entry %zu is in no chunk", i);
		failed += rb_result_status(n->res, i) != RB_OK;
	}
	free(seen);
	if (failed != rb_result_failed(n->res))
		FAIL("%zu failed, not %zu", failed, rb_result_failed(n->res));
}

/*
 * Some entries fail: walks the reports of the chunks and then the entries, to
 * tell what was read, what is not there, and what could not be read and why.
 * Here one value is longer than this program allows.
 *
 *	partial redis://127.0.0.1:6379
 */
#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>
#include <stdio.h>
#include <string.h>

#define NKEYS 6

static redisContext *connect_to(const char *uri)
{
	if (strncmp(uri, "unix://", 7) == 0)
		return redisConnectUnix(uri + 7);
	return redisConnect("127.0.0.1", 6379);
}

static void print_chunks(const rb_result *res)
{
	size_t i;

	for (i = 0; i < rb_result_chunks(res); i++) {
		const rb_chunk *c = rb_result_chunk(res, i);

		printf("chunk %zu, entries %zu to %zu at %s: %s, %s%s%s\n", i,
		       c->first, c->first + c->count - 1, c->node,
		       rb_outcome_text(c->outcome), rb_status_text(c->status),
		       *c->message != '\0' ? ": " : "", c->message);
	}
}

static void print_entries(const rb_result *res, const char **keys)
{
	size_t i;

	for (i = 0; i < rb_result_count(res); i++) {
		rb_slice value = rb_result_value(res, i);

		if (rb_result_status(res, i) != RB_OK)
			printf("%s failed: %s\n", keys[i],
			       rb_result_message(res, i));
		else if (value.data == NULL)
			printf("%s is not there\n", keys[i]);
		else
			printf("%s has %zu bytes\n", keys[i], value.len);
	}
}

int main(int argc, char **argv)
{
	const char *keys[NKEYS] = { "example:a", "example:b", "example:c",
				    "example:d", "example:e", "example:f" };
	redisContext *ctx = connect_to(argc > 1 ? argv[1] : "");
	rb_result *res = NULL;
	rb_options options;
	rb_client *rb;
	rb_status status;

	if (ctx == NULL || ctx->err != 0)
		return 1;
	freeReplyObject(redisCommand(ctx, "SET example:a small"));
	freeReplyObject(redisCommand(ctx, "SETRANGE example:d 5000 large"));
	rb_options_init(&options);
	options.chunk_keys = 2;
	options.max_value_bytes = 1000;
	if (rb_client_wrap(&rb, ctx, NULL) != RB_OK)
		return 1;
	status = rb_mget_chunked(rb, keys, NULL, NKEYS, &options, &res);
	printf("%s\n", rb_client_error(rb));
	print_chunks(res);
	print_entries(res, keys);
	rb_result_free(res);
	rb_client_free(rb);
	freeReplyObject(redisCommand(ctx, "DEL example:a example:d"));
	redisFree(ctx);
	return status == RB_ERR_PARTIAL ? 0 : 1;
}

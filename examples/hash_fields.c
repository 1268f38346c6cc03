/*
 * Reads many fields of one hash over a connection that the program has made
 * with hiredis, and goes on using for other things.
 *
 *	hash_fields redis://127.0.0.1:6379
 */
#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>
#include <stdio.h>
#include <string.h>

#define KEY "example:user:1000"

static redisContext *connect_to(const char *uri)
{
	if (strncmp(uri, "unix://", 7) == 0)
		return redisConnectUnix(uri + 7);
	return redisConnect("127.0.0.1", 6379);
}

/* A field that is not there is nil, which differs from an empty one. */
static void print_fields(const rb_result *res, const char **fields)
{
	size_t i;

	for (i = 0; i < rb_result_count(res); i++) {
		rb_slice value = rb_result_value(res, i);

		printf("%-6s %s\n", fields[i],
		       value.data != NULL ? value.data : "(nil)");
	}
}

int main(int argc, char **argv)
{
	const char *fields[] = { "name", "email", "phone" };
	redisContext *ctx = connect_to(argc > 1 ? argv[1] : "");
	rb_result *res = NULL;
	rb_client *rb;
	rb_status status;

	if (ctx == NULL || ctx->err != 0) {
		fprintf(stderr, "%s\n", ctx ? ctx->errstr : "out of memory");
		return 1;
	}
	freeReplyObject(redisCommand(ctx, "HSET %s name Ada email %b", KEY, "",
				     (size_t)0));
	status = rb_client_wrap(&rb, ctx, NULL);
	if (status != RB_OK) {
		fprintf(stderr, "%s\n", rb_status_text(status));
		return 1;
	}
	status = rb_hmget_chunked(rb, KEY, strlen(KEY), fields, NULL, 3, NULL,
				  &res);
	if (status != RB_OK)
		fprintf(stderr, "%s\n", rb_client_error(rb));
	print_fields(res, fields);
	rb_result_free(res);
	rb_client_free(rb);
	freeReplyObject(redisCommand(ctx, "DEL %s", KEY));
	redisFree(ctx);
	return status == RB_OK ? 0 : 1;
}

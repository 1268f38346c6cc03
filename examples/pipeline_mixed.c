/*
 * Commands of many kinds in one go, one of which fails: its error is its own,
 * and hides no neighbour.
 *
 *	pipeline_mixed redis://127.0.0.1:6379
 */
#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>
#include <stdio.h>

static void print_reply(const rb_result *res, size_t i)
{
	const redisReply *reply = rb_result_reply(res, i);

	printf("%zu: ", i);
	if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
		printf("failed: %s\n", rb_result_message(res, i));
	else if (reply->type == REDIS_REPLY_INTEGER)
		printf("%lld\n", reply->integer);
	else if (reply->type == REDIS_REPLY_NIL)
		printf("nil\n");
	else if (reply->str != NULL)
		printf("%s\n", reply->str);
	else
		printf("%zu elements\n", reply->elements);
}

static rb_status collect(rb_pipeline *p)
{
	rb_status status = RB_OK;

	if (status == RB_OK)
		status = rb_pipeline_append(p, "SET example:n %d", 41);
	if (status == RB_OK)
		status = rb_pipeline_append(p, "INCR example:n");
	if (status == RB_OK)
		status = rb_pipeline_append(p, "HSET example:n field value");
	if (status == RB_OK)
		status = rb_pipeline_append(p, "ZADD example:z 1 %b", "a\0b",
					    (size_t)3);
	if (status == RB_OK)
		status = rb_pipeline_append(p, "EXPIRE example:n 60");
	if (status == RB_OK)
		status = rb_pipeline_append(p, "ZRANGE example:z 0 -1");
	if (status == RB_OK)
		status = rb_pipeline_append(p, "DEL example:n example:z");
	return status;
}

int main(int argc, char **argv)
{
	rb_pipeline *p = NULL;
	rb_result *res = NULL;
	rb_client *rb;
	rb_status status;
	size_t i;

	if (rb_client_open(&rb, argc > 1 ? argv[1] : "redis://127.0.0.1",
			   NULL) != RB_OK)
		return 2;
	status = rb_pipeline_new(&p, rb);
	if (status == RB_OK)
		status = collect(p);
	if (status == RB_OK)
		status = rb_pipeline_run(p, NULL, &res);
	printf("%s: %s\n", rb_status_text(status), rb_client_error(rb));
	for (i = 0; i < rb_result_count(res); i++)
		print_reply(res, i);
	rb_result_free(res);
	rb_pipeline_free(p);
	rb_client_free(rb);
	return status == RB_ERR_PARTIAL ? 0 : 1;
}

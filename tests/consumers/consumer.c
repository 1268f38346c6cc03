/*
 * A program of somebody else's: it opens a client, writes pairs, reads them
 * back and sends commands, and ends with 0 if all came back as it should.
 *
 *	consumer URI
 */
#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>
#include <stdio.h>
#include <string.h>

enum { npairs = 2500, text_size = 16 };

static char keys[npairs][text_size];
static char values[npairs][text_size];
static const char *key_list[npairs];
static const char *value_list[npairs];

static void make_pairs(void)
{
	for (int i = 0; i < npairs; i++) {
		snprintf(keys[i], text_size, "key:%d", i);
		snprintf(values[i], text_size, "value:%d", i * 7);
		key_list[i] = keys[i];
		value_list[i] = values[i];
	}
}

static int write_pairs(rb_client *rb, const rb_options *opts)
{
	rb_result *res = NULL;
	rb_status status = rb_mset_chunked(rb, key_list, NULL, value_list, NULL,
					   npairs, opts, &res);

	rb_result_free(res);
	return status == RB_OK;
}

static int read_pairs(rb_client *rb, const rb_options *opts)
{
	rb_result *res = NULL;
	rb_status status =
		rb_mget_chunked(rb, key_list, NULL, npairs, opts, &res);
	int good = status == RB_OK && rb_result_count(res) == npairs;

	for (size_t i = 0; good && i < npairs; i++) {
		rb_slice got = rb_result_value(res, i);

		good = got.len == strlen(values[i]) &&
		       memcmp(got.data, values[i], got.len) == 0;
	}
	rb_result_free(res);
	return good;
}

/* The reply is of a type of hiredis's. */
static int send_commands(rb_client *rb)
{
	rb_pipeline *pipeline;
	rb_result *res = NULL;
	int good = 0;

	if (rb_pipeline_new(&pipeline, rb) != RB_OK)
		return 0;
	if (rb_pipeline_append(pipeline, "STRLEN %s", keys[0]) == RB_OK &&
	    rb_pipeline_run(pipeline, NULL, &res) == RB_OK) {
		const struct redisReply *reply = rb_result_reply(res, 0);

		good = reply != NULL && reply->type == REDIS_REPLY_INTEGER &&
		       reply->integer == (long long)strlen(values[0]);
	}
	rb_result_free(res);
	rb_pipeline_free(pipeline);
	return good;
}

int main(int argc, char **argv)
{
	rb_options opts;
	rb_client *rb;
	int good;

	if (argc != 2 || rb_client_open(&rb, argv[1], NULL) != RB_OK)
		return 2;
	rb_options_init(&opts);
	opts.chunk_keys = 100;
	make_pairs();
	good = write_pairs(rb, &opts) && read_pairs(rb, &opts) &&
	       send_commands(rb);
	if (!good)
		fprintf(stderr, "consumer: %s\n", rb_client_error(rb));
	rb_client_free(rb);
	return good ? 0 : 1;
}

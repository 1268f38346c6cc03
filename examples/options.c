/*
 * Bounds, a deadline and progress: 20,000 keys in chunks of 500.
 *
 *	options redis://127.0.0.1:6379
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>

#define NKEYS 20000

/* Called after each chunk; a negative answer would cancel the call. */
static int show_progress(void *arg, const rb_chunk *chunk)
{
	size_t *done = arg;

	*done += chunk->count;
	if (*done % 5000 == 0)
		printf("%zu of %d\n", *done, NKEYS);
	return 0;
}

static void print_cost(const rb_result *res)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	if (rb_result_stats(res, &stats) != RB_OK)
		return;
	printf("%llu keys in %llu commands, %llu bytes sent, %llu received\n",
	       (unsigned long long)stats.keys,
	       (unsigned long long)stats.commands,
	       (unsigned long long)stats.request_bytes,
	       (unsigned long long)stats.reply_bytes);
}

int main(int argc, char **argv)
{
	static char names[NKEYS][24];
	static const char *keys[NKEYS];
	rb_result *res = NULL;
	rb_options options;
	rb_client *rb;
	rb_status status;
	size_t done = 0;
	size_t i;

	for (i = 0; i < NKEYS; i++) {
		snprintf(names[i], sizeof(names[i]), "example:%zu", i);
		keys[i] = names[i];
	}
	rb_options_init(&options);
	options.chunk_keys = 500;	      /* keys in a command */
	options.chunk_request_bytes = 16384;  /* and bytes, the sooner */
	options.window = 4;		      /* commands in flight */
	options.timeout_ms = 10000;	      /* for the whole call */
	options.max_result_bytes = 64u << 20; /* no more than 64 MiB kept */
	options.on_chunk = show_progress;
	options.on_chunk_arg = &done;
	status = rb_client_open(
		&rb, argc > 1 ? argv[1] : "redis://127.0.0.1:6379", &options);
	if (status != RB_OK)
		return 2;
	status = rb_mget_chunked(rb, keys, NULL, NKEYS, NULL, &res);
	if (status != RB_OK)
		fprintf(stderr, "%s\n", rb_client_error(rb));
	else
		print_cost(res);
	rb_result_free(res);
	rb_client_free(rb);
	return status == RB_OK ? 0 : 1;
}

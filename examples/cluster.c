/*
 * Writes and reads many keys of a cluster, and tells node by node what became
 * of them. Nothing but the URI is of a cluster: any other does as well.
 *
 *	cluster redis+cluster://127.0.0.1:7000,127.0.0.1:7001
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>

#define NKEYS 3000

/* The first entry of each chunk that failed, and what is known of it. */
static void print_failures(const rb_result *res, const char **keys)
{
	for (size_t i = 0; i < rb_result_chunks(res); i++) {
		const rb_chunk *chunk = rb_result_chunk(res, i);
		size_t first = chunk->entries != NULL ? chunk->entries[0] :
							chunk->first;

		if (chunk->status != RB_OK)
			printf("%s: %zu keys from %s on: %s, %s: %s\n",
			       chunk->node, chunk->count, keys[first],
			       rb_status_text(chunk->status),
			       rb_outcome_text(chunk->outcome), chunk->message);
	}
}

int main(int argc, char **argv)
{
	static char names[NKEYS][24];
	const char *keys[NKEYS];
	const char *values[NKEYS];
	const char *uri = argc > 1 ? argv[1] : "redis+cluster://127.0.0.1:7000";
	rb_client *rb = NULL;
	rb_result *res = NULL;
	rb_options options;
	rb_status status;
	size_t found = 0;

	for (size_t i = 0; i < NKEYS; i++) {
		snprintf(names[i], sizeof(names[i]), "example:%zu", i);
		keys[i] = values[i] = names[i];
	}
	rb_options_init(&options);
	options.timeout_ms = 20000;
	/* The cluster-node-timeout of the servers, and what a failover takes
	 * beyond that. */
	options.failover_ms = 18000;
	if (rb_client_open(&rb, uri, &options) != RB_OK) {
		const char *problem = rb_uri_problem(uri);

		fprintf(stderr, "%s\n",
			problem != NULL ? problem : "no memory");
		return 1;
	}
	status = rb_mset_chunked(rb, keys, NULL, values, NULL, NKEYS, NULL,
				 &res);
	printf("written: %s\n", rb_status_text(status));
	print_failures(res, keys);
	rb_result_free(res);
	if (status == RB_OK)
		status = rb_mget_chunked(rb, keys, NULL, NKEYS, NULL, &res);
	else
		res = NULL;
	for (size_t i = 0; i < rb_result_count(res); i++)
		found += rb_result_value(res, i).data != NULL;
	printf("read: %s, %zu of %d keys\n", rb_status_text(status), found,
	       NKEYS);
	print_failures(res, keys);
	if (status != RB_OK)
		fprintf(stderr, "%s\n", rb_client_error(rb));
	rb_result_free(res);
	rb_client_free(rb);
	return status == RB_OK && found == NKEYS ? 0 : 1;
}

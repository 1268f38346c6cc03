/*
 * Reads a key over TLS. The second argument is a file with the certificates
 * to trust; without it those of the system are.
 *
 *	tls rediss://127.0.0.1:6379 CA.pem
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>

static rb_status read_key(rb_client *rb)
{
	const char *key = "example:tls";
	rb_result *res = NULL;
	rb_status status;
	rb_slice value;

	status = rb_mget_chunked(rb, &key, NULL, 1, NULL, &res);
	if (status == RB_OK) {
		value = rb_result_value(res, 0);
		if (value.data == NULL)
			printf("%s: no such key\n", key);
		else
			printf("%s: %.*s\n", key, (int)value.len, value.data);
	} else {
		fprintf(stderr, "%s\n", rb_client_error(rb));
	}
	rb_result_free(res);
	return status;
}

int main(int argc, char **argv)
{
	const char *uri = argc > 1 ? argv[1] : "rediss://127.0.0.1:6379";
	const char *problem;
	rb_options options;
	rb_client *rb;
	rb_status status;

	rb_options_init(&options);
	options.tls_ca_file = argc > 2 ? argv[2] : NULL;
	status = rb_client_open(&rb, uri, &options);
	if (status != RB_OK) {
		problem = rb_open_problem(uri, &options);
		fprintf(stderr, "%s\n", problem ? problem : "out of memory");
		return 2;
	}
	status = read_key(rb);
	rb_client_free(rb);
	return status == RB_OK ? 0 : 1;
}

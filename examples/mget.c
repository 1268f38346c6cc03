/*
 * Reads the keys given as arguments, all at once.
 *
 *	mget redis://127.0.0.1:6379 KEY...
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>

static void print_entry(const rb_result *res, const char *key, size_t i)
{
	rb_slice value = rb_result_value(res, i);

	if (rb_result_status(res, i) != RB_OK)
		printf("%s: failed: %s\n", key, rb_result_message(res, i));
	else if (value.data == NULL)
		printf("%s: no such key\n", key);
	else
		printf("%s: %.*s\n", key, (int)value.len, value.data);
}

int main(int argc, char **argv)
{
	static const char *some[] = { "one", "two", "three" };
	const char *uri = argc > 1 ? argv[1] : "redis://127.0.0.1:6379";
	const char **keys = argc > 2 ? (const char **)argv + 2 : some;
	size_t nkeys = argc > 2 ? (size_t)argc - 2 : 3;
	rb_result *res = NULL;
	rb_client *rb;
	rb_status status;
	size_t i;

	if (rb_client_open(&rb, uri, NULL) != RB_OK) {
		fprintf(stderr, "%s\n", rb_uri_problem(uri));
		return 2;
	}
	status = rb_mget_chunked(rb, keys, NULL, nkeys, NULL, &res);
	if (status != RB_OK)
		fprintf(stderr, "%s\n", rb_client_error(rb));
	for (i = 0; i < rb_result_count(res); i++)
		print_entry(res, keys[i], i);
	rb_result_free(res);
	rb_client_free(rb);
	return status == RB_OK ? 0 : 1;
}

/*
 * Writes the keys example:0 to example:999999 with their values to standard
 * output, in the memory that a few chunks take.
 *
 *	stream_export redis://127.0.0.1:6379 >FILE
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>

#define NKEYS 1000000

typedef struct exporter {
	size_t next; /* the next key to read */
	char key[32];
	size_t missing;
	size_t failed;
} exporter;

/* Gives the next key; the library copies it. */
static int next_key(void *arg, rb_slice *key)
{
	exporter *e = arg;
	int len;

	if (e->next == NKEYS)
		return 0;
	len = snprintf(e->key, sizeof(e->key), "example:%zu", e->next++);
	key->data = e->key;
	key->len = (size_t)len;
	return 1;
}

/* Takes the values of a chunk, in the order of the keys. */
static int take_values(void *arg, size_t first, const rb_slice *keys,
		       const rb_slice *values, const rb_status *statuses,
		       size_t n)
{
	exporter *e = arg;
	size_t i;

	(void)first;
	for (i = 0; i < n; i++) {
		if (statuses[i] != RB_OK) {
			e->failed++;
		} else if (values[i].data == NULL) {
			e->missing++;
		} else {
			fwrite(keys[i].data, 1, keys[i].len, stdout);
			putchar('\t');
			fwrite(values[i].data, 1, values[i].len, stdout);
			putchar('\n');
		}
	}
	return ferror(stdout) ? -1 : 0;
}

int main(int argc, char **argv)
{
	static exporter e;
	rb_client *rb;
	rb_status status;

	if (rb_client_open(&rb, argc > 1 ? argv[1] : "redis://127.0.0.1",
			   NULL) != RB_OK)
		return 2;
	status = rb_mget_stream(rb, next_key, &e, take_values, &e, NULL, NULL);
	if (status != RB_OK)
		fprintf(stderr, "%s\n", rb_client_error(rb));
	fprintf(stderr, "%zu keys, %zu missing, %zu failed\n", e.next,
		e.missing, e.failed);
	rb_client_free(rb);
	return status == RB_OK ? 0 : 1;
}

/*
 * Loads a TSV file, or standard input, into the server: a key, a TAB and a
 * value on each line. Whatever the length of the file, memory stays flat.
 *
 *	bulk_load redis://127.0.0.1:6379 FILE
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>
#include <string.h>

typedef struct loader {
	FILE *in;
	char line[65536];
	size_t number; /* of the line */
	size_t unsure; /* pairs that may or may not be there */
} loader;

/* Gives the next line as a pair; the library copies it. */
static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	loader *l = arg;
	char *tab;

	if (fgets(l->line, sizeof(l->line), l->in) == NULL)
		return ferror(l->in) ? -1 : 0;
	l->number++;
	l->line[strcspn(l->line, "\n")] = '\0';
	tab = strchr(l->line, '\t');
	if (tab == NULL) {
		fprintf(stderr, "line %zu has no TAB\n", l->number);
		return -1;
	}
	*tab = '\0';
	key->data = l->line;
	key->len = (size_t)(tab - l->line);
	value->data = tab + 1;
	value->len = strlen(tab + 1);
	return 1;
}

/* Tells which lines are not there after a failure, or may not be. */
static int note_chunk(void *arg, const rb_chunk *chunk)
{
	loader *l = arg;

	if (chunk->outcome == RB_ANSWERED)
		return 0;
	if (chunk->outcome == RB_UNKNOWN)
		l->unsure += chunk->count;
	fprintf(stderr, "lines %zu to %zu: %s: %s\n", chunk->first + 1,
		chunk->first + chunk->count, rb_outcome_text(chunk->outcome),
		chunk->message);
	return 0;
}

int main(int argc, char **argv)
{
	static loader l;
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_options options;
	rb_client *rb;
	rb_status status;

	l.in = argc > 2 ? fopen(argv[2], "r") : stdin;
	if (l.in == NULL) {
		perror(argv[2]);
		return 2;
	}
	rb_options_init(&options);
	options.on_chunk = note_chunk;
	options.on_chunk_arg = &l;
	if (rb_client_open(&rb, argc > 1 ? argv[1] : "redis://127.0.0.1",
			   NULL) != RB_OK)
		return 2;
	status = rb_mset_stream(rb, next_pair, &l, &options, &stats);
	if (status != RB_OK)
		fprintf(stderr, "%s\n", rb_client_error(rb));
	printf("%llu pairs in %llu commands, %zu of them unsure\n",
	       (unsigned long long)stats.keys,
	       (unsigned long long)stats.commands, l.unsure);
	rb_client_free(rb);
	return status == RB_OK ? 0 : 1;
}

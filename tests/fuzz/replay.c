/*
 * Runs a target over the inputs that were kept, each as one test:
 *
 *	fuzz_NAME [FILE]...
 *
 * Without arguments those in tests/fuzz/corpus/NAME, below the folder in which
 * it is called. The target aborts on a failure; the last line then names the
 * input.
 */
#include "fuzz.h"

#include <dirent.h>

/* More would not be small seeds any longer. */
#define FILES_MAX 1000
#define SIZE_MAX_KEPT ((size_t)1 << 20)

static bool run_file(const char *path)
{
	static char buf[SIZE_MAX_KEPT];
	FILE *file = fopen(path, "rb");
	size_t size;
	char *data;

	if (file == NULL)
		return false;
	size = fread(buf, 1, sizeof(buf), file);
	if (fclose(file) != 0 || size == sizeof(buf))
		return false;
	data = exact_copy(buf, size);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)data, size);
	free(data);
	return true;
}

static int run_files(char *const *paths, int n)
{
	int failed = 0;
	int i;

	printf("1..%d\n", n);
	for (i = 0; i < n; i++) {
		bool ran;

		printf("# %s\n", paths[i]);
		fflush(stdout);
		ran = run_file(paths[i]);
		printf("%s %d - %s\n", ran ? "ok" : "not ok", i + 1, paths[i]);
		failed += !ran;
	}
	return failed == 0 ? 0 : 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *join(const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	char *path = malloc(size);

	must(path != NULL);
	(void)snprintf(path, size, "%s/%s", folder, name);
	return path;
}

/* The files of a folder in order; their number. */
static int list_files(const char *folder, char **paths)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	int n = 0;

	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		must(n < FILES_MAX);
		paths[n++] = join(folder, entry->d_name);
	}
	(void)closedir(dir);
	qsort(paths, (size_t)n, sizeof(*paths), by_name);
	return n;
}

/* fuzz_NAME, however it was called, to the folder of its inputs. */
static char *corpus_of(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = strstr(slash != NULL ? slash : program, "fuzz_");

	must(name != NULL);
	return join("tests/fuzz/corpus", name + strlen("fuzz_"));
}

int main(int argc, char **argv)
{
	static char *paths[FILES_MAX];
	char *folder;
	int status;
	int n;

	if (argc > 1)
		return run_files(argv + 1, argc - 1);
	folder = corpus_of(argv[0]);
	n = list_files(folder, paths);
	status = run_files(paths, n);
	if (n == 0)
		fprintf(stderr, "there is no input in %s\n", folder);
	free(folder);
	while (n > 0)
		free(paths[--n]);
	return status;
}

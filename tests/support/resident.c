#include "resident.h"

#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* A line "Name:   1234 kB" of /proc/self/status. */
static size_t read_status(const char *name)
{
	char line[256];
	size_t kib = 0, n = strlen(name);
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, n) == 0 && line[n] == ':' &&
		    sscanf(line + n + 1, "%zu", &kib) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kib * 1024;
}

size_t rbt_memory_resident(void)
{
	return read_status("VmRSS");
}

size_t rbt_memory_peak(void)
{
	return read_status("VmHWM");
}

size_t rbt_memory_growth(size_t before)
{
	size_t peak = rbt_memory_peak();

	return peak > before ? peak - before : 0;
}

bool rbt_memory_reset_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	bool done;

	if (!f)
		return false;
	done = fputs("5\n", f) >= 0;
	return fclose(f) == 0 && done;
}

void rbt_memory_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

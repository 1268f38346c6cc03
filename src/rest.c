#include "rest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 65536 };

static bool is_regular(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* How many bytes were kept; what cannot be read ends it. */
static uint64_t copy(report *r, int fd, uint64_t from)
{
	char piece[PIECE];
	uint64_t sum = 0;

	for (;;) {
		ssize_t n =
			pread(fd, piece, sizeof(piece), (off_t)(from + sum));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return sum;
		report_keep(r, (rb_slice){ piece, (size_t)n });
		sum += (uint64_t)n;
	}
}

static void say_not_tried(report *r, const char *name, uint64_t from,
			  uint64_t len)
{
	if (len > 0)
		report_say(r,
			   "%s was read up to byte %" PRIu64 "; the %" PRIu64
			   " behind it were not tried%s",
			   name, from, len,
			   report_keeps(r) ? ", and are kept too" : "");
}

void rest_keep(report *r, const char *path, uint64_t from)
{
	bool is_stdin = strcmp(path, "-") == 0;
	/* A pipe that nobody writes to must not hold the end up. */
	int fd = is_stdin ? STDIN_FILENO :
			    open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (is_regular(fd) && fstat(fd, &st) == 0) {
		uint64_t size = (uint64_t)st.st_size;

		if (report_keeps(r))
			size = from + copy(r, fd, from);
		say_not_tried(r, is_stdin ? "standard input" : path, from,
			      size > from ? size - from : 0);
	} else {
		report_say(r,
			   "%s was read up to byte %" PRIu64
			   "; what is behind it was not tried",
			   is_stdin ? "standard input" : path, from);
	}
	if (fd >= 0 && !is_stdin)
		close(fd);
}

#include "text.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 256 * 1024 };
#define MAX_RECORD ((size_t)512 * 1024 * 1024)

struct text {
	const char *path;
	int fd;
	char delimiter;
	bool ended;
	/* What was read and not yet given: data[from .. to). */
	char *data;
	size_t capacity;
	size_t from;
	size_t to;
	/* Where to go on looking for a delimiter. */
	size_t searched;
	size_t nrecords;
	uint64_t taken;
	uint64_t size;
};

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

static uint64_t file_size(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_size;
}

text *text_open(const char *path, char delimiter)
{
	text *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->path = path;
	t->delimiter = delimiter;
	t->fd = is_stdin(path) ? STDIN_FILENO :
				 open(path, O_RDONLY | O_CLOEXEC);
	/* A pipe that nobody writes to: text_next() tells of the signal. */
	if (t->fd < 0 && errno != EINTR) {
		free(t);
		return NULL;
	}
	t->size = file_size(t->fd);
	return t;
}

void text_close(text *t)
{
	if (t == NULL)
		return;
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	free(t->data);
	free(t);
}

/* Room for another block behind what is kept. */
static bool make_room(text *t)
{
	size_t kept = t->to - t->from;
	char *data;

	if (t->from > 0) {
		memmove(t->data, t->data + t->from, kept);
		t->searched -= t->from;
		t->from = 0;
		t->to = kept;
	}
	if (t->capacity - kept >= BLOCK / 2)
		return true;
	data = realloc(t->data, 2 * t->capacity + BLOCK);
	if (data == NULL)
		return false;
	t->data = data;
	t->capacity = 2 * t->capacity + BLOCK;
	return true;
}

static text_got read_more(text *t)
{
	ssize_t n;

	if (t->to - t->from > MAX_RECORD)
		return TEXT_TOO_LONG;
	if (!make_room(t))
		return TEXT_FAILED;
	do {
		if (!signals_await(t->fd, POLLIN))
			return TEXT_FAILED;
		n = read(t->fd, t->data + t->to, t->capacity - t->to);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return TEXT_FAILED;
	t->ended = n == 0;
	t->to += (size_t)n;
	return TEXT_RECORD;
}

/* Gives len bytes and steps over them and over `skip` more. */
static text_got give(text *t, size_t len, size_t skip, rb_slice *record)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t marked = 0;

	if (t->nrecords++ == 0 && t->delimiter == '\n' && len >= 3 &&
	    memcmp(t->data + t->from, mark, 3) == 0)
		marked = 3;
	record->data = t->data + t->from + marked;
	record->len = len - marked;
	t->from += len + skip;
	t->searched = t->from;
	t->taken += len + skip;
	return TEXT_RECORD;
}

text_got text_next(text *t, rb_slice *record)
{
	for (;;) {
		size_t unsearched = t->to - t->searched;
		char *end = NULL;
		text_got got;

		if (unsearched > 0)
			end = memchr(t->data + t->searched, t->delimiter,
				     unsearched);
		if (end != NULL)
			return give(t, (size_t)(end - t->data) - t->from, 1,
				    record);
		t->searched = t->to;
		if (t->ended && t->from == t->to)
			return TEXT_END;
		if (t->ended)
			return give(t, t->to - t->from, 0, record);
		got = read_more(t);
		if (got != TEXT_RECORD)
			return got;
	}
}

size_t text_line(const text *t)
{
	return t->nrecords;
}

const char *text_name(const text *t)
{
	return is_stdin(t->path) ? "standard input" : t->path;
}

uint64_t text_taken(const text *t)
{
	return t->taken;
}

uint64_t text_size(const text *t)
{
	return t->size;
}

#include "out.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CAPACITY = 256 * 1024 };

struct out {
	const char *path;
	/* The name until it is whole; NULL for standard output. */
	char *draft;
	int fd;
	/* It is no file of the disk, but a pipe, a terminal, a socket. */
	bool waits;
	int error;
	uint64_t written;
	size_t used;
	char buffer[CAPACITY];
};

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Is there something that a rename must not replace: a device, a pipe? */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* The rights that open() would have given, which mkstemp() does not. */
static void open_to_others(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	(void)fchmod(fd, (mode_t)(0666 & ~mask));
}

static bool open_draft(out *o)
{
	size_t size = strlen(o->path) + sizeof(".XXXXXX");

	o->draft = malloc(size);
	if (o->draft == NULL)
		return false;
	snprintf(o->draft, size, "%s.XXXXXX", o->path);
	o->fd = mkstemp(o->draft);
	if (o->fd < 0) {
		free(o->draft);
		return false;
	}
	open_to_others(o->fd);
	return true;
}

static bool open_path(out *o)
{
	if (!is_special(o->path))
		return open_draft(o);
	o->fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	/* A named pipe that nobody reads, and a signal: writing tells. */
	if (o->fd < 0 && errno == EINTR)
		o->error = EINTR;
	return o->fd >= 0 || o->error != 0;
}

out *out_open(const char *path)
{
	out *o = malloc(sizeof(*o));

	if (o == NULL)
		return NULL;
	*o = (out){ .path = path, .fd = STDOUT_FILENO };
	if (path != NULL && !open_path(o)) {
		int error = errno;

		free(o);
		errno = error;
		return NULL;
	}
	o->waits = !is_file(o->fd);
	return o;
}

/*
 * How much may be written at once so that write() does not block, once poll()
 * has said that there is room: a blocked write() is not woken by a signal that
 * came just before it. Non-blocking would do too, but standard output is shared
 * with other programs. A file of the disk keeps nobody waiting, and can still be
 * completed after a signal.
 */
static size_t one_piece(const out *o, size_t len)
{
	return !o->waits || len < PIPE_BUF ? len : PIPE_BUF;
}

static void write_all(out *o, const char *data, size_t len)
{
	while (len > 0 && o->error == 0) {
		ssize_t n = -1;

		if (!o->waits || signals_await(o->fd, POLLOUT))
			n = write(o->fd, data, one_piece(o, len));
		if (n >= 0) {
			data += n;
			len -= (size_t)n;
			o->written += (uint64_t)n;
		} else if (o->waits && signals_caught() != 0) {
			o->error = EINTR;
		} else if (errno != EINTR && errno != EAGAIN) {
			o->error = errno;
		}
	}
}

int out_flush(out *o)
{
	write_all(o, o->buffer, o->used);
	o->used = 0;
	return o->error;
}

void out_write(out *o, const void *data, size_t len)
{
	if (len > CAPACITY - o->used)
		(void)out_flush(o);
	if (len >= CAPACITY) {
		write_all(o, data, len);
	} else if (o->error == 0 && len > 0) {
		memcpy(o->buffer + o->used, data, len);
		o->used += len;
	}
}

void out_text(out *o, const char *text)
{
	out_write(o, text, strlen(text));
}

void out_char(out *o, char c)
{
	out_write(o, &c, 1);
}

int out_error(const out *o)
{
	return o->error;
}

int out_commit(out *o)
{
	(void)out_flush(o);
	if (o->draft == NULL || o->error != 0)
		return o->error;
	/* A disk that is full may say so only now. */
	if (fsync(o->fd) != 0 && errno != EINVAL && errno != EROFS)
		o->error = errno;
	if (close(o->fd) != 0 && o->error == 0)
		o->error = errno;
	o->fd = -1;
	if (o->error == 0 && rename(o->draft, o->path) != 0)
		o->error = errno;
	if (o->error == 0) {
		free(o->draft);
		o->draft = NULL;
	}
	return o->error;
}

const char *out_name(const out *o)
{
	return o->path == NULL ? "standard output" : o->path;
}

bool out_is_terminal(const out *o)
{
	return o->path == NULL && isatty(o->fd) == 1;
}

uint64_t out_written(const out *o)
{
	return o->written + o->used;
}

void out_free(out *o)
{
	if (o == NULL)
		return;
	if (o->path != NULL && o->fd >= 0)
		close(o->fd);
	if (o->draft != NULL) {
		(void)unlink(o->draft);
		free(o->draft);
	}
	free(o);
}

#include "out.h"

#include <errno.h>
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
	int error;
	uint64_t written;
	size_t used;
	char buffer[CAPACITY];
};

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

out *out_open(const char *path)
{
	out *o = malloc(sizeof(*o));

	if (o == NULL)
		return NULL;
	*o = (out){ .path = path, .fd = STDOUT_FILENO };
	if (path != NULL && !open_draft(o)) {
		int error = errno;

		free(o);
		errno = error;
		return NULL;
	}
	return o;
}

/* A standard output that another program made non-blocking is awaited. */
static void await_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	(void)poll(&p, 1, -1);
}

static void write_all(out *o, const char *data, size_t len)
{
	while (len > 0 && o->error == 0) {
		ssize_t n = write(o->fd, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
			o->written += (uint64_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			await_room(o->fd);
		} else if (errno != EINTR) {
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
	if (o->draft != NULL) {
		if (o->fd >= 0)
			close(o->fd);
		(void)unlink(o->draft);
		free(o->draft);
	}
	free(o);
}

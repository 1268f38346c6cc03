#include "wake.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool prepare(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
	       fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

bool rbi_wake_init(rbi_wake *w)
{
	atomic_init(&w->requested, 0);
	w->fds[0] = w->fds[1] = -1;
	if (pipe(w->fds) != 0)
		return false;
	if (prepare(w->fds[0]) && prepare(w->fds[1]))
		return true;
	rbi_wake_fini(w);
	return false;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void rbi_wake_fini(rbi_wake *w)
{
	close_end(&w->fds[0]);
	close_end(&w->fds[1]);
}

void rbi_wake_request(rbi_wake *w)
{
	int saved = errno;
	ssize_t n;

	/* The byte behind the flag: who finds the byte finds the flag, or has
	 * heard it. A pipe that is full will end the wait anyway. */
	atomic_store_explicit(&w->requested, 1, memory_order_release);
	do {
		n = write(w->fds[1], "", 1);
	} while (n < 0 && errno == EINTR);
	errno = saved;
}

void rbi_wake_clear(rbi_wake *w)
{
	atomic_store_explicit(&w->requested, 0, memory_order_release);
	rbi_wake_drain(w);
}

void rbi_wake_drain(rbi_wake *w)
{
	char bytes[64];

	while (read(w->fds[0], bytes, sizeof(bytes)) > 0)
		;
}

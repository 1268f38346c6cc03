/*
 * A listener whose queue is full: connecting to it neither ends nor fails, as
 * with a host that hears nothing.
 */
#ifndef RBT_HOLE_H
#define RBT_HOLE_H

#include "unit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct hole {
	int fd;
	int port; /* on 127.0.0.1 */
	int fillers[8];
} hole;

static inline void hole_dig(hole *h)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	size_t i;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	h->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(h->fd >= 0);
	assert_int_equal(bind(h->fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(h->fd, 0), 0);
	assert_int_equal(getsockname(h->fd, (struct sockaddr *)&address, &len),
			 0);
	h->port = ntohs(address.sin_port);
	for (i = 0; i < N_OF(h->fillers); i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		assert_true(fd >= 0);
		assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
		(void)connect(fd, (struct sockaddr *)&address, len);
		h->fillers[i] = fd;
	}
}

static inline void hole_fill(hole *h)
{
	size_t i;

	for (i = 0; i < N_OF(h->fillers); i++)
		assert_int_equal(close(h->fillers[i]), 0);
	assert_int_equal(close(h->fd), 0);
}

#endif

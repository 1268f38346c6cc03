/*
 * How many descriptors are open, to see whether one was left behind. Peers
 * have some of their own: look only while none runs.
 */
#ifndef RBT_FDS_H
#define RBT_FDS_H

#include <fcntl.h>

static inline int fds_open(void)
{
	int open = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

#endif

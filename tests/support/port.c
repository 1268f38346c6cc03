#include "port.h"

#include "tick.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Linux gives connections the ports from 32768 on, others from 49152 on. Both
 * ports of a node are to be below. */
enum { FIRST_LASTING = 10000, LASTING = 32768 - 20000, TRIES = 200 };

/* Binds the port (0: any) for a moment; the port, or -1. */
static int try_port(int port)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);
	int on = 1, got = -1;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	memset(&in, 0, sizeof(in));
	in.sin_family = AF_INET;
	in.sin_port = htons((uint16_t)port);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* As servers do: what is left of old connections is in nobody's way. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&in, &len) == 0 &&
	    (port == 0 || listen(fd, 1) == 0))
		got = ntohs(in.sin_port);
	close(fd);
	return got;
}

int rbt_port_any(void)
{
	return try_port(0);
}

int rbt_port_lasting(void)
{
	/* Programs that run at once should not look at the same ones. */
	uint64_t chance = rbt_now_ns() ^ ((uint64_t)getpid() << 32);

	for (int i = 0; i < TRIES; i++) {
		int port;

		chance = chance * 6364136223846793005u + 1442695040888963407u;
		port = FIRST_LASTING + (int)((chance >> 33) % LASTING);
		if (try_port(port) > 0 && try_port(port + RBT_BUS_ABOVE) > 0)
			return port;
	}
	errno = EADDRINUSE;
	return -1;
}

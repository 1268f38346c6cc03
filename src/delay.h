/*
 * A distance that is not there: a process that listens on a port of 127.0.0.1
 * and passes the bytes of every connection to a server and back, each of them so
 * much later than it came. It takes nothing from the bandwidth: however many
 * bytes are under way, they all move on together, up to 64 MiB each way, which
 * is when it stops to read.
 */
#ifndef REDISBATCH_SRC_DELAY_H
#define REDISBATCH_SRC_DELAY_H

#include <stdint.h>

typedef struct delay delay;

/* server is HOST:PORT, [HOST]:PORT or the path of a unix socket. rtt_us is
 * there and back. NULL, with errno: EADDRNOTAVAIL when server is none of these
 * or has no address. */
delay *delay_start(const char *server, uint64_t rtt_us);

unsigned delay_port(const delay *d);

/* Ends it with all its connections. NULL is fine. */
void delay_stop(delay *d);

#endif

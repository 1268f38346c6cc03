/*
 * Ports of 127.0.0.1 for servers of the tests.
 *
 * Somebody else may take a port between the look and the bind, so whoever
 * starts a server on it tries again with another one.
 */
#ifndef RBT_PORT_H
#define RBT_PORT_H

/* Where a node of a cluster listens for the others, above its own port. */
enum { RBT_BUS_ABOVE = 10000 };

/* A port that is free now; -1: there is none (errno). */
int rbt_port_any(void);

/* One that can be taken again after its server has ended: the systems we know
 * give no such port to a connection by themselves. The one RBT_BUS_ABOVE is free
 * as well. */
int rbt_port_lasting(void);

#endif

/*
 * A private server for one test program: redis-server or valkey-server, on a
 * unix socket and on an ephemeral port of 127.0.0.1, in a temporary directory
 * of its own, without persistence.
 *
 * The server dies with the thread that started it (on Linux), so that a test
 * that is killed leaves no process behind. The directory is removed by
 * rbt_server_stop() only.
 */
#ifndef RBT_SERVER_H
#define RBT_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct rbt_server rbt_server;

/*
 * Starts a server and waits until it answers PING.
 *
 * The program is $RB_TEST_SERVER if that is set, otherwise the first of
 * redis-server and valkey-server in PATH. extra_args are put behind our own
 * arguments, so they win ("--requirepass", "secret", NULL); NULL: none.
 *
 * NULL: none could be started, and rbt_server_why() says why.
 */
rbt_server *rbt_server_start(const char *const *extra_args);

/*
 * The same on a port that it can have again (rbt_port_lasting()).
 */
rbt_server *rbt_server_start_lasting(const char *const *extra_args);

/*
 * Ends the process at once by SIGKILL, and leaves its port and its directory
 * as they are. Its pid is 0 from then on.
 */
void rbt_server_kill(rbt_server *server);

/*
 * Starts a server that was killed again, as it was started: with its arguments,
 * its port and its directory. It dies with the thread that calls this. False:
 * it did not come, and rbt_server_why() says why.
 */
bool rbt_server_restart(rbt_server *server);

/*
 * Ends the server and removes its directory. Bounded in time: a server that
 * does not end when asked to is killed. NULL is fine.
 */
void rbt_server_stop(rbt_server *server);

/* The path of its unix socket. */
const char *rbt_server_socket(const rbt_server *server);

/* Its port on 127.0.0.1. */
int rbt_server_port(const rbt_server *server);

pid_t rbt_server_pid(const rbt_server *server);

/* Its temporary directory, which a test may put files into: removed with all
 * that is in it. */
const char *rbt_server_dir(const rbt_server *server);

/* The path of the program that runs. */
const char *rbt_server_program(const rbt_server *server);

/* Why the last rbt_server_start() failed: one line, "" if it did not. */
const char *rbt_server_why(void);

/* True if there is a program to start at all; otherwise rbt_server_why()
 * names what is missing. */
int rbt_server_available(void);

#endif

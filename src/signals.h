/*
 * SIGINT and SIGTERM end the run in order: the clients' calls are cancelled,
 * whoever waits for standard input or output is woken, what is known is
 * reported, and the exit status tells the signal. A second signal ends the
 * program at once. SIGPIPE is ignored, so that writing tells.
 *
 * A signal may come between the look at signals_caught() and a call that
 * blocks. So the handler also fills a pipe that is never emptied, and whoever
 * is about to block looks at that pipe and at its own descriptor at once.
 */
#ifndef REDISBATCH_SRC_SIGNALS_H
#define REDISBATCH_SRC_SIGNALS_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>

void signals_init(void);

/* The client whose call a signal cancels; NULL before it is freed. */
void signals_watch(rb_client *client);

/* Further clients, a handful beside that one and in any thread: each until
 * signals_unwatch(), which comes before it is freed. */
void signals_watch_also(rb_client *client);
void signals_unwatch(rb_client *client);

/* The signal that came, 0 if none. */
int signals_caught(void);

/* Waits until the descriptor has one of these events of poll(), or fails. False,
 * with errno EINTR: a signal came instead, now or before. */
bool signals_await(int fd, short events);

#endif

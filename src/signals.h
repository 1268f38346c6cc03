/*
 * SIGINT and SIGTERM end the run in order: the client's call is cancelled, what
 * is known is reported, and the exit status tells the signal. A second signal
 * ends the program at once. SIGPIPE is ignored, so that writing tells.
 */
#ifndef REDISBATCH_SRC_SIGNALS_H
#define REDISBATCH_SRC_SIGNALS_H

#include <redisbatch/redisbatch.h>

void signals_init(void);

/* The client whose call a signal cancels; NULL before it is freed. */
void signals_watch(rb_client *client);

/* The signal that came, 0 if none. */
int signals_caught(void);

#endif

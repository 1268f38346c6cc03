#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static volatile sig_atomic_t caught;
static _Atomic(rb_client *) watched;

/* Runs once: a second signal has its default effect. */
static void on_signal(int number)
{
	caught = number;
	/* Signal-safe by its contract; NULL is fine. */
	rb_client_cancel(atomic_load(&watched));
}

void signals_init(void)
{
	struct sigaction end = { .sa_handler = on_signal,
				 .sa_flags = (int)SA_RESETHAND };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(&end.sa_mask);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGPIPE, &ignore, NULL);
}

void signals_watch(rb_client *client)
{
	atomic_store(&watched, client);
	if (caught != 0)
		rb_client_cancel(client);
}

int signals_caught(void)
{
	return caught;
}

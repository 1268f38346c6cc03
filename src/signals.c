#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* The first is that of signals_watch(). */
enum { CLIENTS = 8 };

static volatile sig_atomic_t caught;
static _Atomic(rb_client *) watched[CLIENTS];
static int wake[2] = { -1, -1 };

static void cancel_all(void)
{
	/* Signal-safe by its contract; NULL is fine. */
	for (size_t i = 0; i < CLIENTS; i++)
		rb_client_cancel(atomic_load(&watched[i]));
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	sigaction(number, &action, NULL);
}

/* Runs once: whichever of the two comes next has its default effect. */
static void on_signal(int number)
{
	int before = errno;

	handle(SIGINT, SIG_DFL);
	handle(SIGTERM, SIG_DFL);
	caught = number;
	/* It is empty, so there is room. */
	if (write(wake[1], "", 1) < 0)
		caught = number;
	cancel_all();
	errno = before;
}

/* Without a pipe, signals still end what they interrupt. */
static void make_pipe(void)
{
	if (pipe(wake) != 0) {
		wake[0] = wake[1] = -1;
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		fcntl(wake[i], F_SETFD, FD_CLOEXEC);
		fcntl(wake[i], F_SETFL, O_NONBLOCK);
	}
}

void signals_init(void)
{
	make_pipe();
	handle(SIGINT, on_signal);
	handle(SIGTERM, on_signal);
	handle(SIGPIPE, SIG_IGN);
}

void signals_watch(rb_client *client)
{
	atomic_store(&watched[0], client);
	if (caught != 0)
		rb_client_cancel(client);
}

void signals_watch_also(rb_client *client)
{
	for (size_t i = 1; i < CLIENTS; i++) {
		rb_client *none = NULL;

		if (atomic_compare_exchange_strong(&watched[i], &none, client))
			break;
	}
	if (caught != 0)
		rb_client_cancel(client);
}

void signals_unwatch(rb_client *client)
{
	for (size_t i = 0; i < CLIENTS; i++) {
		rb_client *mine = client;

		if (client != NULL)
			atomic_compare_exchange_strong(&watched[i], &mine,
						       NULL);
	}
}

int signals_caught(void)
{
	return caught;
}

bool signals_await(int fd, short events)
{
	struct pollfd p[] = { { .fd = fd, .events = events },
			      { .fd = wake[0], .events = POLLIN } };

	while (caught == 0) {
		/* What poll() has against the descriptor, the call that
		 * follows will tell better. */
		if (poll(p, 2, -1) >= 0 ? p[0].revents != 0 : errno != EINTR)
			break;
	}
	if (caught == 0)
		return true;
	errno = EINTR;
	return false;
}

#include "interrupt.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t came;

static const int caught[] = { SIGINT, SIGTERM, SIGHUP };

static void note_signal(int sig)
{
	if (came == 0)
		came = sig;
}

static void set_all(void (*handler)(int))
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
}

void rbt_interrupt_catch(void)
{
	set_all(note_signal);
	signal(SIGPIPE, SIG_IGN);
}

void rbt_interrupt_ignore(void)
{
	set_all(SIG_IGN);
}

int rbt_interrupted(void)
{
	return came;
}

void rbt_interrupt_clear(void)
{
	came = 0;
}

#include "sigpipe.h"

#include <errno.h>
#include <pthread.h>

static void set_only(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGPIPE);
}

static bool is_pending(void)
{
	sigset_t set;

	return sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1;
}

void rbi_sigpipe_begin(rbi_sigpipe *s)
{
	sigset_t only;

	set_only(&only);
	s->pending = is_pending();
	(void)pthread_sigmask(SIG_BLOCK, &only, &s->before);
}

/* Where there is a call that takes a signal without waiting for one, since
 * another thread could be first to take it. */
static void drain(void)
{
	sigset_t only;

	set_only(&only);
#ifdef __APPLE__
	int number;

	(void)sigwait(&only, &number);
#else
	const struct timespec none = { 0, 0 };

	while (sigtimedwait(&only, NULL, &none) < 0 && errno == EINTR)
		;
#endif
}

void rbi_sigpipe_end(const rbi_sigpipe *s)
{
	int saved = errno;

	if (!s->pending && is_pending())
		drain();
	(void)pthread_sigmask(SIG_SETMASK, &s->before, NULL);
	errno = saved;
}

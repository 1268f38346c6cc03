#include "bench_end.h"

#include "say.h"
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

exits bench_end_worse(exits first, exits then)
{
	return first != EXITS_FINE ? first : then;
}

exits bench_end_output(exits status)
{
	errno = 0;
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return status;
	if (errno == EPIPE)
		return (exits)(EXITS_SIGNAL + SIGPIPE);
	say("standard output: %s", strerror(errno != 0 ? errno : EIO));
	return EXITS_LOCAL;
}

exits bench_end_signal(exits status)
{
	if (signals_caught() == 0)
		return status;
	return (exits)(EXITS_SIGNAL + signals_caught());
}

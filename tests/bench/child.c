#include "child.h"

#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* How soon an interrupt that came between the look at the flag and the wait is
 * seen. */
enum { LOOK_MS = 100 };

static void run_child(rbt_child_fn *fn, void *arg, int in, int out,
		      pid_t parent)
{
	rbt_interrupt_ignore();
	rbt_interrupt_clear();
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
#else
	(void)parent;
#endif
	fn(arg, in, out);
	_exit(0);
}

bool rbt_child_start(rbt_child *child, rbt_child_fn *fn, void *arg)
{
	int up[2], down[2];
	pid_t parent = getpid();

	child->pid = -1;
	if (pipe(up) < 0)
		return false;
	if (pipe(down) < 0) {
		close(up[0]);
		close(up[1]);
		return false;
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(up[0]);
		close(down[1]);
		run_child(fn, arg, down[0], up[1], parent);
	}
	close(up[1]);
	close(down[0]);
	child->in = up[0];
	child->out = down[1];
	if (child->pid > 0)
		return true;
	close(child->in);
	close(child->out);
	return false;
}

void rbt_child_end(rbt_child *child)
{
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(child->in);
	close(child->out);
	child->pid = -1;
}

bool rbt_child_get(int in, void *bytes, size_t size)
{
	struct pollfd pfd = { in, POLLIN, 0 };
	char *at = bytes;
	ssize_t n;

	while (size > 0) {
		if (rbt_interrupted())
			return false;
		if (poll(&pfd, 1, LOOK_MS) <= 0)
			continue;
		n = read(in, at, size);
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return true;
}

bool rbt_child_put(int out, const void *bytes, size_t size)
{
	const char *at = bytes;
	ssize_t n;

	while (size > 0) {
		n = write(out, at, size);
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return true;
}

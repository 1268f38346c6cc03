#include "proxy_pipe.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#ifdef __linux__
#include <linux/sockios.h>
#endif

/* A line that is longer than a fast line of a second would be; what a throttle
 * lets go at once; how often it is looked whether a slice was read. */
enum {
	LINE_MAX_BYTES = 64 << 20,
	BURSTS_A_SECOND = 100,
	LOOK_AGAIN_US = 50,
	WRITES_A_TURN = 64
};

void rbt_pipe_init(rbt_pipe *pipe)
{
	memset(pipe, 0, sizeof(*pipe));
	rbt_line_init(&pipe->line);
}

void rbt_pipe_fini(rbt_pipe *pipe)
{
	rbt_line_clear(&pipe->line);
}

bool rbt_pipe_struck(const rbt_pipe *pipe, const rbt_rule *rule)
{
	return rule->fault != RBT_FAULT_NONE && pipe->out >= rule->after;
}

/* -------------------------------------------------------------- taking -- */

static size_t may_take(const rbt_pipe *pipe, const rbt_rule *rule)
{
	uint64_t left = RBT_PIPE_READ;

	if (pipe->end != RBT_PIPE_OPEN || pipe->line.bytes >= LINE_MAX_BYTES)
		return 0;
	if (rule->fault == RBT_FAULT_STALL)
		left = pipe->in < rule->after ? rule->after - pipe->in : 0;
	return left < RBT_PIPE_READ ? (size_t)left : RBT_PIPE_READ;
}

bool rbt_pipe_wants(const rbt_pipe *pipe, const rbt_rule *rule)
{
	return may_take(pipe, rule) > 0;
}

size_t rbt_pipe_take(rbt_pipe *pipe, const rbt_rule *rule, int fd, char *buf,
		     uint64_t now_us)
{
	size_t size = may_take(pipe, rule);
	ssize_t r;

	if (size == 0)
		return 0;
	r = recv(fd, buf, size, 0);
	if (r == 0)
		pipe->end = RBT_PIPE_CLOSED;
	if (r < 0 && errno != EAGAIN && errno != EINTR)
		pipe->end = RBT_PIPE_BROKEN;
	if (r <= 0)
		return 0;
	if (!rbt_line_push(&pipe->line, buf, (size_t)r,
			   now_us + rule->delay_us)) {
		pipe->end = RBT_PIPE_BROKEN;
		return 0;
	}
	pipe->in += (uint64_t)r;
	return (size_t)r;
}

/* -------------------------------------------------------------- giving -- */

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How many of n bytes one write may have; 0: none before something else is
 * done. */
static size_t may_give(const rbt_pipe *pipe, const rbt_rule *rule, size_t n)
{
	uint64_t most = n;

	if (rule->slice > 0)
		most = at_most(most, rule->slice);
	if (rule->bytes_per_second > 0)
		most = at_most(most,
			       rule->bytes_per_second / BURSTS_A_SECOND + 1);
	if (rule->fault != RBT_FAULT_NONE && rule->fault != RBT_FAULT_STALL)
		most = at_most(most, pipe->out < rule->after ?
					     rule->after - pipe->out :
					     0);
	return (size_t)most;
}

/* Whether what was written before lies there unread. TCP says when it was
 * received, not when it was read. */
static bool is_unread(int fd, bool is_unix)
{
#ifdef SIOCOUTQ
	int unread = 0;

	return is_unix && ioctl(fd, SIOCOUTQ, &unread) == 0 && unread > 0;
#else
	(void)fd;
	(void)is_unix;
	return false;
#endif
}

static void go_slow(rbt_pipe *pipe, const rbt_rule *rule, size_t n,
		    uint64_t now_us)
{
	uint64_t wait_us = rule->pause_us;

	if (rule->bytes_per_second > 0)
		wait_us += (uint64_t)n * 1000000 / rule->bytes_per_second;
	if (wait_us > 0 && pipe->ready_us < now_us)
		pipe->ready_us = now_us;
	pipe->ready_us += wait_us;
}

/* One write: what send() says. */
static ssize_t give_once(rbt_pipe *pipe, const rbt_rule *rule, int fd,
			 const char *bytes, size_t n, uint64_t now_us)
{
	ssize_t r = send(fd, bytes, n, MSG_NOSIGNAL);

	if (r <= 0)
		return r;
	rbt_line_pop(&pipe->line, (size_t)r);
	pipe->out += (uint64_t)r;
	go_slow(pipe, rule, (size_t)r, now_us);
	return r;
}

static bool may_go_on(rbt_pipe *pipe, const rbt_rule *rule, int fd,
		      bool is_unix, uint64_t now_us)
{
	if (pipe->ready_us > now_us)
		return false;
	if (rule->slice == 0 || !is_unread(fd, is_unix))
		return true;
	pipe->ready_us = now_us + LOOK_AGAIN_US;
	return false;
}

bool rbt_pipe_give(rbt_pipe *pipe, const rbt_rule *rule, int fd, bool is_unix,
		   uint64_t now_us, size_t *given)
{
	const char *bytes;
	ssize_t r;
	size_t n;

	*given = 0;
	pipe->full = false;
	for (int i = 0; i < WRITES_A_TURN; i++) {
		n = rbt_line_due(&pipe->line, now_us, &bytes);
		if (n == 0 || !may_go_on(pipe, rule, fd, is_unix, now_us))
			return true;
		if (rule->fault == RBT_FAULT_SWALLOW &&
		    rbt_pipe_struck(pipe, rule)) {
			rbt_line_pop(&pipe->line, n);
			continue;
		}
		n = may_give(pipe, rule, n);
		if (n == 0)
			return true;
		r = give_once(pipe, rule, fd, bytes, n, now_us);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			pipe->full = errno == EAGAIN || errno == ENOTCONN;
			return pipe->full;
		}
		*given += (size_t)r;
	}
	return true;
}

uint64_t rbt_pipe_next(const rbt_pipe *pipe)
{
	uint64_t due_us = rbt_line_next(&pipe->line);

	if (due_us == UINT64_MAX || pipe->full)
		return UINT64_MAX;
	return due_us > pipe->ready_us ? due_us : pipe->ready_us;
}

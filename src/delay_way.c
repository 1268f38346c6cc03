#include "delay_way.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_HELD = 64 << 20, BLOCK = 64 * 1024 };

struct delay_block {
	delay_block *next;
	uint64_t due_ns;
	size_t len;
	size_t gone;
	char bytes[];
};

void delay_way_init(delay_way *w, int from, int to, uint64_t delay_ns)
{
	*w = (delay_way){ .from = from, .to = to, .delay_ns = delay_ns };
}

bool delay_way_wants_in(const delay_way *w)
{
	return !w->ended && w->held < MOST_HELD;
}

uint64_t delay_way_due_ns(const delay_way *w)
{
	if (w->first != NULL)
		return w->first->due_ns;
	return w->ended && !w->done ? w->ended_ns + w->delay_ns : UINT64_MAX;
}

bool delay_way_wants_out(const delay_way *w, uint64_t now_ns)
{
	return delay_way_due_ns(w) <= now_ns;
}

static bool passing(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static bool append(delay_way *w, const char *bytes, size_t len, uint64_t now_ns)
{
	delay_block *b = malloc(sizeof(*b) + len);

	if (b == NULL)
		return false;
	*b = (delay_block){ .due_ns = now_ns + w->delay_ns, .len = len };
	memcpy(b->bytes, bytes, len);
	if (w->last != NULL)
		w->last->next = b;
	else
		w->first = b;
	w->last = b;
	w->held += len;
	return true;
}

bool delay_way_take(delay_way *w, uint64_t now_ns)
{
	char bytes[BLOCK];
	ssize_t n = read(w->from, bytes, sizeof(bytes));

	if (n > 0)
		return append(w, bytes, (size_t)n, now_ns);
	if (n < 0)
		return passing();
	w->ended = true;
	w->ended_ns = now_ns;
	return true;
}

static void drop_first(delay_way *w)
{
	delay_block *b = w->first;

	w->first = b->next;
	if (w->first == NULL)
		w->last = NULL;
	w->held -= b->len;
	free(b);
}

bool delay_way_give(delay_way *w, uint64_t now_ns)
{
	while (w->first != NULL && w->first->due_ns <= now_ns) {
		delay_block *b = w->first;
		ssize_t n = write(w->to, b->bytes + b->gone, b->len - b->gone);

		if (n < 0)
			return passing();
		b->gone += (size_t)n;
		if (b->gone == b->len)
			drop_first(w);
	}
	if (w->first == NULL && w->ended && !w->done &&
	    w->ended_ns + w->delay_ns <= now_ns) {
		(void)shutdown(w->to, SHUT_WR);
		w->done = true;
	}
	return true;
}

void delay_way_fini(delay_way *w)
{
	while (w->first != NULL)
		drop_first(w);
}

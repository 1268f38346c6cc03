#include "crew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many commands are put in between two looks at the sockets. From 256 to
 * 4,096 it hardly matters, and all at once is slower with many. */
enum { STRIDE = 512 };

typedef struct member {
	redisContext *ctx;   /* does not block */
	redisContext *admin; /* does */
	size_t *numbers;     /* of its commands, in order */
	size_t sent, got;
} member;

struct rbt_crew {
	const rbt_places *places;
	member members[RBT_MOST_NODES];
	size_t left; /* replies to come */
};

/* -------------------------------------------------------- connections -- */

static bool connect_member(member *m, const rbt_target *target, char *why,
			   size_t size)
{
	int flags;

	m->admin = rbt_target_connect(target, why, size);
	m->ctx = rbt_target_connect(target, why, size);
	if (!m->admin || !m->ctx)
		return false;
	flags = fcntl(m->ctx->fd, F_GETFL);
	if (flags < 0 || fcntl(m->ctx->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		snprintf(why, size, "%s", strerror(errno));
		return false;
	}
	m->ctx->flags &= ~REDIS_BLOCK;
	return true;
}

rbt_crew *rbt_crew_new(const rbt_places *places, char *why, size_t size)
{
	rbt_crew *crew = calloc(1, sizeof(*crew));
	bool fine = crew != NULL;

	if (!crew) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	crew->places = places;
	for (size_t i = 0; fine && i < places->n; i++)
		fine = connect_member(&crew->members[i], &places->targets[i],
				      why, size);
	if (fine)
		return crew;
	rbt_crew_free(crew);
	return NULL;
}

void rbt_crew_free(rbt_crew *crew)
{
	if (!crew)
		return;
	for (size_t i = 0; i < crew->places->n; i++) {
		member *m = &crew->members[i];

		if (m->ctx)
			redisFree(m->ctx);
		if (m->admin)
			redisFree(m->admin);
		free(m->numbers);
	}
	free(crew);
}

/* ----------------------------------------------------------- exchange -- */

/* Takes the replies that are there whole. */
static bool take_replies(rbt_crew *crew, member *m, rbt_held *held)
{
	void *got = NULL;
	redisReply *reply;

	while (m->got < m->sent) {
		if (redisReaderGetReply(m->ctx->reader, &got) != REDIS_OK)
			return rbt_method_fail(held, m->ctx->reader->errstr);
		if (!got)
			return true;
		reply = got;
		held->replies[m->numbers[m->got++]] = reply;
		held->commands++;
		crew->left--;
		if (reply->type == REDIS_REPLY_ERROR)
			return rbt_method_fail(held, reply->str);
	}
	return true;
}

static bool exchange_one(rbt_crew *crew, member *m, short events,
			 rbt_held *held)
{
	int done;

	if ((events & POLLOUT) && redisBufferWrite(m->ctx, &done) != REDIS_OK)
		return rbt_method_fail(held, m->ctx->errstr);
	if (!(events & ~POLLOUT))
		return true;
	if (redisBufferRead(m->ctx) != REDIS_OK)
		return rbt_method_fail(held, m->ctx->errstr);
	return take_replies(crew, m, held);
}

static bool exchange(rbt_crew *crew, rbt_held *held, int timeout_ms)
{
	struct pollfd fds[RBT_MOST_NODES];
	size_t n = crew->places->n;
	bool fine = true;

	for (size_t i = 0; i < n; i++) {
		const redisContext *ctx = crew->members[i].ctx;

		fds[i].fd = ctx->fd;
		fds[i].events = POLLIN;
		if (ctx->obuf[0] != '\0')
			fds[i].events |= POLLOUT;
	}
	if (poll(fds, (nfds_t)n, timeout_ms) < 0)
		return errno == EINTR || rbt_method_fail(held, "poll failed");
	for (size_t i = 0; fine && i < n; i++)
		fine = exchange_one(crew, &crew->members[i], fds[i].revents,
				    held);
	return fine;
}

bool rbt_crew_begin(rbt_crew *crew, rbt_held *held, size_t n)
{
	bool fine;

	held->replies = calloc(n + 1, sizeof(*held->replies));
	held->nreplies = n;
	held->commands = 0;
	crew->left = 0;
	fine = held->replies != NULL;
	for (size_t i = 0; i < crew->places->n; i++) {
		member *m = &crew->members[i];

		free(m->numbers);
		m->numbers = malloc((n + 1) * sizeof(*m->numbers));
		m->sent = m->got = 0;
		fine = fine && m->numbers;
	}
	if (fine)
		return true;
	held->nreplies = 0;
	return rbt_method_fail(held, "out of memory");
}

bool rbt_crew_append(rbt_crew *crew, rbt_held *held, size_t i, const char *key,
		     size_t len, int argc, const char **argv,
		     const size_t *lens)
{
	member *m = &crew->members[rbt_places_of(crew->places, key, len)];

	if (redisAppendCommandArgv(m->ctx, argc, argv, lens) != REDIS_OK)
		return rbt_method_fail(held, m->ctx->errstr);
	m->numbers[m->sent++] = i;
	crew->left++;
	return i % STRIDE != STRIDE - 1 || exchange(crew, held, 0);
}

bool rbt_crew_finish(rbt_crew *crew, rbt_held *held)
{
	while (crew->left > 0)
		if (!exchange(crew, held, -1))
			return false;
	return true;
}

/* ---------------------------------------------------------- the nodes -- */

static double number_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtod(at + strlen(name), NULL) : 0.0;
}

bool rbt_crew_server_cpu(rbt_crew *crew, uint64_t *ns)
{
	double sum = 0.0;

	for (size_t i = 0; i < crew->places->n; i++) {
		redisReply *reply =
			redisCommand(crew->members[i].admin, "INFO cpu");
		bool fine = reply && reply->type == REDIS_REPLY_STRING;

		if (fine)
			sum += number_of(reply->str, "used_cpu_sys:") +
			       number_of(reply->str, "used_cpu_user:");
		if (reply)
			freeReplyObject(reply);
		if (!fine)
			return false;
	}
	*ns = (uint64_t)(sum * 1e9);
	return true;
}

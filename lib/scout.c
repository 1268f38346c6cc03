#include "scout.h"

#define INTERVAL_US 1000000

/* A cluster that is about to form is asked again so soon, at the beginning. */
#define AGAIN_US 200000

/* One of several that does not answer must not hold up the others. */
#define PATIENCE_US 1000000

void rbi_scout_init(rbi_scout *s, rb_client *client, rbi_pool *pool,
		    const rb_options *options)
{
	memset(s, 0, sizeof(*s));
	s->client = client;
	s->pool = pool;
	s->options = options;
}

static void drop(rbi_scout *s)
{
	if (s->state != RBI_SCOUT_ASKING)
		return;
	if (s->dialed) {
		rbi_ask_fini(&s->ask);
		rbi_transport_close(s->ctx);
	} else {
		rbi_dialer_fini(&s->dialer);
	}
	s->ctx = NULL;
	s->state = RBI_SCOUT_IDLE;
}

void rbi_scout_fini(rbi_scout *s)
{
	drop(s);
}

/* ------------------------------------------------------------ who is asked -- */

static size_t candidates(const rbi_scout *s)
{
	return s->pool->map.nnodes + s->client->uri.nseeds;
}

static void choose(rbi_scout *s)
{
	const rbi_slotmap *map = &s->pool->map;
	size_t i = s->tried;

	s->uri = s->client->uri;
	if (i < map->nnodes) {
		i = (s->first + i) % map->nnodes;
		s->uri.host = map->nodes[i].host;
		s->uri.port = map->nodes[i].port;
	} else {
		s->uri.host = s->client->uri.seeds[i - map->nnodes].host;
		s->uri.port = s->client->uri.seeds[i - map->nnodes].port;
	}
}

static void dial_next(rbi_scout *s, uint64_t now_us)
{
	uint64_t patience = (uint64_t)s->options->connect_timeout_ms * 1000;

	if (candidates(s) > 1 && patience > PATIENCE_US)
		patience = PATIENCE_US;
	choose(s);
	s->tried++;
	s->dialed = false;
	s->until_us = now_us + patience;
	rbi_dialer_begin(&s->dialer, &s->uri, s->client->allocator, false);
	s->state = RBI_SCOUT_ASKING;
}

uint64_t rbi_scout_next(const rbi_scout *s)
{
	return s->pool->asked_us == 0 ? 0 : s->pool->asked_us + INTERVAL_US;
}

void rbi_scout_begin(rbi_scout *s, uint64_t now_us)
{
	if (s->state == RBI_SCOUT_ASKING || now_us < rbi_scout_next(s))
		return;
	s->pool->asked_us = now_us;
	s->tried = 0;
	s->first = (size_t)(now_us >> 4);
	s->why[0] = '\0';
	s->early = false;
	dial_next(s, now_us);
}

/* ------------------------------------------------------------------ step -- */

/* This one did not help. The first reason is the one that is told, unless
 * somebody had more to say than that he is not there. */
static rbi_scout_state fail(rbi_scout *s, rb_status status, const char *why,
			    uint64_t now_us)
{
	if (s->why[0] == '\0' ||
	    (s->status == RB_ERR_CONNECT && status != RB_ERR_CONNECT)) {
		s->status = status;
		rbi_print(s->why, sizeof(s->why), "%s", why);
	}
	drop(s);
	if (s->tried < candidates(s) && status != RB_ERR_NOMEM) {
		dial_next(s, now_us);
		return RBI_SCOUT_ASKING;
	}
	return RBI_SCOUT_FAILED;
}

static rbi_scout_state fail_node(rbi_scout *s, rb_status status,
				 const char *words, uint64_t now_us)
{
	char node[280];
	char why[320];

	rbi_dial_node(&s->uri, node, sizeof(node));
	rbi_print(why, sizeof(why), "%.200s: %.110s", node, words);
	return fail(s, status, why, now_us);
}

static rbi_scout_state fail_late(rbi_scout *s, uint64_t now_us)
{
	return fail_node(s, RB_ERR_CONNECT,
			 "the deadline for connecting passed", now_us);
}

/* Whether it is an answer for now only. */
static bool is_early(const struct redisReply *reply)
{
	rb_slice text = rbi_reply_text(reply);
	rbi_route route;

	if (!rbi_reply_is_error(reply))
		return text.data == NULL && rbi_reply_count(reply) == 0;
	route = rbi_route_error(text.data, text.len, false);
	return route == RBI_ROUTE_LATER || route == RBI_ROUTE_AGAIN;
}

static rbi_scout_state learn(rbi_scout *s, uint64_t now_us)
{
	rbi_slotmap fresh;
	const char *problem = "out of memory";
	rb_status status;

	rbi_slotmap_init(&fresh, s->client->allocator);
	status = rbi_slotmap_read(&fresh, s->ask.reply, s->uri.host, &problem);
	if (status == RB_OK && !rbi_pool_learn(s->pool, &fresh))
		status = RB_ERR_NOMEM;
	if (status != RB_OK) {
		rbi_scout_state state;

		s->early = s->early ||
			   (s->options->attempts > 1 && is_early(s->ask.reply));
		state = fail_node(s, status, problem, now_us);

		rbi_slotmap_fini(&fresh);
		return state;
	}
	rbi_slotmap_fini(&fresh);
	s->pool->stale = false;
	drop(s);
	return RBI_SCOUT_LEARNED;
}

static rbi_scout_state hear(rbi_scout *s, uint64_t now_us)
{
	rb_status status = RB_ERR_CONNECT;

	switch (rbi_ask_step(&s->ask, &s->transport)) {
	case RBI_ASK_WAITING:
		break;
	case RBI_ASK_ANSWERED:
		return learn(s, now_us);
	case RBI_ASK_FAILED:
		if (s->ask.status == RB_ERR_NOMEM)
			status = RB_ERR_NOMEM;
		return fail_node(s, status, s->ask.problem, now_us);
	}
	return now_us < s->until_us ? RBI_SCOUT_ASKING : fail_late(s, now_us);
}

/* There is a connection: asks over it. */
static rbi_scout_state speak(rbi_scout *s, uint64_t now_us)
{
	static const char *const question[] = { "CLUSTER", "SLOTS" };
	const char *problem;

	s->ctx = rbi_dialer_take(&s->dialer);
	rbi_dialer_fini(&s->dialer);
	s->dialed = true;
	if (rbi_ask_begin(&s->ask, s->client->allocator, question, 2,
			  RBI_ASK_MAX) != RB_OK) {
		memset(&s->ask, 0, sizeof(s->ask));
		return fail(s, RB_ERR_NOMEM, "out of memory", now_us);
	}
	if (rbi_transport_take(&s->transport, s->ctx, &rbi_sys_default,
			       s->client->plain, &problem) != RB_OK)
		return fail_node(s, RB_ERR_CONNECT,
				 "the server closed the connection", now_us);
	return hear(s, now_us);
}

rbi_scout_state rbi_scout_step(rbi_scout *s, uint64_t now_us)
{
	if (s->state != RBI_SCOUT_ASKING)
		return RBI_SCOUT_IDLE;
	if (s->dialed)
		return hear(s, now_us);
	switch (rbi_dialer_step(&s->dialer)) {
	case RBI_DIALER_WAITING:
		break;
	case RBI_DIALER_DONE:
		return speak(s, now_us);
	case RBI_DIALER_FAILED:
		return fail(s, s->dialer.status, s->dialer.why, now_us);
	}
	return now_us < s->until_us ? RBI_SCOUT_ASKING : fail_late(s, now_us);
}

uint64_t rbi_scout_wants(const rbi_scout *s, struct pollfd *fd, uint64_t now_us)
{
	uint64_t wait_us;

	fd->fd = -1;
	fd->events = 0;
	fd->revents = 0;
	if (s->state != RBI_SCOUT_ASKING)
		return RBI_NEVER;
	if (s->dialed) {
		fd->fd = s->transport.fd;
		fd->events = rbi_ask_events(&s->ask);
		return s->until_us;
	}
	wait_us = rbi_dialer_wants(&s->dialer, fd);
	if (wait_us < s->until_us - rbi_clock_earlier(s->until_us, now_us))
		return now_us + wait_us;
	return s->until_us;
}

/* ------------------------------------------------------------------ wait -- */

static bool is_over(rb_client *client, uint64_t deadline_us, rb_status *status)
{
	if (rbi_wake_is_requested(&client->wake)) {
		rbi_wake_clear(&client->wake);
		*status = rbi_client_fail(client, RB_ERR_CANCELLED,
					  "%s: cancelled", client->node);
		return true;
	}
	if (rbi_clock_now(client->clock) < deadline_us)
		return false;
	*status = rbi_client_fail(client, RB_ERR_TIMEOUT,
				  "%s: the deadline for connecting passed",
				  client->node);
	return true;
}

static void await(const rbi_scout *s, uint64_t deadline_us)
{
	rb_client *client = s->client;
	uint64_t now = rbi_clock_now(client->clock);
	struct pollfd fds[2];
	uint64_t until = rbi_scout_wants(s, &fds[0], now);

	if (s->state == RBI_SCOUT_IDLE)
		until = now + AGAIN_US;
	until = until < deadline_us ? until : deadline_us;
	rbi_transport_poll(client->sys, fds, 1, &client->wake,
			   until > now ? until - now : 0);
}

rb_status rbi_scout_wait(rb_client *client, rbi_pool *pool,
			 const rb_options *options, uint64_t deadline_us,
			 uint64_t patience_us)
{
	uint64_t end_us = rbi_clock_now(client->clock) + patience_us;
	rb_status status = RB_OK;
	rbi_scout_state state;
	rbi_scout s;

	rbi_scout_init(&s, client, pool, options);
	do {
		uint64_t now = rbi_clock_now(client->clock);

		if (s.state == RBI_SCOUT_IDLE) {
			pool->asked_us = 0;
			rbi_scout_begin(&s, now);
		}
		state = rbi_scout_step(&s, now);
		if (state == RBI_SCOUT_LEARNED)
			break;
		if (state == RBI_SCOUT_FAILED)
			status = rbi_client_fail(client, s.status, "%s", s.why);
		if (state == RBI_SCOUT_FAILED && (!s.early || now >= end_us))
			break;
		await(&s, deadline_us);
	} while (!is_over(client, deadline_us, &status));
	if (state == RBI_SCOUT_LEARNED)
		status = RB_OK;
	rbi_scout_fini(&s);
	return status;
}

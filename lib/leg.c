#include "leg.h"

#include "alloc.h"

#include <errno.h>

/* The longest wait before a node is tried again: there is but so much time
 * until another takes its place, or it is back. */
#define LONGEST_REST_US 500000

/* A node that owes answers and has been silent for so long may have been
 * replaced. */
#define SILENCE_US 1000000

void rbi_fleet_stop(rbi_fleet *f, rb_status status, const char *why)
{
	size_t i;

	if (f->stopped)
		return;
	f->stopped = true;
	f->status = status;
	rbi_print(f->why, sizeof(f->why), "%s", why);
	for (i = 0; i < f->nlegs; i++) {
		rbi_leg *leg = f->legs[i];

		if (!leg->engine.over && !leg->engine.stopped)
			rbi_settle_stop(&leg->engine, f->status, f->why);
		leg->ready = true;
	}
}

/* ---------------------------------------------------------------- begin -- */

static bool is_seed(const rbi_uri *uri, const rbi_node *node)
{
	size_t i;

	for (i = 0; i < uri->nseeds; i++) {
		if (uri->seeds[i].port == node->port &&
		    strcmp(uri->seeds[i].host, node->host) == 0)
			return true;
	}
	return false;
}

/* The caller has named the seeds. Whoever else is named by a server gets our
 * password, if the caller does not mind. */
static bool is_allowed(const rbi_fleet *f, size_t node)
{
	const rb_options *o = f->options;
	const rbi_node *n = &f->pool->map.nodes[node];

	return f->pool->fixed || o->allow_node == NULL ||
	       is_seed(&f->client->uri, n) ||
	       o->allow_node(o->allow_node_arg, n->host, n->port) != 0;
}

static void set_engine(rbi_leg *leg)
{
	const rbi_fleet *f = leg->fleet;
	rb_client *client = f->client;
	rbi_engine *e = &leg->engine;

	e->options = f->options;
	e->batch = &f->form;
	e->feed = &leg->feed;
	e->result = leg->part;
	e->lane = leg->lane;
	e->transport = &leg->transport;
	e->deadline_us = f->deadline_us;
	e->learned = &client->learned[f->form.shape];
	e->limits = &client->limits;
	e->starts_small = f->starts_small;
	e->seed = f->now_us ^ (uintptr_t)leg;
	e->node = leg->part->node;
	e->elsewhere = &leg->elsewhere;
	e->common_pace = &leg->fleet->pace;
	rbi_engine_begin(e);
	e->down = true;
}

static bool set_up(rbi_leg *leg, size_t number)
{
	rbi_fleet *f = leg->fleet;
	const rbi_node *node = &f->pool->map.nodes[leg->node];
	char name[320];

	leg->link = rbi_pool_link(f->pool, leg->node, number);
	if (leg->link == NULL)
		return false;
	leg->ctx = &leg->link->ctx;
	leg->lane = &leg->link->lane;
	leg->uri = f->client->uri;
	leg->replica = node->replica;
	if (!f->pool->fixed) {
		leg->uri.host = node->host;
		leg->uri.port = node->port;
	} else if (number == 0) {
		leg->ctx = &f->client->ctx;
		leg->lane = &f->client->lane;
	}
	if (f->pool->fixed)
		rbi_print(name, sizeof(name), "%s", f->client->node);
	else
		rbi_dial_node(&leg->uri, name, sizeof(name));
	leg->part = rbi_result_new(f->result->allocator, 0, 0, name);
	return leg->part != NULL;
}

static rbi_leg *add_leg(rbi_fleet *f, size_t node, size_t number)
{
	rbi_leg **legs = rbi_alloc_array(f->client->allocator, f->legs,
					 f->nlegs + 1, sizeof(*legs));
	rbi_leg *leg;

	if (legs == NULL)
		return NULL;
	f->legs = legs;
	leg = rbi_alloc_zero(f->client->allocator, sizeof(*leg));
	if (leg == NULL)
		return NULL;
	leg->fleet = f;
	leg->node = node;
	leg->number = f->nlegs;
	leg->feed.ops = f->leg_feed;
	leg->feed.dry = true;
	leg->elsewhere = *f->leg_elsewhere;
	leg->elsewhere.arg = leg;
	rbi_backoff_init(&leg->backoff, f->now_us + node);
	if (!set_up(leg, number)) {
		rbi_free(f->client->allocator, leg);
		return NULL;
	}
	set_engine(leg);
	legs[f->nlegs++] = leg;
	if (!is_allowed(f, node))
		rbi_leg_end(leg, "options.allow_node refuses it");
	return leg;
}

rbi_leg *rbi_leg_of(rbi_fleet *f, size_t node, uint16_t slot)
{
	size_t number = slot % f->connections;
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		if (f->legs[i]->node == node &&
		    f->legs[i]->link->number == number)
			return f->legs[i];
	}
	return add_leg(f, node, number);
}

void rbi_leg_free(rbi_leg *leg)
{
	const rb_allocator *a = leg->fleet->client->allocator;

	if (leg->state == RBI_LEG_DIALING)
		rbi_dialer_fini(&leg->dialer);
	rbi_transport_give(&leg->transport);
	rbi_again_fini(&leg->engine.again);
	rb_result_free(leg->part);
	rbi_free(a, leg->spans);
	rbi_free(a, leg);
}

/* -------------------------------------------------------------- who serves -- */

bool rbi_leg_is_well(const rbi_fleet *f, size_t node)
{
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		const rbi_leg *leg = f->legs[i];

		if (leg->node == node &&
		    (leg->state == RBI_LEG_OVER || leg->down_us != 0))
			return false;
	}
	return true;
}

/* A replica that was the primary when its leg was made has not been told that
 * we only read, and serves nothing. */
static bool is_of_before(const rbi_fleet *f, size_t node)
{
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		if (f->legs[i]->node == node && !f->legs[i]->replica)
			return true;
	}
	return false;
}

/* One of the replicas that can be asked, or the primary itself. */
static size_t replica_of(const rbi_fleet *f, size_t primary)
{
	const rbi_slotmap *map = &f->pool->map;
	size_t found = primary;
	size_t seen = 0;
	size_t i;

	for (i = 0; i < map->nnodes; i++) {
		if (!map->nodes[i].replica ||
		    map->nodes[i].primary != primary ||
		    !rbi_leg_is_well(f, i) || is_of_before(f, i))
			continue;
		/* The last one whose number divides the pick. */
		if (seen == 0 || f->pick % (seen + 1) == 0)
			found = i;
		seen++;
	}
	return found;
}

static bool may_ask_replicas(const rbi_fleet *f)
{
	return (f->options->flags & RB_READ_REPLICAS) != 0 && f->form.reads;
}

rbi_leg *rbi_leg_for(rbi_fleet *f, uint16_t slot, bool primary)
{
	const rbi_slotmap *map = &f->pool->map;
	size_t node = map->owner[slot];
	size_t i;

	for (i = 0; node == RBI_NO_NODE && i < RBI_SLOTS; i++)
		node = map->owner[i];
	if (node == RBI_NO_NODE)
		node = 0;
	if (!primary && may_ask_replicas(f))
		node = replica_of(f, node);
	return rbi_leg_of(f, node, slot);
}

bool rbi_leg_serves(const rbi_leg *leg, uint16_t slot)
{
	const rbi_fleet *f = leg->fleet;
	const rbi_slotmap *map = &f->pool->map;
	size_t owner = map->owner[slot];

	if (slot % f->connections != leg->link->number)
		return false;
	if (owner == RBI_NO_NODE || owner == leg->node)
		return true;
	return leg->replica && may_ask_replicas(f) &&
	       map->nodes[leg->node].replica &&
	       map->nodes[leg->node].primary == owner;
}

/* ------------------------------------------------------------- connecting -- */

void rbi_leg_rest(rbi_leg *leg, const char *why, uint64_t resume_us)
{
	rbi_print(leg->why, sizeof(leg->why), "%s", why);
	leg->state = RBI_LEG_RESTING;
	leg->resume_us = resume_us;
	if (leg->down_us == 0)
		leg->down_us = leg->fleet->now_us;
	leg->fleet->wants_map = true;
}

void rbi_leg_end(rbi_leg *leg, const char *why)
{
	rbi_print(leg->why, sizeof(leg->why), "%s", why);
	leg->state = RBI_LEG_OVER;
	if (leg->down_us == 0)
		leg->down_us = leg->fleet->now_us;
}

/* There is no connection, since the server said no, or nobody is there. */
static void failed(rbi_leg *leg, const char *why, bool for_good)
{
	uint64_t wait_us = rbi_backoff_next(&leg->backoff);

	if (wait_us > LONGEST_REST_US)
		wait_us = LONGEST_REST_US / 2 + wait_us % (LONGEST_REST_US / 2);
	rbi_leg_rest(leg, why, leg->fleet->now_us + wait_us);
	if (for_good || leg->fleet->options->attempts < 2)
		leg->state = RBI_LEG_OVER;
}

static void go_up(rbi_leg *leg)
{
	leg->transport.wake = NULL;
	leg->engine.down = false;
	leg->engine.resume_us = 0;
	leg->part->stats.reconnects += leg->was_up;
	leg->was_up = leg->ready = true;
	leg->down_us = 0;
	leg->released = false;
	leg->state = RBI_LEG_UP;
}

/* Takes over the connection there is. False: it is of no use. */
static bool take(rbi_leg *leg)
{
	const char *problem;

	if (*leg->ctx == NULL || rbi_transport_is_broken(*leg->ctx))
		return false;
	if (rbi_transport_take(&leg->transport, *leg->ctx,
			       leg->fleet->client->sys,
			       leg->fleet->client->plain, &problem) != RB_OK) {
		rbi_transport_give(&leg->transport);
		return false;
	}
	go_up(leg);
	return true;
}

/* A wrapped context is the caller's to renew, which takes the time it takes. */
static void renew_wrapped(rbi_leg *leg)
{
	rbi_fleet *f = leg->fleet;
	rb_status status;

	if (!rbi_client_can_renew(f->client, f->options)) {
		failed(leg, "the connection was lost", true);
		return;
	}
	f->client->error[0] = '\0';
	status = rbi_client_renew(f->client, f->options, f->deadline_us,
				  &leg->transport);
	if (status == RB_OK)
		go_up(leg);
	else
		failed(leg, f->client->error, status == RB_ERR_SKIPPED);
	f->client->error[0] = '\0';
}

void rbi_leg_start(rbi_leg *leg)
{
	rbi_fleet *f = leg->fleet;

	if (take(leg))
		return;
	if (!f->client->own) {
		renew_wrapped(leg);
		return;
	}
	rbi_transport_close(*leg->ctx);
	*leg->ctx = NULL;
	rbi_dialer_begin(&leg->dialer, &leg->uri, f->client->allocator,
			 leg->replica);
	leg->dial_until_us =
		rbi_clock_after(f->now_us, f->options->connect_timeout_ms);
	leg->state = RBI_LEG_DIALING;
	leg->ready = true;
}

static void dial(rbi_leg *leg)
{
	rbi_dialer *d = &leg->dialer;
	const char *why = d->why;
	rbi_dialer_state state = rbi_dialer_step(d);

	if (state == RBI_DIALER_WAITING &&
	    leg->fleet->now_us < leg->dial_until_us)
		return;
	leg->state = RBI_LEG_RESTING;
	if (state == RBI_DIALER_DONE) {
		*leg->ctx = rbi_dialer_take(d);
		if (!take(leg))
			failed(leg, "the server closed the connection", false);
	} else {
		if (state == RBI_DIALER_WAITING)
			why = rbi_dialer_late(d);
		failed(leg, why, d->refused);
	}
	rbi_dialer_fini(d);
}

/* ------------------------------------------------------------------ step -- */

/* Whether a connection is to be made anew, and nothing is in flight. */
static bool renews(const rbi_leg *leg)
{
	return leg->renewing && leg->lane->count == 0 &&
	       leg->lane->out.pending == 0 &&
	       !rbi_transport_unsent(&leg->transport);
}

static void renew(rbi_leg *leg)
{
	leg->renewing = false;
	leg->renewed = true;
	leg->engine.down = true;
	rbi_transport_give(&leg->transport);
	if (leg->fleet->client->own) {
		rbi_transport_close(*leg->ctx);
		*leg->ctx = NULL;
	}
	rbi_lane_restart(leg->lane);
	rbi_leg_start(leg);
}

/* Whether answers are due, and nothing has come for long. */
static bool is_silent(const rbi_leg *leg)
{
	return leg->lane->count > 0 &&
	       leg->fleet->now_us - leg->heard_us >= SILENCE_US;
}

static void note_heard(rbi_leg *leg)
{
	if (leg->lane->received == leg->received && leg->lane->count > 0)
		return;
	leg->received = leg->lane->received;
	leg->heard_us = leg->fleet->now_us;
}

void rbi_leg_heed_map(rbi_leg *leg)
{
	if (leg->state != RBI_LEG_UP || leg->engine.over || !is_silent(leg) ||
	    rbi_leg_serves(leg, rbi_lane_oldest(leg->lane)->parcel.slots[0]))
		return;
	rbi_revive_lost(&leg->engine, ETIMEDOUT, leg->fleet->now_us);
}

static void work(rbi_leg *leg)
{
	leg->ready = false;
	note_heard(leg);
	leg->worked_us = leg->fleet->now_us;
	if (rbi_engine_step(&leg->engine, leg->fleet->now_us))
		rbi_leg_end(leg, leg->engine.why);
	else if (!leg->engine.down && renews(leg))
		renew(leg);
	note_heard(leg);
	if (leg->state == RBI_LEG_UP && !leg->engine.down &&
	    rbi_transport_more(&leg->transport))
		leg->ready = true;
}

/* Until when work can wait, unless the connection is ready before. */
static uint64_t work_until(const rbi_leg *leg, const rbi_wants *wants)
{
	uint64_t patience = rbi_transport_patience(&leg->transport);

	if (leg->engine.down || patience == RBI_NEVER)
		return wants->until_us;
	return rbi_clock_earlier(wants->until_us, leg->worked_us + patience);
}

void rbi_leg_step(rbi_leg *leg)
{
	rbi_wants wants;

	switch (leg->state) {
	case RBI_LEG_ASLEEP:
		if (rbi_leg_has_work(leg))
			rbi_leg_start(leg);
		break;
	case RBI_LEG_DIALING:
		dial(leg);
		break;
	case RBI_LEG_RESTING:
		if (leg->fleet->now_us >= leg->resume_us)
			rbi_leg_start(leg);
		break;
	case RBI_LEG_UP:
	case RBI_LEG_OVER:
		break;
	}
	if (leg->state == RBI_LEG_UP && is_silent(leg))
		leg->fleet->wants_map = true;
	if (leg->state != RBI_LEG_UP)
		return;
	wants = rbi_engine_wants(&leg->engine);
	if (leg->ready || work_until(leg, &wants) <= leg->fleet->now_us)
		work(leg);
}

uint64_t rbi_leg_wants(const rbi_leg *leg, struct pollfd *fd)
{
	uint64_t wait_us;
	rbi_wants wants;

	fd->fd = -1;
	fd->events = 0;
	fd->revents = 0;
	switch (leg->state) {
	case RBI_LEG_ASLEEP:
		return rbi_leg_has_work(leg) ? 0 : RBI_NEVER;
	case RBI_LEG_DIALING:
		wait_us = rbi_dialer_wants(&leg->dialer, fd);
		if (wait_us == RBI_NEVER)
			return leg->dial_until_us;
		return rbi_clock_earlier(leg->dial_until_us,
					 leg->fleet->now_us + wait_us);
	case RBI_LEG_RESTING:
		return leg->resume_us;
	case RBI_LEG_UP:
		break;
	case RBI_LEG_OVER:
		return RBI_NEVER;
	}
	wants = rbi_engine_wants(&leg->engine);
	if (rbi_lane_is_used(leg->lane) || leg->lane->out.pending > 0 ||
	    leg->transport.pushed) {
		fd->fd = leg->transport.fd;
		fd->events = wants.write ? POLLIN | POLLOUT : POLLIN;
		wants.until_us = work_until(leg, &wants);
	}
	if (leg->lane->count > 0 && !is_silent(leg) && !leg->fleet->pool->fixed)
		wants.until_us = rbi_clock_earlier(wants.until_us,
						   leg->heard_us + SILENCE_US);
	return leg->ready ? 0 : wants.until_us;
}

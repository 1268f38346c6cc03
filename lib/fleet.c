#include "fleet.h"

#include "alloc.h"
#include "detour.h"
#include "supply.h"

/* --------------------------------------------------------------- prepare -- */

rb_status rbi_fleet_prepare(rb_client *client, const rb_options *o,
			    uint64_t deadline_us)
{
	bool fixed = !client->uri.cluster;

	if (client->pool == NULL)
		client->pool = rbi_pool_new(client->allocator,
					    fixed ? "server" : NULL, 1);
	if (client->pool == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	rbi_pool_tidy(client->pool);
	if (client->pool->known)
		return RB_OK;
	return rbi_scout_wait(client, client->pool, o, deadline_us,
			      (uint64_t)o->failover_ms * 1000);
}

/* ------------------------------------------------------------------ legs -- */

/* Stops of one leg that are those of the call. */
static void heed_engine(rbi_fleet *f, const rbi_engine *e)
{
	bool on_error = (f->options->flags & RB_STOP_ON_ERROR) != 0;

	if (!e->stopped || f->stopped)
		return;
	if (e->status == RB_ERR_CANCELLED || e->status == RB_ERR_LIMIT ||
	    e->status == RB_ERR_NOMEM || e->status == RB_ERR_TIMEOUT)
		rbi_fleet_stop(f, e->status, e->why);
	else if (on_error)
		rbi_fleet_stop(f, RB_OK, e->why);
}

static void fail_spans(rbi_leg *leg)
{
	rbi_fate fate = { RB_ERR_CONNECT, RB_NOT_SENT, "" };

	if (leg->nspans == 0)
		return;
	fate.message = rbi_result_note(leg->part, RB_ERR_CONNECT, leg->why);
	rbi_share_fail(leg, &fate);
}

/* A node that is not there any more: whoever has its slots by now is asked; the
 * others wait for it, for so long. */
static void heed_leg(rbi_fleet *f, rbi_leg *leg)
{
	if (leg->state == RBI_LEG_UP && leg->engine.down) {
		rbi_yard_collect(leg);
		rbi_leg_rest(leg, "the connection was lost",
			     leg->engine.resume_us);
	}
	if (leg->down_us == 0)
		return;
	if (leg->nspans > 0 && leg->replica)
		rbi_share_again(leg);
	else if (!leg->released)
		leg->released = rbi_share_release(leg);
	if (rbi_yard_is_lost(f, leg, leg->down_us)) {
		rbi_yard_collect(leg);
		fail_spans(leg);
	}
}

static void step_legs(rbi_fleet *f)
{
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		rbi_leg *leg = f->legs[i];

		if (leg->state != RBI_LEG_OVER)
			rbi_leg_step(leg);
		heed_engine(f, &leg->engine);
		heed_leg(f, leg);
	}
}

/* The map is new: what waits for a node that has lost its slots goes to who has
 * them now. */
static void heed_map(rbi_fleet *f)
{
	size_t i;

	f->wants_map = false;
	for (i = 0; i < f->nlegs; i++) {
		rbi_leg *leg = f->legs[i];

		rbi_leg_heed_map(leg);
		if (leg->state != RBI_LEG_UP)
			rbi_share_again(leg);
		/* Who is missing may be so still. */
		f->wants_map = f->wants_map || leg->down_us != 0;
	}
}

static void step_scout(rbi_fleet *f, rbi_scout *s)
{
	if (f->pool->fixed)
		return;
	if (f->wants_map && !f->stopped)
		rbi_scout_begin(s, f->now_us);
	switch (rbi_scout_step(s, f->now_us)) {
	case RBI_SCOUT_IDLE:
	case RBI_SCOUT_ASKING:
	case RBI_SCOUT_FAILED:
		return;
	case RBI_SCOUT_LEARNED:
		heed_map(f);
		break;
	}
}

/* ------------------------------------------------------------------- end -- */

static size_t kept_bytes(const rbi_fleet *f)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < f->nlegs; i++)
		sum = rbi_add_sat(sum, rbi_result_bytes(f->legs[i]->part));
	return sum;
}

static void bound_result(rbi_fleet *f)
{
	size_t i;

	if (f->options->max_result_bytes == SIZE_MAX || f->stopped ||
	    kept_bytes(f) <= f->options->max_result_bytes ||
	    (f->left == 0 && f->inner->ended))
		return;
	rbi_fleet_stop(f, RB_ERR_LIMIT, "the result passes max_result_bytes");
	for (i = 0; i < f->nlegs; i++)
		f->legs[i]->lane->in.max_value = 0;
}

/* Sends nothing more. What is in flight is awaited. */
static void stop_legs(rbi_fleet *f)
{
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		rbi_engine *e = &f->legs[i]->engine;

		if (e->over)
			continue;
		if (f->legs[i]->state != RBI_LEG_UP)
			rbi_engine_end(e, f->status, f->why);
	}
	rbi_yard_report(f);
}

static void end_early(rbi_fleet *f, rb_status status, const char *why)
{
	size_t i;

	f->stopped = false;
	rbi_fleet_stop(f, status, why);
	for (i = 0; i < f->nlegs; i++) {
		rbi_leg *leg = f->legs[i];

		rbi_engine_end(&leg->engine, status, why);
	}
	rbi_yard_report(f);
}

/* Whether part of something that nobody asked for was read: the rest of it has
 * to come before the connection can be used again. */
static bool is_between(const rbi_leg *leg)
{
	return leg->state == RBI_LEG_UP && !leg->engine.over &&
	       !leg->engine.down && !rbi_lane_idle(leg->lane);
}

static bool is_in_step(const rbi_fleet *f)
{
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		if (is_between(f->legs[i]))
			return false;
	}
	return true;
}

/* Whether all that was to be done is done. */
static bool is_done(const rbi_fleet *f)
{
	return f->left == 0 && (f->stopped || f->inner->ended) && is_in_step(f);
}

static bool is_over(rbi_fleet *f)
{
	rbi_wake *wake = &f->client->wake;

	if (is_done(f))
		return true;
	if (rbi_wake_is_requested(wake)) {
		rbi_wake_clear(wake);
		end_early(f, RB_ERR_CANCELLED, "cancelled");
	} else if (f->now_us >= f->deadline_us) {
		end_early(f, RB_ERR_TIMEOUT, "the deadline passed");
	} else if (f->stopped) {
		stop_legs(f);
	}
	return is_done(f);
}

/* What all connections cost, and the memory that the result points into. */
static void sum_up(rbi_fleet *f)
{
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		rbi_leg *leg = f->legs[i];

		leg->feed.ended = true;
		/* Without another look at what may have come since. */
		if (!leg->engine.down)
			rbi_engine_end(&leg->engine, f->status, f->why);
		if (!leg->engine.over)
			rbi_settle_finish(&leg->engine);
		rbi_result_adopt(f->result, leg->part);
		leg->part = NULL;
	}
	rbi_result_seal(f->result);
}

static void finish(rbi_fleet *f)
{
	if (!f->inner->ended)
		f->inner->ops->rest(
			f->inner, &(rbi_bounds){ .keys = SIZE_MAX },
			rbi_result_note(f->result, RB_ERR_SKIPPED, f->why));
	sum_up(f);
}

/* ------------------------------------------------------------------- run -- */

/* Room for what is polled: the legs, the scout, and the wake. */
static struct pollfd *poll_room(rbi_fleet *f, struct pollfd *own, size_t n)
{
	struct pollfd *fds;

	if (f->nlegs + 2 <= n)
		return own;
	fds = rbi_alloc_array(f->client->allocator, f->fds, f->nlegs + 2,
			      sizeof(*fds));
	if (fds != NULL)
		f->fds = fds;
	return fds;
}

static bool warm_legs(const rbi_fleet *f)
{
	bool more = false;
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		if (f->legs[i]->state == RBI_LEG_UP)
			more = rbi_lane_warm(f->legs[i]->lane) || more;
	}
	return more;
}

static uint64_t wait_until(const rbi_fleet *f, const rbi_scout *s,
			   struct pollfd *fds)
{
	uint64_t until = rbi_clock_earlier(f->deadline_us, rbi_yard_until(f));
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		const rbi_leg *leg = f->legs[i];

		until = rbi_clock_earlier(until, rbi_leg_wants(leg, &fds[i]));
		if (leg->down_us != 0 && rbi_leg_has_work(leg))
			until = rbi_clock_earlier(until,
						  leg->down_us + f->budget_us);
	}
	until = rbi_clock_earlier(until,
				  rbi_scout_wants(s, &fds[i], f->now_us));
	if (f->wants_map && s->state != RBI_SCOUT_ASKING)
		until = rbi_clock_earlier(until, rbi_scout_next(s));
	return until;
}

/* Takes note of who is ready. False: nobody. */
static bool heed_poll(rbi_fleet *f, const struct pollfd *fds)
{
	bool any = false;
	size_t i;

	for (i = 0; i < f->nlegs; i++) {
		if (fds[i].revents == 0)
			continue;
		f->legs[i]->ready = any = true;
	}
	return any;
}

static void rest(rbi_fleet *f, const rbi_scout *s)
{
	const rbi_clock *clock = f->client->clock;
	struct pollfd own[16];
	struct pollfd *fds = poll_room(f, own, sizeof(own) / sizeof(own[0]));
	uint64_t until;
	uint64_t now;

	if (fds == NULL) {
		rbi_fleet_stop(f, RB_ERR_NOMEM, "out of memory");
		return;
	}
	until = wait_until(f, s, fds);
	for (now = rbi_clock_now(clock); until > now && warm_legs(f);
	     now = rbi_clock_now(clock)) {
		rbi_transport_poll(f->client->sys, fds, f->nlegs + 1,
				   &f->client->wake, 0);
		if (heed_poll(f, fds))
			return;
	}
	if (until != RBI_NEVER)
		until = until > now ? until - now : 0;
	rbi_transport_poll(f->client->sys, fds, f->nlegs + 1, &f->client->wake,
			   until);
	(void)heed_poll(f, fds);
}

static void begin(rbi_fleet *f)
{
	f->now_us = rbi_clock_now(f->client->clock);
	f->leg_feed = &rbi_share_ops;
	f->leg_elsewhere = &rbi_detour_ops;
	f->budget_us = (uint64_t)f->options->failover_ms * 1000;
	f->connections = f->options->connections;
	f->pick = (size_t)(f->now_us >> 4);
	rbi_backoff_init(&f->backoff, f->now_us);
	rbi_pace_init(&f->pace, f->options->commands_per_second);
	rbi_again_init(&f->yard, f->client->allocator);
	f->form.clustered = true;
	f->wants_map = f->pool->stale;
	f->ordered = !f->form.reads;
}

void rbi_fleet_run(rbi_fleet *f, const rbi_parcel *waiting, size_t nwaiting)
{
	rbi_scout s;
	size_t i;

	rbi_scout_init(&s, f->client, f->pool, f->options);
	begin(f);
	for (i = 0; i < nwaiting; i++) {
		if (f->stopped)
			rbi_supply_strand(f, &waiting[i]);
		else
			rbi_supply_take(f, &waiting[i]);
	}
	for (;;) {
		f->now_us = rbi_clock_now(f->client->clock);
		rbi_supply_next(f);
		step_scout(f, &s);
		step_legs(f);
		rbi_yard_run(f);
		bound_result(f);
		if (is_over(f))
			break;
		if (f->left > 0 || !is_in_step(f))
			rest(f, &s);
	}
	finish(f);
	rbi_scout_fini(&s);
}

/* Where nobody could do anything, it is not a matter of some entries. */
rb_status rbi_fleet_status(rbi_fleet *f)
{
	size_t i;

	if (f->status != RB_OK || f->stopped || f->nlegs == 0 || f->answered)
		return f->status;
	for (i = 0; i < f->nlegs; i++) {
		if (f->legs[i]->down_us == 0)
			return f->status;
	}
	rbi_print(f->why, sizeof(f->why), "%s",
		  rbi_client_words(f->client, f->legs[0]->why));
	if (f->legs[0]->engine.status != RB_OK)
		return f->legs[0]->engine.status;
	return RB_ERR_CONNECT;
}

void rbi_fleet_fini(rbi_fleet *f)
{
	const rb_allocator *a = f->client->allocator;
	size_t i;

	for (i = 0; i < f->nlegs; i++)
		rbi_leg_free(f->legs[i]);
	rbi_again_fini(&f->yard);
	rbi_free(a, f->legs);
	rbi_free(a, f->order);
	rbi_free(a, f->fds);
	rbi_supply_drop(f);
	rbi_free(a, f->loads);
}

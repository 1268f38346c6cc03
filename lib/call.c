#include "call.h"

#include "alloc.h"
#include "engine.h"
#include "fleet.h"

rb_status rbi_call_begin(rb_client *client, const rb_options *opts,
			 rb_options *o)
{
	if (client == NULL)
		return RB_ERR_INVALID;
	client->error[0] = '\0';
	return rbi_client_options(client, opts, o);
}

rb_status rbi_call_begin_result(rb_client *client, const rb_options *opts,
				rb_options *o, rb_result **out)
{
	rb_status status;

	if (out != NULL)
		*out = NULL;
	status = rbi_call_begin(client, opts, o);
	if (status == RB_OK && out == NULL)
		return rbi_client_fail(client, RB_ERR_INVALID, "out is NULL");
	return status;
}

void rbi_call_spend(const rb_client *client, rb_options *o,
		    uint64_t deadline_us)
{
	uint64_t now = rbi_clock_now(client->clock);
	uint64_t left = deadline_us > now ? deadline_us - now : 1;

	if (deadline_us != RBI_NEVER)
		o->timeout_ms = (uint32_t)((left + 999) / 1000);
}

/* The line on a call of which some entries failed. */
static rb_status partial(rb_client *client, const rb_result *res)
{
	size_t i = 0;

	while (res->chunks[i].status == RB_OK)
		i++;
	return rbi_client_fail(
		client, RB_ERR_PARTIAL,
		"%s: %zu of %zu entries failed, the first in chunk %zu: %.300s",
		client->node, res->failed, res->n, i, res->chunks[i].message);
}

/* What the engine needs to connect anew. */
typedef struct redialer {
	rb_client *client;
	const rb_options *options;
	rbi_engine *engine;
} redialer;

/* Reports of an array outlive the client, those of a stream do not. */
static void name_node(rb_client *client, rbi_engine *e)
{
	const char *copy;

	if (e->feed->recycles) {
		e->node = client->node;
		return;
	}
	copy = rbi_slabs_copy(&e->result->notes, client->node,
			      strlen(client->node));
	e->node = copy != NULL ? copy : e->result->node;
}

static rb_status redial(void *arg, uint64_t deadline_us,
			rbi_transport *transport, char *why, size_t why_size)
{
	const redialer *r = arg;
	rb_status status;

	r->client->error[0] = '\0';
	status =
		rbi_client_renew(r->client, r->options, deadline_us, transport);
	if (status == RB_OK)
		name_node(r->client, r->engine);
	rbi_print(why, why_size, "%s",
		  rbi_client_words(r->client, r->client->error));
	r->client->error[0] = '\0';
	return status;
}

/* What a client expects before it has seen anything. */
static void expect(rbi_learned *l, const rb_options *o, const rbi_batch *batch)
{
	if (l->entry_reply != 0 || o->expected_value_bytes == 0 ||
	    batch->shape != RBI_SHAPE_VALUES)
		return;
	l->entry_reply = o->expected_value_bytes + RBI_PLAN_REPLY_FRAME;
	l->largest = o->expected_value_bytes;
}

/* A long batch of values of which nothing is known yet, whose chunks the
 * caller does not count. */
static bool starts_small(const rbi_engine *e, size_t n)
{
	return (e->options->flags & RBI_OPTIONS_AUTO_KEYS) != 0 &&
	       e->batch->shape == RBI_SHAPE_VALUES && e->batch->sizes == NULL &&
	       e->learned->entry_reply == 0 && n > e->options->chunk_keys;
}

/* Connects, and sets up what the engine needs besides its feed. n: how many
 * entries there will be. */
static rb_status prepare(rb_client *client, const rb_options *o,
			 const rbi_batch *batch, size_t n, rbi_engine *e,
			 redialer *r, rbi_transport *transport)
{
	r->client = client;
	r->options = o;
	r->engine = e;
	e->node = NULL;
	e->options = o;
	e->batch = batch;
	e->lane = &client->lane;
	e->transport = transport;
	e->deadline_us = rbi_client_deadline(client, o);
	e->learned = &client->learned[batch->shape];
	e->limits = &client->limits;
	expect(e->learned, o, batch);
	e->starts_small = starts_small(e, n);
	e->redial = rbi_client_can_renew(client, o) ? redial : NULL;
	e->redial_arg = r;
	e->wake = &client->wake;
	e->elsewhere = NULL;
	e->common_pace = NULL;
	e->may_regroup =
		batch->form == RBI_FORM_GATHER && batch->fixed.data == NULL;
	e->seed = rbi_clock_now(client->clock) ^ (uintptr_t)client;
	return rbi_client_take(client, o, e->deadline_us, transport);
}

/* taken is what prepare() answered: RB_OK, or RB_ERR_IO. */
static void run(rb_client *client, rbi_engine *e, rb_status taken)
{
	rbi_engine_begin(e);
	if (taken == RB_ERR_IO)
		rbi_engine_lost(e, e->transport->error,
				rbi_clock_now(client->clock));
	rbi_engine_run(e, client->clock);
	rbi_transport_give(e->transport);
}

/* A connection that had ended is broken, even if nothing was done with it. */
static rb_status no_result(rb_client *client, rbi_transport *t, rb_status taken)
{
	if (taken == RB_ERR_IO)
		rbi_transport_break(t, taken,
				    "the server closed the connection");
	rbi_transport_give(t);
	return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
}

/* ---------------------------------------------------------------- fleet -- */

/* Whether more than one connection is needed, or chunks by slots. */
static bool needs_fleet(const rb_client *client, const rb_options *o,
			const rbi_batch *batch)
{
	if (client->uri.cluster || (client->own && o->connections > 1))
		return true;
	return client->by_slot && batch->form == RBI_FORM_GATHER &&
	       batch->fixed.data == NULL;
}

static rb_status prepare_fleet(rb_client *client, const rb_options *o,
			       uint64_t deadline_us)
{
	rb_status status = rbi_client_check_wrapped(client, o);

	return status != RB_OK ? status :
				 rbi_fleet_prepare(client, o, deadline_us);
}

static void set_fleet(rbi_fleet *f, rb_client *client, const rb_options *o,
		      const rbi_batch *batch)
{
	memset(f, 0, sizeof(*f));
	f->client = client;
	f->pool = client->pool;
	f->options = o;
	f->form = *batch;
	f->grouped = client->uri.cluster || client->by_slot;
	expect(&client->learned[batch->shape], o, batch);
}

/* The parcels that wait at an engine which is not to send them, at most n. */
static void take_waiting(rbi_engine *e, rbi_parcel *waiting, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		waiting[i] = rbi_again_take(&e->again, 0).parcel;
	rbi_again_fini(&e->again);
}

/*
 * The server wants keys of one slot in each command: goes on with what was not
 * answered. array: the feed, if it is one; NULL: it is a stream.
 */
static void regroup(rb_client *client, rbi_engine *e, rbi_array_feed *array,
		    rbi_fleet *f)
{
	size_t n = e->again.count;
	rbi_parcel *waiting;
	size_t i;

	client->by_slot = true;
	waiting = rbi_alloc_array(client->allocator, NULL, rbi_max(n, 1),
				  sizeof(*waiting));
	if (waiting == NULL ||
	    rbi_fleet_prepare(client, e->options, e->deadline_us) != RB_OK) {
		rbi_free(client->allocator, waiting);
		rbi_settle_stop(e, RB_ERR_NOMEM, "out of memory");
		rbi_settle_finish(e);
		return;
	}
	take_waiting(e, waiting, n);
	for (i = 0; array != NULL && i < n; i++)
		rbi_array_feed_reopen(array, &waiting[i]);
	if (array != NULL)
		rbi_array_feed_loosen(array);
	set_fleet(f, client, e->options, e->batch);
	f->inner = e->feed;
	f->result = e->result;
	f->deadline_us = e->deadline_us;
	rbi_fleet_run(f, waiting, n);
	rbi_free(client->allocator, waiting);
	rbi_fleet_fini(f);
	e->status = f->status;
	rbi_print(e->why, sizeof(e->why), "%s", f->why);
}

/* ---------------------------------------------------------------- batch -- */

/* Room for reports that will do unless bytes cut the chunks. */
static size_t expected_chunks(const rb_options *o, size_t n)
{
	return n / o->chunk_keys + 1;
}

static rb_status conclude_batch(rb_client *client, rb_status status,
				const char *why, const rb_result *res)
{
	if (status != RB_OK)
		return rbi_client_fail(client, status, "%s: %s", client->node,
				       why);
	return res->failed == 0 ? RB_OK : partial(client, res);
}

static rb_status run_batch(rb_client *client, const rb_options *o,
			   const rbi_batch *batch, rb_result **out)
{
	rbi_transport transport;
	rbi_array_feed feed;
	rbi_fleet f;
	redialer r;
	rbi_engine e;
	rb_status taken =
		prepare(client, o, batch, batch->n, &e, &r, &transport);

	if (taken != RB_OK && taken != RB_ERR_IO)
		return taken;
	e.result = rbi_result_new(o->allocator, batch->n,
				  expected_chunks(o, batch->n), client->node);
	if (e.result == NULL)
		return no_result(client, &transport, taken);
	rbi_array_feed_init(&feed, batch, e.result);
	e.feed = &feed.feed;
	run(client, &e, taken);
	if (e.regroup && !e.stopped)
		regroup(client, &e, &feed, &f);
	*out = e.result;
	return conclude_batch(client, e.status, e.why, e.result);
}

static rb_status run_fleet(rb_client *client, const rb_options *o,
			   const rbi_batch *batch, rb_result **out)
{
	rbi_array_feed feed;
	rbi_fleet f;
	uint64_t deadline_us = rbi_client_deadline(client, o);
	rb_status status = prepare_fleet(client, o, deadline_us);
	rb_result *res;

	if (status != RB_OK)
		return status;
	res = rbi_result_new(o->allocator, batch->n,
			     expected_chunks(o, batch->n), client->node);
	if (res == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	rbi_array_feed_init(&feed, batch, res);
	rbi_array_feed_loosen(&feed);
	set_fleet(&f, client, o, batch);
	f.inner = &feed.feed;
	f.result = res;
	f.deadline_us = deadline_us;
	rbi_fleet_run(&f, NULL, 0);
	status = rbi_fleet_status(&f);
	rbi_fleet_fini(&f);
	*out = res;
	return conclude_batch(client, status, f.why, res);
}

rb_status rbi_call_batch(rb_client *client, const rb_options *o,
			 const rbi_batch *batch, rb_result **out)
{
	rb_status status =
		rbi_batch_check(batch, o->max_value_bytes, client->error,
				sizeof(client->error));

	if (status != RB_OK)
		return status;
	if (batch->n > 0 && needs_fleet(client, o, batch))
		return run_fleet(client, o, batch, out);
	if (batch->n > 0)
		return run_batch(client, o, batch, out);
	*out = rbi_result_new(o->allocator, 0, 0, client->node);
	if (*out == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	return RB_OK;
}

/* --------------------------------------------------------------- stream -- */

static rb_status conclude_stream(rb_client *client, rb_status status,
				 const char *why, const rbi_intake *in)
{
	if (status != RB_OK)
		return rbi_client_fail(client, status, "%s: %s", client->node,
				       why);
	if (in->failed == 0)
		return RB_OK;
	return rbi_client_fail(client, RB_ERR_PARTIAL,
			       "%s: %zu of %zu entries failed", client->node,
			       in->failed, in->given);
}

static void begin_intake(rb_client *client, const rb_options *o, rbi_intake *in)
{
	in->allocator = client->allocator;
	in->node = client->node;
	in->max_value = o->max_value_bytes;
	rbi_intake_init(in);
}

static rb_status stream_fleet(rb_client *client, const rb_options *o,
			      rbi_intake *in, rb_stats *stats)
{
	rbi_fleet f;
	uint64_t deadline_us = rbi_client_deadline(client, o);
	rb_status status = prepare_fleet(client, o, deadline_us);

	if (status != RB_OK)
		return status;
	set_fleet(&f, client, o, in->batch);
	f.deadline_us = deadline_us;
	f.result = rbi_result_new(client->allocator, 0, 0, "");
	if (f.result == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	begin_intake(client, o, in);
	f.inner = &in->feed;
	rbi_fleet_run(&f, NULL, 0);
	if (stats != NULL)
		(void)rb_result_stats(f.result, stats);
	status = conclude_stream(client, rbi_fleet_status(&f), f.why, in);
	rbi_fleet_fini(&f);
	rbi_intake_fini(in);
	rb_result_free(f.result);
	return status;
}

rb_status rbi_call_stream(rb_client *client, const rb_options *o,
			  rbi_intake *in, rb_stats *stats)
{
	rbi_transport transport;
	rbi_fleet f;
	redialer r;
	rbi_engine e;
	rb_status status;

	if (needs_fleet(client, o, in->batch))
		return stream_fleet(client, o, in, stats);
	status = prepare(client, o, in->batch, SIZE_MAX, &e, &r, &transport);
	if (status != RB_OK && status != RB_ERR_IO)
		return status;
	e.result = rbi_result_new(client->allocator, 0, 0, "");
	if (e.result == NULL)
		return no_result(client, &transport, status);
	begin_intake(client, o, in);
	e.feed = &in->feed;
	run(client, &e, status);
	if (e.regroup && !e.stopped)
		regroup(client, &e, NULL, &f);
	if (stats != NULL)
		(void)rb_result_stats(e.result, stats);
	status = conclude_stream(client, e.status, e.why, in);
	rbi_intake_fini(in);
	rb_result_free(e.result);
	return status;
}

/* -------------------------------------------------------------- connect -- */

static rb_status connect_alone(rb_client *client, const rb_options *o,
			       uint64_t deadline_us)
{
	rbi_transport t;
	rb_status status = rbi_client_take(client, o, deadline_us, &t);

	if (status != RB_ERR_IO) {
		rbi_transport_give(&t);
		return status;
	}
	if (!client->own)
		rbi_transport_break(&t, RB_ERR_IO,
				    "the server closed the connection");
	return rbi_client_fail(client, RB_ERR_CONNECT,
			       "%s: the server closed the connection",
			       client->node);
}

rb_status rb_client_connect(rb_client *client)
{
	uint64_t deadline_us;
	rb_options o;
	rb_status status = rbi_call_begin(client, NULL, &o);

	if (status != RB_OK)
		return status;
	deadline_us = rbi_client_deadline(client, &o);
	if (client->uri.cluster)
		return rbi_fleet_prepare(client, &o, deadline_us);
	return connect_alone(client, &o, deadline_us);
}

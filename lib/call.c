#include "call.h"

#include "engine.h"

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

/* Connects, and sets up what the engine needs besides its feed. */
static rb_status prepare(rb_client *client, const rb_options *o,
			 const rbi_batch *batch, rbi_engine *e,
			 rbi_transport *transport)
{
	e->options = o;
	e->batch = batch;
	e->lane = &client->lane;
	e->transport = transport;
	e->deadline_us = rbi_client_deadline(client, o);
	e->entry_reply = &client->entry_reply[batch->shape];
	return rbi_client_take(client, o, e->deadline_us, transport);
}

/* taken is what prepare() answered: RB_OK, or RB_ERR_IO. */
static void run(rb_client *client, rbi_engine *e, rb_status taken)
{
	rbi_engine_begin(e);
	if (taken == RB_ERR_IO)
		rbi_engine_lost(e, e->transport->error);
	rbi_engine_run(e, client->clock);
}

/* ---------------------------------------------------------------- batch -- */

/* Room for reports that will do unless bytes cut the chunks. */
static size_t expected_chunks(const rb_options *o, size_t n)
{
	return n / o->chunk_keys + 1;
}

static rb_status run_batch(rb_client *client, const rb_options *o,
			   const rbi_batch *batch, rb_result **out)
{
	rbi_transport transport;
	rbi_array_feed feed;
	rbi_engine e;
	rb_status taken = prepare(client, o, batch, &e, &transport);

	if (taken != RB_OK && taken != RB_ERR_IO)
		return taken;
	e.result = rbi_result_new(o->allocator, batch->n,
				  expected_chunks(o, batch->n), client->node);
	if (e.result == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	rbi_array_feed_init(&feed, batch, e.result);
	e.feed = &feed.feed;
	run(client, &e, taken);
	*out = e.result;
	if (e.status != RB_OK)
		return rbi_client_fail(client, e.status, "%s: %s", client->node,
				       e.why);
	return e.result->failed == 0 ? RB_OK : partial(client, e.result);
}

rb_status rbi_call_batch(rb_client *client, const rb_options *o,
			 const rbi_batch *batch, rb_result **out)
{
	rb_status status =
		rbi_batch_check(batch, o->max_value_bytes, client->error,
				sizeof(client->error));

	if (status != RB_OK)
		return status;
	if (batch->n > 0)
		return run_batch(client, o, batch, out);
	*out = rbi_result_new(o->allocator, 0, 0, client->node);
	if (*out == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	return RB_OK;
}

/* --------------------------------------------------------------- stream -- */

static rb_status conclude_stream(rb_client *client, const rbi_engine *e,
				 const rbi_intake *in)
{
	if (e->status != RB_OK)
		return rbi_client_fail(client, e->status, "%s: %s",
				       client->node, e->why);
	if (in->failed == 0)
		return RB_OK;
	return rbi_client_fail(client, RB_ERR_PARTIAL,
			       "%s: %zu of %zu entries failed", client->node,
			       in->failed, in->given);
}

rb_status rbi_call_stream(rb_client *client, const rb_options *o,
			  rbi_intake *in, rb_stats *stats)
{
	rbi_transport transport;
	rbi_engine e;
	rb_status status = prepare(client, o, in->batch, &e, &transport);

	if (status != RB_OK && status != RB_ERR_IO)
		return status;
	e.result = rbi_result_new(client->allocator, 0, 0, "");
	if (e.result == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	in->allocator = client->allocator;
	in->node = client->node;
	in->max_value = o->max_value_bytes;
	rbi_intake_init(in);
	e.feed = &in->feed;
	run(client, &e, status);
	if (stats != NULL)
		(void)rb_result_stats(e.result, stats);
	status = conclude_stream(client, &e, in);
	rbi_intake_fini(in);
	rb_result_free(e.result);
	return status;
}

#include "redisbatch.h"

#include "batch.h"
#include "client.h"
#include "engine.h"

/* Room for reports that will do unless bytes cut the chunks. */
static size_t expected_chunks(const rb_options *o, size_t n)
{
	return n / o->chunk_keys + 1;
}

/* What the call answers, and the line on it if it failed. */
static rb_status conclude(rb_client *client, const rbi_engine *e)
{
	const rb_result *res = e->result;
	size_t i = 0;

	if (e->status != RB_OK)
		return rbi_client_fail(client, e->status, "%s: %s",
				       client->node, e->why);
	if (res->failed == 0)
		return RB_OK;
	while (res->chunks[i].status == RB_OK)
		i++;
	return rbi_client_fail(
		client, RB_ERR_PARTIAL,
		"%s: %zu of %zu entries failed, the first in chunk %zu: %.300s",
		client->node, res->failed, res->n, i, res->chunks[i].message);
}

static rb_status run(rb_client *client, const rb_options *o,
		     const rbi_batch *batch, rb_result **out)
{
	rbi_transport transport;
	rbi_engine engine = {
		.options = o,
		.batch = batch,
		.lane = &client->lane,
		.transport = &transport,
		.deadline_us = rbi_client_deadline(client, o),
		.entry_reply = &client->entry_reply,
	};
	rb_status status =
		rbi_client_take(client, o, engine.deadline_us, &transport);

	if (status != RB_OK && status != RB_ERR_IO)
		return status;
	engine.result =
		rbi_result_new(o->allocator, batch->n,
			       expected_chunks(o, batch->n), client->node);
	if (engine.result == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	rbi_engine_begin(&engine);
	if (status == RB_ERR_IO)
		rbi_engine_lost(&engine, transport.error);
	rbi_engine_run(&engine, client->clock);
	*out = engine.result;
	return conclude(client, &engine);
}

/* Everything that can be said before the connection is looked at. */
static rb_status begin(rb_client *client, const rb_options *opts,
		       const rbi_batch *batch, rb_options *o, rb_result **out)
{
	rb_status status;

	if (out != NULL)
		*out = NULL;
	if (client == NULL)
		return RB_ERR_INVALID;
	client->error[0] = '\0';
	if (out == NULL)
		return rbi_client_fail(client, RB_ERR_INVALID, "out is NULL");
	status = rbi_client_options(client, opts, o);
	if (status != RB_OK)
		return status;
	return rbi_batch_check(batch, client->error, sizeof(client->error));
}

static rb_status empty_result(rb_client *client, const rb_options *o,
			      rb_result **out)
{
	*out = rbi_result_new(o->allocator, 0, 0, client->node);
	if (*out == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	return RB_OK;
}

static rb_status call(rb_client *client, const rb_options *opts,
		      const rbi_batch *batch, rb_result **out)
{
	rb_options o;
	rb_status status = begin(client, opts, batch, &o, out);

	if (status != RB_OK)
		return status;
	if (batch->n == 0)
		return empty_result(client, &o, out);
	return run(client, &o, batch, out);
}

rb_status rb_mget_chunked(rb_client *client, const char **keys,
			  const size_t *keylens, size_t nkeys,
			  const rb_options *opts, rb_result **out)
{
	rbi_batch batch = {
		.command = { "MGET", 4 },
		.keys = keys,
		.keylens = keylens,
		.n = nkeys,
		.keys_name = "keys",
		.keylens_name = "keylens",
	};

	return call(client, opts, &batch, out);
}

rb_status rb_hmget_chunked(rb_client *client, const char *key, size_t keylen,
			   const char **fields, const size_t *fieldlens,
			   size_t nfields, const rb_options *opts,
			   rb_result **out)
{
	rbi_batch batch = {
		.command = { "HMGET", 5 },
		.fixed = { key, keylen },
		.keys = fields,
		.keylens = fieldlens,
		.n = nfields,
		.fixed_name = "key",
		.fixedlen_name = "keylen",
		.keys_name = "fields",
		.keylens_name = "fieldlens",
	};

	return call(client, opts, &batch, out);
}

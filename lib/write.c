#include "write.h"

/* ---------------------------------------------------------------- MSETEX -- */

enum { INFO_WORD = 4096, INFO_BYTES = 1024 * 1024 };

/*
 * COMMAND INFO answers an array of one: nil if the command is not known. A
 * server that refuses to say is taken not to know it, since there is another
 * way; only a connection that fails is a failure.
 */
static rb_status ask_for_command(rb_client *client, const rb_options *o,
				 const char *name, bool *known)
{
	const char *argv[] = { "COMMAND", "INFO", name };
	const rb_command command = { 3, argv, NULL };
	const rbi_batch batch = {
		.form = RBI_FORM_COMMANDS,
		.shape = RBI_SHAPE_REPLIES,
		.reads = true,
		.commands = &command,
		.n = 1,
	};
	rb_options plain = *o;
	rb_result *res = NULL;
	rb_status status;

	/* The caller's bounds are for the caller's entries; what a server has
	 * to say of one command is short. */
	plain.on_chunk = NULL;
	plain.flags = 0;
	plain.max_value_bytes = INFO_WORD;
	plain.max_result_bytes = INFO_BYTES;
	status = rbi_call_batch(client, &plain, &batch, &res);
	*known = rbi_reply_has_element(rb_result_reply(res, 0));
	rb_result_free(res);
	if (status != RB_ERR_PARTIAL && status != RB_ERR_SERVER)
		return status;
	client->error[0] = '\0';
	return RB_OK;
}

static rb_status has_msetex(rb_client *client, rb_options *o, bool *has)
{
	uint64_t deadline_us = rbi_client_deadline(client, o);
	rb_status status;

	if (client->msetex == RBI_SUPPORT_UNKNOWN) {
		status = ask_for_command(client, o, "MSETEX", has);
		if (status != RB_OK)
			return status;
		client->msetex = *has ? RBI_SUPPORT_YES : RBI_SUPPORT_NO;
		rbi_call_spend(client, o, deadline_us);
	}
	*has = client->msetex == RBI_SUPPORT_YES;
	return RB_OK;
}

/* ----------------------------------------------------------------- pairs -- */

static void add_tail(rbi_batch *b, const char *word)
{
	b->tail[b->ntail].data = word;
	b->tail[b->ntail].len = strlen(word);
	b->ntail++;
}

static rb_status check_options(rb_client *client, const rb_options *o)
{
	const uint32_t both = RB_IF_ABSENT | RB_IF_PRESENT;

	if ((o->flags & both) == both)
		return rbi_client_fail(client, RB_ERR_INVALID,
				       "options.flags has both RB_IF_ABSENT "
				       "and RB_IF_PRESENT");
	if (o->expire_ms > INT64_MAX)
		return rbi_client_fail(client, RB_ERR_INVALID,
				       "options.expire_ms is too large");
	return RB_OK;
}

rb_status rbi_write_pairs(rb_client *client, rb_options *o, rbi_batch *b,
			  rbi_write_texts *texts)
{
	bool absent = (o->flags & RB_IF_ABSENT) != 0;
	bool present = (o->flags & RB_IF_PRESENT) != 0;
	bool msetex = false;
	rb_status status = check_options(client, o);

	if (status != RB_OK)
		return status;
	b->transaction = (o->flags & RB_TRANSACTION) != 0;
	b->keys_name = "keys";
	b->keylens_name = "keylens";
	if (o->expire_ms == 0 && !absent && !present) {
		b->form = RBI_FORM_GATHER;
		b->shape = RBI_SHAPE_OK;
		b->command = (rb_slice){ "MSET", 4 };
		b->single = (rb_slice){ "SET", 3 };
		return RB_OK;
	}
	if (o->expire_ms != 0) {
		rbi_print(texts->expire, sizeof(texts->expire), "%llu",
			  (unsigned long long)o->expire_ms);
		add_tail(b, "PX");
		add_tail(b, texts->expire);
	}
	if (!absent && !present)
		status = has_msetex(client, o, &msetex);
	if (status != RB_OK)
		return status;
	if (msetex) {
		b->form = RBI_FORM_GATHER;
		b->shape = RBI_SHAPE_INTEGER;
		b->counted = true;
		b->command = (rb_slice){ "MSETEX", 6 };
		return RB_OK;
	}
	if (absent || present)
		add_tail(b, absent ? "NX" : "XX");
	b->form = RBI_FORM_EACH;
	b->shape = RBI_SHAPE_SET;
	b->command = (rb_slice){ "SET", 3 };
	return RB_OK;
}

static rb_status no_values(rb_client *client)
{
	return rbi_client_fail(client, RB_ERR_INVALID, "values is NULL");
}

rb_status rb_mset_chunked(rb_client *client, const char **keys,
			  const size_t *keylens, const char **values,
			  const size_t *valuelens, size_t npairs,
			  const rb_options *opts, rb_result **out)
{
	rbi_batch batch = {
		.keys = keys,
		.keylens = keylens,
		.values = values,
		.valuelens = valuelens,
		.n = npairs,
		.keys_name = "keys",
		.keylens_name = "keylens",
	};
	rbi_write_texts texts;
	rb_options o;
	rb_status status = rbi_call_begin_result(client, opts, &o, out);

	if (status != RB_OK)
		return status;
	if (values == NULL && npairs > 0)
		return no_values(client);
	/* Before the server is asked for anything. */
	status = rbi_batch_check(&batch, o.max_value_bytes, client->error,
				 sizeof(client->error));
	if (status == RB_OK && npairs > 0)
		status = rbi_write_pairs(client, &o, &batch, &texts);
	return status != RB_OK ? status :
				 rbi_call_batch(client, &o, &batch, out);
}

rb_status rb_hset_chunked(rb_client *client, const char *key, size_t keylen,
			  const char **fields, const size_t *fieldlens,
			  const char **values, const size_t *valuelens,
			  size_t nfields, const rb_options *opts,
			  rb_result **out)
{
	rbi_batch batch = {
		.form = RBI_FORM_GATHER,
		.shape = RBI_SHAPE_INTEGER,
		.command = { "HSET", 4 },
		.fixed = { key, keylen },
		.keys = fields,
		.keylens = fieldlens,
		.values = values,
		.valuelens = valuelens,
		.n = nfields,
		.fixed_name = "key",
		.fixedlen_name = "keylen",
		.keys_name = "fields",
		.keylens_name = "fieldlens",
	};
	rb_options o;
	rb_status status = rbi_call_begin_result(client, opts, &o, out);

	if (status != RB_OK)
		return status;
	if (values == NULL && nfields > 0)
		return no_values(client);
	batch.transaction = (o.flags & RB_TRANSACTION) != 0;
	return rbi_call_batch(client, &o, &batch, out);
}

/* ------------------------------------------------------------------ keys -- */

/* A command over keys that the server answers with their number. */
static rb_status count_keys(rb_client *client, const char *name,
			    const char **keys, const size_t *keylens,
			    size_t nkeys, const rb_options *opts,
			    rb_result **out)
{
	rbi_batch batch = {
		.form = RBI_FORM_GATHER,
		.shape = RBI_SHAPE_INTEGER,
		.command = { name, strlen(name) },
		.keys = keys,
		.keylens = keylens,
		.n = nkeys,
		.keys_name = "keys",
		.keylens_name = "keylens",
	};
	rb_options o;
	rb_status status = rbi_call_begin_result(client, opts, &o, out);

	if (status != RB_OK)
		return status;
	batch.reads = strcmp(name, "UNLINK") != 0;
	batch.transaction = (o.flags & RB_TRANSACTION) != 0 && !batch.reads;
	return rbi_call_batch(client, &o, &batch, out);
}

rb_status rb_unlink_chunked(rb_client *client, const char **keys,
			    const size_t *keylens, size_t nkeys,
			    const rb_options *opts, rb_result **out)
{
	return count_keys(client, "UNLINK", keys, keylens, nkeys, opts, out);
}

rb_status rb_exists_chunked(rb_client *client, const char **keys,
			    const size_t *keylens, size_t nkeys,
			    const rb_options *opts, rb_result **out)
{
	return count_keys(client, "EXISTS", keys, keylens, nkeys, opts, out);
}

rb_status rb_touch_chunked(rb_client *client, const char **keys,
			   const size_t *keylens, size_t nkeys,
			   const rb_options *opts, rb_result **out)
{
	return count_keys(client, "TOUCH", keys, keylens, nkeys, opts, out);
}

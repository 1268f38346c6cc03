#include "stream.h"

#include "write.h"

/* A callback that is needed is missing. */
static rb_status missing(rb_client *client, const char *name)
{
	return rbi_client_fail(client, RB_ERR_INVALID, "%s is NULL", name);
}

rb_status rb_mget_stream(rb_client *client, rb_source *next, void *next_arg,
			 rb_sink *take, void *take_arg, const rb_options *opts,
			 rb_stats *stats)
{
	const rbi_batch batch = {
		.form = RBI_FORM_GATHER,
		.shape = RBI_SHAPE_VALUES,
		.reads = true,
		.command = { "MGET", 4 },
		.single = { "GET", 3 },
		.keys_name = "keys",
		.keylens_name = "keylens",
	};
	rbi_intake in = {
		.next_key = next,
		.next_arg = next_arg,
		.take_values = take,
		.take_arg = take_arg,
		.batch = &batch,
	};
	rb_options o;
	rb_status status = rbi_call_begin(client, opts, &o);

	if (status != RB_OK)
		return status;
	if (next == NULL || take == NULL)
		return missing(client, next == NULL ? "next" : "take");
	return rbi_call_stream(client, &o, &in, stats);
}

rb_status rb_mset_stream(rb_client *client, rb_pair_source *next,
			 void *next_arg, const rb_options *opts,
			 rb_stats *stats)
{
	rbi_batch batch = { .n = 0 };
	rbi_intake in = {
		.next_pair = next,
		.next_arg = next_arg,
		.batch = &batch,
	};
	rbi_write_texts texts;
	rb_options o;
	rb_status status = rbi_call_begin(client, opts, &o);

	if (status != RB_OK)
		return status;
	if (next == NULL)
		return missing(client, "next");
	status = rbi_write_pairs(client, &o, &batch, &texts);
	return status != RB_OK ? status :
				 rbi_call_stream(client, &o, &in, stats);
}

rb_status rb_pipeline_stream(rb_client *client, rb_command_source *next,
			     void *next_arg, rb_reply_sink *take,
			     void *take_arg, const rb_options *opts,
			     rb_stats *stats)
{
	rbi_batch batch = {
		.form = RBI_FORM_COMMANDS,
		.shape = RBI_SHAPE_REPLIES,
		.command = { "a transaction", 13 },
	};
	rbi_intake in = {
		.next_command = next,
		.next_arg = next_arg,
		.take_replies = take,
		.take_arg = take_arg,
		.batch = &batch,
	};
	rb_options o;
	rb_status status = rbi_call_begin(client, opts, &o);

	if (status != RB_OK)
		return status;
	if (next == NULL || take == NULL)
		return missing(client, next == NULL ? "next" : "take");
	batch.transaction = (o.flags & RB_TRANSACTION) != 0;
	return rbi_call_stream(client, &o, &in, stats);
}

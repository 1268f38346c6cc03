#include "redisbatch.h"

#include "sizes.h"

rb_status rb_mget_chunked(rb_client *client, const char **keys,
			  const size_t *keylens, size_t nkeys,
			  const rb_options *opts, rb_result **out)
{
	rbi_batch batch = {
		.form = RBI_FORM_GATHER,
		.shape = RBI_SHAPE_VALUES,
		.reads = true,
		.command = { "MGET", 4 },
		.single = { "GET", 3 },
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
	return rbi_sizes_call(client, &o, &batch, "STRLEN", out);
}

rb_status rb_hmget_chunked(rb_client *client, const char *key, size_t keylen,
			   const char **fields, const size_t *fieldlens,
			   size_t nfields, const rb_options *opts,
			   rb_result **out)
{
	rbi_batch batch = {
		.form = RBI_FORM_GATHER,
		.shape = RBI_SHAPE_VALUES,
		.reads = true,
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
	rb_options o;
	rb_status status = rbi_call_begin_result(client, opts, &o, out);

	if (status != RB_OK)
		return status;
	return rbi_sizes_call(client, &o, &batch, "HSTRLEN", out);
}

#include "mget.h"

#include "blame.h"

typedef struct run {
	mget *mget;
	blame *blame;
} run;

static int next(void *arg, rb_slice *key)
{
	run *r = arg;

	blame_settle(r->blame, "");
	if (out_error(r->mget->out) != 0)
		return -1;
	return keys_next(r->mget->keys, key);
}

static int take(void *arg, size_t first, const rb_slice *names,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	run *r = arg;
	const format_rows rows = { names, values, statuses, n };

	blame_entries(r->blame, first, names, statuses, n);
	/* Even when the run is to end: each key that was taken from the source
	 * is to be answered for, so it is the source that ends it. */
	(void)mget_take(r->mget, &rows);
	return 0;
}

static int on_chunk(void *arg, const rb_chunk *chunk)
{
	run *r = arg;

	blame_chunk(r->blame, chunk);
	return 0;
}

void mget_run_stream(mget *m)
{
	run r = { m, blame_new(m->report, m->keys) };
	rb_options o = m->options;
	rb_status status;

	if (r.blame == NULL) {
		m->status = EXITS_LOCAL;
		return;
	}
	o.on_chunk = on_chunk;
	o.on_chunk_arg = &r;
	status = rb_mget_stream(m->client, next, &r, take, &r, &o, &m->stats);
	mget_end(m, status);
	blame_settle(r.blame, rb_client_error(m->client));
	blame_free(r.blame);
}

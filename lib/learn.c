#include "learn.h"

#define FEW 16

/* So many answers without a loss, and the line is trusted again; but not a
 * second time. */
#define CALM 8

void rbi_learn(rbi_learned *l, size_t count, size_t reply_bytes, size_t largest)
{
	size_t entry = reply_bytes / count + 1;

	if (entry > l->entry_reply)
		l->entry_reply = entry;
	else
		l->entry_reply -= (l->entry_reply - entry) / 4;
	if (largest > l->largest)
		l->largest = largest;
	else
		l->largest -= (l->largest - largest) / 8;
}

static void lower(size_t *limit, size_t most)
{
	most = rbi_max(most, 1);
	if (*limit == 0 || most < *limit)
		*limit = most;
}

void rbi_limits_args(rbi_limits *l, size_t refused)
{
	lower(&l->args, refused / 2 + 1);
}

void rbi_limits_bytes(rbi_limits *l, size_t most)
{
	lower(&l->bytes, most);
}

void rbi_ramp_init(rbi_ramp *r, bool small)
{
	r->keys = small ? FEW : SIZE_MAX;
	r->cap = SIZE_MAX;
	r->behind = 0;
	r->calm = 0;
	r->losses = 0;
}

void rbi_ramp_cut(rbi_ramp *r, size_t count, size_t asked)
{
	if (count > asked)
		r->behind -= rbi_min(r->behind, count - asked);
	else if (r->keys < asked && r->losses == 0)
		r->behind += asked - count;
	r->keys = rbi_min(rbi_add_sat(r->keys, r->keys), r->cap);
}

void rbi_ramp_lost(rbi_ramp *r, size_t count)
{
	r->cap = rbi_min(r->cap, rbi_max(count / 2, 1));
	r->keys = 1;
	r->behind = 0;
	r->calm = 0;
	r->losses++;
}

size_t rbi_ramp_window(const rbi_ramp *r, size_t window)
{
	bool trusted = r->losses == 0 || (r->losses == 1 && r->calm >= CALM);

	return trusted ? window : 1;
}

static void narrow(size_t *bound, size_t limit)
{
	if (limit != 0)
		*bound = rbi_min(*bound, limit);
}

void rbi_learn_narrow(rbi_bounds *bounds, const rbi_learned *l,
		      const rbi_limits *limits, const rbi_ramp *ramp)
{
	bounds->entry_reply = l->entry_reply;
	bounds->keys += rbi_min(ramp->behind, bounds->keys / 8);
	bounds->keys = rbi_min(bounds->keys, ramp->keys);
	narrow(&bounds->args, limits->args);
	narrow(&bounds->request_bytes, limits->bytes);
	narrow(&bounds->reply_bytes, limits->bytes);
	bounds->largest = l->largest;
}

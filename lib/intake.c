#include "intake.h"

#include "alloc.h"

static rbi_intake *intake_of(rbi_feed *feed)
{
	return (rbi_intake *)feed;
}

/* -------------------------------------------------------------- filling -- */

static rbi_cargo cargo_of(const rbi_intake *in)
{
	if (in->next_command != NULL)
		return RBI_CARGO_COMMANDS;
	return in->next_pair != NULL ? RBI_CARGO_PAIRS : RBI_CARGO_KEYS;
}

/* A crate that nobody uses, empty. */
static rbi_crate *find_crate(rbi_intake *in, size_t *tag)
{
	rbi_crate **crates;
	size_t i = 0;

	while (i < in->ncrates && in->crates[i]->used)
		i++;
	if (i == in->ncrates) {
		crates = rbi_alloc_array(in->allocator, in->crates, i + 1,
					 sizeof(*crates));
		if (crates == NULL)
			return NULL;
		in->crates = crates;
		crates[i] = rbi_crate_new(in->allocator, cargo_of(in));
		if (crates[i] == NULL)
			return NULL;
		in->ncrates++;
	}
	rbi_crate_clear(in->crates[i], in->batch);
	*tag = i;
	return in->crates[i];
}

/* Asks the source for an entry: what it said. */
static int ask(rbi_intake *in)
{
	rb_slice key = { NULL, 0 };
	rb_slice value = { NULL, 0 };
	int said;

	if (in->next_command != NULL)
		return in->next_command(in->next_arg, &in->command);
	if (in->next_pair != NULL)
		said = in->next_pair(in->next_arg, &key, &value);
	else
		said = in->next_key(in->next_arg, &key);
	in->strings[0] = key.data;
	in->lens[0] = key.len;
	in->strings[1] = value.data;
	in->lens[1] = value.len;
	return said;
}

/* Makes sure that there is an item. RB_OK without one: the source has ended. */
static rb_status pull(rbi_intake *in, size_t number)
{
	char words[120];
	rb_status status;
	int said;

	if (in->pending)
		return RB_OK;
	said = ask(in);
	if (said < 0) {
		in->feed.problem = "cancelled by the source";
		return RB_ERR_CANCELLED;
	}
	if (said == 0) {
		in->feed.ended = true;
		return RB_OK;
	}
	status =
		rbi_batch_check(&in->item, in->max_value, words, sizeof(words));
	if (status != RB_OK) {
		rbi_print(in->why, sizeof(in->why),
			  "entry %zu of the source: %s", number, words);
		in->feed.problem = in->why;
		return status;
	}
	in->pending = true;
	return RB_OK;
}

/* Fills the crate with as many entries as fit. */
static rb_status fill(rbi_intake *in, rbi_crate *c, rbi_sizer *s)
{
	rb_status status;

	while (s->count < s->max_count) {
		status = pull(in, in->given + c->n);
		if (status != RB_OK || !in->pending)
			return status;
		if (!rbi_sizer_add(s, 1, rbi_batch_entry_size(&in->item, 0)))
			return RB_OK;
		if (!rbi_crate_add(c, &in->item)) {
			in->feed.problem = "out of memory";
			return RB_ERR_NOMEM;
		}
		in->pending = false;
	}
	return RB_OK;
}

static rb_status intake_next(rbi_feed *feed, const rbi_bounds *bounds,
			     rbi_parcel *out)
{
	rbi_intake *in = intake_of(feed);
	rb_status status;
	rbi_crate *c;
	rbi_sizer s;

	memset(out, 0, sizeof(*out));
	c = find_crate(in, &out->tag);
	if (c == NULL) {
		feed->problem = "out of memory";
		return RB_ERR_NOMEM;
	}
	s = rbi_sizer_make(&in->item, bounds);
	status = fill(in, c, &s);
	if (c->n == 0)
		return status;
	rbi_crate_close(c);
	c->used = true;
	c->first = in->given;
	c->left = c->n;
	in->given += c->n;
	out->cut.batch = &c->batch;
	out->cut.count = c->n;
	out->cut.request_bytes =
		rbi_add_sat(rbi_batch_frame_size(&c->batch, c->n), s.body);
	out->entries = c->entries;
	out->position = c->first;
	/* The last one was counted in before it failed. */
	if (status != RB_OK)
		out->cut = rbi_plan_part(&out->cut, 0, c->n);
	return status;
}

/* ------------------------------------------------------------- delivery -- */

static rb_chunk *intake_report(rbi_feed *feed, const rbi_parcel *parcel)
{
	rbi_intake *in = intake_of(feed);
	rb_chunk *chunk = &in->report;

	memset(chunk, 0, sizeof(*chunk));
	chunk->first =
		parcel->numbers != NULL ? parcel->numbers[0] : parcel->position;
	chunk->count = parcel->cut.count;
	chunk->entries = parcel->numbers;
	chunk->status = RB_ERR_SKIPPED;
	chunk->outcome = RB_NOT_SENT;
	chunk->message = "";
	chunk->node = in->node;
	return chunk;
}

/* Reports are made as they are asked for. */
static bool intake_divide(rbi_feed *feed, const rbi_parcel *parcel,
			  size_t count)
{
	(void)feed;
	(void)parcel;
	(void)count;
	return true;
}

static int hand_values(rbi_intake *in, const rbi_crate *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		c->keys[i].data = c->batch.keys[i];
		c->keys[i].len = c->batch.keylens[i];
		c->values[i] = rbi_entry_value(&c->entries[i]);
	}
	return in->take_values(in->take_arg, c->first, c->keys, c->values,
			       c->statuses, c->n);
}

static int hand_replies(rbi_intake *in, const rbi_crate *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		c->replies[i] = rbi_entry_reply(&c->entries[i]);
	return in->take_replies(in->take_arg, c->first, c->replies, c->statuses,
				c->n);
}

/* Hands a crate of which all is known to the sink, unless that has had enough.
 * What the sink said. */
static int hand_over(rbi_intake *in, rbi_crate *c)
{
	c->used = false;
	in->handed += c->n;
	if (in->cancelled)
		return 0;
	if (in->take_values != NULL)
		return hand_values(in, c);
	if (in->take_replies != NULL)
		return hand_replies(in, c);
	return 0;
}

/* The crate that is next for the sink, if all of it is known; or NULL. */
static rbi_crate *next_to_hand(const rbi_intake *in)
{
	size_t i;

	for (i = 0; i < in->ncrates; i++) {
		rbi_crate *c = in->crates[i];

		if (c->used && c->first == in->handed)
			return c->left == 0 ? c : NULL;
	}
	return NULL;
}

static void note_statuses(rbi_intake *in, rbi_crate *c,
			  const rbi_parcel *parcel, const rb_chunk *report)
{
	size_t i;

	for (i = 0; i < report->count; i++) {
		size_t k = report->first - c->first + i;

		if (parcel->numbers != NULL) {
			k = parcel->numbers[i] - c->first;
			c->entries[k] = parcel->entries[i];
		}
		c->statuses[k] =
			rbi_entry_status(&c->entries[k], report->status);
		in->failed += c->statuses[k] != RB_OK;
	}
	/* From its first report on a crate holds answers. */
	if (c->left == c->n)
		in->feed.held++;
	c->left -= report->count;
}

static rb_status intake_delivered(rbi_feed *feed, const rbi_parcel *parcel,
				  const rb_chunk *report)
{
	rbi_intake *in = intake_of(feed);
	rb_status status = RB_OK;
	rbi_crate *c;

	note_statuses(in, in->crates[parcel->tag], parcel, report);
	for (c = next_to_hand(in); c != NULL; c = next_to_hand(in)) {
		feed->held--;
		if (hand_over(in, c) < 0) {
			in->cancelled = true;
			status = RB_ERR_CANCELLED;
		}
	}
	return status;
}

/* Hands over the entry that the source gave and that went into no chunk: from
 * where the source has it, since there may be no memory for a crate. */
static void hand_pending(rbi_intake *in)
{
	const rb_slice key = { in->strings[0], in->lens[0] };
	const rb_slice value = { NULL, 0 };
	const struct redisReply *reply = NULL;
	const rb_status status = RB_ERR_SKIPPED;
	size_t number = in->given++;

	in->pending = false;
	in->failed++;
	if (in->cancelled)
		return;
	if (in->take_values != NULL)
		(void)in->take_values(in->take_arg, number, &key, &value,
				      &status, 1);
	else if (in->take_replies != NULL)
		(void)in->take_replies(in->take_arg, number, &reply, &status,
				       1);
}

/* What the source still has is not asked for. */
static void intake_rest(rbi_feed *feed, const rbi_bounds *bounds,
			const char *message)
{
	rbi_intake *in = intake_of(feed);

	(void)bounds;
	(void)message;
	if (in->pending)
		hand_pending(in);
	feed->ended = true;
}

static const rbi_feed_ops intake_ops = {
	.next = intake_next,
	.report = intake_report,
	.divide = intake_divide,
	.delivered = intake_delivered,
	.rest = intake_rest,
};

void rbi_intake_init(rbi_intake *in)
{
	in->feed.ops = &intake_ops;
	in->feed.ended = false;
	in->feed.dry = false;
	in->feed.recycles = true;
	in->feed.held = 0;
	in->feed.problem = NULL;
	in->crates = NULL;
	in->ncrates = 0;
	in->given = in->handed = in->failed = 0;
	in->cancelled = in->pending = false;
	in->item = *in->batch;
	in->item.n = 1;
	in->item.keys = &in->strings[0];
	in->item.keylens = &in->lens[0];
	in->item.values = in->next_pair != NULL ? &in->strings[1] : NULL;
	in->item.valuelens = in->next_pair != NULL ? &in->lens[1] : NULL;
	in->item.commands = in->next_command != NULL ? &in->command : NULL;
}

void rbi_intake_fini(rbi_intake *in)
{
	size_t i;

	for (i = 0; i < in->ncrates; i++)
		rbi_crate_free(in->crates[i]);
	rbi_free(in->allocator, in->crates);
}

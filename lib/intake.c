#include "intake.h"

#include "alloc.h"

/*
 * Strings are copied one behind the other; while bytes may still move, only
 * their lengths are kept, and the pointers are set when the crate is full.
 */
struct rbi_crate {
	rbi_batch batch;
	bool used;
	size_t first; /* number of its first entry in the stream */
	char *bytes;
	size_t nbytes;
	size_t bytes_cap;
	const char **pointers[2]; /* keys or arguments, and values */
	size_t *lens[2];
	size_t nstrings[2];
	size_t strings_cap[2];
	rb_command *commands;
	rbi_entry *entries;
	rb_slice *keys; /* for the sink */
	rb_slice *values;
	const struct redisReply **replies;
	rb_status *statuses;
	size_t n;
	size_t cap; /* entries that all arrays have room for */
};

static rbi_intake *intake_of(rbi_feed *feed)
{
	return (rbi_intake *)feed;
}

/* --------------------------------------------------------------- crates -- */

static bool grow(const rb_allocator *a, void *array, size_t n, size_t size)
{
	void *old;
	void *grown;

	memcpy(&old, array, sizeof(old));
	grown = rbi_alloc_array(a, old, n, size);
	if (grown == NULL)
		return false;
	memcpy(array, &grown, sizeof(grown));
	return true;
}

static void crate_free(const rb_allocator *a, rbi_crate *c)
{
	int k;

	for (k = 0; k < 2; k++) {
		rbi_free(a, c->pointers[k]);
		rbi_free(a, c->lens[k]);
	}
	rbi_free(a, c->bytes);
	rbi_free(a, c->commands);
	rbi_free(a, c->entries);
	rbi_free(a, c->keys);
	rbi_free(a, c->values);
	rbi_free(a, c->replies);
	rbi_free(a, c->statuses);
	rbi_free(a, c);
}

/* Room for one more entry in what the crate's form needs. */
static bool reserve_entry(const rbi_intake *in, rbi_crate *c)
{
	const rb_allocator *a = in->allocator;
	size_t cap = rbi_max(16, 2 * c->cap);

	if (c->n < c->cap)
		return true;
	if (!grow(a, &c->entries, cap, sizeof(*c->entries)) ||
	    !grow(a, &c->statuses, cap, sizeof(*c->statuses)))
		return false;
	if (in->take_values != NULL &&
	    (!grow(a, &c->keys, cap, sizeof(*c->keys)) ||
	     !grow(a, &c->values, cap, sizeof(*c->values))))
		return false;
	if (in->next_command != NULL &&
	    (!grow(a, &c->commands, cap, sizeof(*c->commands)) ||
	     !grow(a, &c->replies, cap, sizeof(*c->replies))))
		return false;
	c->cap = cap;
	return true;
}

static bool reserve_string(const rb_allocator *a, rbi_crate *c, int k)
{
	size_t cap = rbi_max(16, 2 * c->strings_cap[k]);

	if (c->nstrings[k] < c->strings_cap[k])
		return true;
	if (!grow(a, &c->pointers[k], cap, sizeof(*c->pointers[k])) ||
	    !grow(a, &c->lens[k], cap, sizeof(*c->lens[k])))
		return false;
	c->strings_cap[k] = cap;
	return true;
}

static bool reserve_bytes(const rb_allocator *a, rbi_crate *c, size_t len)
{
	size_t cap = rbi_max(1024, c->bytes_cap);

	if (c->bytes_cap - c->nbytes >= len)
		return true;
	while (cap - c->nbytes < len) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	if (!grow(a, &c->bytes, cap, 1))
		return false;
	c->bytes_cap = cap;
	return true;
}

static bool add_string(const rb_allocator *a, rbi_crate *c, int k,
		       const char *data, size_t len)
{
	if (!reserve_string(a, c, k) || !reserve_bytes(a, c, len))
		return false;
	if (len > 0)
		memcpy(c->bytes + c->nbytes, data, len);
	c->nbytes += len;
	c->lens[k][c->nstrings[k]++] = len;
	return true;
}

/* A crate that nobody uses, empty. */
static rbi_crate *find_crate(rbi_intake *in, size_t *tag)
{
	rbi_crate *c;
	size_t i = 0;

	while (i < in->ncrates && in->crates[i]->used)
		i++;
	if (i == in->ncrates) {
		if (!grow(in->allocator, &in->crates, i + 1,
			  sizeof(*in->crates)))
			return NULL;
		c = rbi_alloc_zero(in->allocator, sizeof(*c));
		if (c == NULL)
			return NULL;
		in->crates[in->ncrates++] = c;
	}
	c = in->crates[i];
	c->batch = *in->batch;
	c->n = 0;
	c->nbytes = 0;
	c->nstrings[0] = c->nstrings[1] = 0;
	*tag = i;
	return c;
}

/* -------------------------------------------------------------- filling -- */

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

static bool add_command(rbi_intake *in, rbi_crate *c)
{
	rb_command *command = &c->commands[c->n];
	size_t k;

	command->argc = in->command.argc;
	for (k = 0; k < (size_t)in->command.argc; k++) {
		if (!add_string(in->allocator, c, 0, in->command.argv[k],
				rbi_command_arglen(&in->command, k)))
			return false;
	}
	return true;
}

/* Copies the item into the crate. */
static bool add_item(rbi_intake *in, rbi_crate *c)
{
	const rb_allocator *a = in->allocator;
	bool added;

	if (!reserve_entry(in, c))
		return false;
	if (in->next_command != NULL)
		added = add_command(in, c);
	else
		added = add_string(a, c, 0, in->strings[0], in->lens[0]) &&
			(in->next_pair == NULL ||
			 add_string(a, c, 1, in->strings[1], in->lens[1]));
	if (!added)
		return false;
	rbi_entry_set(&c->entries[c->n], RBI_STATE_UNSET, NULL, 0);
	c->n++;
	in->pending = false;
	return true;
}

/* Nothing moves any more: points at all that was copied. */
static void close_crate(rbi_intake *in, rbi_crate *c)
{
	bool pairs = in->next_pair != NULL;
	size_t argument = 0;
	char *at = c->bytes;
	size_t i;

	for (i = 0; i < c->nstrings[0]; i++) {
		c->pointers[0][i] = at;
		at += c->lens[0][i];
		if (!pairs)
			continue;
		c->pointers[1][i] = at;
		at += c->lens[1][i];
	}
	c->batch.n = c->n;
	c->batch.keys = c->pointers[0];
	c->batch.keylens = c->lens[0];
	c->batch.values = pairs ? c->pointers[1] : NULL;
	c->batch.valuelens = pairs ? c->lens[1] : NULL;
	c->batch.commands = c->commands;
	for (i = 0; in->next_command != NULL && i < c->n; i++) {
		c->commands[i].argv = c->pointers[0] + argument;
		c->commands[i].argvlen = c->lens[0] + argument;
		argument += (size_t)c->commands[i].argc;
	}
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
		if (!add_item(in, c)) {
			in->feed.problem = "out of memory";
			return RB_ERR_NOMEM;
		}
	}
	return RB_OK;
}

static void intake_put_back(rbi_feed *feed, const rbi_parcel *parcel)
{
	rbi_intake *in = intake_of(feed);

	in->unsent = true;
	in->put_back_tag = parcel->tag;
	feed->ended = false;
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
	close_crate(in, c);
	c->used = true;
	c->first = in->given;
	in->given += c->n;
	out->cut.batch = &c->batch;
	out->cut.count = c->n;
	out->cut.request_bytes =
		rbi_add_sat(rbi_batch_frame_size(&c->batch, c->n), s.body);
	out->entries = c->entries;
	if (status == RB_OK)
		return RB_OK;
	/* What was filled is reported as not sent, with the rest. */
	intake_put_back(feed, out);
	return status;
}

/* ------------------------------------------------------------- delivery -- */

static rb_chunk *intake_report(rbi_feed *feed, const rbi_parcel *parcel)
{
	rbi_intake *in = intake_of(feed);
	rb_chunk *chunk = &in->reports[0];

	memset(chunk, 0, sizeof(*chunk));
	chunk->first = in->crates[parcel->tag]->first;
	chunk->count = parcel->cut.count;
	chunk->status = RB_ERR_SKIPPED;
	chunk->outcome = RB_NOT_SENT;
	chunk->message = "";
	chunk->node = in->node;
	return chunk;
}

static rb_chunk *intake_split(rbi_feed *feed, rb_chunk *report, size_t count)
{
	rbi_intake *in = intake_of(feed);

	in->reports[1] = *report;
	in->reports[0].count = count;
	in->reports[1].first += count;
	in->reports[1].count -= count;
	return &in->reports[0];
}

static int hand_values(rbi_intake *in, const rbi_crate *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		c->keys[i].data = c->pointers[0][i];
		c->keys[i].len = c->lens[0][i];
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

static rb_status intake_delivered(rbi_feed *feed, const rbi_parcel *parcel,
				  const rb_chunk *report)
{
	rbi_intake *in = intake_of(feed);
	rbi_crate *c = in->crates[parcel->tag];
	int said = 0;
	size_t i;

	c->used = false;
	for (i = 0; i < c->n; i++) {
		c->statuses[i] =
			rbi_entry_status(&c->entries[i], report->status);
		in->failed += c->statuses[i] != RB_OK;
	}
	if (in->cancelled)
		return RB_OK;
	if (in->take_values != NULL)
		said = hand_values(in, c);
	else if (in->take_replies != NULL)
		said = hand_replies(in, c);
	in->cancelled = said < 0;
	return said < 0 ? RB_ERR_CANCELLED : RB_OK;
}

/* Entries that the source gave and that were not sent are answered for, those
 * that it still has are not asked for. */
static void intake_rest(rbi_feed *feed, const rbi_bounds *bounds,
			const char *message)
{
	rbi_intake *in = intake_of(feed);
	rbi_parcel parcel = { .tag = in->put_back_tag };
	rbi_bounds one = *bounds;
	rb_chunk *report;

	one.keys = 1;

	if (in->unsent) {
		parcel.cut.count = in->crates[parcel.tag]->n;
		report = intake_report(feed, &parcel);
		report->message = message;
		(void)intake_delivered(feed, &parcel, report);
		in->unsent = false;
	}
	if (in->pending && intake_next(feed, &one, &parcel) == RB_OK &&
	    parcel.cut.count > 0) {
		report = intake_report(feed, &parcel);
		report->message = message;
		(void)intake_delivered(feed, &parcel, report);
	}
	feed->ended = true;
}

static const rbi_feed_ops intake_ops = {
	.next = intake_next,
	.report = intake_report,
	.split = intake_split,
	.delivered = intake_delivered,
	.put_back = intake_put_back,
	.rest = intake_rest,
};

void rbi_intake_init(rbi_intake *in)
{
	in->feed.ops = &intake_ops;
	in->feed.ended = false;
	in->feed.recycles = true;
	in->feed.problem = NULL;
	in->crates = NULL;
	in->ncrates = 0;
	in->given = in->failed = 0;
	in->cancelled = in->unsent = in->pending = false;
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
		crate_free(in->allocator, in->crates[i]);
	rbi_free(in->allocator, in->crates);
}

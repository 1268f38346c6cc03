#include "answer.h"

#include "exec.h"

/* A text that is kept even when nothing more should be. */
#define SMALL_TEXT 64

void rbi_answer_init(rbi_answer *a, const rbi_cut *cut, rbi_entry *entries,
		     rb_result *res)
{
	bool transaction = cut->batch->transaction;

	a->batch = cut->batch;
	a->cut = *cut;
	a->entries = entries;
	a->count = cut->count;
	a->stage = transaction ? RBI_STAGE_MULTI : RBI_STAGE_ANSWERS;
	if (cut->asking)
		a->stage = RBI_STAGE_ASKING;
	a->base = transaction ? 1 : 0;
	a->grouped = rbi_plan_is_grouped(cut);
	a->asks = cut->asking && !transaction;
	a->steps = a->grouped || a->asks;
	a->left = rbi_plan_commands(cut);
	a->commands = rbi_plan_own_commands(cut);
	a->queued = 0;
	a->seen = 0;
	a->end = a->steps ? rbi_plan_group(cut, 0) : cut->count;
	a->failed = 0;
	a->errors = 0;
	a->doubts = 0;
	a->unmet = 0;
	a->unasked.data = NULL;
	a->later = 0;
	a->later_route = RBI_ROUTE_ANSWER;
	a->refused = 0;
	a->redirect = NULL;
	a->number = 0;
	a->status = RB_OK;
	a->outcome = RB_ANSWERED;
	a->route = RBI_ROUTE_ANSWER;
	a->message = "";
	a->keep = NULL;
	rbi_reply_init(&a->builder, &res->notes);
}

/* ---------------------------------------------------- command by command -- */

/* Goes on to the next command or unit once all entries of this one are seen. */
static void go_on(rbi_answer *a)
{
	if (a->seen < a->end || a->end == a->count)
		return;
	a->end += rbi_plan_group(&a->cut, a->seen);
	if (a->asks)
		a->stage = RBI_STAGE_ASKING;
}

/* The entries of a group that was answered as a whole. */
static void set_done(rbi_answer *a)
{
	while (a->seen < a->end)
		rbi_entry_set(&a->entries[a->seen++], RBI_STATE_DONE, NULL, 0);
	go_on(a);
}

/* Something other than a command's answer: an error is its group's alone. */
static rbi_progress read_odd(rbi_answer *a, rbi_reader *r, rb_result *res,
			     rbi_token_kind kind, const rbi_token *t,
			     const char *wanted)
{
	rbi_progress progress = RBI_PROGRESS_MORE;

	if (!a->grouped)
		return rbi_verdict_odd(a, r, res, kind, t, wanted);
	if (kind == RBI_TOKEN_ERROR)
		rbi_verdict_group_error(a, r, t);
	else
		progress = rbi_verdict_odd(a, r, res, kind, t, wanted);
	a->seen = a->end;
	go_on(a);
	return progress;
}

/* That ASKING was refused says nothing of its command, which is run where it
 * may be all the same. */
static rbi_progress read_asking(rbi_answer *a, rbi_reader *r, rb_result *res,
				rbi_token_kind kind, const rbi_token *t)
{
	char text[160];

	a->stage = a->batch->transaction ? RBI_STAGE_MULTI : RBI_STAGE_ANSWERS;
	a->unasked.data = NULL;
	if (rbi_verdict_is_word(kind, t, "OK"))
		return RBI_PROGRESS_MORE;
	if (kind == RBI_TOKEN_ERROR) {
		if (!a->batch->transaction)
			a->stage = RBI_STAGE_UNASKED;
		a->unasked.data = t->data;
		a->unasked.len = t->len;
		a->keep = r->pos;
		return RBI_PROGRESS_MORE;
	}
	rbi_print(text, sizeof(text), "ASKING was answered by %s instead of OK",
		  rbi_token_text(kind));
	a->message = rbi_result_note(res, RB_ERR_PROTOCOL, text);
	return RBI_PROGRESS_BROKEN;
}

/* Where ASKING was refused, this is why its command is redirected. */
static void blame_asking(const rbi_answer *a, rbi_token_kind kind, rbi_token *t)
{
	if (kind != RBI_TOKEN_ERROR || a->unasked.data == NULL ||
	    t->depth > a->base ||
	    rbi_route_error(t->data, t->len, false) != RBI_ROUTE_REDIRECT)
		return;
	t->data = a->unasked.data;
	t->len = a->unasked.len;
}

/* --------------------------------------------------------------- values -- */

static const char *wrong_element(rbi_token_kind kind)
{
	if (kind == RBI_TOKEN_INTEGER)
		return "answered by an integer instead of a value";
	if (kind == RBI_TOKEN_SIMPLE)
		return "answered by a simple string instead of a value";
	if (kind == RBI_TOKEN_ARRAY || kind == RBI_TOKEN_NIL_ARRAY)
		return "answered by an array instead of a value";
	return "answered by something other than a value";
}

/* Takes values for as long as there is nothing but strings and nils. */
static void read_run(rbi_answer *a, rbi_reader *r)
{
	rbi_entry *begin = &a->entries[a->seen];
	rbi_entry *entry = begin;
	rbi_run run;
	size_t len;
	char *data;

	if (r->depth != 1 || !rbi_reader_in_run(r))
		return;
	run = rbi_run_begin(r);
	while (rbi_run_next(&run, &data, &len)) {
		if (data == NULL) {
			rbi_entry_set(entry++, RBI_STATE_NIL, NULL, 0);
			continue;
		}
		rbi_entry_set(entry++, RBI_STATE_VALUE, data, len);
		a->keep = run.pos;
	}
	if (entry == begin)
		return;
	rbi_run_end(&run, r);
	a->seen += (size_t)(entry - begin);
}

static void read_value(rbi_answer *a, rbi_reader *r, rbi_token_kind kind,
		       const rbi_token *t)
{
	rbi_entry *entry = &a->entries[a->seen++];
	const char *words;

	if (kind == RBI_TOKEN_BULK) {
		rbi_entry_set(entry, RBI_STATE_VALUE, t->data, t->len);
		a->keep = r->pos;
	} else if (kind == RBI_TOKEN_NIL) {
		rbi_entry_set(entry, RBI_STATE_NIL, NULL, 0);
	} else if (kind == RBI_TOKEN_ERROR) {
		rbi_verdict_error(a, r, entry, t);
	} else if (kind == RBI_TOKEN_LONG) {
		words = rbi_verdict_too_long(r);
		rbi_verdict_fail(a, entry, RBI_STATE_LONG, words, words);
	} else {
		words = wrong_element(kind);
		rbi_verdict_fail(a, entry, RBI_STATE_SHAPE, words, words);
	}
}

static bool is_wrong_type(rbi_token_kind kind, const rbi_token *t)
{
	return kind == RBI_TOKEN_ERROR && t->len >= 9 &&
	       memcmp(t->data, "WRONGTYPE", 9) == 0;
}

/* A group of one may have gone as a command that answers the value itself. */
static bool is_single(const rbi_answer *a)
{
	return rbi_plan_name(&a->cut, a->end - a->seen) != &a->batch->command;
}

/* A key of another type is nil to a command of many keys. */
static rbi_progress read_single(rbi_answer *a, rbi_reader *r, rb_result *res,
				rbi_token_kind kind, const rbi_token *t)
{
	if (is_wrong_type(kind, t))
		rbi_entry_set(&a->entries[a->seen++], RBI_STATE_NIL, NULL, 0);
	else if (kind == RBI_TOKEN_BULK || kind == RBI_TOKEN_NIL ||
		 kind == RBI_TOKEN_LONG)
		read_value(a, r, kind, t);
	else
		return read_odd(a, r, res, kind, t, "a value");
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_values(rbi_answer *a, rbi_reader *r, rb_result *res,
				rbi_token_kind kind, const rbi_token *t)
{
	char text[160];

	if (t->depth == 1) {
		read_value(a, r, kind, t);
		return RBI_PROGRESS_MORE;
	}
	/* Deeper ones belong to an element that failed already. */
	if (t->depth > 1)
		return RBI_PROGRESS_MORE;
	if (is_single(a))
		return read_single(a, r, res, kind, t);
	if (kind != RBI_TOKEN_ARRAY)
		return read_odd(a, r, res, kind, t, "an array");
	if ((uint64_t)t->number == a->end - a->seen)
		return RBI_PROGRESS_MORE;
	rbi_print(text, sizeof(text),
		  "%.20s of %zu was answered by %lld elements",
		  a->batch->command.data, a->end - a->seen,
		  (long long)t->number);
	a->message = rbi_result_note(res, RB_ERR_PROTOCOL, text);
	return RBI_PROGRESS_BROKEN;
}

/* --------------------------------------------------------- other shapes -- */

/* A server may answer any numbers. */
static int64_t add_numbers(int64_t a, int64_t b)
{
	if (b > 0 && a > INT64_MAX - b)
		return INT64_MAX;
	if (b < 0 && a < INT64_MIN - b)
		return INT64_MIN;
	return a + b;
}

static rbi_progress read_integer(rbi_answer *a, rbi_reader *r, rb_result *res,
				 rbi_token_kind kind, const rbi_token *t)
{
	if (kind != RBI_TOKEN_INTEGER)
		return read_odd(a, r, res, kind, t, "an integer");
	a->number = add_numbers(a->number, t->number);
	if (a->grouped)
		set_done(a);
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_ok(rbi_answer *a, rbi_reader *r, rb_result *res,
			    rbi_token_kind kind, const rbi_token *t)
{
	if (!rbi_verdict_is_word(kind, t, "OK"))
		return read_odd(a, r, res, kind, t, "OK");
	if (a->grouped)
		set_done(a);
	return RBI_PROGRESS_MORE;
}

/* A key of another type has no length, and will be answered nil. */
static rbi_progress read_size(rbi_answer *a, rbi_reader *r, rb_result *res,
			      rbi_token_kind kind, const rbi_token *t)
{
	rbi_entry *entry = &a->entries[a->seen++];
	size_t size = 0;

	if (kind == RBI_TOKEN_ERROR && !is_wrong_type(kind, t)) {
		rbi_verdict_heed(a, r, t, 1);
		rbi_verdict_error(a, r, entry, t);
		return RBI_PROGRESS_MORE;
	}
	if (kind != RBI_TOKEN_INTEGER && kind != RBI_TOKEN_ERROR)
		return rbi_verdict_odd(a, r, res, kind, t, "an integer");
	if (kind == RBI_TOKEN_INTEGER && t->number > 0)
		size = rbi_min((size_t)t->number, UINT32_MAX);
	rbi_entry_set(entry, RBI_STATE_DONE, NULL, size);
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_set(rbi_answer *a, rbi_reader *r, rb_result *res,
			     rbi_token_kind kind, const rbi_token *t)
{
	rbi_entry *entry = &a->entries[a->seen++];

	if (rbi_verdict_is_word(kind, t, "OK")) {
		rbi_entry_set(entry, RBI_STATE_DONE, NULL, 0);
	} else if (kind == RBI_TOKEN_NIL) {
		rbi_entry_set(entry, RBI_STATE_UNMET, NULL, 0);
		a->unmet++;
	} else if (kind == RBI_TOKEN_ERROR) {
		rbi_verdict_heed(a, r, t, 1);
		rbi_verdict_error(a, r, entry, t);
	} else {
		return rbi_verdict_odd(a, r, res, kind, t, "OK");
	}
	return RBI_PROGRESS_MORE;
}

/* Whether a reply takes more than a few words of memory. */
static bool is_heavy(rbi_token_kind kind, const rbi_token *t)
{
	if (kind == RBI_TOKEN_ARRAY || kind == RBI_TOKEN_MAP ||
	    kind == RBI_TOKEN_SET)
		return t->number > 0;
	return kind != RBI_TOKEN_ERROR && t->len > SMALL_TEXT;
}

/* Builds the reply of one command, whose root may be an element of EXEC's. */
static rbi_progress read_reply(rbi_answer *a, rbi_reader *r,
			       rbi_token_kind kind, const rbi_token *t)
{
	const struct redisReply *whole;
	rbi_entry *entry = &a->entries[a->seen];
	bool is_root = t->depth == a->base;

	if (rbi_verdict_past_bound(r) && (!is_root || is_heavy(kind, t)))
		rbi_reply_drop(&a->builder);
	if (rbi_reply_take(&a->builder, kind, t, &whole) != RB_OK)
		return RBI_PROGRESS_NOMEM;
	if (t->data != NULL && !a->builder.full)
		a->keep = r->pos;
	if (whole == NULL)
		return RBI_PROGRESS_MORE;
	a->seen++;
	if (whole == rbi_reply_dropped() ||
	    (is_root && kind == RBI_TOKEN_LONG)) {
		rbi_verdict_fail(a, entry, RBI_STATE_LONG,
				 rbi_verdict_too_long(r),
				 rbi_verdict_too_long(r));
	} else if (is_root && kind == RBI_TOKEN_ERROR) {
		rbi_verdict_heed(a, r, t, 1);
		rbi_verdict_fail(a, entry, RBI_STATE_REPLY_ERROR, whole,
				 rbi_verdict_words(t));
	} else {
		rbi_entry_set(entry, RBI_STATE_REPLY, (const char *)whole, 0);
	}
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_answer(rbi_answer *a, rbi_reader *r, rb_result *res,
				rbi_token_kind kind, const rbi_token *t)
{
	switch (a->batch->shape) {
	case RBI_SHAPE_VALUES:
		return read_values(a, r, res, kind, t);
	case RBI_SHAPE_OK:
		return read_ok(a, r, res, kind, t);
	case RBI_SHAPE_INTEGER:
		return read_integer(a, r, res, kind, t);
	case RBI_SHAPE_SET:
		return read_set(a, r, res, kind, t);
	case RBI_SHAPE_SIZES:
		return read_size(a, r, res, kind, t);
	case RBI_SHAPE_REPLIES:
		return read_reply(a, r, kind, t);
	}
	return RBI_PROGRESS_BROKEN;
}

static rbi_progress read_token(rbi_answer *a, rbi_reader *r, rb_result *res,
			       rbi_token_kind kind, rbi_token *t)
{
	if (RBI_UNLIKELY(a->stage != RBI_STAGE_ANSWERS)) {
		if (a->stage == RBI_STAGE_IGNORE)
			return RBI_PROGRESS_MORE;
		if (a->stage == RBI_STAGE_ASKING)
			return read_asking(a, r, res, kind, t);
		blame_asking(a, kind, t);
		if (a->stage != RBI_STAGE_UNASKED)
			return rbi_exec_read(a, r, res, kind, t);
	}
	return read_answer(a, r, res, kind, t);
}

/* ---------------------------------------------------------------------- */

rbi_progress rbi_answer_read(rbi_answer *a, rbi_reader *r, rb_result *res)
{
	rbi_progress progress;
	rbi_token_kind kind;
	rbi_token t;

	for (;;) {
		if (a->batch->shape == RBI_SHAPE_VALUES)
			read_run(a, r);
		kind = rbi_reader_next(r, &t);
		if (kind == RBI_TOKEN_MORE)
			return RBI_PROGRESS_MORE;
		if (kind == RBI_TOKEN_BROKEN) {
			a->message = r->problem;
			return RBI_PROGRESS_BROKEN;
		}
		progress = read_token(a, r, res, kind, &t);
		if (progress != RBI_PROGRESS_MORE)
			return progress;
		if (t.last && --a->left == 0) {
			rbi_verdict_conclude(a);
			return RBI_PROGRESS_DONE;
		}
		if (t.last && a->steps)
			go_on(a);
	}
}

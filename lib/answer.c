#include "answer.h"

/* A text that is kept even when nothing more should be. */
#define SMALL_TEXT 64

static const char in_multi[] =
	"the connection is inside MULTI: the command was queued, not run";
static const char watch_failed[] =
	"EXEC answered nil: a watched key was changed, nothing was applied";

/* How many commands a chunk has, but for MULTI and EXEC. */
static size_t inner_commands(const rbi_answer *a)
{
	return a->batch->form == RBI_FORM_GATHER ? 1 : a->count;
}

void rbi_answer_init(rbi_answer *a, const rbi_cut *cut, rbi_entry *entries,
		     rb_result *res)
{
	bool transaction = cut->batch->transaction;

	a->batch = cut->batch;
	a->entries = entries;
	a->count = cut->count;
	a->stage = transaction ? RBI_STAGE_MULTI : RBI_STAGE_ANSWERS;
	a->base = transaction ? 1 : 0;
	a->left = rbi_batch_commands(cut->batch, cut->count);
	a->queued = 0;
	a->seen = 0;
	a->failed = 0;
	a->unmet = 0;
	a->later = 0;
	a->later_route = RBI_ROUTE_ANSWER;
	a->number = 0;
	a->status = RB_OK;
	a->outcome = RB_ANSWERED;
	a->route = RBI_ROUTE_ANSWER;
	a->message = "";
	a->keep = NULL;
	rbi_reply_init(&a->builder, &res->notes);
}

/* ------------------------------------------------- the chunk as a whole -- */

/* A message is never empty where something failed. */
static const char *error_words(const rbi_token *t)
{
	if (t->len == 0 || t->data[0] == '\0')
		return "an error without text";
	return t->data;
}

/* A proxy that lost its server does not know what that did. */
static void doubt(rbi_answer *a, const rbi_token *t)
{
	rbi_hints hints = rbi_route_hints(t->data, t->len);

	if (hints.in_part)
		a->outcome = RB_PARTLY;
	if (!hints.upstream)
		return;
	a->outcome = RB_UNKNOWN;
	a->route = RBI_ROUTE_FAIL;
}

static void refuse(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	a->status = RB_ERR_SERVER;
	a->outcome = RB_REJECTED;
	a->route = rbi_route_error(t->data, t->len, false);
	a->message = error_words(t);
	a->keep = r->pos;
	if (!a->batch->reads)
		doubt(a, t);
}

static bool is_word(rbi_token_kind kind, const rbi_token *t, const char *word)
{
	return kind == RBI_TOKEN_SIMPLE && t->len == strlen(word) &&
	       memcmp(t->data, word, t->len) == 0;
}

/* The caller's own MULTI swallowed the command, and will do so with all. */
static void swallowed(rbi_answer *a)
{
	a->status = RB_ERR_PROTOCOL;
	a->outcome = RB_UNKNOWN;
	a->route = RBI_ROUTE_STOP;
	a->message = in_multi;
}

static rbi_progress wrong(rbi_answer *a, rb_result *res, rbi_token_kind kind,
			  const char *wanted)
{
	char text[160];
	const rb_slice *name = &a->batch->command;

	rbi_print(text, sizeof(text), "%.*s was answered by %s instead of %s",
		  (int)name->len, name->data != NULL ? name->data : "",
		  rbi_token_text(kind), wanted);
	a->message = rbi_result_note(res, RB_ERR_PROTOCOL, text);
	return RBI_PROGRESS_BROKEN;
}

/* Common to all answers that stand for the whole chunk. */
static rbi_progress odd_whole(rbi_answer *a, rbi_reader *r, rb_result *res,
			      rbi_token_kind kind, const rbi_token *t,
			      const char *wanted)
{
	if (kind == RBI_TOKEN_ERROR)
		refuse(a, r, t);
	else if (is_word(kind, t, "QUEUED"))
		swallowed(a);
	else
		return wrong(a, res, kind, wanted);
	return RBI_PROGRESS_MORE;
}

/* ---------------------------------------------------- entries that fail -- */

/* An entry fails alone; its chunk is told the first reason. */
static void fail_entry(rbi_answer *a, rbi_entry *entry, rbi_state state,
		       const void *data, const char *message)
{
	rbi_entry_set(entry, state, data, 0);
	if (a->failed++ == 0)
		a->message = message;
	if (a->status == RB_OK)
		a->status = RB_ERR_PARTIAL;
}

/* An error that answers one command of many, or is one element of many. */
static void fail_by_error(rbi_answer *a, rbi_reader *r, rbi_entry *entry,
			  const rbi_token *t)
{
	bool doubt =
		!a->batch->reads && rbi_route_hints(t->data, t->len).upstream;

	fail_entry(a, entry, doubt ? RBI_STATE_DOUBT : RBI_STATE_ERROR,
		   error_words(t), error_words(t));
	a->keep = r->pos;
}

/* Once nothing more may be kept. */
static bool is_past_bound(const rbi_reader *r)
{
	return r->max_value == 0;
}

static const char *too_long(const rbi_reader *r)
{
	if (is_past_bound(r))
		return "the result has reached max_result_bytes";
	return "the value is longer than max_value_bytes";
}

static bool is_for_later(rbi_route route)
{
	return route == RBI_ROUTE_LATER || route == RBI_ROUTE_AGAIN;
}

/*
 * The route of an error to one command of many, as far as it concerns the
 * chunks to come. Only the commands of a pipeline are of many kinds. A command
 * by itself can be neither split nor shrunk.
 */
static rbi_route route_of_one(const rbi_answer *a, const rbi_token *t)
{
	bool many = a->batch->shape == RBI_SHAPE_REPLIES;
	rbi_route route = rbi_route_error(t->data, t->len, many);

	if (route == RBI_ROUTE_SHRINK)
		return RBI_ROUTE_STOP;
	if (route == RBI_ROUTE_ISOLATE || route == RBI_ROUTE_SPLIT ||
	    rbi_route_hints(t->data, t->len).upstream)
		return many ? RBI_ROUTE_ANSWER : RBI_ROUTE_FAIL;
	return route;
}

/* Of commands that were refused for now, some others of the chunk may have
 * been run: only if none was, the chunk can be sent again. */
static void heed_route(rbi_answer *a, const rbi_token *t)
{
	rbi_route route = route_of_one(a, t);

	if (is_for_later(route)) {
		a->later++;
		a->later_route = route;
	} else if (route > a->route) {
		a->route = route;
	}
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
		fail_by_error(a, r, entry, t);
	} else if (kind == RBI_TOKEN_LONG) {
		words = too_long(r);
		fail_entry(a, entry, RBI_STATE_LONG, words, words);
	} else {
		words = wrong_element(kind);
		fail_entry(a, entry, RBI_STATE_SHAPE, words, words);
	}
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
	if (kind != RBI_TOKEN_ARRAY)
		return odd_whole(a, r, res, kind, t, "an array");
	if ((uint64_t)t->number == a->count)
		return RBI_PROGRESS_MORE;
	rbi_print(text, sizeof(text),
		  "%.20s of %zu was answered by %lld elements",
		  a->batch->command.data, a->count, (long long)t->number);
	a->message = rbi_result_note(res, RB_ERR_PROTOCOL, text);
	return RBI_PROGRESS_BROKEN;
}

/* --------------------------------------------------------- other shapes -- */

static rbi_progress read_integer(rbi_answer *a, rbi_reader *r, rb_result *res,
				 rbi_token_kind kind, const rbi_token *t)
{
	if (kind != RBI_TOKEN_INTEGER)
		return odd_whole(a, r, res, kind, t, "an integer");
	a->number = t->number;
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_ok(rbi_answer *a, rbi_reader *r, rb_result *res,
			    rbi_token_kind kind, const rbi_token *t)
{
	if (is_word(kind, t, "OK"))
		return RBI_PROGRESS_MORE;
	return odd_whole(a, r, res, kind, t, "OK");
}

/* A key of another type has no length, and will be answered nil. */
static rbi_progress read_size(rbi_answer *a, rbi_reader *r, rb_result *res,
			      rbi_token_kind kind, const rbi_token *t)
{
	rbi_entry *entry = &a->entries[a->seen++];
	size_t size = 0;

	if (kind == RBI_TOKEN_ERROR &&
	    (t->len < 9 || memcmp(t->data, "WRONGTYPE", 9) != 0)) {
		heed_route(a, t);
		fail_by_error(a, r, entry, t);
		return RBI_PROGRESS_MORE;
	}
	if (kind != RBI_TOKEN_INTEGER && kind != RBI_TOKEN_ERROR)
		return odd_whole(a, r, res, kind, t, "an integer");
	if (kind == RBI_TOKEN_INTEGER && t->number > 0)
		size = rbi_min((size_t)t->number, UINT32_MAX);
	rbi_entry_set(entry, RBI_STATE_DONE, NULL, size);
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_set(rbi_answer *a, rbi_reader *r, rb_result *res,
			     rbi_token_kind kind, const rbi_token *t)
{
	rbi_entry *entry = &a->entries[a->seen++];

	if (is_word(kind, t, "OK")) {
		rbi_entry_set(entry, RBI_STATE_DONE, NULL, 0);
	} else if (kind == RBI_TOKEN_NIL) {
		rbi_entry_set(entry, RBI_STATE_UNMET, NULL, 0);
		a->unmet++;
	} else if (kind == RBI_TOKEN_ERROR) {
		heed_route(a, t);
		fail_by_error(a, r, entry, t);
	} else {
		return odd_whole(a, r, res, kind, t, "OK");
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

	if (is_past_bound(r) && (!is_root || is_heavy(kind, t)))
		rbi_reply_drop(&a->builder);
	if (rbi_reply_take(&a->builder, kind, t, &whole) != RB_OK)
		return RBI_PROGRESS_NOMEM;
	if (t->data != NULL && !a->builder.full)
		a->keep = r->pos;
	if (whole == NULL)
		return RBI_PROGRESS_MORE;
	a->seen++;
	if (whole == rbi_reply_dropped()) {
		fail_entry(a, entry, RBI_STATE_LONG, too_long(r), too_long(r));
	} else if (is_root && kind == RBI_TOKEN_ERROR) {
		heed_route(a, t);
		fail_entry(a, entry, RBI_STATE_REPLY_ERROR, whole,
			   error_words(t));
	} else if (is_root && kind == RBI_TOKEN_LONG) {
		fail_entry(a, entry, RBI_STATE_LONG, too_long(r), too_long(r));
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

/* ---------------------------------------------------------- transactions -- */

/*
 * MULTI was refused, so what followed ran by itself, or went into a
 * transaction of the caller's that was open already and is now executed.
 */
static void multi_refused(rbi_answer *a, rbi_reader *r, rb_result *res,
			  const rbi_token *t)
{
	char text[256];

	refuse(a, r, t);
	rbi_print(text, sizeof(text), "MULTI was refused: %.200s", a->message);
	a->message = rbi_result_note(res, RB_ERR_SERVER, text);
	a->outcome = RB_UNKNOWN;
	if (a->route < RBI_ROUTE_STOP)
		a->route = RBI_ROUTE_STOP;
	a->stage = RBI_STAGE_IGNORE;
}

/* One command of the transaction was not queued, so EXEC will abort. */
static void not_queued(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	rbi_route route = a->batch->form == RBI_FORM_GATHER ?
				  rbi_route_error(t->data, t->len, false) :
				  route_of_one(a, t);

	if (route > a->route)
		a->route = route;
	if (a->batch->form != RBI_FORM_GATHER)
		fail_by_error(a, r, &a->entries[a->queued], t);
	else
		a->message = error_words(t);
	a->keep = r->pos;
}

static rbi_progress read_queued(rbi_answer *a, rbi_reader *r, rb_result *res,
				rbi_token_kind kind, const rbi_token *t)
{
	if (kind == RBI_TOKEN_ERROR)
		not_queued(a, r, t);
	else if (!is_word(kind, t, "QUEUED"))
		return wrong(a, res, kind, "QUEUED");
	if (++a->queued == inner_commands(a))
		a->stage = RBI_STAGE_EXEC;
	return RBI_PROGRESS_MORE;
}

/* EXEC's own words say little; why it aborted was said before. */
static void aborted(rbi_answer *a, rbi_reader *r, rb_result *res,
		    const rbi_token *t)
{
	const char *first = a->message;
	rbi_route route = a->route;
	char text[256];

	refuse(a, r, t);
	if (a->route < route)
		a->route = route;
	if (first[0] == '\0')
		return;
	rbi_print(text, sizeof(text), "%.90s (%.150s)", error_words(t), first);
	a->message = rbi_result_note(res, RB_ERR_SERVER, text);
}

static rbi_progress read_exec(rbi_answer *a, rbi_reader *r, rb_result *res,
			      rbi_token_kind kind, const rbi_token *t)
{
	a->stage = RBI_STAGE_ANSWERS;
	if (kind == RBI_TOKEN_ARRAY && (uint64_t)t->number == inner_commands(a))
		return RBI_PROGRESS_MORE;
	if (kind == RBI_TOKEN_ERROR) {
		aborted(a, r, res, t);
	} else if (kind == RBI_TOKEN_NIL || kind == RBI_TOKEN_NIL_ARRAY) {
		a->status = RB_ERR_SERVER;
		a->outcome = RB_REJECTED;
		a->message = watch_failed;
	} else {
		return wrong(a, res, kind, "an array of its answers");
	}
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_token(rbi_answer *a, rbi_reader *r, rb_result *res,
			       rbi_token_kind kind, const rbi_token *t)
{
	switch (a->stage) {
	case RBI_STAGE_ANSWERS:
		return read_answer(a, r, res, kind, t);
	case RBI_STAGE_IGNORE:
		return RBI_PROGRESS_MORE;
	case RBI_STAGE_QUEUED:
		return read_queued(a, r, res, kind, t);
	case RBI_STAGE_EXEC:
		return read_exec(a, r, res, kind, t);
	case RBI_STAGE_MULTI:
		break;
	}
	a->stage = RBI_STAGE_QUEUED;
	if (is_word(kind, t, "OK"))
		return RBI_PROGRESS_MORE;
	if (kind != RBI_TOKEN_ERROR)
		return wrong(a, res, kind, "OK");
	multi_refused(a, r, res, t);
	return RBI_PROGRESS_MORE;
}

/* ---------------------------------------------------------------------- */

/* What became of a chunk of many commands, entry by entry. */
static void conclude(rbi_answer *a)
{
	size_t not_applied = a->failed + a->unmet;

	if (a->later == a->count && a->status == RB_ERR_PARTIAL) {
		a->status = RB_ERR_SERVER;
		a->route = a->later_route;
	}
	if (not_applied == 0 || a->outcome != RB_ANSWERED ||
	    a->batch->shape == RBI_SHAPE_VALUES)
		return;
	a->outcome = not_applied == a->count ? RB_REJECTED : RB_PARTLY;
}

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
			conclude(a);
			return RBI_PROGRESS_DONE;
		}
	}
}

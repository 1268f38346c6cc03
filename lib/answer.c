#include "answer.h"

static const char in_multi[] =
	"the connection is inside MULTI: the command was queued, not run";

void rbi_answer_init(rbi_answer *a, rbi_entry *entries, size_t count)
{
	a->entries = entries;
	a->count = count;
	a->seen = 0;
	a->failed = 0;
	a->status = RB_OK;
	a->outcome = RB_ANSWERED;
	a->route = RBI_ROUTE_ANSWER;
	a->message = "";
	a->keep = NULL;
}

/* ------------------------------------------------------------- the head -- */

static void refused(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	a->status = RB_ERR_SERVER;
	a->outcome = RB_REJECTED;
	a->route = rbi_route_error(t->data, t->len);
	a->message = t->data;
	a->keep = r->pos;
}

/* The caller's own MULTI swallowed the command, and will do so with all. */
static void queued(rbi_answer *a)
{
	a->status = RB_ERR_PROTOCOL;
	a->outcome = RB_UNKNOWN;
	a->route = RBI_ROUTE_STOP;
	a->message = in_multi;
}

static rbi_progress wrong_head(rbi_answer *a, rb_result *res,
			       const rbi_batch *b, rbi_token_kind kind,
			       const rbi_token *t)
{
	char text[160];

	if (kind == RBI_TOKEN_ARRAY)
		rbi_print(text, sizeof(text),
			  "%.20s of %zu was answered by %lld elements",
			  b->command.data, a->count, (long long)t->number);
	else
		rbi_print(text, sizeof(text),
			  "%.20s was answered by %s instead of an array",
			  b->command.data, rbi_token_text(kind));
	a->message = rbi_result_note(res, RB_ERR_PROTOCOL, text);
	return RBI_PROGRESS_BROKEN;
}

static rbi_progress read_head(rbi_answer *a, rbi_reader *r, rb_result *res,
			      const rbi_batch *b, rbi_token_kind kind,
			      const rbi_token *t)
{
	if (kind == RBI_TOKEN_ARRAY && (uint64_t)t->number == a->count)
		return RBI_PROGRESS_MORE;
	if (kind == RBI_TOKEN_ERROR) {
		refused(a, r, t);
		return RBI_PROGRESS_DONE;
	}
	if (kind == RBI_TOKEN_SIMPLE && t->len == 6 &&
	    memcmp(t->data, "QUEUED", 6) == 0) {
		queued(a);
		return RBI_PROGRESS_DONE;
	}
	return wrong_head(a, res, b, kind, t);
}

/* --------------------------------------------------------- the elements -- */

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

/* An entry fails alone; its chunk is told the first reason. */
static void fail_entry(rbi_answer *a, rbi_entry *entry, rbi_state state,
		       const char *message)
{
	rbi_entry_set(entry, state, message, 0);
	if (a->failed++ == 0)
		a->message = message;
	a->status = RB_ERR_PARTIAL;
}

static void odd_element(rbi_answer *a, rbi_reader *r, rbi_entry *entry,
			rbi_token_kind kind, const rbi_token *t)
{
	if (kind == RBI_TOKEN_ERROR) {
		fail_entry(a, entry, RBI_STATE_ERROR, t->data);
		a->keep = r->pos;
	} else if (kind == RBI_TOKEN_LONG) {
		fail_entry(a, entry, RBI_STATE_LONG,
			   "the value is longer than allowed");
	} else {
		fail_entry(a, entry, RBI_STATE_SHAPE, wrong_element(kind));
	}
}

/* Takes strings for as long as there is nothing but strings. */
static void read_run(rbi_answer *a, rbi_reader *r)
{
	rbi_entry *entry = &a->entries[a->seen];
	rbi_entry *begin = entry;
	size_t len;
	char *data;

	if (r->depth != 1 || !rbi_reader_in_run(r))
		return;
	while (rbi_reader_string(r, &data, &len))
		rbi_entry_set(entry++, RBI_STATE_VALUE, data, len);
	if (entry == begin)
		return;
	a->seen += (size_t)(entry - begin);
	a->keep = r->pos;
}

static void read_element(rbi_answer *a, rbi_reader *r, rbi_token_kind kind,
			 const rbi_token *t)
{
	rbi_entry *entry = &a->entries[a->seen++];

	if (kind == RBI_TOKEN_BULK) {
		rbi_entry_set(entry, RBI_STATE_VALUE, t->data, t->len);
		a->keep = r->pos;
	} else if (kind == RBI_TOKEN_NIL) {
		rbi_entry_set(entry, RBI_STATE_NIL, NULL, 0);
	} else {
		odd_element(a, r, entry, kind, t);
	}
}

rbi_progress rbi_answer_read(rbi_answer *a, rbi_reader *r, rb_result *res,
			     const rbi_batch *b)
{
	rbi_progress progress;
	rbi_token_kind kind;
	rbi_token t;

	for (;;) {
		read_run(a, r);
		kind = rbi_reader_next(r, &t);
		if (kind == RBI_TOKEN_MORE)
			return RBI_PROGRESS_MORE;
		if (kind == RBI_TOKEN_BROKEN) {
			a->message = r->problem;
			return RBI_PROGRESS_BROKEN;
		}
		if (t.depth == 1) {
			read_element(a, r, kind, &t);
		} else if (t.depth == 0) {
			progress = read_head(a, r, res, b, kind, &t);
			if (progress != RBI_PROGRESS_MORE)
				return progress;
		}
		/* Deeper ones belong to an element that failed already. */
		if (t.last)
			return RBI_PROGRESS_DONE;
	}
}

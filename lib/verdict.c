#include "verdict.h"

static const char in_multi[] =
	"the connection is inside MULTI: the command was queued, not run";

/* ------------------------------------------------- the chunk as a whole -- */

/* A message is never empty where something failed. */
const char *rbi_verdict_words(const rbi_token *t)
{
	if (t->len == 0 || t->data[0] == '\0')
		return "an error without text";
	return t->data;
}

/* Who knows no other node cannot go there. */
rbi_route rbi_verdict_text_route(const rbi_answer *a, const rbi_token *t,
				 bool one_of_many)
{
	rbi_route route = rbi_route_error(t->data, t->len, one_of_many);

	if (a->batch->clustered)
		return route;
	if (route == RBI_ROUTE_REDIRECT)
		return RBI_ROUTE_FAIL;
	return route == RBI_ROUTE_ALONE ? RBI_ROUTE_AGAIN : route;
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

void rbi_verdict_refuse(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	a->status = RB_ERR_SERVER;
	a->outcome = RB_REJECTED;
	a->route = rbi_verdict_text_route(a, t, false);
	a->message = rbi_verdict_words(t);
	a->keep = r->pos;
	(void)rbi_verdict_note_refusal(a, r, t);
	if (!a->batch->reads)
		doubt(a, t);
}

/* The caller's own MULTI swallowed the command, and will do so with all. */
static void swallowed(rbi_answer *a)
{
	a->status = RB_ERR_PROTOCOL;
	a->outcome = RB_UNKNOWN;
	a->route = RBI_ROUTE_STOP;
	a->message = in_multi;
}

rbi_progress rbi_verdict_wrong(rbi_answer *a, rb_result *res,
			       rbi_token_kind kind, const char *wanted)
{
	char text[160];
	const rb_slice *name = rbi_plan_name(&a->cut, a->end - a->seen);

	rbi_print(text, sizeof(text), "%.*s was answered by %s instead of %s",
		  (int)name->len, name->data != NULL ? name->data : "",
		  rbi_token_text(kind), wanted);
	a->message = rbi_result_note(res, RB_ERR_PROTOCOL, text);
	return RBI_PROGRESS_BROKEN;
}

/* Common to all answers that stand for the whole chunk. */
rbi_progress rbi_verdict_odd(rbi_answer *a, rbi_reader *r, rb_result *res,
			     rbi_token_kind kind, const rbi_token *t,
			     const char *wanted)
{
	if (kind == RBI_TOKEN_ERROR)
		rbi_verdict_refuse(a, r, t);
	else if (rbi_verdict_is_word(kind, t, "QUEUED"))
		swallowed(a);
	else
		return rbi_verdict_wrong(a, res, kind, wanted);
	return RBI_PROGRESS_MORE;
}

/* ---------------------------------------------------- entries that fail -- */

/* An entry fails alone; its chunk is told the first reason. */
void rbi_verdict_fail(rbi_answer *a, rbi_entry *entry, rbi_state state,
		      const void *data, const char *message)
{
	rbi_entry_set(entry, state, data, 0);
	if (a->failed++ == 0)
		a->message = message;
	if (a->status == RB_OK)
		a->status = RB_ERR_PARTIAL;
}

/* An error that answers one command of many, or is one element of many. */
void rbi_verdict_error(rbi_answer *a, rbi_reader *r, rbi_entry *entry,
		       const rbi_token *t)
{
	bool doubt =
		!a->batch->reads && rbi_route_hints(t->data, t->len).upstream;

	rbi_verdict_fail(a, entry, doubt ? RBI_STATE_DOUBT : RBI_STATE_ERROR,
			 rbi_verdict_words(t), rbi_verdict_words(t));
	a->keep = r->pos;
}

void rbi_verdict_group_error(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	rbi_hints hints = rbi_route_hints(t->data, t->len);
	bool doubt = !a->batch->reads && (hints.upstream || hints.in_part);
	size_t count = a->end - a->seen;

	rbi_verdict_heed(a, r, t, count);
	a->errors += count;
	a->doubts += doubt ? count : 0;
	while (a->seen < a->end)
		rbi_verdict_fail(a, &a->entries[a->seen++],
				 doubt ? RBI_STATE_DOUBT : RBI_STATE_ERROR,
				 rbi_verdict_words(t), rbi_verdict_words(t));
	a->keep = r->pos;
}

const char *rbi_verdict_too_long(const rbi_reader *r)
{
	if (rbi_verdict_past_bound(r))
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
rbi_route rbi_verdict_route(const rbi_answer *a, const rbi_token *t)
{
	bool many = a->batch->shape == RBI_SHAPE_REPLIES;
	rbi_route route = rbi_verdict_text_route(a, t, many);

	if (route == RBI_ROUTE_SHRINK)
		return RBI_ROUTE_STOP;
	if (route == RBI_ROUTE_ISOLATE || route == RBI_ROUTE_SPLIT ||
	    rbi_route_hints(t->data, t->len).upstream)
		return many ? RBI_ROUTE_ANSWER : RBI_ROUTE_FAIL;
	return route;
}

static bool is_mendable(rbi_route route)
{
	switch (route) {
	case RBI_ROUTE_ANSWER:
	case RBI_ROUTE_FAIL:
	case RBI_ROUTE_STOP:
	case RBI_ROUTE_CLOSE:
		return false;
	case RBI_ROUTE_REDIRECT:
	case RBI_ROUTE_REGROUP:
	case RBI_ROUTE_ALONE:
	case RBI_ROUTE_ISOLATE:
	case RBI_ROUTE_SPLIT:
	case RBI_ROUTE_AGAIN:
	case RBI_ROUTE_SHRINK:
	case RBI_ROUTE_LATER:
		break;
	}
	return true;
}

/* A write that a proxy lost may have been run, so it was not refused. */
bool rbi_verdict_note_refusal(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	rbi_route route;

	if (!a->batch->clustered)
		return false;
	route = rbi_route_error(t->data, t->len, false);
	if (!is_mendable(route) ||
	    (!a->batch->reads && rbi_route_hints(t->data, t->len).upstream))
		return false;
	a->refused++;
	if (route == RBI_ROUTE_REDIRECT && a->redirect == NULL) {
		a->redirect = t->data;
		a->keep = r->pos;
	}
	return true;
}

/* Of commands that were refused for now, some others of the chunk may have
 * been run: only if none was, the chunk can be sent again. In a cluster each
 * can go again by itself. */
void rbi_verdict_heed(rbi_answer *a, rbi_reader *r, const rbi_token *t,
		      size_t count)
{
	rbi_route route = rbi_verdict_route(a, t);

	if (rbi_verdict_note_refusal(a, r, t))
		return;
	if (is_for_later(route)) {
		a->later += count;
		a->later_route = route;
	} else if (route > a->route) {
		a->route = route;
	}
}

/* ------------------------------------------------------------ conclusion -- */

/* None of its commands was run: as if it were one that was refused. */
static bool was_refused_whole(const rbi_answer *a)
{
	if (a->status != RB_ERR_PARTIAL)
		return false;
	if (a->batch->form == RBI_FORM_GATHER)
		return a->errors == a->count;
	return a->batch->clustered && a->refused == a->count;
}

/* What became of a chunk of many commands, entry by entry. */
void rbi_verdict_conclude(rbi_answer *a)
{
	size_t not_applied = a->failed + a->unmet;

	bool refused = was_refused_whole(a);

	if (a->later == a->count && a->status == RB_ERR_PARTIAL) {
		a->status = RB_ERR_SERVER;
		a->route = a->later_route;
	}
	if (refused) {
		a->status = RB_ERR_SERVER;
		a->outcome = a->doubts > 0 ? RB_UNKNOWN : RB_REJECTED;
	}
	if (not_applied == 0 || a->outcome != RB_ANSWERED ||
	    a->batch->shape == RBI_SHAPE_VALUES ||
	    (a->grouped && a->batch->reads))
		return;
	a->outcome = not_applied == a->count ? RB_REJECTED : RB_PARTLY;
}

#include "exec.h"

static const char watch_failed[] =
	"EXEC answered nil: a watched key was changed, nothing was applied";

/*
 * MULTI was refused, so what followed ran by itself, or went into a
 * transaction of the caller's that was open already and is now executed.
 */
static void multi_refused(rbi_answer *a, rbi_reader *r, rb_result *res,
			  const rbi_token *t)
{
	char text[256];

	rbi_verdict_refuse(a, r, t);
	rbi_print(text, sizeof(text), "MULTI was refused: %.200s", a->message);
	a->message = rbi_result_note(res, RB_ERR_SERVER, text);
	a->outcome = RB_UNKNOWN;
	a->refused = 0;
	a->redirect = NULL;
	if (a->route < RBI_ROUTE_STOP)
		a->route = RBI_ROUTE_STOP;
	a->stage = RBI_STAGE_IGNORE;
}

/* The first command that is refused in a cluster says where all shall go. */
static void heed_not_queued(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	bool first = a->message[0] == '\0';
	bool refused = rbi_verdict_note_refusal(a, r, t);
	rbi_route route = refused || a->batch->form == RBI_FORM_GATHER ?
				  rbi_verdict_text_route(a, t, false) :
				  rbi_verdict_route(a, t);

	if (route > a->route && (first || !refused))
		a->route = route;
}

/* One command of the transaction was not queued, so EXEC will abort. */
static void not_queued(rbi_answer *a, rbi_reader *r, const rbi_token *t)
{
	heed_not_queued(a, r, t);
	if (a->batch->form != RBI_FORM_GATHER)
		rbi_verdict_error(a, r, &a->entries[a->queued], t);
	else if (a->message[0] == '\0')
		a->message = rbi_verdict_words(t);
	a->keep = r->pos;
}

static rbi_progress read_queued(rbi_answer *a, rbi_reader *r, rb_result *res,
				rbi_token_kind kind, const rbi_token *t)
{
	if (kind == RBI_TOKEN_ERROR)
		not_queued(a, r, t);
	else if (!rbi_verdict_is_word(kind, t, "QUEUED"))
		return rbi_verdict_wrong(a, res, kind, "QUEUED");
	if (++a->queued == a->commands)
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

	rbi_verdict_refuse(a, r, t);
	if (a->route < route)
		a->route = route;
	if (first[0] == '\0')
		return;
	rbi_print(text, sizeof(text), "%.90s (%.150s)", rbi_verdict_words(t),
		  first);
	a->message = rbi_result_note(res, RB_ERR_SERVER, text);
}

static rbi_progress read_exec(rbi_answer *a, rbi_reader *r, rb_result *res,
			      rbi_token_kind kind, const rbi_token *t)
{
	a->stage = RBI_STAGE_ANSWERS;
	if (kind == RBI_TOKEN_ARRAY && (uint64_t)t->number == a->commands)
		return RBI_PROGRESS_MORE;
	if (kind == RBI_TOKEN_ERROR) {
		aborted(a, r, res, t);
	} else if (kind == RBI_TOKEN_NIL || kind == RBI_TOKEN_NIL_ARRAY) {
		a->status = RB_ERR_SERVER;
		a->outcome = RB_REJECTED;
		a->message = watch_failed;
	} else {
		return rbi_verdict_wrong(a, res, kind,
					 "an array of its answers");
	}
	return RBI_PROGRESS_MORE;
}

static rbi_progress read_multi(rbi_answer *a, rbi_reader *r, rb_result *res,
			       rbi_token_kind kind, const rbi_token *t)
{
	a->stage = RBI_STAGE_QUEUED;
	if (rbi_verdict_is_word(kind, t, "OK"))
		return RBI_PROGRESS_MORE;
	if (kind != RBI_TOKEN_ERROR)
		return rbi_verdict_wrong(a, res, kind, "OK");
	multi_refused(a, r, res, t);
	return RBI_PROGRESS_MORE;
}

rbi_progress rbi_exec_read(rbi_answer *a, rbi_reader *r, rb_result *res,
			   rbi_token_kind kind, const rbi_token *t)
{
	if (a->stage == RBI_STAGE_MULTI)
		return read_multi(a, r, res, kind, t);
	if (a->stage == RBI_STAGE_QUEUED)
		return read_queued(a, r, res, kind, t);
	return read_exec(a, r, res, kind, t);
}

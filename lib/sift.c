#include "sift.h"

#include "refusal.h"

/* Sends a part again, or reports that it failed. */
static void see_to(rbi_engine *e, rbi_parcel *p, const rbi_refusal *r,
		   uint64_t now_us)
{
	rbi_fate fate = { r->status, r->outcome, r->message };

	if (e->elsewhere->take(e->elsewhere->arg, p, r, &fate, now_us)) {
		rbi_parcel_clear(p);
		return;
	}
	if (!rbi_refusal_is_of_nodes(r) && rbi_recover_refused(e, p, r, now_us))
		return;
	rbi_print(e->words, sizeof(e->words), "%s", fate.message);
	if (fate.message != r->message)
		rbi_parcel_clear(p);
	rbi_settle_parcel(e, p, &fate);
}

/* Whether entries of an answered chunk may differ in what became of them. One
 * command has one refusal, which its entries do not know; a transaction is
 * refused as a whole, in the words that its first command was. */
static bool is_divided(const rbi_engine *e)
{
	const rbi_answer *a = &e->lane->answer;

	return !e->batch->transaction &&
	       (e->batch->form != RBI_FORM_GATHER || a->grouped);
}

/* Whether all of a chunk was refused at once, and by who knows the nodes. */
static bool is_whole(const rbi_engine *e, rbi_refusal *r)
{
	const rbi_answer *a = &e->lane->answer;

	r->route = a->route;
	r->status = a->status;
	r->outcome = a->outcome;
	r->message = a->redirect != NULL ? a->redirect : a->message;
	return !is_divided(e) && a->status == RB_ERR_SERVER &&
	       a->outcome == RB_REJECTED && rbi_refusal_is_of_nodes(r);
}

void rbi_sift_answered(rbi_engine *e, uint64_t now_us)
{
	const rbi_answer *a = &e->lane->answer;
	rbi_parcel p = rbi_settle_oldest(e);
	rbi_account account;
	rbi_refusal r;
	bool whole = is_whole(e, &r);

	if (e->elsewhere == NULL || e->stopped || e->lane->nsent == 0 ||
	    a->route >= RBI_ROUTE_STOP ||
	    (!whole && (a->refused == 0 || !is_divided(e)))) {
		rbi_recover_answered(e, now_us);
		return;
	}
	account = rbi_settle_account(e, now_us);
	rbi_settle_count(e);
	rbi_recover_learn(e, now_us);
	rbi_lane_pop(e->lane);
	if (whole)
		see_to(e, &p, &r, now_us);
	else
		rbi_refusal_sift(e, p, account, see_to, now_us);
}

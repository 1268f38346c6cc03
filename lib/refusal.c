#include "refusal.h"

/* ----------------------------------------------------- what was refused -- */

/* The words in which an entry was refused; NULL: it was not. */
static const char *words_of(const rbi_parcel *p, size_t i)
{
	rbi_state state = rbi_entry_state(&p->entries[i]);

	if (state != RBI_STATE_ERROR && state != RBI_STATE_REPLY_ERROR)
		return NULL;
	return rbi_entry_words(&p->entries[i]);
}

/* Whether a command that was refused like this may fare better. One by itself
 * can be made neither smaller nor to ask for less. */
static bool is_worth_it(const rbi_parcel *p, const char *words, rbi_route route)
{
	bool lone = p->cut.batch->form != RBI_FORM_GATHER;

	switch (route) {
	case RBI_ROUTE_REDIRECT:
	case RBI_ROUTE_ALONE:
	case RBI_ROUTE_LATER:
		return true;
	case RBI_ROUTE_AGAIN:
		return p->cut.batch->reads ||
		       !rbi_route_hints(words, strlen(words)).upstream;
	case RBI_ROUTE_ISOLATE:
	case RBI_ROUTE_SPLIT:
	case RBI_ROUTE_SHRINK:
		return !lone;
	case RBI_ROUTE_ANSWER:
	case RBI_ROUTE_FAIL:
	case RBI_ROUTE_REGROUP:
	case RBI_ROUTE_STOP:
	case RBI_ROUTE_CLOSE:
		break;
	}
	return false;
}

/* Whether the command of n entries from i on is to be sent again. Those of a
 * unit stand or fall together. */
static bool is_refused(const rbi_parcel *p, size_t i, size_t n, rbi_refusal *r)
{
	size_t end = p->cut.batch->form == RBI_FORM_GATHER ? i + 1 : i + n;

	for (; i < end; i++) {
		const char *words = words_of(p, i);

		if (words == NULL)
			continue;
		r->route = rbi_route_error(words, strlen(words), false);
		r->status = RB_ERR_SERVER;
		r->outcome = RB_REJECTED;
		r->message = words;
		if (is_worth_it(p, words, r->route))
			return true;
	}
	return false;
}

/* The beginning of "MOVED slot" and "ASK slot" may differ, and where to may
 * not. */
static const char *where_to(const char *words)
{
	const char *behind = strrchr(words, ' ');

	return behind != NULL ? behind : words;
}

static bool are_alike(const rbi_refusal *one, const rbi_refusal *two)
{
	if (one->route != two->route)
		return false;
	if (one->route != RBI_ROUTE_REDIRECT)
		return false;
	return one->message[0] == two->message[0] &&
	       strcmp(where_to(one->message), where_to(two->message)) == 0;
}

/* How many entries from i on, whose first command was refused, go the same
 * way. */
static size_t alike(const rbi_parcel *p, size_t i, const rbi_refusal *first)
{
	size_t begin = i;
	rbi_refusal r;

	do {
		i += rbi_plan_group(&p->cut, i);
	} while (i < p->cut.count &&
		 is_refused(p, i, rbi_plan_group(&p->cut, i), &r) &&
		 are_alike(first, &r));
	return i - begin;
}

/* ------------------------------------------------------------- what is done -- */

/* The first n entries, in a parcel of their own; *p is the rest. False: no
 * memory for that. */
static bool part(rbi_engine *e, rbi_parcel *p, size_t n, rbi_parcel *head)
{
	*head = *p;
	if (n < p->cut.count) {
		if (!e->feed->ops->divide(e->feed, p, n))
			return false;
		*head = rbi_parcel_part(p, 0, n);
		*p = rbi_parcel_part(p, n, p->cut.count - n);
	} else {
		p->cut.count = 0;
	}
	return true;
}

void rbi_refusal_sift(rbi_engine *e, rbi_parcel p, rbi_account account,
		      rbi_refused_fn *see_to, uint64_t now_us)
{
	rbi_parcel head;
	rbi_refusal r;
	size_t i = 0;

	while (i < p.cut.count) {
		if (!is_refused(&p, i, rbi_plan_group(&p.cut, i), &r)) {
			i += rbi_plan_group(&p.cut, i);
			continue;
		}
		if (i > 0) {
			if (!part(e, &p, i, &head))
				break;
			rbi_settle_known(e, &head, &account);
			account.number = 0;
		}
		if (!part(e, &p, alike(&p, 0, &r), &head))
			break;
		see_to(e, &head, &r, now_us);
		i = 0;
	}
	if (p.cut.count > 0)
		rbi_settle_known(e, &p, &account);
}

bool rbi_refusal_is_of_nodes(const rbi_refusal *r)
{
	return r->route == RBI_ROUTE_REDIRECT || r->route == RBI_ROUTE_ALONE ||
	       r->route == RBI_ROUTE_AGAIN;
}

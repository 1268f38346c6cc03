#include "refusal.h"

#include "label.h"

static bool answers_otherwise(const rb_command *c)
{
	static const char *const names[] = {
		"SUBSCRIBE",	"PSUBSCRIBE",	"SSUBSCRIBE", "UNSUBSCRIBE",
		"PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR",    "SYNC",
		"PSYNC",	"QUIT",		"SHUTDOWN",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (label_is(c, 0, names[i]))
			return true;
	}
	return label_is(c, 0, "CLIENT") && label_is(c, 1, "REPLY");
}

static bool has_long_word(const rb_command *c, size_t max)
{
	for (size_t i = 0; i < (size_t)c->argc; i++) {
		if (c->argvlen[i] > max)
			return true;
	}
	return false;
}

static const char *refuse_block(refusal *r, const rb_command *c)
{
	bool ends = label_is(c, 0, "EXEC") || label_is(c, 0, "DISCARD");

	if (r->transaction && (ends || label_is(c, 0, "MULTI")))
		return "--transaction puts MULTI and EXEC itself";
	if (label_is(c, 0, "MULTI")) {
		r->in_multi = true;
		return "MULTI cannot be part of a pipeline; see "
		       "--transaction";
	}
	if (!r->in_multi)
		return NULL;
	r->in_multi = !ends;
	return "it belongs to the MULTI above, which cannot be sent";
}

const char *refusal_of(refusal *r, const rb_command *c)
{
	const char *why = refuse_block(r, c);

	if (why == NULL && answers_otherwise(c))
		why = "it does not answer exactly once";
	if (why == NULL && has_long_word(c, r->max_word))
		why = "an argument is longer than --max-value";
	return why;
}

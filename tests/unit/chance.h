/*
 * A refuser that does by chance whatever a server may do.
 */
#ifndef RBT_CHANCE_H
#define RBT_CHANCE_H

#include "refuser.h"

static uint64_t chance;

/* Does what it was asked to, but ends before it says so. */
static inline void chance_serve_and_end(refuser *self, size_t argc,
					const rbt_arg *argv, rbt_reply *reply)
{
	rbt_reply unsaid;

	rbt_reply_init(&unsaid);
	refuser_do(self, argc, argv, &unsaid);
	/* Perhaps it says the half of it. */
	if (random_below(&chance, 2) == 0)
		rbt_reply_bytes(reply, unsaid.buf, unsaid.len / 2);
	rbt_reply_fini(&unsaid);
	reply->then =
		random_below(&chance, 2) == 0 ? RBT_THEN_CLOSE : RBT_THEN_RESET;
}

static inline bool chance_misbehave(refuser *self, size_t argc,
				    const rbt_arg *argv, rbt_reply *reply)
{
	static const char *const words[] = {
		"-LOADING the dataset\r\n",
		"-BUSY a script\r\n",
		"-TRYAGAIN Multiple keys request\r\n",
		"-upstream failure\r\n",
		"-OOM command not allowed\r\n",
		"-ERR something new\r\n",
		"-ERR max request size exceeded. Limit: 300 bytes\r\n",
	};
	size_t dice = random_below(&chance, 40);

	if (dice < N_OF(words)) {
		rbt_reply_text(reply, words[dice]);
		return true;
	}
	if (dice < 10) {
		chance_serve_and_end(self, argc, argv, reply);
		return true;
	}
	if (dice < 12) {
		self->in_multi = false;
		reply->then = RBT_THEN_CLOSE;
		return true;
	}
	self->words = "-ERR Protocol error: invalid multibulk length\r\n";
	if (refuse_arguments(self, argc, argv, reply)) {
		self->in_multi = false;
		return true;
	}
	self->words = "-NOPERM No permissions to access a key\r\n";
	return refuse_keys(self, argc, argv, reply);
}

/* What may be said of a write that was applied so often. */
static inline bool chance_is_true(rb_outcome outcome, size_t times)
{
	switch (outcome) {
	case RB_ANSWERED:
		return times == 1;
	case RB_NOT_SENT:
	case RB_REJECTED:
		return times == 0;
	case RB_UNKNOWN:
		return times <= 1;
	case RB_PARTLY:
		return false;
	}
	return false;
}

#endif

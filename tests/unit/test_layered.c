/*
 * A context with functions of its own, which are the test's: they follow a
 * list of what each write takes and each read gives, and note what came.
 */
#include "clock.h"
#include "layered.h"
#include "pair.h"
#include "transport.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#if HIREDIS_MAJOR >= 1

#define ALL (-1)
#define FAILS (-2)
#define ENDS (-3)

typedef struct layer {
	pair pair;
	rbi_transport t;
	const int *writes; /* what each takes: 0 later; behind the list ALL */
	size_t nwrites;
	const char *const *reads; /* what each gives; "" is later */
	size_t nreads;
	int last; /* behind them: 0 later, FAILS or ENDS */
	char sent[1 << 18];
	size_t nsent;
	size_t offered; /* at the last write */
	size_t calls;
} layer;

static layer *now;

static int cannot(redisContext *ctx, int err, const char *words)
{
	ctx->err = err;
	rbi_print(ctx->errstr, sizeof(ctx->errstr), "%s", words);
	return -1;
}

static ssize_t layer_write(redisContext *ctx)
{
	size_t len = sdslen(ctx->obuf);
	int act = ALL;

	now->calls++;
	now->offered = len;
	assert_int_equal(ctx->flags & REDIS_BLOCK, 0);
	if (now->nwrites > 0) {
		act = *now->writes++;
		now->nwrites--;
	}
	if (act == FAILS)
		return cannot(ctx, REDIS_ERR_IO, "the wire was cut");
	if (act != ALL && (size_t)act < len)
		len = (size_t)act;
	assert_true(len <= sizeof(now->sent) - now->nsent);
	memcpy(now->sent + now->nsent, ctx->obuf, len);
	now->nsent += len;
	return (ssize_t)len;
}

static ssize_t layer_read(redisContext *ctx, char *buf, size_t len)
{
	size_t n;

	now->calls++;
	assert_int_equal(ctx->flags & REDIS_BLOCK, 0);
	if (now->nreads == 0 && now->last == ENDS)
		return cannot(ctx, REDIS_ERR_EOF, "it said goodbye");
	if (now->nreads == 0 && now->last == FAILS)
		return cannot(ctx, REDIS_ERR_OTHER, "a bad record");
	if (now->nreads == 0)
		return 0;
	n = strlen(now->reads[0]);
	assert_true(n <= len);
	memcpy(buf, now->reads[0], n);
	now->reads++;
	now->nreads--;
	return (ssize_t)n;
}

static const redisContextFuncs own_funcs = {
	.read = layer_read,
	.write = layer_write,
};

static const redisContextFuncs *layer_init(layer *l)
{
	const redisContextFuncs *before;

	memset(l, 0, sizeof(*l));
	pair_init(&l->pair);
	before = l->pair.ctx->funcs;
	l->pair.ctx->funcs = &own_funcs;
	now = l;
	return before;
}

static void layer_fini(layer *l, const redisContextFuncs *before)
{
	rbi_transport_give(&l->t);
	l->pair.ctx->funcs = before;
	pair_fini(&l->pair);
}

static void layer_reads(layer *l, const char *const *reads, size_t n)
{
	l->reads = reads;
	l->nreads = n;
}

static rb_status take(layer *l, const char **problem)
{
	*problem = NULL;
	return rbi_transport_take(&l->t, l->pair.ctx, NULL,
				  rbi_transport_plain(), problem);
}

static void take_quiet(layer *l)
{
	const char *problem;

	assert_status(take(l, &problem), RB_OK);
	l->calls = 0;
}

static rbi_io send_text(layer *l, const char *text, size_t len, size_t *moved)
{
	union {
		const char *fixed;
		void *loose;
	} bytes = { text };
	struct iovec iov = { bytes.loose, len };

	*moved = 0;
	return rbi_transport_send(&l->t, &iov, len > 0, moved);
}

static bool is_nonblocking(const layer *l)
{
	return (fcntl(l->pair.ctx->fd, F_GETFL) & O_NONBLOCK) != 0;
}

/* ----------------------------------------------------- taking and giving -- */

static void test_a_plain_context_is_told_from_a_layered_one(void **state)
{
	pair p;

	(void)state;
	pair_init(&p);
	assert_false(rbi_layered_is(p.ctx, rbi_layered_plain()));
	p.ctx->privctx = &p;
	assert_true(rbi_layered_is(p.ctx, rbi_layered_plain()));
	p.ctx->privctx = NULL;
	pair_fini(&p);
}

static void test_a_taken_context_does_not_block_until_it_is_given(void **state)
{
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	assert_true(is_nonblocking(&l));
	assert_int_equal(l.pair.ctx->flags & REDIS_BLOCK, 0);
	rbi_transport_give(&l.t);
	assert_false(is_nonblocking(&l));
	assert_int_not_equal(l.pair.ctx->flags & REDIS_BLOCK, 0);
	layer_fini(&l, before);
}

static void test_breaking_gives_back_too(void **state)
{
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	rbi_transport_break(&l.t, RB_ERR_IO, "broken");
	assert_false(is_nonblocking(&l));
	assert_int_not_equal(l.pair.ctx->flags & REDIS_BLOCK, 0);
	assert_string_equal(l.pair.ctx->errstr, "broken");
	assert_true(pair_is_ended(&l.pair));
	layer_fini(&l, before);
}

static void test_a_reply_in_the_layer_stays_the_callers(void **state)
{
	static const char *const reads[] = { "+", "", "OK\r\n" };
	const char *problem;
	redisReply *reply;
	void *got = NULL;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	layer_reads(&l, reads, N_OF(reads));
	assert_status(take(&l, &problem), RB_ERR_BUSY);
	assert_non_null(strstr(problem, "unread"));
	rbi_transport_give(&l.t);
	l.pair.ctx->funcs = before;
	pair_say(&l.pair, "OK\r\n", 4);
	assert_int_equal(redisGetReply(l.pair.ctx, &got), REDIS_OK);
	reply = got;
	assert_string_equal(reply->str, "OK");
	freeReplyObject(reply);
	layer_fini(&l, before);
}

/* Of which a look has read the first byte. */
static const char *const push[] = { ">", "2\r\n" };

static void want_push(layer *l)
{
	char buf[16];
	size_t moved;

	assert_true(l->t.pushed);
	assert_int_equal(rbi_transport_recv(&l->t, buf, sizeof(buf), &moved),
			 RBI_IO_DONE);
	assert_int_equal(moved, 4);
	assert_memory_equal(buf, ">2\r\n", 4);
}

static void test_a_push_is_received_whole(void **state)
{
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	layer_reads(&l, push, N_OF(push));
	take_quiet(&l);
	want_push(&l);
	layer_fini(&l, before);
}

static void test_a_push_that_was_only_seen_is_received_later(void **state)
{
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	layer_reads(&l, push, N_OF(push));
	take_quiet(&l);
	rbi_transport_give(&l.t);
	take_quiet(&l);
	want_push(&l);
	layer_fini(&l, before);
}

static void test_an_ended_layer_is_not_taken(void **state)
{
	const char *problem;
	char words[64];
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	l.last = ENDS;
	assert_status(take(&l, &problem), RB_ERR_IO);
	assert_int_equal(l.t.error, 0);
	rbi_transport_give(&l.t);
	l.pair.ctx->err = 0;
	l.last = FAILS;
	assert_status(take(&l, &problem), RB_ERR_IO);
	rbi_transport_words(&l.t, l.t.error, words, sizeof(words));
	assert_string_equal(words, "a bad record");
	layer_fini(&l, before);
}

/* --------------------------------------------------------------- receive -- */

static void test_a_receive_goes_on_until_the_layer_has_nothing(void **state)
{
	static const char *const reads[] = { "ab", "c", "", "d" };
	char buf[16];
	size_t moved;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	layer_reads(&l, reads, N_OF(reads));
	assert_int_equal(rbi_transport_recv(&l.t, buf, sizeof(buf), &moved),
			 RBI_IO_DONE);
	assert_int_equal(moved, 3);
	assert_memory_equal(buf, "abc", 3);
	assert_false(rbi_transport_more(&l.t));
	layer_fini(&l, before);
}

static void test_a_full_buffer_leaves_more_that_poll_cannot_see(void **state)
{
	static const char *const reads[] = { "ab", "cd" };
	char buf[2];
	size_t moved;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	layer_reads(&l, reads, N_OF(reads));
	assert_int_equal(rbi_transport_recv(&l.t, buf, 2, &moved), RBI_IO_DONE);
	assert_true(rbi_transport_more(&l.t));
	/* Without an end, if it were waited for. */
	assert_true(rbi_transport_wait(&l.t, false, RBI_NEVER));
	assert_int_equal(rbi_transport_recv(&l.t, buf, 2, &moved), RBI_IO_DONE);
	assert_memory_equal(buf, "cd", 2);
	assert_int_equal(rbi_transport_recv(&l.t, buf, 2, &moved),
			 RBI_IO_LATER);
	assert_false(rbi_transport_more(&l.t));
	layer_fini(&l, before);
}

static void test_an_end_behind_bytes_is_told_after_them(void **state)
{
	static const char *const reads[] = { "ab" };
	char buf[16];
	size_t moved;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	layer_reads(&l, reads, N_OF(reads));
	l.last = ENDS;
	assert_int_equal(rbi_transport_recv(&l.t, buf, 16, &moved),
			 RBI_IO_DONE);
	assert_int_equal(moved, 2);
	assert_true(rbi_transport_more(&l.t));
	l.last = 0;
	assert_int_equal(rbi_transport_recv(&l.t, buf, 16, &moved), RBI_IO_END);
	layer_fini(&l, before);
}

/* ------------------------------------------------------------------ send -- */

static void test_what_the_layer_does_not_take_counts_and_waits(void **state)
{
	static const int writes[] = { 3, 0, 0, 0, 1, 0 };
	size_t moved;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	l.writes = writes;
	l.nwrites = N_OF(writes);
	assert_int_equal(send_text(&l, "abcdef", 6, &moved), RBI_IO_DONE);
	assert_int_equal(moved, 6);
	assert_true(rbi_transport_unsent(&l.t));
	assert_int_equal(send_text(&l, "gh", 2, &moved), RBI_IO_LATER);
	assert_int_equal(l.offered, 3);
	assert_int_equal(send_text(&l, NULL, 0, &moved), RBI_IO_LATER);
	assert_int_equal(send_text(&l, NULL, 0, &moved), RBI_IO_LATER);
	assert_int_equal(l.offered, 2);
	assert_int_equal(send_text(&l, "gh", 2, &moved), RBI_IO_DONE);
	assert_false(rbi_transport_unsent(&l.t));
	assert_int_equal(l.nsent, 8);
	assert_memory_equal(l.sent, "abcdefgh", 8);
	layer_fini(&l, before);
}

static void test_no_more_than_64_KiB_are_offered_at_once(void **state)
{
	static char bytes[3 * RBI_LAYERED_SEND];
	struct iovec iov[] = { { bytes, RBI_LAYERED_SEND - 1 },
			       { bytes, 2 * RBI_LAYERED_SEND } };
	size_t moved = 0;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	assert_int_equal(rbi_transport_send(&l.t, iov, 2, &moved), RBI_IO_DONE);
	assert_int_equal(moved, RBI_LAYERED_SEND);
	assert_int_equal(l.offered, RBI_LAYERED_SEND);
	layer_fini(&l, before);
}

static void test_a_failed_write_has_the_layers_words(void **state)
{
	static const int writes[] = { FAILS };
	char words[64];
	size_t moved;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	l.writes = writes;
	l.nwrites = 1;
	assert_int_equal(send_text(&l, "a", 1, &moved), RBI_IO_ERROR);
	rbi_transport_words(&l.t, l.t.error, words, sizeof(words));
	assert_string_equal(words, "the wire was cut");
	layer_fini(&l, before);
}

/* --------------------------------------------------------------- SIGPIPE -- */

static ssize_t raising_write(redisContext *ctx)
{
	(void)pthread_kill(pthread_self(), SIGPIPE);
	return (ssize_t)sdslen(ctx->obuf);
}

static const redisContextFuncs raising_funcs = {
	.read = layer_read,
	.write = raising_write,
};

static bool sigpipe_is_pending(void)
{
	sigset_t set;

	assert_int_equal(sigpending(&set), 0);
	return sigismember(&set, SIGPIPE) == 1;
}

/* At its default action, which ends the process. */
static void test_a_signal_of_the_layer_reaches_nobody(void **state)
{
	size_t moved;
	sigset_t after;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	l.pair.ctx->funcs = &raising_funcs;
	take_quiet(&l);
	assert_int_equal(send_text(&l, "a", 1, &moved), RBI_IO_DONE);
	assert_false(sigpipe_is_pending());
	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
	assert_int_equal(sigismember(&after, SIGPIPE), 0);
	layer_fini(&l, before);
}

static void test_a_signal_that_was_pending_stays(void **state)
{
	size_t moved;
	sigset_t only;
	int number;
	layer l;
	const redisContextFuncs *before = layer_init(&l);

	(void)state;
	take_quiet(&l);
	assert_int_equal(sigemptyset(&only), 0);
	assert_int_equal(sigaddset(&only, SIGPIPE), 0);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &only, NULL), 0);
	assert_int_equal(pthread_kill(pthread_self(), SIGPIPE), 0);
	assert_int_equal(send_text(&l, "a", 1, &moved), RBI_IO_DONE);
	assert_true(sigpipe_is_pending());
	assert_int_equal(sigwait(&only, &number), 0);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &only, NULL), 0);
	layer_fini(&l, before);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_plain_context_is_told_from_a_layered_one),
	cmocka_unit_test(test_a_taken_context_does_not_block_until_it_is_given),
	cmocka_unit_test(test_breaking_gives_back_too),
	cmocka_unit_test(test_a_reply_in_the_layer_stays_the_callers),
	cmocka_unit_test(test_a_push_is_received_whole),
	cmocka_unit_test(test_a_push_that_was_only_seen_is_received_later),
	cmocka_unit_test(test_an_ended_layer_is_not_taken),
	cmocka_unit_test(test_a_receive_goes_on_until_the_layer_has_nothing),
	cmocka_unit_test(test_a_full_buffer_leaves_more_that_poll_cannot_see),
	cmocka_unit_test(test_an_end_behind_bytes_is_told_after_them),
	cmocka_unit_test(test_what_the_layer_does_not_take_counts_and_waits),
	cmocka_unit_test(test_no_more_than_64_KiB_are_offered_at_once),
	cmocka_unit_test(test_a_failed_write_has_the_layers_words),
	cmocka_unit_test(test_a_signal_of_the_layer_reaches_nobody),
	cmocka_unit_test(test_a_signal_that_was_pending_stays),
};

#else

/* Before 1.0 a context has no functions: its transport is always plain. */
static void test_the_transport_is_plain(void **state)
{
	const char *problem;
	rbi_transport t;
	pair p;

	(void)state;
	pair_init(&p);
	assert_status(rbi_transport_take(&t, p.ctx, NULL, rbi_transport_plain(),
					 &problem),
		      RB_OK);
	assert_false(rbi_transport_unsent(&t));
	assert_false(rbi_transport_more(&t));
	assert_true(rbi_transport_patience(&t) == RBI_NEVER);
	rbi_transport_give(&t);
	pair_fini(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_transport_is_plain),
};

#endif

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Writes through a proxy that ends the line, or lets it fall silent: what the
 * server has applied, asked over another connection, agrees with what the
 * library says of each entry.
 *
 * Entries have keys of their own, so that what was applied can be told apart,
 * and it is always a beginning of the batch: bytes come in order or not at
 * all.
 */
#include "commands.h"
#include "through.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { N = 60, LEN = 40, LARGE = 7000, CHUNK = 6, WINDOW = 3, PLACES = 40 };

/* ----------------------------------------------------------------- verbs -- */

/* Those who write all pairs. */
typedef rb_status verb(rb_client *rb, const rbt_pairs *p, const rb_options *o,
		       rb_result **out);

static rb_status mset(rb_client *rb, const rbt_pairs *p, const rb_options *o,
		      rb_result **out)
{
	return rb_mset_chunked(rb, p->keys.keys, p->keys.lens, p->values,
			       p->lens, p->n, o, out);
}

static rb_status hset(rb_client *rb, const rbt_pairs *p, const rb_options *o,
		      rb_result **out)
{
	return rb_hset_chunked(rb, "hash", 4, p->keys.keys, p->keys.lens,
			       p->values, p->lens, p->n, o, out);
}

typedef rb_status runner(rb_client *client, const rb_command *commands,
			 size_t ncommands, const rb_options *opts,
			 rb_result **out);

static rb_status run_sets(runner *run, rb_client *rb, const rbt_pairs *p,
			  const rb_options *o, rb_result **out)
{
	rb_command commands[N];
	const char *argv[N][3];
	size_t lens[N][3];

	for (size_t i = 0; i < N; i++) {
		argv[i][0] = "SET";
		argv[i][1] = p->keys.keys[i];
		argv[i][2] = p->values[i];
		lens[i][0] = 3;
		lens[i][1] = p->keys.lens[i];
		lens[i][2] = p->lens[i];
		commands[i].argc = 3;
		commands[i].argv = argv[i];
		commands[i].argvlen = lens[i];
	}
	return run(rb, commands, N, o, out);
}

static rb_status sets(rb_client *rb, const rbt_pairs *p, const rb_options *o,
		      rb_result **out)
{
	return run_sets(rb_pipeline_chunked, rb, p, o, out);
}

static rb_status transaction(rb_client *rb, const rbt_pairs *p,
			     const rb_options *o, rb_result **out)
{
	return run_sets(rb_transaction, rb, p, o, out);
}

typedef struct verb_row {
	const char *name;
	verb *write;
	uint32_t flags;
	/* All of a chunk is applied, or nothing of it. */
	bool whole;
	size_t chunk_keys;
} verb_row;

static const verb_row verbs[] = {
	{ "MSET", mset, 0, true, CHUNK },
	{ "SET NX", mset, RB_IF_ABSENT, false, CHUNK },
	{ "MSET in MULTI", mset, RB_TRANSACTION, true, CHUNK },
	{ "HSET", hset, 0, true, CHUNK },
	{ "pipeline", sets, 0, false, CHUNK },
	{ "pipeline in MULTI", sets, RB_TRANSACTION, true, CHUNK },
	{ "pipeline at once", sets, 0, false, 2 * N },
	{ "transaction", transaction, 0, true, 2 * N },
};

/* ------------------------------------------------------------ the server -- */

/* How many entries of the batch are there, from the first on; the rest must
 * be missing, and values must be the right ones. */
static size_t count_applied(const rbt_live *live, const verb_row *row,
			    const rbt_pairs *p)
{
	const char *argv[2 + N] = { "MGET" };
	size_t lens[2 + N] = { 4 };
	size_t argc = 1, n = 0;
	redisReply *reply;

	if (row->write == hset) {
		argv[0] = "HMGET";
		lens[0] = 5;
		argv[1] = "hash";
		lens[1] = 4;
		argc = 2;
	}
	memcpy(argv + argc, p->keys.keys, N * sizeof(*argv));
	memcpy(lens + argc, p->keys.lens, N * sizeof(*lens));
	reply = redisCommandArgv(live->admin, (int)(argc + N), argv, lens);
	assert_non_null(reply);
	assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
	assert_int_equal(reply->elements, N);
	while (n < N && reply->element[n]->type == REDIS_REPLY_STRING) {
		assert_true(rbt_value_is(reply->element[n]->str,
					 reply->element[n]->len, p->lens[n],
					 n));
		n++;
	}
	for (size_t i = n; i < N; i++)
		assert_int_equal(reply->element[i]->type, REDIS_REPLY_NIL);
	freeReplyObject(reply);
	return n;
}

/* ------------------------------------------------------------- one round -- */

typedef struct fault_row {
	rbt_way way;
	rbt_fault fault;
	rb_status status;
	uint32_t timeout_ms;
} fault_row;

static rb_options options(const verb_row *row, uint32_t timeout_ms)
{
	rb_options o = rbt_options(row->chunk_keys, WINDOW);

	o.attempts = 1;
	o.flags = row->flags;
	if (timeout_ms > 0)
		o.timeout_ms = timeout_ms;
	return o;
}

static void write_through(rbt_through *t, const rbt_entrance *at,
			  const verb_row *row, const fault_row *f,
			  uint64_t after, const rbt_pairs *p, rb_status want)
{
	rb_options o = options(row, f->timeout_ms);
	rbt_rule rule = { .fault = f->fault, .after = after };
	int size = 4096;

	rbt_do(t->live->admin, "FLUSHALL");
	rbt_through_proxy(t, at->family);
	rbt_through_client(t, at->owner, NULL);
	rbt_proxy_rule(t->proxy, f->way, &rule);
	want_status(t->live->rb, rb_client_connect(t->live->rb), RB_OK);
	if (t->live->ctx) /* so that large commands leave in pieces */
		setsockopt(t->live->ctx->fd, SOL_SOCKET, SO_SNDBUF, &size,
			   sizeof(size));
	rbt_live_drop(t->live);
	want_status(t->live->rb, row->write(t->live->rb, p, &o, &t->live->res),
		    want);
	want_sound(t->live->res);
	rbt_through_want_decided(t);
}

/* Entries of which the server said that they are applied. */
static size_t count_answered(const rb_result *res)
{
	size_t n = 0;

	while (n < N && rb_result_outcome(res, n) == RB_ANSWERED)
		n++;
	return n;
}

static void print_round(const verb_row *row, uint64_t after, size_t applied,
			const rb_result *res)
{
	print_error("%s, after %llu bytes: %zu applied, %zu answered, "
		    "%zu unknown, %zu not sent\n",
		    row->name, (unsigned long long)after, applied,
		    rbt_count_outcome(res, RB_ANSWERED),
		    rbt_count_outcome(res, RB_UNKNOWN),
		    rbt_count_outcome(res, RB_NOT_SENT));
}

/* True if what the library says of entry i can be so. */
static bool is_true(const rb_result *res, size_t i, bool applied,
		    rb_status status)
{
	rb_status got = rb_result_status(res, i);
	bool failed = got != RB_OK && rb_result_message(res, i)[0] != '\0';

	switch (rb_result_outcome(res, i)) {
	case RB_ANSWERED:
		return applied && got == RB_OK;
	case RB_NOT_SENT:
		return !applied && failed &&
		       (got == status || got == RB_ERR_SKIPPED);
	case RB_UNKNOWN:
		return failed && got == status;
	case RB_REJECTED: /* the line does not do that */
	case RB_PARTLY:	  /* nor does an entry know it */
		break;
	}
	return false;
}

static void want_truth(const rbt_through *t, const verb_row *row,
		       const fault_row *f, uint64_t after, size_t applied)
{
	const rb_result *res = t->live->res;
	bool fine = rb_result_count(res) == N;

	for (size_t i = 0; fine && i < N; i++)
		fine = is_true(res, i, i < applied, f->status);
	/* An answered entry behind one that is not would be out of order. */
	fine = fine &&
	       count_answered(res) == rbt_count_outcome(res, RB_ANSWERED);
	fine = fine &&
	       (!row->whole || applied % row->chunk_keys == 0 || applied == N);
	if (!fine)
		print_round(row, after, applied, res);
	assert_true(fine);
}

/* ------------------------------------------------------------ what counts -- */

/* Where each entry is applied: once so many bytes have come. From a run
 * without a fault. */
static uint64_t learn_ends(rbt_through *t, const verb_row *row,
			   const rbt_pairs *p, uint64_t ends[N])
{
	static const fault_row none = { .way = RBT_UP };
	const rbt_entrance *at = &rbt_entrances[0];
	uint64_t sum = 0;

	write_through(t, at, row, &none, 0, p, RB_OK);
	for (size_t i = 0; i < rb_result_chunks(t->live->res); i++) {
		const rb_chunk *chunk = rb_result_chunk(t->live->res, i);
		uint64_t each = chunk->request_bytes / chunk->count;

		for (size_t k = 0; k < chunk->count; k++)
			ends[chunk->first + k] =
				sum + (row->whole ? chunk->request_bytes :
						    (k + 1) * each);
		sum += chunk->request_bytes;
	}
	assert_int_equal(rbt_proxy_bytes(t->proxy, RBT_UP),
			 sum + (t->live->ctx ? 14 : 0)); /* and a PING */
	rbt_through_settle(t);
	assert_int_equal(count_applied(t->live, row, p), N);
	return sum;
}

static size_t count_ends(const uint64_t ends[N], uint64_t bytes)
{
	size_t n = 0;

	while (n < N && ends[n] <= bytes)
		n++;
	return n;
}

/* ----------------------------------------------------------------- tests -- */

/* The server gets exactly so many bytes, so that it is known what it does. */
static void cut_after(rbt_through *t, const rbt_entrance *at,
		      const verb_row *row, const rbt_pairs *p,
		      const uint64_t ends[N], uint64_t after)
{
	static const fault_row cut = { RBT_UP, RBT_FAULT_CLOSE, RB_ERR_IO, 0 };
	size_t applied;

	write_through(t, at, row, &cut, after, p, RB_ERR_IO);
	rbt_through_settle(t);
	applied = count_applied(t->live, row, p);
	want_truth(t, row, &cut, after, applied);
	assert_int_equal(applied, count_ends(ends, after));
}

static void cut_everywhere(rbt_through *t, const verb_row *row,
			   const rbt_pairs *p, size_t places)
{
	uint64_t ends[N];
	uint64_t all = learn_ends(t, row, p, ends);

	for (size_t i = 0; i < places; i++)
		cut_after(t, &rbt_entrances[i % RBT_ENTRANCES], row, p, ends,
			  1 + i * all / places + i % 7);
}

static void test_requests_cut_anywhere_are_told_as_they_were_applied(
	void **state)
{
	rbt_pairs p;

	rbt_pairs_init(&p, "k", N, LEN);
	for (size_t v = 0; v < COUNT(verbs); v++)
		cut_everywhere(rbt_through_use(state), &verbs[v], &p, PLACES);
	rbt_pairs_fini(&p);
}

static void test_large_requests_cut_anywhere_are_told_as_well(void **state)
{
	rbt_pairs p;

	rbt_pairs_init(&p, "k", N, LARGE);
	for (size_t v = 0; v < COUNT(verbs); v++)
		cut_everywhere(rbt_through_use(state), &verbs[v], &p,
			       PLACES / 4);
	rbt_pairs_fini(&p);
}

/* Cut at the very ends of chunks and of commands, and a byte before. */
static void test_a_command_without_its_last_byte_is_not_applied(void **state)
{
	rbt_pairs p;

	rbt_pairs_init(&p, "k", N, LEN);
	for (size_t v = 0; v < COUNT(verbs); v++) {
		rbt_through *t = rbt_through_use(state);
		uint64_t ends[N];

		(void)learn_ends(t, &verbs[v], &p, ends);
		for (size_t i = 0; i < 8; i++)
			cut_after(t, &rbt_entrances[i % RBT_ENTRANCES],
				  &verbs[v], &p, ends,
				  ends[i / 2 * CHUNK] - i % 2);
	}
	rbt_pairs_fini(&p);
}

static void test_answers_cut_anywhere_leave_no_write_untold(void **state)
{
	static const fault_row faults[] = {
		{ RBT_DOWN, RBT_FAULT_CLOSE, RB_ERR_IO, 0 },
		{ RBT_DOWN, RBT_FAULT_RESET, RB_ERR_IO, 0 },
		{ RBT_UP, RBT_FAULT_RESET, RB_ERR_IO, 0 },
	};
	rbt_pairs p;

	rbt_pairs_init(&p, "k", N, LEN);
	for (size_t v = 0; v < COUNT(verbs); v++) {
		for (size_t i = 0; i < 3 * 12; i++) {
			const fault_row *f = &faults[i % 3];
			rbt_through *t = rbt_through_use(state);
			/* All answers together have 40 bytes and more. */
			uint64_t after =
				f->way == RBT_DOWN ? 1 + i / 3 * 3 : 1 + 37 * i;
			size_t applied;

			write_through(t, &rbt_entrances[i % RBT_ENTRANCES],
				      &verbs[v], f, after, &p, RB_ERR_IO);
			rbt_through_settle(t);
			applied = count_applied(t->live, &verbs[v], &p);
			want_truth(t, &verbs[v], f, after, applied);
		}
	}
	rbt_pairs_fini(&p);
}

/* Deaf: the commands arrive but no answer does; swallowed: they do not. */
static void test_writes_into_silence_are_unknown_applied_or_not(void **state)
{
	static const fault_row faults[] = {
		{ RBT_UP, RBT_FAULT_SWALLOW, RB_ERR_TIMEOUT, 200 },
		{ RBT_DOWN, RBT_FAULT_SWALLOW, RB_ERR_TIMEOUT, 200 },
		{ RBT_UP, RBT_FAULT_STALL, RB_ERR_TIMEOUT, 200 },
		{ RBT_UP, RBT_FAULT_HALF_OPEN, RB_ERR_TIMEOUT, 200 },
	};
	rbt_pairs p;

	rbt_pairs_init(&p, "k", N, LEN);
	for (size_t i = 0; i < COUNT(verbs) * COUNT(faults); i++) {
		const verb_row *row = &verbs[i % COUNT(verbs)];
		const fault_row *f = &faults[i / COUNT(verbs)];
		rbt_through *t = rbt_through_use(state);
		size_t sent = row->chunk_keys > N ? N : WINDOW * CHUNK;
		size_t applied;

		write_through(t, &rbt_entrances[i % RBT_ENTRANCES], row, f, 0,
			      &p, RB_ERR_TIMEOUT);
		/* What the proxy still holds must not come later. */
		rbt_proxy_stop(t->proxy);
		t->proxy = NULL;
		rbt_through_settle(t);
		applied = count_applied(t->live, row, &p);
		want_truth(t, row, f, 0, applied);
		assert_int_equal(applied, f->way == RBT_DOWN ? sent : 0);
		assert_int_equal(rbt_count_outcome(t->live->res, RB_UNKNOWN),
				 sent);
	}
	rbt_pairs_fini(&p);
}

static void test_slices_change_no_write(void **state)
{
	rbt_pairs p;

	rbt_pairs_init(&p, "k", N, LEN);
	for (size_t v = 0; v < COUNT(verbs); v++) {
		rbt_through *t = rbt_through_use(state);
		rbt_rule rule = { .slice = v % 7 + 1 };
		rb_options o = options(&verbs[v], 0);

		rbt_do(t->live->admin, "FLUSHALL");
		rbt_through_proxy(t, rbt_entrances[v % RBT_ENTRANCES].family);
		rbt_through_client(t, rbt_entrances[v % RBT_ENTRANCES].owner,
				   &o);
		rbt_proxy_rule(t->proxy, RBT_UP, &rule);
		rbt_proxy_rule(t->proxy, RBT_DOWN, &rule);
		rbt_live_drop(t->live);
		want_status(
			t->live->rb,
			verbs[v].write(t->live->rb, &p, NULL, &t->live->res),
			RB_OK);
		assert_int_equal(rbt_count_outcome(t->live->res, RB_ANSWERED),
				 N);
		rbt_through_want_decided(t);
		assert_int_equal(count_applied(t->live, &verbs[v], &p), N);
	}
	rbt_pairs_fini(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_THROUGH(
			test_requests_cut_anywhere_are_told_as_they_were_applied),
		RBT_THROUGH(test_large_requests_cut_anywhere_are_told_as_well),
		RBT_THROUGH(
			test_a_command_without_its_last_byte_is_not_applied),
		RBT_THROUGH(test_answers_cut_anywhere_leave_no_write_untold),
		RBT_THROUGH(
			test_writes_into_silence_are_unknown_applied_or_not),
		RBT_THROUGH(test_slices_change_no_write),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
